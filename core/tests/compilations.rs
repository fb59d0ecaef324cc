//! How many programs are compiled, which is counted for the whole process.

use ramie_core::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, OnceLock, PoisonError};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// How many programs came to be while `f` ran.
fn programs<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let count = || {
        let stats = compilation_stats();
        stats.compiled + stats.loaded
    };
    let before = count();
    let out = f();
    (out, count() - before)
}

#[test]
fn calls_find_what_was_compiled_ahead() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let traces = Mutex::new(0);
    let step = jit(|state: &mut Array, by: Array| {
        *traces.lock().expect("a count") += 1;
        *state += &by;
        state.sum()
    });
    let mut state = Array::from([1.0f32, 2.0]);
    let by = Array::from([0.5f32, 0.5]);
    let lowered = step
        .lower_with(&state, (by.clone(),))
        .expect("it is lowered");
    let (_, made) = programs(|| lowered.compile().expect("it is compiled"));
    assert_eq!(made, 1);
    // The compiled stage is gone, and the function has kept its program.
    let (sum, made) = programs(|| step(&mut state, by.clone()));
    assert_eq!(sum.item::<f32>(), 4.0);
    assert_eq!((made, step.compilations()), (0, 0));
    assert_eq!(*traces.lock().expect("a count"), 1);
    assert_eq!(state.to_vec::<f32>(), [1.5, 2.5]);

    // Other arguments are another program, and forgetting is forgetting.
    let mut longer = Array::from([1.0f32, 2.0, 3.0]);
    let more = Array::from([0.5f32, 0.5, 0.5]);
    assert_eq!(programs(|| step(&mut longer, more)).1, 1);
    step.clear_cache();
    assert_eq!(programs(|| step(&mut state, by)).1, 1);
    assert_eq!(step.compilations(), 1);
}

#[test]
fn calls_find_programs_lowered_from_types() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let double = jit(|x: Array| &x * 2.0);
    let like = Array::shape_dtype_struct(&[3], DType::F32);
    double.compile((like,)).expect("it is compiled");
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let (y, made) = programs(|| double(x.clone()));
    assert_eq!((made, double.compilations()), (0, 0));
    assert_eq!(y.to_vec::<f32>(), [2.0, 4.0, 6.0]);
    assert_eq!(x.to_vec::<f32>(), [1.0, 2.0, 3.0]);
}

#[test]
fn small_arrays_of_one_value_need_no_program() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let dtypes = [
        DType::Bool,
        DType::I8,
        DType::U16,
        DType::I32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
    ];
    for dtype in dtypes {
        let (filled, made) = programs(|| Array::full(&[3, 5], 1, dtype));
        assert_eq!(made, 0, "{dtype}");
        let computed = jit(move || Array::full(&[3, 5], 1, dtype))();
        assert_eq!(filled.aval(), computed.aval());
        let bytes = |x: &Array| x.try_to_bytes().expect("its bytes");
        assert_eq!(bytes(&filled), bytes(&computed), "{dtype}");
    }
    let minus = Array::full(&[4], -2.5, DType::F32);
    assert_eq!(minus.to_vec::<f32>(), [-2.5; 4]);
    // What is large, or of the device, is the device's.
    let large = programs(|| Array::zeros(&[1 << 15], DType::F32));
    assert_eq!((large.0.size(), large.1), (1 << 15, 1));
    let scalar = Array::from([7.0f32]).sum();
    assert_eq!(programs(|| scalar.broadcast_to(&[2, 3])).1, 1);
}

/// Runs `f` on sixteen threads at once; their panics, if any.
fn on_sixteen_threads(f: impl Fn() + Sync) -> usize {
    let start = Barrier::new(16);
    std::thread::scope(|scope| {
        let run = || {
            start.wait();
            f();
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(run)).collect();
        threads.into_iter().filter_map(|t| t.join().err()).count()
    })
}

#[test]
fn threads_that_race_compile_once() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let traces = AtomicUsize::new(0);
    let cube = jit(|x: Array| {
        traces.fetch_add(1, Ordering::SeqCst);
        &x * &x * x
    });
    let x = Array::from([2.0f32, 3.0]);
    let call = || assert_eq!(cube(x.clone()).to_vec::<f32>(), [8.0, 27.0]);
    let (panics, made) = programs(|| on_sixteen_threads(call));
    assert_eq!((panics, made, traces.load(Ordering::SeqCst)), (0, 1, 1));
    assert_eq!(cube.compilations(), 1);

    // An operation by itself, and one that is made of several.
    let x = Array::full(&[17, 3], 2, DType::F32);
    let (_, made) = programs(|| on_sixteen_threads(|| drop(x.cosh())));
    assert_eq!(made, 1);
    let square = Array::from([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0]).reshape(&[3, 3]);
    let (_, made) = programs(|| on_sixteen_threads(|| drop(linalg::det(&square))));
    assert_eq!(made, 1);
}

#[test]
fn a_panic_while_tracing_blocks_nobody() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let attempts = AtomicUsize::new(0);
    let fails_first = jit(|x: Array| {
        let attempt = attempts.fetch_add(1, Ordering::SeqCst);
        assert!(attempt >= 3, "attempt {attempt} fails");
        x + 1.0
    });
    let x = Array::from(1.0f32);
    let panics = on_sixteen_threads(|| drop(fails_first(x.clone())));
    assert_eq!((panics, attempts.load(Ordering::SeqCst)), (3, 4));
    assert_eq!(fails_first.compilations(), 1);
}

/// Traces that compute values need the programs of other functions.
// A jitted function is no function itself.
#[allow(clippy::redundant_closure)]
#[test]
fn traces_that_need_each_other_block_nobody() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    type Function<'a> = &'a (dyn Fn(i32, Array) -> Array + Send + Sync);
    fn at_compile_time(f: Function<'_>, depth: i32) -> f32 {
        match depth {
            0 => 1.0,
            _ => compile_time_eval(|| f(depth - 1, Array::from(1.0f32)).item::<f32>()),
        }
    }
    static ONE: OnceLock<Box<dyn Fn(i32, Array) -> Array + Send + Sync>> = OnceLock::new();
    static TWO: OnceLock<Box<dyn Fn(i32, Array) -> Array + Send + Sync>> = OnceLock::new();
    let one =
        jit(|depth: i32, x: Array| x + at_compile_time(&**TWO.get().expect("it is set"), depth));
    let two = jit(|depth: i32, x: Array| {
        x * 2.0 + at_compile_time(&**ONE.get().expect("it is set"), depth)
    });
    let _ = ONE.set(Box::new(move |depth, x| one(depth, x)));
    let _ = TWO.set(Box::new(move |depth, x| two(depth, x)));
    let turn = AtomicUsize::new(0);
    let panics = on_sixteen_threads(|| {
        let x = Array::from(1.0f32);
        let out = match turn.fetch_add(1, Ordering::SeqCst) % 2 {
            0 => ONE.get().expect("it is set")(4, x),
            _ => TWO.get().expect("it is set")(4, x),
        };
        assert!(out.item::<f32>() > 1.0);
    });
    assert_eq!(panics, 0);
}

#[test]
fn clearing_the_caches_forgets_the_programs_of_all() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let x = Array::from([1.0f32, 2.0, 4.0]);
    let f = jit(|x: Array| x.tanh());
    let matrix = Array::from([2.0f32, 0.0, 0.0, 2.0]).reshape(&[2, 2]);
    let run = || {
        f(x.clone());
        x.cosh();
        linalg::det(&matrix);
    };
    run();
    assert_eq!(programs(run).1, 0);
    clear_caches();
    assert_eq!(programs(run).1, 3);
    assert_eq!(programs(run).1, 0);
    // A function that is called inside of another one is traced again as well.
    let traces = AtomicUsize::new(0);
    let inner = jit(|x: Array| {
        traces.fetch_add(1, Ordering::SeqCst);
        x.exp()
    });
    let outer = jit(|x: Array| inner(x) + 1.0);
    outer(x.clone());
    clear_caches();
    outer(x.clone());
    assert_eq!(traces.load(Ordering::SeqCst), 2);
}

/// What the process prints about compilations, in a process of its own.
#[test]
fn many_compilations_are_reported() {
    const NAME: &str = "many_compilations_are_reported";
    if std::env::var_os("RAMIE_TEST_REPORTS").is_some() {
        let scale = jit(|x: Array, by: f32| x * by);
        let mut state = Array::from([0.0f32; 4]) + 1.0;
        let held = state.clone();
        let add = jit(|s: &mut Array, x: &Array| *s += x.sum());
        for i in 0..12u8 {
            scale(Array::from([1.0f32]), f32::from(i));
            let x = Array::zeros(&[usize::from(i) + 1], DType::F32);
            add(&mut state, &(x + f32::from(i)));
        }
        assert_eq!(held.to_vec::<f32>(), [1.0; 4]);
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
        .env("RAMIE_TEST_REPORTS", "1")
        .env("RAMIE_LOG_COMPILES", "1")
        .output()
        .expect("a child process");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    let once = |part: &str| assert_eq!(text.matches(part).count(), 1, "{part}\n{text}");
    once("was compiled 8 times because the static value `args.1` changed, last from 7.0 to 8.0");
    once("was compiled 8 times because the array `args.0` changed, last from f32[8]");
    once(
        "`<lambda>` copies 1 donated arrays (16 bytes), which have other handles; the first is `state`",
    );
    once("ramie: compiled 10 operations outside `jit`");
    assert!(text.contains("for core/tests/compilations.rs:"), "{text}");
    assert!(
        text.contains("first call; jit was called at core/tests/compilations.rs:"),
        "{text}"
    );
}

//! Functions of the host called by programs: printing, callbacks, order.
use ramie_core::lax::{cond, fori_loop, scan, while_loop};
use ramie_core::options::{Ordered, VmapMethod};
use ramie_core::*;
use ramie_testing::{is_linked, panic_message};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};

/// Failures of callbacks are the process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|e| e.into_inner())
}

/// A log of numbers, and a function that adds to it when the program runs.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<f32>>>);

impl Log {
    fn see(&self, x: &Array) {
        let log = self.clone();
        debug::callback(move |x: Array| log.push(&x), x.clone());
    }
    fn see_in_order(&self, x: &Array) {
        let log = self.clone();
        debug::callback_with(move |x: Array| log.push(&x), x.clone(), Ordered);
    }
    fn push(&self, x: &Array) {
        self.0.lock().unwrap().push(x.item::<f32>());
    }
    fn take(&self) -> Vec<f32> {
        effects_barrier().expect("no callback fails");
        std::mem::take(&mut *self.0.lock().unwrap())
    }
    fn sorted(&self) -> Vec<f32> {
        let mut seen = self.take();
        seen.sort_by(f32::total_cmp);
        seen
    }
}

fn f32s(v: &[f32]) -> Array {
    Array::from(v)
}

fn scalar(x: f32) -> Array {
    Array::from(x)
}

#[test]
fn callbacks_run_at_every_execution_under_every_transformation() {
    let _alone = alone();
    let log = Log::default();
    let f = |x: Array| {
        log.see(&x);
        x.sin()
    };
    f(scalar(1.0));
    assert_eq!(log.take(), [1.0], "outside of jit");
    let jitted = jit(f);
    jitted(scalar(2.0));
    jitted(scalar(3.0));
    assert_eq!(log.take(), [2.0, 3.0], "compiled once, called twice");
    assert_eq!(jitted.compilations(), 1);
    jit(jit(f))(scalar(4.0));
    assert_eq!(log.take(), [4.0], "nested");
    let rows = f32s(&[5.0, 6.0, 7.0]);
    vmap(f)(rows.clone());
    assert_eq!(log.take(), [5.0, 6.0, 7.0], "vmap, once for each example");
    jit(vmap(f))(rows);
    assert_eq!(log.take(), [5.0, 6.0, 7.0]);
    grad(f)(scalar(8.0));
    assert_eq!(log.take(), [8.0], "grad, once for the value");
    jit(grad(f))(scalar(9.0));
    assert_eq!(log.take(), [9.0]);
    jit(grad(|x: Array| jit(f)(x)))(scalar(10.0));
    assert_eq!(log.take(), [10.0]);
    jvp(f, scalar(11.0), scalar(1.0));
    assert_eq!(log.take(), [11.0]);
    let square = f32s(&[1.0, 2.0, 3.0, 4.0]).reshape(&[2, 2]);
    jit(vmap(vmap(f)))(square);
    assert_eq!(log.take(), [1.0, 2.0, 3.0, 4.0], "rows, then columns");
    let gradient = jit(vmap(grad(f)))(f32s(&[0.0, 1.0]));
    assert_eq!(gradient.to_vec::<f32>()[0], 1.0);
    assert_eq!(log.take(), [0.0, 1.0]);
}

#[test]
fn nothing_needs_the_result_of_an_effect_and_it_happens() {
    let _alone = alone();
    let log = Log::default();
    let f = jit(|x: Array| {
        log.see(&(&x * 2.0));
        log.see_in_order(&(&x * 3.0));
        let written = log.clone();
        let nothing = Array::shape_dtype_struct(&[], DType::I32);
        let _ = io_callback(
            move |x: Array| {
                written.push(&x);
                Array::from(0i32)
            },
            nothing,
            &x * 4.0,
        );
    });
    f(scalar(1.0));
    assert_eq!(log.sorted(), [2.0, 3.0, 4.0]);
    // What is pure happens if it is needed.
    let called = Log::default();
    let g = jit(|x: Array| {
        let log = called.clone();
        let unused = pure_callback(
            move |x: Array| {
                log.push(&x);
                x
            },
            Array::shape_dtype_struct(&[], DType::F32),
            x.clone(),
        );
        let _ = unused + 1.0;
        x
    });
    g(scalar(1.0));
    assert!(called.take().is_empty());
}

#[test]
fn ordered_effects_keep_their_order_within_and_between_programs() {
    let _alone = alone();
    let log = Log::default();
    let inner = jit(|x: Array| {
        log.see_in_order(&(&x + 0.5));
        &x * 1.0
    });
    let f = jit(|x: Array| {
        log.see_in_order(&x);
        let y = inner(x.clone());
        let z = inner(x);
        log.see_in_order(&(&y + 0.25));
        y + z
    });
    let mut expected = Vec::new();
    for i in 0..50 {
        let x = i as f32;
        f(scalar(x));
        expected.extend([x, x + 0.5, x + 0.5, x + 0.25]);
    }
    // Outside of jit it comes after what was launched before.
    log.see_in_order(&scalar(-1.0));
    expected.push(-1.0);
    assert_eq!(log.take(), expected);
    let refused = panic_message(|| {
        vmap(f)(f32s(&[1.0, 2.0]));
    });
    assert!(
        refused.contains("debug_callback: ordered effects cannot be mapped"),
        "{refused}"
    );
}

#[test]
fn pure_callbacks_return_trees() {
    let _alone = alone();
    let sum_and_double = |x: Array| {
        let shape = (
            Array::shape_dtype_struct(&[], DType::F32),
            vec![Array::shape_dtype_struct(&[2, 2], DType::I32)],
        );
        pure_callback(
            |(x, n): (Array, i32)| {
                let v = x.to_vec::<f32>();
                let ints: Vec<i32> = v.iter().map(|&x| n * x as i32).collect();
                let sum = Array::from(v.iter().sum::<f32>());
                (sum, vec![Array::from_slice(&ints, &[2, 2])])
            },
            shape,
            (x, 2),
        )
    };
    let x = f32s(&[1.0, 2.0, 3.0, 4.0]).reshape(&[2, 2]);
    for (sum, ints) in [
        sum_and_double(x.clone()),
        jit(sum_and_double)(x.transpose(&[1, 0])),
    ] {
        assert_eq!(sum.item::<f32>(), 10.0);
        assert_eq!(ints[0].shape(), [2, 2]);
    }
    let transposed = jit(move |x: Array| sum_and_double(x.transpose(&[1, 0])).1);
    assert_eq!(transposed(x)[0].to_vec::<i32>(), [2, 6, 4, 8], "row-major");
    let empty = jit(|x: Array| {
        let shape = Array::shape_dtype_struct(&[0, 3], DType::F32);
        pure_callback(|x: Array| x, shape, x)
    });
    assert_eq!(empty(Array::zeros(&[0, 3], DType::F32)).shape(), [0, 3]);
    for dtype in [DType::Bool, DType::BF16, DType::U8, DType::I64, DType::F64] {
        let same = jit(move |x: Array| {
            pure_callback(|x: Array| x, Array::shape_dtype_struct(&[3], dtype), x)
        });
        let x = f32s(&[0.0, 1.0, 2.0]).astype(dtype);
        assert_eq!(
            same(x.clone()).try_to_bytes().unwrap(),
            x.try_to_bytes().unwrap()
        );
    }
}

#[test]
fn vmap_of_a_pure_callback_follows_its_method() {
    let _alone = alone();
    let shapes: Arc<Mutex<Vec<String>>> = Arc::default();
    let apply = |method: Option<VmapMethod>| {
        let log = shapes.clone();
        move |x: Array, y: Array| {
            let log = log.clone();
            let add = move |(x, y): (Array, Array)| {
                log.lock()
                    .unwrap()
                    .push(format!("{} {}", x.aval(), y.aval()));
                let (x, y) = (x.to_vec::<f32>(), y.to_vec::<f32>());
                let sum: Vec<f32> = (0..x.len()).map(|i| x[i] + y[i % y.len()]).collect();
                let n = sum.len();
                Array::from_vec(sum, if n == 2 { &[2] } else { &[3, 2] })
            };
            let shape = Array::shape_dtype_struct(&[2], DType::F32);
            match method {
                Some(method) => pure_callback_with(add, shape, (x, y), method),
                None => pure_callback(add, shape, (x, y)),
            }
        }
    };
    let x = f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).reshape(&[3, 2]);
    let y = f32s(&[10.0, 20.0]);
    let sum = [11.0, 22.0, 13.0, 24.0, 15.0, 26.0];
    let cases = [
        (VmapMethod::Sequential, vec!["f32[2] f32[2]"; 3]),
        (VmapMethod::ExpandDims, vec!["f32[3,2] f32[1,2]"]),
        (VmapMethod::BroadcastAll, vec!["f32[3,2] f32[3,2]"]),
    ];
    for (method, expected) in cases {
        let f = vmap_with(apply(Some(method)), [Some(0), None]);
        assert_eq!(jit(f)(x.clone(), y.clone()).to_vec::<f32>(), sum);
        assert_eq!(*shapes.lock().unwrap(), expected);
        shapes.lock().unwrap().clear();
    }
    let refused = panic_message(|| {
        vmap_with(apply(None), [Some(0), None])(x.clone(), y.clone());
    });
    assert!(
        refused.contains("pure_callback: `vmap` requires a vmap method"),
        "{refused}"
    );
}

#[test]
fn a_function_without_a_derivative_says_what_to_do() {
    let _alone = alone();
    let shape = || Array::shape_dtype_struct(&[], DType::F32);
    let pure = move |x: Array| pure_callback(|x: Array| x, shape(), x);
    let io = move |x: Array| io_callback(|x: Array| x, shape(), x);
    let refusals = [
        panic_message(|| drop(grad(pure)(scalar(1.0)))),
        panic_message(|| drop(grad(io)(scalar(1.0)))),
    ];
    for (name, text) in ["pure_callback", "io_callback"].iter().zip(refusals) {
        assert!(
            text.starts_with(&format!("{name}: has no derivative")),
            "{text}"
        );
        assert!(text.contains("custom_jvp"), "{text}");
    }
    let stopped = grad(move |x: Array| pure(x.stop_gradient()) * &x)(scalar(3.0));
    assert_eq!(stopped.item::<f32>(), 3.0);
}

#[test]
fn failures_are_errors_of_the_execution() {
    let _alone = alone();
    let shape = || Array::shape_dtype_struct(&[2], DType::F32);
    let wrong = jit(move |x: Array| pure_callback(|_: Array| f32s(&[1.0]), shape(), x));
    let text = match wrong.compile((scalar(0.0),)).unwrap().run((scalar(0.0),)) {
        Ok(y) => y.try_to_vec::<f32>().unwrap_err().to_string(),
        Err(e) => e.to_string(),
    };
    assert!(
        text.contains("returned f32[1] as array 0, but f32[2] was expected")
            && text.contains("tests/callback.rs"),
        "{text}"
    );
    assert!(effects_barrier().is_ok(), "reported once");
    let panics = jit(|x: Array| {
        debug::callback(|_: Array| panic!("no such file, called at dawn"), x);
    });
    // An effect without a result is reported by the barrier, at the latest.
    let launched = panics.compile((scalar(0.0),)).unwrap().run((scalar(0.0),));
    let reports = [launched.err(), effects_barrier().err()];
    let [text] = &reports
        .iter()
        .flatten()
        .map(ToString::to_string)
        .collect::<Vec<_>>()[..]
    else {
        panic!("one report, not {reports:?}");
    };
    assert!(
        text.contains("debug_callback: panicked: no such file, called at dawn\n  called at ")
            && text.contains("tests/callback.rs"),
        "{text}"
    );
    assert!(effects_barrier().is_ok(), "reported once");
    // After a failure ordered effects go on.
    let fail = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let log = Log::default();
    let flag = fail.clone();
    let ordered = jit(|x: Array| {
        let (flag, log) = (flag.clone(), log.clone());
        debug::callback_with(
            move |x: Array| {
                assert!(!flag.load(std::sync::atomic::Ordering::SeqCst), "not yet");
                log.push(&x);
            },
            x,
            Ordered,
        );
    });
    let compiled = ordered.compile((scalar(0.0),)).unwrap();
    let launched = compiled.run((scalar(1.0),));
    assert_ne!(launched.is_err(), effects_barrier().is_err(), "one of them");
    // Failures that nobody was given are those of the barrier.
    let unread = jit(move |x: Array| pure_callback(|_: Array| panic!("unread"), shape(), x));
    drop(
        unread
            .compile((scalar(0.0),))
            .unwrap()
            .run((scalar(0.0),))
            .map(drop),
    );
    drop(effects_barrier());
    assert!(effects_barrier().is_ok());
    fail.store(false, std::sync::atomic::Ordering::SeqCst);
    compiled.run((scalar(2.0),)).unwrap();
    assert_eq!(log.take(), [2.0]);
}

#[test]
fn operations_inside_a_callback_are_refused_and_reading_is_not() {
    let _alone = alone();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = seen.clone();
    let f = jit(|x: Array| {
        let log = log.clone();
        debug::callback(
            move |x: Array| {
                let text = panic_message(|| &x + 1.0);
                let made = Array::from_vec(vec![1.5f32; 1 << 16], &[1 << 16]);
                let sum: f32 = made.to_vec::<f32>().iter().sum();
                log.lock().unwrap().push(format!("{x} {sum} {text}"));
                let text = panic_message(|| drop(effects_barrier()));
                log.lock().unwrap().push(text);
            },
            x,
        );
    });
    f(f32s(&[1.0, 2.0]));
    effects_barrier().unwrap();
    let seen = seen.lock().unwrap();
    assert!(
        seen[0].starts_with("[1. 2.] 98304 add: arrays cannot be computed with"),
        "{seen:?}"
    );
    assert!(
        seen[1].starts_with("effects_barrier: a callback cannot wait"),
        "{seen:?}"
    );
}

/// In a process of its own: the exit does not wait for the program that waits for the callback.
#[test]
fn a_callback_may_end_the_process() {
    const NAME: &str = "a_callback_may_end_the_process";
    if std::env::var_os("RAMIE_TEST_EXIT").is_some() {
        let program = jit(|x: Array| {
            debug::callback(|_: Array| std::process::exit(3), x.matmul(&x).sum());
        });
        program(Array::ones(&[512, 512], DType::F32));
        drop(effects_barrier());
        return;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env("RAMIE_TEST_EXIT", "1")
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3));
}

/// In a process with a cache of its own: which programs it keeps.
#[test]
fn programs_with_callbacks_are_not_kept() {
    const NAME: &str = "programs_with_callbacks_are_not_kept";
    if std::env::var_os("RAMIE_TEST_CACHE").is_some() {
        let log = Log::default();
        let f = |x: Array| {
            log.see(&x);
            x
        };
        jit(f)(scalar(1.0));
        jit(f)(scalar(2.0));
        assert_eq!(log.take(), [1.0, 2.0], "each calls its own function");
        assert_eq!(compilation_stats().compiled, 2);
        if std::env::var("RAMIE_TEST_CACHE").is_ok_and(|v| v == "both") {
            jit(|x: Array| x * 2.0)(scalar(1.0));
        }
        return;
    }
    // Compiling for the linked backend takes little longer than reading a file.
    let kept = usize::from(!is_linked());
    for (which, expected) in [("callbacks", 0), ("both", kept)] {
        let folder = tempfile::tempdir().unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--test-threads=1"])
            .env("RAMIE_TEST_CACHE", which)
            .env("RAMIE_COMPILATION_CACHE", folder.path())
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
        assert_eq!(
            std::fs::read_dir(folder.path()).map_or(0, Iterator::count),
            expected
        );
    }
}

/// What a print writes, in a process of its own.
#[test]
fn prints_are_written() {
    const NAME: &str = "prints_are_written";
    if std::env::var_os("RAMIE_TEST_PRINTS").is_some() {
        let f = jit(|x: Array, y: Array| {
            debug::print_with("x = {}, y = {:.2}", &[&x, &y], Ordered);
            debug::print_with("{{typed}} {:?}", &[&y], Ordered);
        });
        f(f32s(&[1.0, 2.5]), scalar(2.0 / 3.0));
        vmap(|x: Array| debug::print("row {}", &[&x]))(f32s(&[7.0, 8.0]));
        let (step, loss) = (Array::from(7), scalar(0.25));
        debug::print("{step:>3}: {loss:.3f}", [("loss", &loss), ("step", &step)]);
        debug::print("nothing", &[]);
        effects_barrier().unwrap();
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
        .env("RAMIE_TEST_PRINTS", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "x = [1.  2.5], y = 0.67\n{typed} Array(0.6666667, dtype=float32)\nrow 7.0\nrow \
                    8.0\n  7: 0.250\nnothing\n";
    assert!(text.contains(expected), "{text}");
    let wrong = panic_message(|| debug::print("{} {}", &[&scalar(1.0)]));
    assert!(
        wrong.contains("has 2 placeholders, but 1 arrays were passed"),
        "{wrong}"
    );
}

#[test]
fn callbacks_run_inside_of_control_flow() {
    let _alone = alone();
    let log = Log::default();
    let steps = |x: Array| {
        scan(
            |sum: Array, x: Array| {
                let sum = sum + &x;
                log.see_in_order(&sum);
                (sum, x)
            },
            scalar(0.0),
            x,
        )
        .0
    };
    let x = f32s(&[1.0, 2.0, 3.0]);
    assert_eq!(jit(steps)(x.clone()).item::<f32>(), 6.0);
    assert_eq!(log.take(), [1.0, 3.0, 6.0]);
    steps(x.clone());
    assert_eq!(log.take(), [1.0, 3.0, 6.0], "outside of jit");
    jit(grad(steps))(x.clone());
    assert_eq!(log.take(), [1.0, 3.0, 6.0], "grad");

    let unordered = |x: Array| {
        let body = |s: Array, x: Array| {
            log.see(&x);
            (s + x, ())
        };
        scan(body, scalar(0.0), x).0
    };
    let rows = f32s(&[1.0, 2.0, 3.0, 4.0]).reshape(&[2, 2]);
    jit(vmap(unordered))(rows);
    assert_eq!(log.sorted(), [1.0, 2.0, 3.0, 4.0]);

    let countdown = jit(|n: Array| {
        log.see_in_order(&(&n + 0.5));
        let left = while_loop(
            |n: Array| n.gt(0.0),
            |n: Array| {
                log.see_in_order(&n);
                cond(
                    n.gt(1.5),
                    |n: Array| {
                        log.see_in_order(&(&n * 10.0));
                        n - 1.0
                    },
                    |n: Array| n - 1.0,
                    n,
                )
            },
            n,
        );
        log.see_in_order(&left);
        left
    });
    countdown(scalar(3.0));
    assert_eq!(log.take(), [3.5, 3.0, 30.0, 2.0, 20.0, 1.0, 0.0]);

    let doubled = jit(|x: Array| {
        let shape = || Array::shape_dtype_struct(&[], DType::F32);
        let double = |x: Array| Array::from(x.item::<f32>() * 2.0);
        fori_loop(0, 4, |_, x: Array| pure_callback(double, shape(), x), x)
    });
    assert_eq!(doubled(scalar(1.0)).item::<f32>(), 16.0);
}

#[test]
fn batched_choices_and_loops_show_what_they_compute() {
    let _alone = alone();
    let log = Log::default();
    let choose = |x: Array| {
        let show = |x: Array| {
            log.see(&x);
            x
        };
        cond(x.gt(0.0), show, |x: Array| -x, x)
    };
    let x = || f32s(&[1.0, -2.0]);
    jit(vmap(choose))(x());
    assert_eq!(
        log.sorted(),
        [-2.0, 1.0],
        "both branches run for all examples"
    );
    let count = |n: Array| {
        let step = |n: Array| {
            log.see(&n);
            n - 1.0
        };
        while_loop(|n: Array| n.gt(0.0), step, n)
    };
    jit(vmap(count))(f32s(&[2.0, 1.0]));
    assert_eq!(log.sorted(), [0.0, 1.0, 1.0, 2.0], "until the last is done");
    let writes = |x: Array| {
        let shape = || Array::shape_dtype_struct(&[], DType::F32);
        cond(
            x.gt(0.0),
            move |x: Array| io_callback(|x: Array| x, shape(), x),
            |x: Array| x,
            x,
        )
    };
    let refused = panic_message(|| drop(jit(vmap(writes))(x())));
    assert!(
        refused.contains("cond: a branch has an io_callback"),
        "{refused}"
    );
}

#[test]
fn many_threads_call_back_at_once() {
    let _alone = alone();
    let log = Log::default();
    let f = jit(|x: Array| {
        // Large enough to run and to be handed over without waiting.
        let y = x.matmul(&x);
        let shape = Array::shape_dtype_struct(&[256, 256], DType::F32);
        let slow = |y: Array| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            Array::from_vec(y.to_vec::<f32>(), &[256, 256])
        };
        let y = pure_callback(slow, shape, y);
        log.see(&y.max());
        log.see_in_order(&y.min());
        y.sum()
    });
    let x = Array::ones(&[256, 256], DType::F32);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let sums: Vec<Array> = (0..8).map(|_| f(x.clone())).collect();
                for sum in sums {
                    assert_eq!(sum.item::<f32>(), 256.0 * 65536.0);
                }
            });
        }
    });
    assert_eq!(log.take(), vec![256.0; 64]);
}

//! What a process may not exceed, and the end of its threads. Each case is a process
//! of its own: without the checks it dies, or its limits would be those of the others.
#![cfg(target_os = "linux")]

use ramie_core::lax::{Padding, avg_pool, conv, conv_with_general_padding, max_pool};
use ramie_core::numpy::{QuantileMethod, Side};
use ramie_core::options::{Quantile, Segments, Unique};
use ramie_core::*;
use ramie_testing::{is_linked, panic_message};
use std::cell::RefCell;
use std::process::{Command, Output};

/// What the processes of these tests run; alone it does nothing.
#[test]
fn child() {
    match std::env::var("RAMIE_TEST_PART").as_deref() {
        Ok("large") => large(),
        Ok("first") => println!("sum {}", Array::from([1.0f32, 2.0]).sum().item::<f32>()),
        Ok("thread") => thread(),
        Ok("unchecked") => unchecked(),
        Ok(other) => panic!("no part {other}"),
        Err(_) => {}
    }
}

/// A child under a limit such as `ulimit -v 1000`, if any.
fn start(part: &str, limit: &str, variables: &[(&str, &str)]) -> Output {
    let mut shell = Command::new("sh");
    shell
        .args([
            "-c",
            &format!("{limit}\nexec \"$0\" --exact child --nocapture"),
        ])
        .arg(std::env::current_exe().expect("this program"))
        .env("RAMIE_TEST_PART", part)
        .env("RAMIE_COMPILATION_CACHE", "off")
        .env("RUST_BACKTRACE", "0")
        .envs(variables.iter().copied());
    shell.output().expect("the child starts")
}

/// What a child that ended by itself printed and reported.
fn texts(out: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, errors) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.code().is_some(), "{}: {errors}", out.status);
    (printed, errors)
}

/// More elements than any machine has memory for.
const HUGE: usize = 1 << 44;

fn large() {
    let refused = |what: &str, text: String| {
        for part in [
            what,
            "needs ",
            " of host memory, but only ",
            " is available, limited by ",
            "help: ",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    };
    // Made by an operation,
    refused(
        "70.4 TB",
        panic_message(|| drop(Array::zeros(&[HUGE], DType::F32))),
    );
    refused(
        "70.4 TB",
        panic_message(|| drop(Array::from(1.0f32).broadcast_to(&[HUGE]))),
    );
    // by a program, as a result or on the way to one, whose state stays as it was,
    let n = 1 << 22;
    let step = jit(|state: &mut Array, by: Array| {
        let table = state.reshape(&[n, 1]) * by;
        *state = table.sort(-1).sum_over(1);
    });
    let mut state = Array::ones(&[n], DType::F32);
    let text = panic_message(|| step(&mut state, Array::ones(&[1, n], DType::F32)));
    refused(" of temporaries", text);
    assert_eq!(
        state.sum().item::<f32>(),
        n as f32,
        "the state is as before"
    );
    // or by no machine at all.
    let text = panic_message(|| drop(Array::zeros(&[1 << 40, 1 << 40], DType::F32)));
    assert!(text.contains("more than a process can address"), "{text}");
    assert_eq!(Array::zeros(&[1 << 40, 0], DType::F32).size(), 0);
    println!("refused");
}

#[test]
fn an_array_too_large_for_the_machine_is_an_error() {
    let (printed, errors) = texts(&start("large", "", &[]));
    assert!(printed.contains("refused"), "{errors}");
}

/// Programs that run out of memory while they run, one after the other.
fn unchecked() {
    let n = 1 << 22;
    let step = jit(|state: &mut Array, by: Array| {
        let table = state.reshape(&[n, 1]) * by;
        *state = table.sort(-1).sum_over(1);
    });
    let mut state = Array::ones(&[n], DType::F32);
    for _ in 0..3 {
        let by = Array::ones(&[1, n], DType::F32);
        // Each plugin has its own temporaries.
        let text = if is_linked() {
            // The linked backend computes before the call returns, and refuses a lost state.
            state = Array::ones(&[n], DType::F32);
            let text = panic_message(|| step(&mut state, by));
            assert!(text.contains(": Out of memory allocating 7"), "{text}");
            text
        } else {
            step(&mut state, by);
            let read = state.try_to_vec::<f32>();
            let text = read.expect_err("no memory").to_string();
            let allocation = "computing a buffer: Out of memory allocating 7";
            assert!(text.starts_with(allocation), "{text}");
            text
        };
        assert!(text.contains(" bytes. While the program ran"), "{text}");
        assert!(
            text.contains("state passed by `&mut`: they are lost"),
            "{text}"
        );
        assert!(
            text.contains("help: restore the state from a checkpoint"),
            "{text}"
        );
    }
    // The process goes on.
    state = Array::ones(&[n], DType::F32);
    println!("sum {}", state.sum().item::<f32>());
}

#[test]
fn a_program_that_runs_out_of_memory_says_so_once() {
    let out = start(
        "unchecked",
        "ulimit -v 8000000",
        &[("RAMIE_CHECK_MEMORY", "0")],
    );
    let (printed, errors) = texts(&out);
    assert!(printed.contains("sum 4194304"), "{printed}{errors}");
}

#[test]
fn limits_of_the_process_are_seen() {
    let out = start("large", "ulimit -v 8000000", &[]);
    let (printed, errors) = texts(&out);
    assert!(printed.contains("refused"), "{errors}");
    assert!(errors.contains("(`ulimit -v`)"), "{errors}");
}

#[test]
fn a_plugin_without_room_is_not_loaded() {
    if is_linked() {
        // The linked backend is a part of the program.
        return;
    }
    let out = start("first", "ulimit -v 400000", &[]);
    let (printed, errors) = texts(&out);
    assert!(!printed.contains("sum"), "{printed}");
    assert!(errors.contains("loading the plugin `"), "{errors}");
    assert!(
        errors.contains("limit of 409.6 MB (`ulimit -v`)"),
        "{errors}"
    );
}

#[test]
fn a_file_over_the_limit_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let out = start("first", "ulimit -f 0", &[("RAMIE_DUMP_IR_TO", path)]);
    let (_, errors) = texts(&out);
    assert!(errors.contains(&format!("{path}/0000_")), "{errors}");
    assert!(errors.contains("File too large"), "{errors}");
    // A program that cannot be kept runs all the same.
    let cache = folder.path().join("cache");
    let cache = cache.to_str().expect("text");
    let out = start(
        "first",
        "ulimit -f 0",
        &[("RAMIE_COMPILATION_CACHE", cache)],
    );
    let (printed, errors) = texts(&out);
    assert!(printed.contains("sum 3"), "{errors}");
}

/// A value whose destructor computes, in every way that an array can be made.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        let x = Array::from([1.0f32, 2.0]);
        let sum = (&x * 2.0).sum().item::<f32>();
        let jitted = jit(|x: Array| x.exp().sum())(x.clone()).item::<f32>();
        let slope = grad(|x: Array| (&x * &x).sum())(x.clone()).to_vec::<f32>();
        let mapped = vmap(|x: Array| x + 1.0)(x).to_vec::<f32>();
        let key = random::key(3);
        let drawn = random::uniform(&key, &[2], DType::F32).size();
        println!("{sum} {jitted:.3} {slope:?} {mapped:?} {drawn} at the end");
    }
}

thread_local! { static LAST: RefCell<Option<AtEnd>> = const { RefCell::new(None) }; }

fn thread() {
    // Variables are destroyed in the opposite order of their first use.
    for used_before in [false, true] {
        let ran = std::thread::spawn(move || {
            if used_before {
                LAST.set(Some(AtEnd));
            }
            let shape = [3, usize::from(used_before) + 4];
            let x = jit(move |x: Array| x + Array::ones(&shape, DType::F32))(Array::from(1.0f32));
            assert_eq!(vmap(|x: Array| x.sum())(x).size(), 3);
            if !used_before {
                LAST.set(Some(AtEnd));
            }
        });
        ran.join().expect("the thread ends");
    }
}

#[test]
fn a_thread_computes_until_its_end() {
    let (printed, errors) = texts(&start("thread", "", &[]));
    let expected = "6 10.107 [2.0, 4.0] [2.0, 3.0] 2 at the end";
    assert_eq!(printed.matches(expected).count(), 2, "{printed}{errors}");
}

/// More elements than `i32` counts.
const LONG: usize = (1 << 31) + 8;

/// The program of a function of arrays of a shape, as text.
fn lowered(
    f: impl Fn(&Array) -> Array + Send + Sync + 'static,
    shape: &[usize],
    dtype: DType,
) -> String {
    let x = Array::shape_dtype_struct(shape, dtype);
    let staged = jit(move |x: Array| f(&x))
        .lower((x,))
        .expect("it is staged");
    staged.as_text().to_string()
}

#[test]
fn counts_of_long_axes_are_refused_by_name() {
    type Operation = fn(&Array) -> Array;
    let cases: [(&str, Operation); 13] = [
        ("unique", |x| Unique::new().size(2).of(x).values),
        ("unique", |x| Unique::new().size(2).axis(0).of(x).counts),
        ("bincount", |x| x.bincount_sized(4)),
        ("nonzero", |x| x.flatnonzero_sized(3, 0)),
        ("nonzero", |x| x.argwhere_sized(3, 0)),
        ("searchsorted", |x| x.searchsorted(3, Side::Left)),
        ("searchsorted", |x| Array::from([3i8]).digitize(x)),
        ("histogram", |x| x.histogram(3).0),
        ("quantile", |x| {
            let inverted = Quantile::all().method(QuantileMethod::InvertedCdf);
            x.quantile_over(0.5, inverted)
        }),
        ("cumsum", |x| x.eq(0).cumsum(0)),
        ("cumsum", |x| x.eq(0).cumsum_reversed(0)),
        ("insert", |x| x.insert(1, 0, 0)),
        ("compress", |x| x.compress_sized(&x.eq(0), 0, 2, 0)),
    ];
    for (name, f) in cases {
        let text = panic_message(|| {
            eval_shape(
                |x: Array| f(&x),
                Array::shape_dtype_struct(&[LONG], DType::I8),
            );
        });
        assert!(text.starts_with(&format!("{name}: the ")), "{name}: {text}");
        assert!(
            text.contains("which exceeds the largest i32, 2147483647"),
            "{name}: {text}"
        );
        assert!(text.contains("help: "), "{name}: {text}");
    }
    // The longest axis that `i32` counts, and sums of numbers.
    let x = Array::shape_dtype_struct(&[(1 << 31) - 1], DType::I8);
    eval_shape(|x: Array| Unique::new().size(2).of(&x).values, x);
    let x = Array::shape_dtype_struct(&[LONG], DType::I8);
    assert_eq!(eval_shape(|x: Array| x.cumsum(0), x).shape(), [LONG]);
}

#[test]
fn positions_along_long_axes_have_64_bits() {
    type Operation = fn(&Array) -> Array;
    let cases: [(&str, Operation); 7] = [
        ("quantile", |x| x.quantile(0.5)),
        ("median", |x| x.nanmedian_over(0)),
        ("segment_sum", |x| x.segment_sum(&x.astype(DType::I32), 3)),
        ("buckets", |x| {
            let ids = x.astype(DType::I32);
            Segments::new(3).bucket_size(1 << 32).sum(x, &ids)
        }),
        ("roll_dynamic", |x| {
            x.roll_dynamic(
                &x.slice_in_dim(0, 1, 1, 0).squeeze(&[0]).astype(DType::I32),
                0,
            )
        }),
        ("choice", |x| random::choice(&random::key(0), x, &[2])),
        ("weighted", |x| {
            random::Choice::of(x).p(x).draw(&random::key(0), &[2])
        }),
    ];
    for (name, f) in cases {
        let text = lowered(f, &[LONG], DType::F32);
        // The size as it would be in 32 bits is -2147483640.
        assert!(!text.contains("-214748364"), "{name}: {text}");
        let reads = text.lines().filter(|line| {
            let reads = ["gather\"", "dynamic_slice", "dynamic_gather"];
            reads.iter().any(|op| line.contains(op)) && line.contains("2147483656")
        });
        for line in reads {
            assert!(!line.contains("i32"), "{name}: {line}");
        }
    }
    // Numbers of segments beyond 32 bits.
    let ids = Array::shape_dtype_struct(&[4], DType::I8);
    let sums = jit(|ids: Array| Array::ones(&[4], DType::I8).segment_sum(&ids, LONG));
    let text = sums
        .lower((ids,))
        .expect("it is staged")
        .as_text()
        .to_string();
    assert!(!text.contains("-214748364"), "{text}");
}

#[test]
fn windows_beyond_all_addresses_are_refused() {
    type Operation = fn(&Array) -> Array;
    const FAR: isize = 1 << 58;
    let cases: [(&str, Operation); 6] = [
        ("reduce_window_max: the padded axis 1", |x| {
            max_pool(x, &[2, 2], &[1, 1], [(FAR, FAR), (0, 0)])
        }),
        ("reduce_window_max: the sizes of shape", |x| {
            max_pool(x, &[2, 2], &[1, 1], [(FAR / 4, 0), (0, 0)])
        }),
        ("reduce_window_sum: the stride along axis 1", |x| {
            avg_pool(x, &[2, 2], &[FAR as usize, 1], Padding::Valid)
        }),
        ("conv_general_dilated: the padded axis 2", |x| {
            conv(x, x, &[1, 1], [(isize::MAX, isize::MAX), (0, 0)])
        }),
        ("conv_general_dilated: the dilated axis 2", |x| {
            conv_with_general_padding(x, x, &[1, 1], Padding::Valid, &[usize::MAX, 1], &[1, 1])
        }),
        // A gradient dilates by the stride.
        (
            "conv_general_dilated: axis 2 has 4294967297 elements",
            |x| {
                let pads = [(1 << 32, 0), (0, 0)];
                let sum = |x: Array| conv(&x, &x.stop_gradient(), &[1 << 32, 1], pads).sum();
                grad(sum)(x.clone())
            },
        ),
    ];
    for (start, f) in cases {
        let shape = if start.starts_with("conv") {
            [1, 1, 4, 4]
        } else {
            [1, 4, 4, 1]
        };
        let x = Array::shape_dtype_struct(&shape, DType::F32);
        let text = panic_message(|| {
            eval_shape(|x: Array| f(&x), x);
        });
        assert!(text.starts_with(start), "{start}: {text}");
        assert!(text.contains("more than a"), "{text}");
    }
}

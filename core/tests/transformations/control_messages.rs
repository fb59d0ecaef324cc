//! What control flow says about mistakes.

use ramie_core::lax::{cond, fori_loop, fori_loop_with, map, scan, switch, while_loop};
use ramie_core::options::ForiLoopOptions;
use ramie_core::*;
use ramie_testing::assert_panics;

fn numbers(values: &[f32]) -> Array {
    Array::from(values.to_vec())
}

fn f32s(x: &Array) -> Vec<f32> {
    x.to_vec::<f32>()
}

/// A carry that changes is explained leaf by leaf, with types and a remedy.
#[test]
fn carries_that_change_are_explained() {
    let init = || {
        (
            Array::from(0.0f32),
            vec![numbers(&[1.0, 2.0]), Array::from(1)],
        )
    };
    type Carry = (Array, Vec<Array>);
    let widen = |(a, v): Carry, x: Array| {
        let b = concatenate(&[&v[0], &v[0]], 0);
        ((a, vec![b, &v[1] * &x]), x)
    };
    assert_panics(
        || drop(scan(widen, init(), numbers(&[1.0, 2.0]))),
        &[
            "scan: the body must return a carry with the structure and types of its argument",
            "`1.0`: the initial carry has f32[2], the returned carry has f32[4]",
            "`1.1`: the initial carry has i32[], the returned carry has f32[]",
            "help:",
        ],
    );
    let shorten = |(a, mut v): Carry| {
        v.pop();
        (a, v)
    };
    assert_panics(
        || drop(while_loop(|(a, _): Carry| a.gt(0.0), shorten, init())),
        &[
            "while_loop:",
            "`1.1`: the initial carry has i32[], the returned carry has none",
        ],
    );
    // Paths are those of the caller's carry, also beside a counter.
    let step = |_: Array, (a, b): (Array, Array)| (b.clone(), a * b);
    let init = || (Array::from(1), Array::from(1.0f32));
    let parts = [
        "fori_loop:",
        "`0`: the initial carry has i32[], the returned carry has f32[]",
    ];
    assert_panics(|| drop(fori_loop(0, 5, step, init())), &parts);
    let traced = |n: Array| fori_loop(0, n, step, init());
    assert_panics(|| drop(jit(traced)(Array::from(5))), &parts);
    // What is not an array cannot change.
    assert_panics(
        || {
            drop(fori_loop(
                0,
                3,
                |_, (n, x): (usize, Array)| (n + 1, x),
                (0, Array::from(1)),
            ))
        },
        &["fori_loop:", "not an array"],
    );
}

#[test]
fn branches_that_differ_are_explained() {
    let x = numbers(&[1.0, 2.0]);
    assert_panics(
        || {
            drop(cond(
                true,
                |x: Array| (x.clone(), x.sum()),
                |x| (x.clone(), x),
                x.clone(),
            ))
        },
        &[
            "cond:",
            "`1`: true_fn has f32[], false_fn has f32[2]",
            "help:",
        ],
    );
    assert_panics(
        || {
            let longer = |x: Array| vec![x.clone(), x];
            drop(switch(
                0,
                &[&|x: Array| vec![x], &longer, &|x| vec![x]],
                x.clone(),
            ));
        },
        &["switch:", "`1`: branch 1 has f32[2], branch 0 has none"],
    );
    assert_panics(
        || drop(cond(x.gt(0.0), |()| x.clone(), |()| x.clone(), ())),
        &["cond:", "bool[2]", "vmap"],
    );
    assert_panics(
        || drop(switch(1.5, &[&|x: Array| -x, &|x| x], x.clone())),
        &["switch:", "f32[]"],
    );
}

#[test]
fn loops_that_make_no_sense_are_explained() {
    let x = numbers(&[1.0, 2.0]);
    let y = numbers(&[1.0, 2.0, 3.0]);
    let sum = |c: Array, (x, y): (Array, Array)| (c + x + y, ());
    assert_panics(
        || drop(scan(sum, Array::from(0.0f32), (x.clone(), y.clone()))),
        &[
            "scan: lengths differ",
            "2 for `0` of xs, but 3 for `1` of xs",
        ],
    );
    assert_panics(
        || {
            drop(scan(
                sum,
                Array::from(0.0f32),
                (x.clone(), Array::from(1.0f32)),
            ))
        },
        &["`1` of xs is f32[]", "no axis"],
    );
    assert_panics(
        || drop(scan(|c: Array, ()| (c, ()), x.clone(), ())),
        &["the number of steps is unknown", "length: Some(n)"],
    );
    assert_panics(
        || drop(while_loop(|x: Array| x, |x| x, x.clone())),
        &["while_loop:", "f32[2]", ".any()"],
    );
    assert_panics(
        || {
            drop(fori_loop(
                0,
                Array::from(1.0f32),
                |_, x: Array| x,
                x.clone(),
            ))
        },
        &["fori_loop: bounds must be scalar integers"],
    );
    let twice = ForiLoopOptions { unroll: 2 };
    assert_panics(
        || {
            drop(jit(move |n: Array| {
                fori_loop_with(0, n, |i, x| x + i, 0.into_array(), twice)
            })(Array::from(3)))
        },
        &["fori_loop: unroll = 2 requires known bounds"],
    );
}

#[test]
fn reverse_mode_of_a_while_loop_names_the_remedy() {
    let f = |x: Array| while_loop(|x: Array| x.lt(10.0), |x| &x * &x, x);
    assert_panics(
        move || drop(grad(f)(Array::from(2.0f32))),
        &[
            "while_loop: has no reverse-mode derivative",
            "fori_loop",
            "scan",
            "jvp",
        ],
    );
    // Nothing that is differentiated goes through this one.
    let g = |x: Array| {
        let n = while_loop(|n: Array| n.lt(10), |n| n * 2, Array::from(1));
        x * n.astype(DType::F32)
    };
    assert_eq!(grad(g)(Array::from(2.0f32)).item::<f32>(), 16.0);
    let h = |x: Array, n: Array| fori_loop(0, n, |_, x: Array| x * 3.0, x);
    assert_panics(
        move || drop(jit(grad(h))(Array::from(2.0f32), Array::from(2))),
        &["fori_loop: has no reverse-mode derivative"],
    );
}

/// Batched, all branches run: what acts on the world is refused, with the
/// remedy.
#[test]
fn actions_in_batched_choices_are_refused() {
    let log = |x: Array| io_callback(|x: Array| x, x.clone(), x);
    let choose = move |x: Array| cond(x.gt(0.0), log, |x| x, x);
    assert_panics(
        move || drop(vmap(choose)(numbers(&[1.0, -1.0]))),
        &["cond: a branch has an io_callback", "help:", "map"],
    );
    // One choice for all examples is made once.
    let x = numbers(&[1.0, -1.0]);
    let shared = vmap_with(
        move |p: Array, x: Array| cond(p, log, |x| x, x),
        [None, Some(0)],
    );
    assert_eq!(f32s(&shared(Array::from(true), x.clone())), [1.0, -1.0]);
    assert_eq!(f32s(&map(choose, x.clone())), [1.0, -1.0]);
    assert_panics(
        move || {
            let walk = |x: Array| while_loop(|x: Array| x.lt(4.0), |x| log(x + 1.0), x);
            drop(vmap(walk)(numbers(&[1.0, -1.0])));
        },
        &["while: the loop has an io_callback", "help:"],
    );
}

//! Associative scans of trees: results, options, derivatives and mistakes.

use ramie_core::lax::{associative_scan, associative_scan_with};
use ramie_core::options::AssociativeScanOptions;
use ramie_core::{Array, DType, jit, vmap};
use ramie_testing::assert_explained;
use ramie_testing::check;
use ramie_testing::numbers::{Draw, close};
use std::collections::BTreeMap;

/// Composes two steps of the recurrence `x = a·x' + b`.
fn compose((a, b): (Array, Array), (later_a, later_b): (Array, Array)) -> (Array, Array) {
    (&later_a * a, later_a * b + later_b)
}

/// Computes the recurrence along the first axis in a loop.
fn recurrence(a: &Array, b: &Array) -> Array {
    let row = |x: &Array, i: usize| x.slice_in_dim(i, i + 1, 1, 0);
    let mut rows = vec![row(b, 0)];
    for i in 1..a.shape()[0] {
        rows.push(row(a, i) * &rows[i - 1] + row(b, i));
    }
    ramie_core::concatenate(&rows.iter().collect::<Vec<_>>(), 0)
}

fn steps(shape: &[usize]) -> (Array, Array) {
    let mut draw = Draw::new(5);
    let a = draw.array(shape, DType::F64, 0.5, 1.5);
    (a, draw.array(shape, DType::F64, -1.0, 1.0))
}

#[track_caller]
fn is(got: &Array, want: &Array) {
    close(got, want, 1e-12, 1e-12, false).unwrap();
}

#[test]
fn pairs_of_arrays_compute_a_recurrence() {
    for n in [1, 2, 5, 6, 8] {
        let (a, b) = steps(&[n, 2]);
        let (_, x) = associative_scan(compose, (a.clone(), b.clone()));
        is(&x, &recurrence(&a, &b));
    }
    let (a, b) = steps(&[3, 6, 2]);
    let each = vmap(|a: Array, b: Array| associative_scan(compose, (a, b)).1);
    let loops = vmap(|a: Array, b: Array| recurrence(&a, &b));
    is(&each(a.clone(), b.clone()), &loops(a, b));
}

#[test]
fn scans_run_in_reverse_along_any_axis() {
    let long = Array::arange(1000).astype(DType::F64);
    let add = |a: Array, b: Array| a + b;
    let options = |reverse, axis| AssociativeScanOptions { reverse, axis };
    let sums = jit(move |x: Array| associative_scan_with(add, x, options(true, 0)));
    is(&sums(long.clone()), &long.cumsum_reversed(0));
    // The last axis of arrays of several ranks.
    let (x, y) = (steps(&[2, 3, 5]).0, steps(&[5]).1);
    let tree = BTreeMap::from([("x", x.clone()), ("y", y.clone())]);
    type Named = BTreeMap<&'static str, Array>;
    let both = |a: Named, b: Named| {
        let entries = a.into_iter().zip(b.into_values());
        entries.map(|((k, a), b)| (k, a + b)).collect()
    };
    let sums = associative_scan_with(both, tree, options(false, -1));
    is(&sums["x"], &x.cumsum(-1));
    is(&sums["y"], &y.cumsum(0));
    let (a, b) = steps(&[6, 2]);
    let (_, z) = associative_scan_with(compose, (a.t(), b.t()), options(true, 1));
    is(&z.t().flip(&[0]), &recurrence(&a.flip(&[0]), &b.flip(&[0])));
}

#[test]
fn derivatives_agree_with_differences() {
    for (reverse, axis) in [(false, 0), (true, 0), (false, 1)] {
        let scanned = move |xs: &[Array]| {
            let options = AssociativeScanOptions { reverse, axis };
            let pair = (xs[0].clone(), xs[1].clone());
            let (a, x) = associative_scan_with(compose, pair, options);
            vec![a, x]
        };
        let (a, b) = steps(&[5, 4]);
        check::gradients(
            &format!("reverse {reverse}, axis {axis}"),
            &scanned,
            &[a, b],
        );
    }
}

#[test]
fn mistakes_are_named() {
    let (a, b) = steps(&[6, 2]);
    let wrong_size = (a.clone(), b.slice_in_dim(0, 5, 1, 0));
    assert_explained(
        || associative_scan(compose, wrong_size),
        &["associative_scan: f64[5,2] has 5 elements along axis 0, but the first array has 6"],
    );
    assert_explained(
        || {
            associative_scan(
                |x: Vec<Array>, y: Vec<Array>| [x, y].concat(),
                vec![a.clone()],
            )
        },
        &["another structure", "elems: [*]", "the result: [*, *]"],
    );
    assert_explained(
        || associative_scan(|x: (Array,), y: (Array,)| ((x.0 + y.0).sum_over(1),), (a,)),
        &["the function returns f64[3] for elements f64[3,2] at `0`"],
    );
    assert_explained(
        || associative_scan(|x: (), ()| x, ()),
        &["the tree contains no arrays"],
    );
}

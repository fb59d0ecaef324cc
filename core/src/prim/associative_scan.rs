//! Associative scans: all prefix results of an associative operation.

use crate::base::location::in_user_code;
use crate::program::tree;
use crate::{Array, Tree};

/// Computes all prefix results of an associative operation along the first axis, in a logarithmic
/// number of steps (`jax.lax.associative_scan`): element `i` of the result combines the elements of
/// `elems` up to `i`.
///
/// `elems` is a tree. `combine` takes two trees of the same structure, whose arrays have any size
/// along the axis, and combines each element of the first with the same element of the second.
///
/// A linear recurrence `x[i] = a[i] · x[i - 1] + b[i]`, such as the layer S5 for sequences, scans
/// pairs of arrays:
///
/// ```
/// use ramie_core::lax::associative_scan;
/// use ramie_core::Array;
/// type Step = (Array, Array);
/// let (a, b) = (Array::from([0.5f32, 0.5, 0.5]), Array::from([1.0f32, 2.0, 4.0]));
/// let compose = |(a, b): Step, (later_a, later_b): Step| (&later_a * a, later_a * b + later_b);
/// let (_, x) = associative_scan(compose, (a, b));
/// assert_eq!(x.to_vec::<f32>(), [1.0, 2.5, 5.25]);
/// ```
///
/// # Panics
/// Panics if there are no arrays, if an array has no axes, if sizes along the first axis differ, or
/// if `combine` returns a tree of another structure or arrays of other shapes or dtypes.
#[track_caller]
pub fn associative_scan<T: Tree>(combine: impl Fn(T, T) -> T, elems: T) -> T {
    associative_scan_with(combine, elems, AssociativeScanOptions::default())
}

/// Options of [`associative_scan_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct AssociativeScanOptions {
    /// Whether element `i` combines the elements from `i` on. Defaults to false.
    pub reverse: bool,
    /// The axis of all arrays. Defaults to 0.
    pub axis: isize,
}

/// Same as [`associative_scan`], with options.
///
/// ```no_run
/// use ramie_core::lax::associative_scan_with;
/// use ramie_core::options::AssociativeScanOptions;
/// use ramie_core::Array;
/// let x = Array::from([[1.0f32, 2.0, 3.0]]);
/// let options = AssociativeScanOptions { reverse: true, axis: -1 };
/// let sums = associative_scan_with(|a: Array, b: Array| a + b, x, options);
/// assert_eq!(sums.to_vec::<f32>(), [6.0, 5.0, 3.0]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`associative_scan`], and if the axis is out of range.
#[track_caller]
pub fn associative_scan_with<T: Tree>(
    combine: impl Fn(T, T) -> T,
    elems: T,
    options: AssociativeScanOptions,
) -> T {
    let arrays = tree::leaves(&elems);
    let axes = axes_of(&arrays, options.axis);
    let combine = |a: &[Array], b: &[Array]| {
        let of = |arrays: &[Array]| tree::with_leaves(&elems, arrays.iter().cloned());
        let combined = in_user_code(|| combine(of(a), of(b)));
        expect_like(&elems, &combined, b);
        tree::leaves(&combined)
    };
    let turned = |xs: &[Array]| -> Vec<Array> {
        let flip = |(x, &axis): (&Array, &usize)| x.flip(&[axis as isize]);
        xs.iter().zip(&axes).map(flip).collect()
    };
    let scanned = if options.reverse {
        turned(&scan(&combine, &turned(&arrays), &axes))
    } else {
        scan(&combine, &arrays, &axes)
    };
    tree::with_leaves(&elems, scanned)
}

/// Returns the axis of each array, not negative.
#[track_caller]
fn axes_of(arrays: &[Array], axis: isize) -> Vec<usize> {
    assert!(
        !arrays.is_empty(),
        "associative_scan: the tree contains no arrays\n  help: pass an array or a tree of arrays"
    );
    let mut axes = Vec::with_capacity(arrays.len());
    for x in arrays {
        axes.push(x.axis("associative_scan", axis));
    }
    for (x, &axis) in arrays.iter().zip(&axes) {
        let (size, first) = (x.shape()[axis], arrays[0].shape()[axes[0]]);
        assert!(
            size == first,
            "associative_scan: {} has {size} elements along axis {axis}, but the first array has \
             {first}\n  help: arrays that are scanned together must have the same size along the \
             axis",
            x.aval()
        );
    }
    axes
}

/// Panics unless `combined` has the structure of the elements and the types of `operand`.
#[track_caller]
fn expect_like<T: Tree>(elems: &T, combined: &T, operand: &[Array]) {
    if let Some(lines) = tree::structure_mismatch(["elems", "the result"], elems, combined) {
        panic!(
            "associative_scan: the function returns a tree of another structure\n  {lines}\n  help: \
             return the structure of the elements"
        );
    }
    let paths = tree::paths(combined);
    for ((y, x), path) in tree::leaves(combined).iter().zip(operand).zip(paths) {
        let at = if path.is_empty() {
            String::new()
        } else {
            format!(" at `{path}`")
        };
        assert!(
            y.shape() == x.shape() && y.dtype() == x.dtype(),
            "associative_scan: the function returns {} for elements {}{at}\n  help: return an array \
             of the same shape and dtype",
            y.aval(),
            x.aval()
        );
    }
}

/// Returns every `step`-th element along each array's axis.
fn strided(xs: &[Array], axes: &[usize], start: usize, limit: usize, step: usize) -> Vec<Array> {
    xs.iter()
        .zip(axes)
        .map(|(x, &axis)| x.slice_in_dim(start, limit, step, axis as isize))
        .collect()
}

#[track_caller]
fn scan(
    combine: &dyn Fn(&[Array], &[Array]) -> Vec<Array>,
    elems: &[Array],
    axes: &[usize],
) -> Vec<Array> {
    let n = elems[0].shape()[axes[0]];
    if n < 2 {
        return elems.to_vec();
    }
    // Combines pairs first; their prefix results are the results at odd indices.
    let pairs = combine(
        &strided(elems, axes, 0, n - 1, 2),
        &strided(elems, axes, 1, n, 2),
    );
    let odd = scan(combine, &pairs, axes);
    let rest = strided(elems, axes, 2, n, 2);
    let later = match rest[0].shape()[axes[0]] {
        0 => rest,
        count => combine(&strided(&odd, axes, 0, count, 1), &rest),
    };
    let first = strided(elems, axes, 0, 1, 1);
    (0..elems.len())
        .map(|i| {
            let even = crate::concatenate(&[&first[i], &later[i]], axes[i] as isize);
            interleaved(&even, &odd[i], axes[i])
        })
        .collect()
}

/// Interleaves two arrays; the first has as many elements as the second, or one more.
fn interleaved(even: &Array, odd: &Array, axis: usize) -> Array {
    let equal = even.shape()[axis] == odd.shape()[axis];
    let spaced = |x: &Array, before: isize, after: isize| {
        let mut config = vec![(0, 0, 0); x.ndim()];
        config[axis] = (before, after, 1);
        x.lax_pad(&config, Array::scalar(0, x.dtype()))
    };
    let even = spaced(even, 0, isize::from(equal));
    let odd = spaced(odd, 1, isize::from(!equal));
    even.add(&odd)
}

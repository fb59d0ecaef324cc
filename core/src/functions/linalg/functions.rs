//! Products, parts and functions of matrices.

use super::matrix::{identity, matrix_shape, product};
use super::{expect_square, inexact, solve};
use crate::lax::fori_loop;
use crate::options::Reduction;
use crate::prim::fused::fused1;
use crate::prim::operands;
use crate::types::aval::broadcast_shapes;
use crate::{Array, DType, concatenate, where_};
use std::borrow::Borrow;

/// Multiplies several matrices (`jax.numpy.linalg.multi_dot`) in the order that takes the fewest
/// operations. The first and the last array may be vectors.
///
/// ```no_run
/// use ramie_core::{Array, DType, linalg};
/// let [a, b] = [[8, 2], [2, 9]].map(|shape| Array::ones(&shape, DType::F32));
/// let x = Array::ones(&[9], DType::F32);
/// assert_eq!(linalg::multi_dot(&[a, b, x]).to_vec::<f32>(), [18.0; 8]);
/// ```
///
/// # Panics
/// Panics if there are fewer than two arrays, or if the shapes do not fit.
#[track_caller]
pub fn multi_dot<A: Borrow<Array>>(arrays: &[A]) -> Array {
    let arrays: Vec<&Array> = arrays.iter().map(Borrow::borrow).collect();
    let last = arrays.len().saturating_sub(1);
    let fits = arrays.len() >= 2
        && arrays
            .iter()
            .enumerate()
            .all(|(i, a)| a.ndim() == 2 || (a.ndim() == 1 && (i == 0 || i == last)))
        && arrays
            .windows(2)
            .all(|w| w[0].shape().last() == w[1].shape().first());
    assert!(
        fits,
        "multi_dot: shapes {:?} do not fit\n  help: pass two or more matrices, each with as many \
         columns as the next has rows; the first and the last may be vectors",
        arrays.iter().map(|a| a.shape()).collect::<Vec<_>>()
    );
    // sizes[i] and sizes[i + 1] are rows and columns of matrix i.
    let mut sizes = vec![if arrays[0].ndim() == 1 {
        1
    } else {
        arrays[0].shape()[0]
    }];
    for a in &arrays {
        let columns = if sizes.len() > 1 && a.ndim() == 1 {
            1
        } else {
            a.shape()[a.ndim() - 1]
        };
        sizes.push(columns);
    }
    multiply(&arrays, &splits(&sizes), 0, arrays.len())
}

/// Finds the split of each range of factors that minimizes the number of multiplications:
/// `splits[i][j]` for the factors `i..j`.
fn splits(sizes: &[usize]) -> Vec<Vec<usize>> {
    let n = sizes.len() - 1;
    let mut cost = vec![vec![0u128; n + 1]; n + 1];
    let mut split = vec![vec![0; n + 1]; n + 1];
    for length in 2..=n {
        for i in 0..=n - length {
            let j = i + length;
            let work = |k: usize| {
                let own = sizes[i] as u128 * sizes[k] as u128 * sizes[j] as u128;
                cost[i][k] + cost[k][j] + own
            };
            let best = (i + 1..j).min_by_key(|&k| work(k)).expect("two factors");
            let least = work(best);
            (cost[i][j], split[i][j]) = (least, best);
        }
    }
    split
}

#[track_caller]
fn multiply(arrays: &[&Array], splits: &[Vec<usize>], from: usize, to: usize) -> Array {
    if to - from == 1 {
        return arrays[from].clone();
    }
    let middle = splits[from][to];
    multiply(arrays, splits, from, middle).matmul(multiply(arrays, splits, middle, to))
}

/// Returns the `offset`-th diagonals of the matrices along the last two axes
/// (`jax.numpy.linalg.diagonal`), as a new last axis. The dtype is that of `x`.
///
/// # Panics
/// Panics if `x` has fewer than two axes.
#[track_caller]
pub fn diagonal(x: &Array, offset: isize) -> Array {
    assert!(
        x.ndim() >= 2,
        "diagonal: {} is not a matrix\n  help: pass an array with at least two axes",
        x.aval()
    );
    x.diagonal_with(offset, -2, -1)
}

/// Computes the sums of the `offset`-th diagonals of the matrices along the last two axes
/// (`jax.numpy.linalg.trace`).
///
/// # Panics
/// Panics if `x` has fewer than two axes.
#[track_caller]
pub fn trace(x: &Array, offset: isize) -> Array {
    diagonal(x, offset).sum_over(-1)
}

/// Assembles a block diagonal matrix from matrices, with zeros elsewhere
/// (`jax.scipy.linalg.block_diag`). Vectors are rows. A matrix without columns adds rows of zeros.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let x = linalg::block_diag(&[Array::from([[1, 2]]), Array::from([[3], [4]])]);
/// assert_eq!(x.to_vec::<i32>(), [1, 2, 0, 0, 0, 3, 0, 0, 4]);
/// ```
///
/// # Panics
/// Panics if there are no arrays, or if an array has more than two axes.
#[track_caller]
pub fn block_diag<A: Borrow<Array>>(arrays: &[A]) -> Array {
    let arrays: Vec<Array> = arrays.iter().map(|a| a.borrow().clone()).collect();
    assert!(
        !arrays.is_empty() && arrays.iter().all(|a| a.ndim() <= 2),
        "block_diag: expects at least one array, each with at most two axes\n  help: use vmap \
         for a batch"
    );
    let blocks: Vec<Array> = operands::promote_all("block_diag", &arrays)
        .iter()
        .map(|a| operands::lead(a, 2))
        .collect();
    let columns: usize = blocks.iter().map(|b| b.shape()[1]).sum();
    let mut before = 0;
    let rows: Vec<Array> = blocks
        .iter()
        .map(|b| {
            let after = columns - before - b.shape()[1];
            let row = b.pad(&[(0, 0), (before, after)], 0);
            before += b.shape()[1];
            row
        })
        .collect();
    concatenate(&rows, 0)
}

/// Creates matrices with constant diagonals from their first column and their first row
/// (`jax.scipy.linalg.toeplitz`); the first element of `row` is not used. `[.., m]` and `[.., n]`
/// give `[.., m, n]`, where the leading axes broadcast. A 0-d operand is a single element.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let x = linalg::toeplitz(&Array::from([1, 2]), &Array::from([1, 3, 4]));
/// assert_eq!(x.to_vec::<i32>(), [1, 3, 4, 2, 1, 3]);
/// ```
///
/// # Panics
/// Panics if the leading axes do not broadcast.
#[track_caller]
pub fn toeplitz(column: &Array, row: &Array) -> Array {
    let [(column_batch, m), (row_batch, n)] = [column, row].map(|x| match x.shape() {
        [batch @ .., size] => (batch, *size),
        [] => (&[][..], 1),
    });
    let batch = broadcast_shapes(&[column_batch, row_batch]).unwrap_or_else(|| {
        panic!(
            "toeplitz: the leading axes do not broadcast, {} and {}\n  help: pass arrays with \
             the same leading axes, or without leading axes",
            column.aval(),
            row.aval()
        )
    });
    let shaped = |sizes: &[usize]| [&batch, sizes].concat();
    if m == 0 || n == 0 {
        return Array::zeros(&shaped(&[m, n]), crate::dtypes::result_type(&[column, row]));
    }
    let (column, row) = (
        column.broadcast_to(&shaped(&[m])),
        row.broadcast_to(&shaped(&[n])),
    );
    let elements = concatenate(&[column.flip(&[-1]), row.slice_in_dim(1, n, 1, -1)], -1);
    let offset = Array::iota(&[m, n], 1, DType::I32) - Array::iota(&[m, n], 0, DType::I32);
    elements.take(&(offset + (m - 1)), -1)
}

/// Maximum number of squarings of a matrix.
const SQUARINGS: usize = 16;

/// Computes the exponentials of square matrices `[.., n, n]` (`jax.scipy.linalg.expm`) by
/// scaling, a Padé approximant and squaring (Higham, The scaling and squaring method for the
/// matrix exponential revisited, 2005). A matrix with a 1-norm above about 2¹⁸ gives NaN.
///
/// ```no_run
/// use ramie_core::{Array, linalg};
/// let turn = Array::from([[0.0f64, -1.0], [1.0, 0.0]]) * std::f64::consts::PI;
/// let minus_one = Array::from([[-1.0f64, 0.0], [0.0, -1.0]]);
/// assert!(linalg::expm(&turn).allclose(&minus_one).item::<bool>());
/// ```
///
/// # Panics
/// Panics if the matrices are not square, or if the dtype is not `f32`, `f64`, `c64` or `c128`.
#[track_caller]
pub fn expm(a: &Array) -> Array {
    let a = expect_square("expm", &inexact(a));
    if a.size() == 0 {
        return a;
    }
    fused1("expm", (), &[a], |args| expm_of(&args[0]))
}

fn expm_of(a: &Array) -> Array {
    // The largest norm for which the approximant is exact up to rounding.
    let (limit, coefficients): (f64, &[f64]) = match a.dtype().real() {
        DType::F64 => (5.371_920_351_148_152, &PADE_13),
        _ => (3.925_724_783_138_66, &PADE_7),
    };
    let norm = a
        .abs()
        .sum_over(Reduction::over(-2).keepdims())
        .max_over(Reduction::over(-1).keepdims())
        .stop_gradient();
    let squarings = (norm / limit).log2().ceil().maximum(0);
    let a = a * (-&squarings).exp2();
    let ones = identity(matrix_shape(&a).0, a.dtype());
    // The even powers, and the odd powers divided by A.
    let square = product(&a, &a);
    let sum = |start: usize| {
        let mut terms = coefficients[start..].iter().step_by(2).rev();
        let first = &ones * *terms.next().expect("a coefficient");
        let first = first.broadcast_to(a.shape());
        terms.fold(first, |sum, &c| product(&sum, &square) + &ones * c)
    };
    let (even, odd) = (sum(0), product(&a, &sum(1)));
    let ratio = solve(&(&even - &odd), &(even + odd));
    let squared = fori_loop(
        0,
        SQUARINGS,
        |i: Array, (x, left): (Array, Array)| {
            let more = left.gt(i.astype(left.dtype()));
            (where_(&more, product(&x, &x), x), left)
        },
        (ratio, squarings.clone()),
    );
    where_(squarings.le(SQUARINGS), squared.0, f64::NAN)
}

/// Coefficients of the numerators of the diagonal approximants of orders 7 and 13, in order of
/// increasing powers.
const PADE_7: [f64; 8] = [
    17_297_280.0,
    8_648_640.0,
    1_995_840.0,
    277_200.0,
    25_200.0,
    1_512.0,
    56.0,
    1.0,
];
const PADE_13: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];

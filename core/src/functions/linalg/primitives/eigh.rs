//! Eigenvalues and eigenvectors of Hermitian (or real symmetric) matrices.

use super::jacobi::{Rotation, halves, moved_on, or_nan, phase, scale, sweeps};
use super::{batch_in_front, real, square, with_last};
use crate::extend::ShardingRule;
use crate::functions::linalg::matrix::{
    adjoint, diagonal_matrices, diagonals, epsilon, identity, matrix_shape, permuted, product,
    squared_magnitude, symmetrized, transposed, typed_as,
};
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive};
use crate::program::lower::{Lowering, Value};
use crate::{Array, Aval, DType, ShapeError, concatenate, where_};

/// Computes orthonormal eigenvectors of Hermitian matrices, as columns, and their eigenvalues in
/// increasing order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Eigh {
    /// Whether the lower triangle is used, instead of the upper one.
    pub lower: bool,
}

impl Primitive for Eigh {
    fn name(&self) -> &'static str {
        "eigh"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("algorithm", Param::new("None")),
            ("lower", Param::flag(self.lower)),
            ("sort_eigenvalues", Param::flag(true)),
            ("subset_by_index", Param::new("None")),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
        let n = square(args[0])?;
        let values = real(with_last(args[0], &[n]));
        Ok([args[0], values].into_iter().collect())
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // Perturbation theory for distinct eigenvalues: w' is the diagonal of Vᴴ A' V, and V' = V
        // (F ∘ Vᴴ A' V) with F = 1 / (wⱼ - wᵢ) off the diagonal.
        Differentiation::jvp(|_, tangents, results| {
            let Some(tangent) = &tangents[0] else {
                return vec![None, None];
            };
            let (v, w) = (&results[0], &results[1]);
            let ones = identity(matrix_shape(v).0, w.dtype());
            let distances = w.expand_dims(&[-2]) - w.expand_dims(&[-1]);
            let inverse = 1 / (&ones + distances) - ones;
            let inside = product(&product(&adjoint(v), &symmetrized(tangent)), v);
            let v_dot = product(v, &(inverse * &inside));
            vec![Some(v_dot), Some(diagonals(&inside).real())]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batch_in_front(self, args, axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.traced("eigh", args, |args| {
            let a = &args[0];
            let (half, rest) = if self.lower {
                (a.tril(0), a.tril(-1))
            } else {
                (a.triu(0), a.triu(1))
            };
            let half = if a.dtype().is_complex() {
                &rest + diagonal_matrices(&typed_as(&diagonals(a).real(), a))
            } else {
                half
            };
            diagonalize(&(half + adjoint(&rest)))
        })
    }
}

/// Computes eigenvectors and eigenvalues of Hermitian matrices, by rotations that diagonalize
/// them.
fn diagonalize(a: &Array) -> Vec<Array> {
    let n = matrix_shape(a).0;
    if a.size() == 0 {
        return vec![a.clone(), diagonals(a).real()];
    }
    let batch = &a.shape()[..a.ndim() - 2];
    let (scale, finite) = scale(a);
    // Pads to an even number of rows; an added row is only paired with zeros.
    let even = n.next_multiple_of(2);
    let mut widths = vec![(0, 0); a.ndim()];
    widths[a.ndim() - 2].1 = even - n;
    widths[a.ndim() - 1].1 = even - n;
    let matrix = (a / &scale).pad(&widths, 0);
    let size = squared_magnitude(&matrix).sum_over([-2, -1]).sqrt();
    let vectors = identity(even, a.dtype()).broadcast_to(matrix.shape());
    // Rows of the eigenvectors are rotated like those of the matrix.
    let both = concatenate(&[matrix, vectors], -1);
    let outside = identity(even, DType::Bool).logical_not();
    let left = |both: &Array| {
        let matrix = both.slice_in_dim(0, even, 1, -1);
        let rest = where_(&outside, &matrix, matrix.zeros_like());
        let rest = squared_magnitude(&rest).sum_over([-2, -1]).sqrt();
        rest / where_(size.eq(0), size.ones_like(), &size)
    };
    let small = epsilon(a.dtype()) / 8.0;
    let both = sweeps(both, even - 1, small, |both| round(&both, even), left);
    let vectors = both.slice_in_dim(even, 2 * even, 1, -1);
    let vectors = vectors.slice_in_dim(0, n, 1, -2).slice_in_dim(0, n, 1, -1);
    let matrix = both.slice_in_dim(0, n, 1, -2).slice_in_dim(0, n, 1, -1);
    let values = diagonals(&matrix).real() * scale.reshape(&[batch, &[1]].concat());
    let order = values.argsort(-1);
    let values = values.take_along_axis(&order, -1);
    let vectors = own_phase(adjoint(&permuted(&vectors, &order)));
    vec![or_nan(&vectors, &finite), or_nan(&values, &finite)]
}

/// Makes the first element of each complex eigenvector real, as LAPACK does.
fn own_phase(vectors: Array) -> Array {
    match phase(&vectors.slice_in_dim(0, 1, 1, -2)).2 {
        Some(turn) => vectors * turn.conj(),
        None => vectors,
    }
}

/// Performs one round on `[A | Vᴴ]`.
fn round(both: &Array, n: usize) -> Array {
    let mut parts = halves(both, -2);
    let [upper, lower] = [0, 1].map(|i| parts[i].slice_in_dim(0, n, 1, -1));
    let [upper_left, upper_right] = halves(&upper, -1);
    let [_, lower_right] = halves(&lower, -1);
    let (p, q) = (
        diagonals(&upper_left).real(),
        diagonals(&lower_right).real(),
    );
    let (r, wanted, turn) = phase(&diagonals(&upper_right));
    let rotation = Rotation::new(&p, &q, &r, &wanted);
    if let Some(turn) = &turn {
        parts[1] = &parts[1] * turn.expand_dims(&[-1]);
    }
    let rows = moved_on(rotation.rows(&parts), -2);
    let (matrix, vectors) = (
        rows.slice_in_dim(0, n, 1, -1),
        rows.slice_in_dim(n, 2 * n, 1, -1),
    );
    let mut sides = halves(&matrix, -1);
    if let Some(turn) = &turn {
        sides[1] = &sides[1] * turn.conj().expand_dims(&[-2]);
    }
    let matrix = moved_on(rotation.columns(&sides), -1);
    // The exact results of the rotations, without rounding errors off the diagonal.
    let shift = &rotation.tangent * &r;
    let diagonal = [p - &shift, q + shift].map(|x| typed_as(&x, both).expand_dims(&[-1]));
    let diagonal = moved_on(diagonal, -2);
    let exact = where_(identity(n, DType::Bool), diagonal, matrix);
    let exact = where_(met(n), exact.zeros_like(), exact);
    concatenate(&[exact, vectors], -1)
}

/// Returns a mask of the elements between the pairs of rows that were just rotated.
fn met(n: usize) -> Array {
    let index = Array::iota(&[n, 1], 0, DType::I32);
    let ends = halves(&index, -2);
    let partner = moved_on([ends[1].clone(), ends[0].clone()], -2);
    let index = moved_on(ends, -2);
    // The row now at i came from index[i] and was paired with partner[i], which is now where
    // index has that value.
    partner.eq(transposed(&index))
}

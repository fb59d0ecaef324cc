//! The QR decomposition and Householder reflectors.

use super::{batch_in_front, matrix, with_last};
use crate::extend::ShardingRule;
use crate::functions::linalg::matrix::{
    adjoint, diagonal_matrices, diagonals, identity, matrix_shape, product,
};
use crate::functions::linalg::{householder_product, triangular_solve};
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive, one};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::{Array, Aval, ShapeError};

use super::TriangularSolve;

/// Computes a Householder QR decomposition: `R` on and above the diagonal, and below it the
/// reflectors whose product is `Q`; and the reflectors' scalar factors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Geqrf;

impl Primitive for Geqrf {
    fn name(&self) -> &'static str {
        "geqrf"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
        let (rows, columns) = matrix(args[0])?;
        let factors = with_last(args[0], &[rows.min(columns)]);
        Ok([args[0], factors].into_iter().collect())
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Undefined {
            why: "reflectors have no derivative rule",
            help: "differentiate `qr` instead",
        }
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batch_in_front(self, args, axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        // XLA knows this name and expands it on every platform.
        let attributes = "call_target_name = \"Qr\"";
        ctx.op("custom_call", args, outs, attributes, &[])
    }
}

/// Computes the first columns of the product of Householder reflectors: `Q` of a decomposition by
/// [`Geqrf`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HouseholderProduct;

impl Primitive for HouseholderProduct {
    fn name(&self) -> &'static str {
        "householder_product"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects 2 operands, got {}", args.len());
        let (a, factors) = (args[0], args[1]);
        let (rows, columns) = matrix(a)?;
        crate::ensure_shape!(
            a.dtype() == factors.dtype(),
            "operands have different dtypes, {} and {}",
            a.dtype(),
            factors.dtype()
        );
        if rows < columns {
            return Err(ShapeError::new(format!(
                "expects at least as many rows as columns, got {rows} and {columns}"
            ))
            .help("pass a matrix with no more columns than rows"));
        }
        let batch = &a.shape()[..a.ndim() - 2];
        let fits = factors.ndim() + 1 == a.ndim()
            && factors.shape()[..batch.len()] == *batch
            && factors.shape()[batch.len()] <= columns;
        if !fits {
            return Err(ShapeError::new(format!(
                "expects at most {columns} factors for each matrix"
            ))
            .help("pass both results of `geqrf`"));
        }
        one(a)
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2, 1]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Undefined {
            why: "reflectors have no derivative rule",
            help: "differentiate `qr` instead",
        }
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batch_in_front(self, args, axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let attributes = "call_target_name = \"ProductOfElementaryHouseholderReflectors\"";
        ctx.op("custom_call", args, outs, attributes, &[])
    }
}

/// Computes `Q` with orthonormal columns and upper triangular `R` with `A = Q R`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Qr {
    /// Whether `Q` is square. Otherwise it has as many columns as the smaller of the numbers of
    /// rows and columns of `A`.
    pub full_matrices: bool,
}

impl Primitive for Qr {
    fn name(&self) -> &'static str {
        "qr"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("full_matrices", Param::flag(self.full_matrices)),
            ("pivoting", Param::flag(false)),
            ("use_magma", Param::new("None")),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
        let (rows, columns) = matrix(args[0])?;
        let middle = self.middle(rows, columns);
        let q = with_last(args[0], &[rows, middle]);
        let r = with_last(args[0], &[middle, columns]);
        Ok([q, r].into_iter().collect())
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|primals, tangents, results| match &tangents[0] {
            None => vec![None, None],
            Some(tangent) => {
                let (q, r) = tangents_of_qr(&primals[0], tangent, &results[0], &results[1]);
                vec![Some(q), Some(r)]
            }
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batch_in_front(self, args, axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.traced("qr", args, |args| self.reflect(&args[0]))
    }
}

impl Qr {
    /// Returns the number of columns of `Q`, which is the number of rows of `R`.
    fn middle(&self, rows: usize, columns: usize) -> usize {
        if self.full_matrices {
            rows
        } else {
            rows.min(columns)
        }
    }

    /// Computes the decomposition with reflectors.
    fn reflect(&self, a: &Array) -> Vec<Array> {
        let (rows, columns) = matrix_shape(a);
        let middle = self.middle(rows, columns);
        if rows == 0 || columns == 0 {
            // There are no reflectors.
            let batch = &a.shape()[..a.ndim() - 2];
            let q = Array::eye(rows, a.dtype()).slice_in_dim(0, middle, 1, 1);
            let q = q.broadcast_to(&[batch, &[rows, middle]].concat());
            let r = Array::zeros(&[batch, &[middle, columns]].concat(), a.dtype());
            return vec![q, r];
        }
        let parts = bind(Geqrf, &[a]);
        let (packed, factors) = (&parts[0], &parts[1]);
        let reflectors = match columns.cmp(&middle) {
            std::cmp::Ordering::Less => {
                let mut widths = vec![(0, 0); a.ndim()];
                widths[a.ndim() - 1] = (0, middle - columns);
                packed.pad(&widths, 0)
            }
            _ => packed.slice_in_dim(0, middle, 1, -1),
        };
        let q = householder_product(&reflectors, factors);
        let r = packed.slice_in_dim(0, middle, 1, -2).triu(0);
        vec![q, r]
    }
}

/// Computes the tangents of `Q` and `R` of matrices with at least as many rows as columns, where
/// `Q` has as many columns as the matrices (Walter and Lehmann, Algorithmic differentiation of
/// linear algebra functions, 2012).
fn tangents_of_thin(q: &Array, r: &Array, tangent: &Array) -> (Array, Array) {
    let right = triangular_solve(r, tangent, TriangularSolve::new());
    let inside = product(&adjoint(q), &right);
    let below = inside.tril(-1);
    let mut rotation = &below - &adjoint(&below);
    if inside.dtype().is_complex() {
        // Keeps the diagonal of R real.
        let diagonal = diagonals(&inside);
        let imaginary = &diagonal - diagonal.real();
        rotation += diagonal_matrices(&imaginary);
    }
    let stretch = &inside - &rotation;
    (right - product(q, &stretch), product(&stretch, r))
}

fn tangents_of_qr(a: &Array, tangent: &Array, q: &Array, r: &Array) -> (Array, Array) {
    let (rows, columns) = matrix_shape(a);
    let left = |x: &Array, n: usize| x.slice_in_dim(0, n, 1, -1);
    let rest = |x: &Array, n: usize| x.slice_in_dim(n, x.shape()[x.ndim() - 1], 1, -1);
    let above = |x: &Array, n: usize| x.slice_in_dim(0, n, 1, -2);
    let below = |x: &Array, n: usize| x.slice_in_dim(n, x.shape()[x.ndim() - 2], 1, -2);
    if rows < columns {
        // Q is that of the leading square block; the other columns of R are Qᴴ times those of A.
        let (q_dot, r_dot) = tangents_of_thin(q, &left(r, rows), &left(tangent, rows));
        let others =
            product(&adjoint(&q_dot), &rest(a, rows)) + product(&adjoint(q), &rest(tangent, rows));
        let r_dot = crate::concatenate(&[r_dot, others], -1);
        return (q_dot, r_dot);
    }
    let square = q.shape()[q.ndim() - 1];
    let thin = left(q, columns);
    let (q_dot, r_dot) = tangents_of_thin(&thin, &above(r, columns), tangent);
    if square == columns {
        return (q_dot, r_dot);
    }
    // The columns of Q that complete the basis come from the same product of reflectors, which
    // makes them functions of the first columns: with Z = Q₂₁ (Q₁₁ - I)⁻¹, Q₂' = Q₁' Zᴴ - (Q₁ +
    // Q₂ Z) (Q₂₁' - Z Q₁₁')ᴴ.
    let first = above(&thin, columns) - identity(columns, a.dtype());
    let parts = bind(
        Qr {
            full_matrices: false,
        },
        &[&first],
    );
    let solved = triangular_solve(&parts[1], &below(&thin, columns), TriangularSolve::new());
    let z = product(&solved, &adjoint(&parts[0]));
    let turned = below(&q_dot, columns) - product(&z, &above(&q_dot, columns));
    let completion = product(&q_dot, &adjoint(&z))
        - product(&(&thin + product(&rest(q, columns), &z)), &adjoint(&turned));
    let zeros = Array::zeros(
        &[&r.shape()[..r.ndim() - 2], &[square - columns, columns]].concat(),
        r.dtype(),
    );
    (
        crate::concatenate(&[q_dot, completion], -1),
        crate::concatenate(&[r_dot, zeros], -2),
    )
}

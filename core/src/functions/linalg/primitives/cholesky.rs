//! The Cholesky decomposition.

use super::{TriangularSolve, batch_in_front, square};
use crate::dtypes::Scalar;
use crate::extend::ShardingRule;
use crate::functions::linalg::matrix::{identity, product};
use crate::functions::linalg::triangular_solve;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Primitive, one};
use crate::program::lower::{Lowering, Value};
use crate::{Array, Aval, ShapeError};

/// Computes the lower triangular `L` with `A = L Lᴴ`, from the lower triangle of `A`. The
/// elements above its diagonal are unspecified. If a matrix is not positive definite, all
/// elements are NaN.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cholesky;

impl Primitive for Cholesky {
    fn name(&self) -> &'static str {
        "cholesky"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
        square(args[0])?;
        one(args[0])
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // Murray, Differentiation of the Cholesky decomposition (2016):
        // L' = L Φ(L⁻¹ A' L⁻ᴴ), where Φ takes the lower triangle with half of
        // the diagonal.
        Differentiation::jvp(|_, tangents, results| {
            let rule = |tangent: &Array| {
                let factor = results[0].tril(0);
                let left = TriangularSolve::new().left_side().lower();
                let right = TriangularSolve::new().lower().adjoint_a();
                let inner = triangular_solve(&factor, tangent, right);
                let inner = triangular_solve(&factor, &inner, left);
                let weights = identity(inner.shape()[inner.ndim() - 1], inner.dtype()) + 1;
                product(&factor, &(inner.tril(0) / weights))
            };
            vec![tangents[0].as_ref().map(rule)]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batch_in_front(self, args, axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let factor = ctx.op1("cholesky", args, outs[0], "lower = true");
        if !outs[0].dtype().is_complex() {
            return vec![factor];
        }
        // The imaginary part of XLA's NaN is 0.
        let unknown = ctx.compare("NE", [factor, factor]);
        let nan = ctx.splat(Scalar::Complex(f64::NAN, f64::NAN), outs[0]);
        vec![ctx.select(unknown, nan, factor)]
    }
}

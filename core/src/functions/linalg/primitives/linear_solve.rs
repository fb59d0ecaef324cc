//! Linear systems with a known decomposition.

use super::{batch_in_front, batch_side_by_side, square};
use crate::extend::ShardingRule;
use crate::functions::linalg::matrix::{product, transposed};
use crate::functions::linalg::solve_by_factors;
use crate::passes;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive, one};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, ShapeError};

/// Solves `A X = B`, or `Aᵀ X = B`, for `X`, given the LU decomposition of `A`.
///
/// The operands are `A`, its decomposition and permutation as returned by [`Lu`](super::Lu), and
/// `B`. The tangent solves `A X' = B' - A' X` with the same decomposition, which is therefore not
/// differentiated.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinearSolve {
    /// Whether `A` is transposed.
    pub transpose: bool,
}

impl LinearSolve {
    /// Solves the same system with other right-hand sides.
    fn solve(&self, system: &[Array], b: &Array) -> Array {
        bind1(self.clone(), &[&system[0], &system[1], &system[2], b])
    }
}

impl Primitive for LinearSolve {
    fn name(&self) -> &'static str {
        "linear_solve"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("transpose", Param::flag(self.transpose))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 4, "expects 4 operands, got {}", args.len());
        let [a, lu, permutation, b] = [args[0], args[1], args[2], args[3]];
        let size = square(a)?;
        let rows = a.with_shape(&a.shape()[..a.ndim() - 1]);
        crate::ensure_shape!(
            lu.strong() == a.strong()
                && permutation.strong() == rows.with_dtype(DType::I32)
                && b.dtype() == a.dtype(),
            "the decomposition does not match the matrices, or dtypes differ"
        );
        let fits = b.ndim() == a.ndim() && b.shape()[..b.ndim() - 1] == a.shape()[..a.ndim() - 1];
        if !fits {
            return Err(ShapeError::new(format!(
                "the right-hand sides {b} do not fit systems of {size} equations"
            ))
            .help("pass columns, with the batch axes of the matrices"));
        }
        one(b)
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2, 2, 1, 2]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |primals, tangents, results| {
                let of_a = tangents[0].as_ref().map(|t| {
                    let t = if self.transpose {
                        transposed(t)
                    } else {
                        t.clone()
                    };
                    -product(&t, &results[0])
                });
                let right = passes::add_tangents(of_a, tangents[3].clone());
                vec![right.map(|right| self.solve(primals, &right))]
            },
            |cts, operands| {
                let system: Option<Vec<Array>> =
                    operands[..3].iter().map(|o| o.known().cloned()).collect();
                let other = LinearSolve {
                    transpose: !self.transpose,
                };
                let ct = system.zip(cts[0].as_ref());
                vec![
                    None,
                    None,
                    None,
                    ct.map(|(system, ct)| other.solve(&system, ct)),
                ]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let (true, Some(at)) = (axes[..3].iter().all(Option::is_none), axes[3]) else {
            return batch_in_front(self, args, axes, axis.size);
        };
        let columns = args[3].ndim() - 2;
        batch_side_by_side(&args[3], at, columns, |b| self.solve(args, b))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.traced("linear_solve", &args[1..], |args| {
            vec![solve_by_factors(
                &args[0],
                &args[1],
                &args[2],
                self.transpose,
            )]
        })
    }
}

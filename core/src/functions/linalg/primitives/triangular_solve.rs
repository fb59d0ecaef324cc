//! Linear systems with triangular matrices.

use super::{batch_in_front, batch_side_by_side, square};
use crate::extend::ShardingRule;
use crate::functions::linalg::matrix::{product, transposed};
use crate::functions::linalg::triangular_solve;
use crate::passes::add_tangents;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive, one};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, ShapeError};

/// Solves `X op(A) = B`, or `op(A) X = B`, for `X`, where `A` is triangular.
///
/// As in JAX, `A` is by default upper triangular and on the right; its other triangle is ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TriangularSolve {
    /// Whether `A` is on the left of `X`.
    pub left_side: bool,
    /// Whether `A` is lower triangular.
    pub lower: bool,
    /// Whether `op` transposes `A`.
    pub transpose_a: bool,
    /// Whether `op` conjugates `A`, which has no effect on real numbers.
    pub conjugate_a: bool,
    /// Whether the diagonal of `A` is assumed to be ones, and ignored.
    pub unit_diagonal: bool,
}

impl TriangularSolve {
    /// Creates the system `X A = B` with upper triangular `A`.
    pub fn new() -> TriangularSolve {
        TriangularSolve::default()
    }

    /// Sets `A` to be on the left: `A X = B`.
    #[must_use]
    pub fn left_side(self) -> TriangularSolve {
        TriangularSolve {
            left_side: true,
            ..self
        }
    }

    /// Sets `A` to be lower triangular.
    #[must_use]
    pub fn lower(self) -> TriangularSolve {
        TriangularSolve {
            lower: true,
            ..self
        }
    }

    /// Transposes `A`.
    #[must_use]
    pub fn transpose_a(self) -> TriangularSolve {
        TriangularSolve {
            transpose_a: !self.transpose_a,
            ..self
        }
    }

    /// Transposes and conjugates `A`.
    #[must_use]
    pub fn adjoint_a(self) -> TriangularSolve {
        TriangularSolve {
            conjugate_a: !self.conjugate_a,
            ..self.transpose_a()
        }
    }

    /// Sets the diagonal of `A` to ones.
    #[must_use]
    pub fn unit_diagonal(self) -> TriangularSolve {
        TriangularSolve {
            unit_diagonal: true,
            ..self
        }
    }

    /// Computes the tangent of `x` for the tangent of `a`: `-op(A)⁻¹ op(A') X`, with the smaller
    /// of its two products first.
    fn tangent_of_a(&self, a: &Array, a_dot: &Array, x: &Array) -> Array {
        let outside = isize::from(self.unit_diagonal);
        let a_dot = if self.lower {
            a_dot.tril(-outside)
        } else {
            a_dot.triu(outside)
        };
        let a_dot = -&a_dot;
        let a_dot = if self.transpose_a {
            transposed(&a_dot)
        } else {
            a_dot
        };
        let a_dot = if self.conjugate_a {
            a_dot.conj()
        } else {
            a_dot
        };
        let inverse = |b: &Array| triangular_solve(a, b, *self);
        let &[.., rows, columns] = x.shape() else {
            unreachable!("the shape rule wants matrices")
        };
        match self.left_side {
            true if rows > columns => inverse(&product(&a_dot, x)),
            true => product(&inverse(&a_dot), x),
            false if rows < columns => inverse(&product(x, &a_dot)),
            false => product(x, &inverse(&a_dot)),
        }
    }
}

impl Primitive for TriangularSolve {
    fn name(&self) -> &'static str {
        "triangular_solve"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        [
            ("conjugate_a", self.conjugate_a),
            ("left_side", self.left_side),
            ("lower", self.lower),
            ("transpose_a", self.transpose_a),
            ("unit_diagonal", self.unit_diagonal),
        ]
        .map(|(name, value)| (name, Param::flag(value)))
        .to_vec()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects 2 operands, got {}", args.len());
        let (a, b) = (args[0], args[1]);
        let size = square(a)?;
        crate::ensure_shape!(
            a.dtype() == b.dtype(),
            "operands have different dtypes, {} and {}",
            a.dtype(),
            b.dtype()
        );
        if a.ndim() != b.ndim() || a.shape()[..a.ndim() - 2] != b.shape()[..b.ndim() - 2] {
            return Err(ShapeError::new("the axes before the last two differ")
                .help("batch axes must be the same for both operands: broadcast them first"));
        }
        let axis = b.ndim() - if self.left_side { 2 } else { 1 };
        if b.shape()[axis] != size {
            return Err(ShapeError::new(format!(
                "the matrices of lhs have size {size}, but axis {axis} of rhs has size {}",
                b.shape()[axis]
            ))
            .help("with `left_side`, A X = B is solved, otherwise X A = B"));
        }
        one(b)
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2, 2]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |primals, tangents, results| {
                let of_a = tangents[0]
                    .as_ref()
                    .map(|t| self.tangent_of_a(&primals[0], t, &results[0]));
                let of_b = tangents[1]
                    .as_ref()
                    .map(|t| triangular_solve(&primals[0], t, *self));
                vec![add_tangents(of_a, of_b)]
            },
            |cts, operands| {
                let a = operands[0].known();
                let solve = |ct: &Array| a.map(|a| triangular_solve(a, ct, self.transpose_a()));
                vec![None, cts[0].as_ref().and_then(solve)]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let (None, Some(at)) = (axes[0], axes[1]) else {
            return batch_in_front(self, args, axes, axis.size);
        };
        let rank = args[1].ndim() - 1;
        let to = if self.left_side { rank - 1 } else { rank - 2 };
        batch_side_by_side(&args[1], at, to, |b| bind1(*self, &[&args[0], b]))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        if self.conjugate_a && !self.transpose_a && args[0].dtype().is_complex() {
            let plain = TriangularSolve {
                conjugate_a: false,
                ..*self
            };
            return ctx.traced("conjugate_solve", args, |args| {
                vec![triangular_solve(&args[0].conj(), &args[1], plain)]
            });
        }
        let op = match (self.transpose_a, self.conjugate_a) {
            (false, _) => "NO_TRANSPOSE",
            (true, false) => "TRANSPOSE",
            (true, true) => "ADJOINT",
        };
        let attributes = format!(
            "left_side = {}, lower = {}, unit_diagonal = {}, transpose_a = \
             #stablehlo<transpose {op}>",
            self.left_side, self.lower, self.unit_diagonal
        );
        vec![ctx.op1("triangular_solve", args, outs[0], &attributes)]
    }
}

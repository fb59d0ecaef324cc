//! `custom_linear_solve`: a linear system and a function that solves it, which is not
//! differentiated.

use crate::base::location::fail;
use crate::passes::jvp_eval;
use crate::prim::nested::{self, zeros};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Jaxprs, Nested, Operand, Param, Primitive,
    in_front,
};
use crate::program::jaxpr::Jaxpr;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::{Array, Aval, ShapeError};
use std::ops::Range;
use std::sync::Arc;

/// Solves `A x = b` for `x`. The operands are the additional arguments of the four programs, in
/// their order, and `b`. Each program takes and returns as many arrays as `b` contains.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomLinearSolve {
    /// Program that maps `x` to `A x`.
    pub matvec: Arc<Jaxpr>,
    /// Program that maps `b` to `x`.
    pub solve: Arc<Jaxpr>,
    /// Programs that map `y` to `Aᵀ y`, and `c` to the `y` with `Aᵀ y = c`.
    pub transposed: Option<(Arc<Jaxpr>, Arc<Jaxpr>)>,
}

impl CustomLinearSolve {
    /// Returns the number of arrays in `b`.
    fn size(&self) -> usize {
        self.matvec.outvars.len()
    }

    fn programs(&self) -> impl Iterator<Item = &Arc<Jaxpr>> {
        let transposed = self.transposed.iter().flat_map(|(a, solve)| [a, solve]);
        [&self.matvec, &self.solve].into_iter().chain(transposed)
    }

    /// Returns the range of operands that each program takes as additional arguments.
    fn ranges(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        self.programs()
            .map(|program| {
                let range = start..start + program.invars.len() - self.size();
                start = range.end;
                range
            })
            .collect()
    }

    /// Computes the tangent of `x`: the solution with the right-hand side `b' - A' x`.
    fn tangent(
        &self,
        primals: &[Array],
        tangents: &[Option<Array>],
        results: &[Array],
    ) -> Vec<Option<Array>> {
        let matvec = self.ranges()[0].clone();
        let first = primals.len() - self.size();
        // `A x = b` gives `A x' = b' - A' x`. The program of `A` also takes `x`, whose tangent is
        // left out here: it is what the system is solved for.
        let mut sides = tangents[first..].to_vec();
        if tangents[matvec.clone()].iter().any(Option::is_some) {
            let args = [&primals[matvec.clone()], results].concat();
            let mut of_a = tangents[matvec].to_vec();
            of_a.resize(args.len(), None);
            let (_, moved) = jvp_eval(&self.matvec, &[], &args, &of_a);
            for (side, moved) in sides.iter_mut().zip(moved) {
                *side = match (side.take(), moved) {
                    (Some(b), Some(m)) => Some(b - m),
                    (None, Some(m)) => Some(-m),
                    (b, None) => b,
                };
            }
        }
        if sides.iter().all(Option::is_none) {
            return vec![None; results.len()];
        }
        let sides: Vec<Array> = sides
            .into_iter()
            .zip(results)
            .map(|(side, x)| side.unwrap_or_else(|| x.zeros_like()))
            .collect();
        // The tangent is again a solution of the same system, so that derivatives of any order
        // never differentiate through `solve`.
        let operands: Vec<&Array> = primals[..first].iter().chain(&sides).collect();
        let dots = bind(self.clone(), &operands);
        dots.into_iter().map(Some).collect()
    }

    /// Computes the cotangent of `b`: the solution of the transposed system.
    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        let Some((vecmat, solve)) = &self.transposed else {
            fail(
                "custom_linear_solve: cannot be transposed, but is on the path of a gradient in \
                 reverse mode\n  help: specify how the transposed system is solved: \
                 TransposeSolve::Symmetric or TransposeSolve::By",
            );
        };
        let ranges = self.ranges();
        let first = operands.len() - self.size();
        let known = |range: Range<usize>| {
            operands[range].iter().map(|o| match o.known() {
                Some(a) => a.clone(),
                None => fail("custom_linear_solve: is only linear in the right-hand side"),
            })
        };
        // The groups of constants are those of `[matvec, solve, vecmat, transposed solve]`. In the
        // transposed system the last two programs come first.
        let order = [2, 3, 0, 1];
        let consts = order.iter().flat_map(|&i| known(ranges[i].clone()));
        let sides = cts
            .iter()
            .zip(&operands[first..])
            .map(|(ct, b)| ct.clone().unwrap_or_else(|| zeros(b.aval())));
        let args: Vec<Array> = consts.chain(sides).collect();
        let system = CustomLinearSolve {
            matvec: vecmat.clone(),
            solve: solve.clone(),
            transposed: Some((self.matvec.clone(), self.solve.clone())),
        };
        let refs: Vec<&Array> = args.iter().collect();
        let solutions = bind(system, &refs);
        let mut out = vec![None; first];
        out.extend(solutions.into_iter().map(Some));
        out
    }
}

impl Primitive for CustomLinearSolve {
    fn name(&self) -> &'static str {
        "custom_linear_solve"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let lengths = self.ranges().into_iter().map(|r| r.len());
        vec![
            ("const_lengths", Param::tuple(lengths)),
            ("jaxprs", Param::Jaxprs(self.programs().cloned().collect())),
        ]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let first = args.len().saturating_sub(self.size());
        for (program, range) in self.programs().zip(self.ranges()) {
            let given = args.get(range).unwrap_or_default();
            let given: Vec<Aval> = given.iter().chain(&args[first..]).copied().collect();
            super::check_types("a program of the system", &program.in_avals(), &given)?;
        }
        Ok(args[first..].iter().map(Aval::strong).collect())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |primals, tangents, results| self.tangent(primals, tangents, results),
            |cts, operands| self.transpose(cts, operands),
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let first = args.len() - self.size();
        let sides = in_front(&args[first..], &axes[first..], axis);
        let mut programs = Vec::new();
        let mut operands = Vec::new();
        for (program, range) in self.programs().zip(self.ranges()) {
            let taken = &args[range.clone()];
            let all = taken.iter().chain(&sides);
            let avals: Vec<Aval> = all.map(Array::aval).collect();
            // The right-hand sides follow the constants and have the batch axis in front.
            let mut at = axes[range].to_vec();
            at.resize(avals.len(), Some(0));
            let (batched, _) = nested::batched(program, &avals, &at, axis, |_, _| Some(0));
            let (program, captured) = batched.open();
            programs.push(program);
            // `open` makes captured values the first arguments of a program.
            operands.extend(captured);
            operands.extend_from_slice(taken);
        }
        operands.extend(sides);
        let mut programs = programs.into_iter();
        let mut next = || programs.next().expect("as many programs");
        let system = CustomLinearSolve {
            matvec: next(),
            solve: next(),
            transposed: self.transposed.as_ref().map(|_| (next(), next())),
        };
        let refs: Vec<&Array> = operands.iter().collect();
        let outs = bind(system, &refs);
        let out_axes = outs.iter().map(|_| Some(0)).collect();
        (outs, out_axes)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let first = args.len() - self.size();
        let operands = [&args[self.ranges()[1].clone()], &args[first..]].concat();
        ctx.call("solve", &self.solve, &operands)
    }
}

impl Nested for CustomLinearSolve {
    fn jaxprs(&self) -> Jaxprs<'_> {
        self.programs().collect()
    }
}

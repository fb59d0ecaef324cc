//! `cond`: one of several programs, selected by an index.

use super::derive::{self, Residual, same};
use super::{acting, check_types};
use crate::base::location::fail;
use crate::extend::Outputs;
use crate::prim::elementwise::SelectN;
use crate::prim::nested::{self, zeros};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Nested, NestedDifferentiation, Operand,
    Param, Primitive, Tangents, move_batch_axis,
};
use crate::prim::{Jaxprs, StatePass};
use crate::program::jaxpr::{ClosedJaxpr, Input, Jaxpr};
use crate::program::lists::{self, given, some_where};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{bind, bind1, trace_to_jaxpr};
use crate::{Array, Aval, DType, ShapeError, ensure_shape};
use smallvec::SmallVec;
use std::sync::Arc;

/// One of several programs, selected by an `i32` that is the first operand; the others are
/// operands of all programs. An index that is out of range selects the last program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cond {
    /// Programs of the same type, without captured values.
    pub branches: Vec<Arc<Jaxpr>>,
}

impl Cond {
    /// Binds programs to operands. The values captured by any of them become operands of all.
    #[track_caller]
    pub(crate) fn apply(index: &Array, branches: Vec<ClosedJaxpr>, args: &[Array]) -> Vec<Array> {
        let (branches, consts) = shared_consts(branches);
        let all: SmallVec<[&Array; 8]> = std::iter::once(index)
            .chain(consts.iter().chain(args))
            .collect();
        bind(Cond { branches }, &all).into_vec()
    }

    fn results(&self) -> usize {
        self.branches[0].outvars.len()
    }
}

/// Returns programs that take all captured values as their first arguments, each value once, and
/// these values.
pub(crate) fn shared_consts(branches: Vec<ClosedJaxpr>) -> (Vec<Arc<Jaxpr>>, Vec<Array>) {
    let mut all: Vec<Array> = Vec::new();
    for value in branches.iter().flat_map(|b| &b.consts) {
        if !all.iter().any(|known| same(known, value)) {
            all.push(value.clone());
        }
    }
    if all.is_empty() {
        return (branches.into_iter().map(|b| b.jaxpr).collect(), all);
    }
    let take_all = |branch: ClosedJaxpr| {
        let jaxpr = &branch.jaxpr;
        let consts = all.iter().map(|value| {
            // All branches take the same operands, so a branch also takes the values that only
            // others read, and ignores them.
            let own = branch.consts.iter().position(|c| same(c, value));
            Input::own_or(own.map(|i| jaxpr.constvars[i]), value.aval())
        });
        let args = jaxpr.invars.iter().map(|v| Input::Own(*v));
        Arc::new(jaxpr.with_inputs(consts.chain(args)))
    };
    (branches.into_iter().map(take_all).collect(), all)
}

/// Broadcasts one value for each example to the shape of `like`, whose first axis is the batch
/// axis.
fn along_front(values: &Array, like: &Array) -> Array {
    match like.ndim() {
        1 => values.clone(),
        _ => values.broadcast_in_dim(like.shape(), &[0]),
    }
}

/// Returns whether each result is marked in any branch.
fn any(marks: impl IntoIterator<Item = Vec<bool>>) -> Vec<bool> {
    let join = |a: Vec<bool>, b: Vec<bool>| a.iter().zip(b).map(|(a, b)| *a || b).collect();
    marks.into_iter().reduce(join).unwrap_or_default()
}

/// Returns the programs that `make` derives from the branches, and which results are marked in
/// any of them. `make` receives the results to mark, and returns the program and all marked
/// results.
fn joined<P>(
    branches: &[Arc<Jaxpr>],
    results: usize,
    make: impl Fn(&Jaxpr, &[bool]) -> (P, Vec<bool>),
) -> (Vec<P>, Vec<bool>) {
    let none = vec![false; results];
    // All branches must return the same types. Where a result has a tangent (or a batch axis) in
    // some branches only, the others are derived again, and materialize it.
    let alone: Vec<(P, Vec<bool>)> = branches.iter().map(|b| make(b, &none)).collect();
    let marked = any(alone.iter().map(|(_, marks)| marks.clone()));
    let programs = alone.into_iter().zip(branches);
    let programs = programs.map(|((program, marks), b)| {
        if marks == marked {
            program
        } else {
            make(b, &marked).0
        }
    });
    (programs.collect(), marked)
}

/// Returns a list of types that includes the residuals of every branch, and the positions of each
/// branch's residuals in it. Branches share positions of equal types.
fn merged(branches: &[Vec<Aval>]) -> (Vec<Aval>, Vec<Vec<usize>>) {
    let mut all: Vec<Aval> = Vec::new();
    let mut positions = Vec::new();
    for branch in branches {
        let mut used: Vec<usize> = Vec::new();
        for aval in branch {
            // Only one branch runs, so its residuals may use the slots of another's: branches
            // with `[f32[2], f32[2]]` and `[f32[2], i32[]]` share `[f32[2], f32[2], i32[]]`.
            let free = (0..all.len()).find(|i| all[*i] == *aval && !used.contains(i));
            used.push(free.unwrap_or_else(|| {
                all.push(*aval);
                all.len() - 1
            }));
        }
        positions.push(used);
    }
    (all, positions)
}

impl Primitive for Cond {
    fn name(&self) -> &'static str {
        "cond"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("branches", Param::Jaxprs(self.branches.clone()))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        ensure_shape!(!self.branches.is_empty(), "there are no branches");
        let Some((index, args)) = args.split_first() else {
            return Err(ShapeError::new("the index is missing"));
        };
        ensure_shape!(
            index.unplaced().strong() == Aval::scalar(DType::I32),
            "the index must be i32[], but it is {index}"
        );
        let outs = self.branches[0].out_avals();
        for (i, branch) in self.branches.iter().enumerate() {
            check_types(&format!("branch {i}"), &branch.in_avals(), args)?;
            check_types("every branch", &branch.out_avals(), &outs)?;
        }
        Ok(outs.into())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Nested(self)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let front = |i: usize| move_batch_axis(&args[i], axes[i], 0, axis);
        if axes[0].is_some() {
            return self.select_all(
                &front(0),
                axis,
                &(1..args.len()).map(front).collect::<Vec<_>>(),
            );
        }
        let at: Vec<Option<usize>> = axes[1..].iter().map(|ax| ax.map(|_| 0)).collect();
        let ops: Vec<Array> = (1..args.len())
            .map(|i| {
                if axes[i].is_some() {
                    front(i)
                } else {
                    args[i].clone()
                }
            })
            .collect();
        let (branches, marked) = joined(&self.branches, self.results(), |b, marked| {
            let (program, out_axes) = derive::batched(b, &at, axis, |i, found| {
                (marked[i] || found.is_some()).then_some(0)
            });
            (program, out_axes.iter().map(Option::is_some).collect())
        });
        let out_axes: Vec<Option<usize>> = marked.iter().map(|on| on.then_some(0)).collect();
        let outs = Cond::apply(&args[0], branches, &ops);
        (outs.into(), out_axes.into())
    }
    fn evaluate(&self, args: &[&Array]) -> Option<crate::Result<Outputs>> {
        self.one_by_one(args)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let regions: Vec<_> = self
            .branches
            .iter()
            .map(|b| ctx.region(&[], |ctx, _| ctx.inline(b, &args[1..])))
            .collect();
        ctx.op("case", &args[..1], outs, "", &regions)
    }
}

impl Nested for Cond {
    fn thread_state(&self, pass: &StatePass<'_>, args: &[Array]) -> Option<Vec<Array>> {
        let (index, operands) = (&args[0], &args[1..]);
        let types = lists::avals(operands);
        let programs = self.branches.iter().map(|b| pass.program(b, &types));
        Some(Cond::apply(index, programs.collect(), &pass.with(operands)))
    }
    fn jaxprs(&self) -> Jaxprs<'_> {
        self.branches.iter().collect()
    }
}

impl Cond {
    /// Runs all branches for all examples, and selects the results by each example's index.
    fn select_all(&self, index: &Array, axis: BatchAxis, ops: &[Array]) -> Batched {
        if let Some(action) = self.branches.iter().find_map(|b| acting(b)) {
            fail(&format!(
                "cond: a branch has an {action}, and the examples of a vmap select different \
                 branches\n  help: a vmapped cond runs every branch for all examples, so the side \
                 effect would also happen for examples that did not select it; move it out of the \
                 branches, or use map instead of vmap"
            ));
        }
        let at = vec![Some(0); ops.len()];
        let mut results: Vec<Vec<Array>> = vec![Vec::new(); self.results()];
        for (i, branch) in self.branches.iter().enumerate() {
            let (program, _) = derive::batched(branch, &at, axis, |_, _| Some(0));
            // Derivatives must not flow through a branch that an example does not select: NaN
            // times zero would be NaN.
            let chosen = index.eq(i as i32);
            let safe: Vec<Array> = ops
                .iter()
                .map(|x| {
                    let still = x.stop_gradient();
                    along_front(&chosen, x).select(x, &still)
                })
                .collect();
            for (result, out) in results.iter_mut().zip(program.eval(&safe)) {
                result.push(out);
            }
        }
        let outs = results.iter().map(|cases| {
            let which = along_front(index, &cases[0]);
            let args: SmallVec<[&Array; 4]> = std::iter::once(&which).chain(cases).collect();
            bind1(SelectN, &args)
        });
        let axes = vec![Some(0); self.results()];
        (outs.collect(), axes.into())
    }
}

impl NestedDifferentiation for Cond {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let (ops, dots) = (&primals[1..], &tangents[1..]);
        let perturbed = given(dots);
        let args: Vec<Array> = ops.iter().chain(dots.iter().flatten()).cloned().collect();
        let avals = lists::avals(&args);
        let (branches, nonzero) = joined(&self.branches, self.results(), |b, instantiate| {
            nested::pushed(b, &avals, &perturbed, instantiate)
        });
        let mut outs = Cond::apply(&primals[0], branches, &args);
        let dots = outs.split_off(self.results());
        (outs, some_where(&nonzero, dots))
    }

    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let results = self.results();
        let (index, ops) = (&primals[0], &primals[1..]);
        let perturbed = given(&tangents[1..]);
        let (branches, nonzero) = joined(&self.branches, results, |b, instantiate| {
            // Branches may read different operands, so each operand that is a residual is a result,
            // too: then one list of residuals serves all branches.
            let split = derive::linearized(b, &perturbed, instantiate, |_| false);
            let nonzero = split.nonzero.clone();
            (split, nonzero)
        });
        let types: Vec<Vec<Aval>> = branches
            .iter()
            .map(|s| s.known.jaxpr.out_avals().split_off(results))
            .collect();
        let (all, positions) = merged(&types);

        let known = branches.iter().zip(&positions).map(|(s, positions)| {
            let avals = s.known.jaxpr.in_avals();
            trace_to_jaxpr(&avals, |args| {
                let mut outs = s.known.eval(args);
                let residuals = outs.split_off(results);
                for (i, aval) in all.iter().enumerate() {
                    let own = positions.iter().position(|p| *p == i);
                    // A slot of another branch is filled with zeros, which this branch's linear part
                    // ignores.
                    outs.push(own.map_or_else(|| zeros(*aval), |k| residuals[k].clone()));
                }
                outs
            })
        });
        let mut outs = Cond::apply(index, known.collect(), ops);
        let mut linear_args = outs.split_off(results);
        linear_args.extend(tangents.iter().flatten().cloned());
        let linear = branches.iter().zip(&positions).map(|(s, positions)| {
            debug_assert!(s.residuals.iter().all(|r| *r == Residual::Computed));
            let (residuals, rest) = s.linear.invars.split_at(positions.len());
            let shared = all.iter().enumerate().map(|(i, aval)| {
                let own = positions.iter().position(|p| *p == i);
                Input::own_or(own.map(|k| residuals[k]), *aval)
            });
            let inputs = shared.chain(rest.iter().map(|v| Input::Own(*v)));
            ClosedJaxpr::without_consts(s.linear.with_inputs(inputs))
        });
        let dots = Cond::apply(index, linear.collect(), &linear_args);
        (outs, some_where(&nonzero, dots))
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        let index = operands[0].known().unwrap_or_else(|| {
            fail("cond: cannot be transposed: it is not linear in its predicate")
        });
        let operands = &operands[1..];
        let args = nested::known_and_given(operands, cts);
        let avals = lists::avals(&args);
        let given = given(cts);
        let (branches, nonzero) = joined(&self.branches, operands.len(), |b, instantiate| {
            nested::pulled(b, &avals, operands, &given, instantiate)
        });
        let grads = Cond::apply(index, branches, &args);
        // The index is an integer and has no cotangent.
        let mut all = vec![None];
        all.extend(some_where(&nonzero, grads));
        all
    }
}

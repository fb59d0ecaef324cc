//! Splits a program into a part that is computed once and saved, and a part that is recomputed.

use super::CheckpointPolicy;
use crate::prim::call::Call;
use crate::prim::shape::ReducePrecision;
use crate::program::jaxpr::{Atom, Evaluation, Jaxpr, Scope, Var};
use crate::program::trace::bind1;
use crate::{Array, Aval};
use smallvec::SmallVec;

/// A program whose last results are residuals, split by a policy.
pub(super) struct Split<'a> {
    jaxpr: &'a Jaxpr,
    /// Results of the program except the residuals.
    outs: &'a [Atom],
    residuals: &'a [Atom],
    /// Saved values, in the order in which they are computed.
    pub saved: Vec<Var>,
    /// Indices of arguments needed to recompute the residuals from the saved values.
    pub inputs: Vec<usize>,
    /// Whether each equation is recomputed.
    again: Vec<bool>,
    /// Whether each equation is part of the first computation.
    first: Vec<bool>,
}

impl<'a> Split<'a> {
    /// Splits `jaxpr`, whose first `count` results are not residuals.
    pub fn new(jaxpr: &'a Jaxpr, count: usize, policy: &CheckpointPolicy) -> Split<'a> {
        let (outs, residuals) = jaxpr.outvars.split_at(count);
        let saveable = saveable(jaxpr, policy);
        let mut needed = vec![false; jaxpr.num_vars()];
        let mark = |needed: &mut [bool], atoms: &[Atom]| {
            for atom in atoms {
                if let Atom::Var(v) = atom {
                    needed[v.index()] = true;
                }
            }
        };
        mark(&mut needed, residuals);
        let mut again = vec![false; jaxpr.eqns.len()];
        for (i, eqn) in jaxpr.eqns.iter().enumerate().rev() {
            // In reverse order, all readers of a value are visited before its equation. A saveable
            // value ends the search: its equation is not repeated.
            let missing = |v: &Var| needed[v.index()] && !saveable[v.index()];
            if eqn.outputs.iter().any(missing) {
                again[i] = true;
                mark(&mut needed, &eqn.inputs);
            }
        }
        let computed = jaxpr.eqns.iter().flat_map(|e| &e.outputs);
        let saved: Vec<Var> = computed
            .filter(|v| needed[v.index()] && saveable[v.index()])
            .copied()
            .collect();
        let indices = 0..jaxpr.invars.len();
        let inputs = indices
            .filter(|&i| needed[jaxpr.invars[i].index()])
            .collect();

        // The first computation needs other values: those that lead to results and saved values.
        let mut needed = vec![false; jaxpr.num_vars()];
        mark(&mut needed, outs);
        for v in &saved {
            needed[v.index()] = true;
        }
        let mut first = vec![false; jaxpr.eqns.len()];
        for (i, eqn) in jaxpr.eqns.iter().enumerate().rev() {
            // Effects happen here, and not again.
            if eqn.primitive.has_effects() || eqn.outputs.iter().any(|v| needed[v.index()]) {
                first[i] = true;
                mark(&mut needed, &eqn.inputs);
            }
        }
        Split {
            jaxpr,
            outs,
            residuals,
            saved,
            inputs,
            again,
            first,
        }
    }

    /// Computes the results and the saved values.
    pub fn compute(&self, args: &[Array]) -> (Vec<Array>, Vec<Array>) {
        let mut evaluation = Evaluation::new(self.jaxpr);
        evaluation.set(&self.jaxpr.invars, args.iter().cloned());
        let mut used = vec![false; self.jaxpr.num_vars()];
        for eqn in self.marked(&self.first) {
            for input in &eqn.inputs {
                if let Atom::Var(v) = input {
                    used[v.index()] = true;
                }
            }
        }
        self.run(&self.first, &mut evaluation, |v, out| {
            // Otherwise the compiler may use more digits of the value in the first computation
            // than are saved.
            let rounded = self.saved.contains(&v) && used[v.index()];
            match exponent_and_mantissa(out.aval()) {
                Some((exponent_bits, mantissa_bits)) if rounded => bind1(
                    ReducePrecision {
                        exponent_bits,
                        mantissa_bits,
                    },
                    &[&out],
                ),
                _ => out,
            }
        });
        let saved: Vec<Atom> = self.saved.iter().map(|v| Atom::Var(*v)).collect();
        (evaluation.read(self.outs), evaluation.read(&saved))
    }

    /// Computes the residuals from the saved values and the arguments in `inputs`.
    pub fn recompute(&self, saved: &[Array], args: &[Array]) -> Vec<Array> {
        let mut evaluation = Evaluation::new(self.jaxpr);
        let inputs = self.inputs.iter().map(|i| &self.jaxpr.invars[*i]);
        evaluation.set(inputs, args.iter().cloned());
        evaluation.set(&self.saved, saved.iter().cloned());
        self.run(&self.again, &mut evaluation, |_, out| out);
        evaluation.read(self.residuals)
    }

    fn marked<'s>(&'s self, marks: &'s [bool]) -> impl Iterator<Item = &'s crate::extend::Eqn> {
        let eqns = self.jaxpr.eqns.iter().zip(marks);
        eqns.filter(|(_, marked)| **marked).map(|(eqn, _)| eqn)
    }

    fn run(
        &self,
        marks: &[bool],
        evaluation: &mut Evaluation<Array>,
        finish: impl Fn(Var, Array) -> Array,
    ) {
        for eqn in self.marked(marks) {
            evaluation.apply(eqn, |operands| {
                let outs = eqn.bind(&operands).into_iter().zip(&eqn.outputs);
                let outs = outs.map(|(out, v)| finish(*v, out));
                outs.collect::<SmallVec<[Array; 1]>>()
            });
        }
    }
}

/// Returns which variables the policy saves. Results of side effects are always saved, because an
/// effect happens once.
fn saveable(jaxpr: &Jaxpr, policy: &CheckpointPolicy) -> Vec<bool> {
    let mut saveable = vec![false; jaxpr.num_vars()];
    for eqn in &jaxpr.eqns {
        let operands: SmallVec<[Aval; 4]> = eqn.inputs.iter().map(|a| jaxpr.aval(a)).collect();
        if eqn.primitive.has_effects() || policy.is_saveable(&*eqn.primitive, &operands) {
            for v in &eqn.outputs {
                saveable[v.index()] = true;
            }
        }
    }
    saveable
}

/// Returns the numbers of exponent and mantissa bits of a floating-point dtype.
fn exponent_and_mantissa(aval: Aval) -> Option<(u32, u32)> {
    use crate::DType;
    match aval.dtype() {
        DType::F16 => Some((5, 10)),
        DType::BF16 => Some((8, 7)),
        DType::F32 => Some((8, 23)),
        DType::F64 => Some((11, 52)),
        _ => None,
    }
}

/// Evaluates a program with called programs inlined, so that a policy sees their operations.
pub(crate) fn eval_inlined(jaxpr: &Jaxpr, args: &[Array]) -> Vec<Array> {
    inlined_within(Scope::default(), jaxpr, args)
}

/// Same as [`eval_inlined`], for a program that is called in a scope: the scopes of a called
/// program are relative to its call.
fn inlined_within(outer: Scope, jaxpr: &Jaxpr, args: &[Array]) -> Vec<Array> {
    jaxpr.evaluate([], args.iter().cloned(), |eqn, operands| {
        let scope = outer.join(eqn.scope);
        scope.within(|| match eqn.primitive.as_any().downcast_ref::<Call>() {
            Some(call) => inlined_within(scope, &call.jaxpr, &operands),
            None => eqn.bind(&operands).into_vec(),
        })
    })
}

//! Dividing a program in what is computed and kept, and what is computed again.

use super::CheckpointPolicy;
use crate::jaxpr::{Atom, Evaluation, Jaxpr, Scope, Var};
use crate::prim::call::Call;
use crate::prim::shape::ReducePrecision;
use crate::trace::bind1;
use crate::{Array, Aval};
use smallvec::SmallVec;

/// A program whose last results are residuals, divided by a policy.
pub(super) struct Split<'a> {
    jaxpr: &'a Jaxpr,
    /// The program's results but for the residuals.
    outs: &'a [Atom],
    residuals: &'a [Atom],
    /// Values that are kept, in the order in which they are computed.
    pub saved: Vec<Var>,
    /// Arguments that are needed to compute the residuals from what is kept.
    pub inputs: Vec<usize>,
    /// Which equations are computed again.
    again: Vec<bool>,
    /// Which equations are computed at first.
    first: Vec<bool>,
}

impl<'a> Split<'a> {
    /// Divides `jaxpr`, of whose results the first `count` are no residuals.
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
        let places = 0..jaxpr.invars.len();
        let inputs = places
            .filter(|&i| needed[jaxpr.invars[i].index()])
            .collect();

        let mut needed = vec![false; jaxpr.num_vars()];
        mark(&mut needed, outs);
        for v in &saved {
            needed[v.index()] = true;
        }
        let mut first = vec![false; jaxpr.eqns.len()];
        for (i, eqn) in jaxpr.eqns.iter().enumerate().rev() {
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

    /// Computes the results, and what is kept.
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
            // Otherwise the compiler may keep more digits of the value where it
            // is computed than where it is read again.
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

    /// Computes the residuals from what was kept and the arguments in `inputs`.
    pub fn recompute(&self, saved: &[Array], args: &[Array]) -> Vec<Array> {
        let mut evaluation = Evaluation::new(self.jaxpr);
        let inputs = self.inputs.iter().map(|i| &self.jaxpr.invars[*i]);
        evaluation.set(inputs, args.iter().cloned());
        evaluation.set(&self.saved, saved.iter().cloned());
        self.run(&self.again, &mut evaluation, |_, out| out);
        evaluation.read(self.residuals)
    }

    fn marked<'s>(&'s self, marks: &'s [bool]) -> impl Iterator<Item = &'s crate::Eqn> {
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

/// Which variables the policy keeps.
fn saveable(jaxpr: &Jaxpr, policy: &CheckpointPolicy) -> Vec<bool> {
    let mut saveable = vec![false; jaxpr.num_vars()];
    for eqn in &jaxpr.eqns {
        let operands: SmallVec<[Aval; 4]> = eqn.inputs.iter().map(|a| jaxpr.aval(a)).collect();
        if policy.is_saveable(&*eqn.primitive, &operands) {
            for v in &eqn.outputs {
                saveable[v.index()] = true;
            }
        }
    }
    saveable
}

/// The bits of a floating-point type.
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

/// Evaluates a program with the programs that it calls in place, so that a
/// policy sees their operations.
pub(crate) fn eval_inlined(jaxpr: &Jaxpr, args: &[Array]) -> Vec<Array> {
    inlined_within(Scope::default(), jaxpr, args)
}

/// [`eval_inlined`] of a program that is called in a scope: the scopes of a called
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

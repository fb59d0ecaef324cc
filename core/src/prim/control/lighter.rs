//! Residuals of a loop that its backward pass computes from other residuals.
//!
//! The loop stores each residual at every step. A few products and sums of stored values,
//! such as the derivative `s * (1 - s)` of a sigmoid, take less time than storing and loading
//! their result.

use super::derive::{self, Residual, Split};
use super::scan::Scan;
use crate::Array;
use crate::program::jaxpr::{Atom, Eqn, Evaluation, Jaxpr, Var};
use crate::program::lists::{picked, some_where};
use crate::program::rules::Differentiation;
use crate::program::trace::trace_to_jaxpr;
use std::sync::Arc;

/// Largest number of operations that compute a residual again.
const OPERATIONS: usize = 3;

/// The residuals of a step that are computed again.
struct Recomputation {
    /// Whether each variable is a residual that is stored.
    stored: Vec<bool>,
    /// Whether each variable is a residual that others are computed from.
    needed: Vec<bool>,
    /// Whether each equation is computed again.
    eqns: Vec<bool>,
}

impl Scan {
    /// Returns the split of a step with fewer computed residuals. The linear program begins with
    /// the operations that compute the others.
    pub(super) fn lighter(&self, split: Split) -> Split {
        let results = self.jaxpr.outvars.len();
        let jaxpr = split.known.jaxpr.clone();
        // A residual that depends only on constants is computed before the loop and stored once.
        let mut varying = vec![true; jaxpr.invars.len()];
        varying[..self.num_consts].fill(false);
        let varying = derive::reached(&jaxpr, &varying).split_off(results);
        let (outs, computed) = jaxpr.outvars.split_at(results);
        let again = Recomputation::new(&jaxpr, computed, &varying, &outs[self.num_carry..]);
        if !again.eqns.contains(&true) {
            return split;
        }
        let is_computed: Vec<bool> = (split.residuals.iter())
            .map(|residual| *residual == Residual::Computed)
            .collect();
        // One entry for each residual: its variable in the known program, or `None` for an
        // argument.
        let values = some_where(&is_computed, computed.iter().copied());
        let stored: Vec<bool> = (values.iter())
            .map(|value| value.is_none_or(|atom| again.is_stored(&atom)))
            .collect();
        let linear = again.prepended(&jaxpr, &values, &stored, &split.linear);
        let outvars = [
            outs.to_vec(),
            picked(&values, &stored, true)
                .into_iter()
                .flatten()
                .collect(),
        ];
        let mut known = split.known;
        known.jaxpr = Arc::new(jaxpr.with_interface(jaxpr.invars.clone(), outvars.concat()));
        Split {
            known: known.pruned(),
            residuals: picked(&split.residuals, &stored, true),
            linear,
            nonzero: split.nonzero,
        }
    }
}

impl Recomputation {
    /// Chooses among the `computed` residuals of a program those that are `varying` from step to
    /// step. The results `stacked` are stored anyway.
    fn new(jaxpr: &Jaxpr, computed: &[Atom], varying: &[bool], stacked: &[Atom]) -> Recomputation {
        let mut again = Recomputation {
            stored: vec![false; jaxpr.num_vars()],
            needed: vec![false; jaxpr.num_vars()],
            eqns: vec![false; jaxpr.eqns.len()],
        };
        for (atom, varying) in computed.iter().zip(varying) {
            if let Some(v) = atom.var() {
                again.stored[v.index()] = true;
                again.needed[v.index()] = !varying || stacked.contains(atom);
            }
        }
        let mut made_by = vec![None; jaxpr.num_vars()];
        for (i, eqn) in jaxpr.eqns.iter().enumerate() {
            if is_arithmetic(eqn) {
                made_by[eqn.outputs[0].index()] = Some(i);
            }
        }
        // From the last residual to the first: a later one marks the residuals that it is computed
        // from as needed before their turn, so they stay stored.
        for v in jaxpr.eqns.iter().rev().flat_map(|eqn| &eqn.outputs) {
            if again.stored[v.index()] && !again.needed[v.index()] {
                again.compute(jaxpr, &made_by, *v);
            }
        }
        again
    }

    /// Marks the equations that compute a residual from others, unless there are too many.
    fn compute(&mut self, jaxpr: &Jaxpr, made_by: &[Option<usize>], residual: Var) {
        let (mut next, mut eqns, mut from) = (vec![residual], Vec::new(), Vec::new());
        while let Some(v) = next.pop() {
            // Returning marks nothing, so the residual stays stored: it depends on an argument, or
            // on an operation that is not worth repeating.
            let Some(i) = made_by[v.index()] else { return };
            if eqns.contains(&i) {
                continue;
            }
            if eqns.len() == OPERATIONS {
                return;
            }
            eqns.push(i);
            for v in jaxpr.eqns[i].inputs.iter().filter_map(Atom::var) {
                if self.stored[v.index()] {
                    from.push(v)
                } else {
                    next.push(v)
                }
            }
        }
        self.stored[residual.index()] = false;
        eqns.into_iter().for_each(|i| self.eqns[i] = true);
        from.into_iter().for_each(|v| self.needed[v.index()] = true);
    }

    fn is_stored(&self, atom: &Atom) -> bool {
        atom.var().is_none_or(|v| self.stored[v.index()])
    }

    /// Returns the linear program of the residuals marked in `stored`. `values` are all residuals
    /// of `linear`, with `None` for arguments.
    fn prepended(
        &self,
        jaxpr: &Jaxpr,
        values: &[Option<Atom>],
        stored: &[bool],
        linear: &Jaxpr,
    ) -> Arc<Jaxpr> {
        let types = linear.in_avals();
        let (residuals, tangents) = types.split_at(values.len());
        let mut avals = picked(residuals, stored, true);
        let given = avals.len();
        avals.extend_from_slice(tangents);
        let program = trace_to_jaxpr(&avals, |args| {
            let (given, tangents) = args.split_at(given);
            let given = some_where(stored, given.iter().cloned());
            let mut evaluation: Evaluation<Array> = Evaluation::new(jaxpr);
            for (atom, value) in values.iter().zip(&given) {
                evaluation.set(&atom.and_then(|a| a.var()), value.clone());
            }
            // The equations keep their order, so operands are computed before they are read.
            for eqn in picked(&jaxpr.eqns, &self.eqns, true) {
                evaluation.apply(&eqn, |operands| eqn.bind(&operands));
            }
            let residuals = given.into_iter().zip(values).map(|(value, atom)| {
                let computed = || evaluation.get(&(*atom)?);
                value.or_else(computed).expect("stored or computed again")
            });
            let operands: Vec<Array> = residuals.chain(tangents.iter().cloned()).collect();
            linear.eval(&[], &operands)
        });
        program.jaxpr
    }
}

/// Returns whether an equation is elementwise and linear in some operand, such as a product. Other
/// functions, such as the exponential, take longer than loading their result.
fn is_arithmetic(eqn: &Eqn) -> bool {
    let linear = match eqn.primitive.differentiation() {
        Differentiation::Linear(_) => true,
        Differentiation::Jvp { transpose, .. } => transpose.is_some(),
        _ => false,
    };
    linear && eqn.primitive.facts().fuses && eqn.outputs.len() == 1
}

//! Residuals of a loop that its backward pass computes from other residuals.
//!
//! The loop stores each residual at every step. A few products and sums of stored values,
//! such as the derivative `s * (1 - s)` of a sigmoid, take less time than storing and loading
//! their result.

use super::derive::{Residual, Split};
use super::scan::Scan;
use crate::Array;
use crate::program::jaxpr::{Atom, Eqn, Evaluation, Jaxpr, Var};
use crate::program::rules::Differentiation;
use crate::program::trace::trace_to_jaxpr;
use std::sync::Arc;

/// Largest number of operations that compute a residual again.
const OPERATIONS: usize = 3;

/// The residuals of a step that are computed again.
struct Again {
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
        let (outs, computed) = jaxpr.outvars.split_at(results);
        let again = Again::new(&jaxpr, computed, &outs[self.num_carry..], self.num_consts);
        if !again.eqns.contains(&true) {
            return split;
        }
        let mut atoms = computed.iter();
        let all: Vec<Option<&Atom>> = (split.residuals.iter())
            .map(|residual| match residual {
                Residual::Argument(_) => None,
                Residual::Computed => atoms.next(),
            })
            .collect();
        let linear = again.prepended(&jaxpr, &all, &split.linear);
        let stored = |atom: &&Atom| again.is_stored(atom);
        let outvars = outs.iter().chain(computed.iter().filter(stored)).copied();
        let residuals = split.residuals.into_iter().zip(&all);
        let residuals = residuals.filter(|(_, atom)| atom.is_none_or(|a| again.is_stored(a)));
        let mut known = split.known;
        known.jaxpr = Arc::new(jaxpr.with_interface(jaxpr.invars.clone(), outvars.collect()));
        Split {
            known: known.pruned(),
            residuals: residuals.map(|(residual, _)| residual).collect(),
            linear,
            nonzero: split.nonzero,
        }
    }
}

impl Again {
    /// Chooses among the `computed` residuals of a program whose first `consts` arguments are the
    /// same for all steps. The results `stacked` are stored anyway.
    fn new(jaxpr: &Jaxpr, computed: &[Atom], stacked: &[Atom], consts: usize) -> Again {
        let mut again = Again {
            stored: vec![false; jaxpr.num_vars()],
            needed: vec![false; jaxpr.num_vars()],
            eqns: vec![false; jaxpr.eqns.len()],
        };
        for atom in computed {
            if let Atom::Var(v) = atom {
                again.stored[v.index()] = true;
                again.needed[v.index()] = stacked.contains(atom);
            }
        }
        let mut made_by = vec![None; jaxpr.num_vars()];
        for (i, eqn) in jaxpr.eqns.iter().enumerate() {
            if is_arithmetic(eqn) {
                made_by[eqn.outputs[0].index()] = Some(i);
            }
        }
        let varies = varying(jaxpr, consts);
        for v in jaxpr.eqns.iter().rev().flat_map(|eqn| &eqn.outputs) {
            let i = v.index();
            if again.stored[i] && !again.needed[i] && varies[i] {
                again.compute(jaxpr, &made_by, *v);
            }
        }
        again
    }

    /// Marks the equations that compute a residual from others, unless there are too many.
    fn compute(&mut self, jaxpr: &Jaxpr, made_by: &[Option<usize>], residual: Var) {
        let (mut next, mut eqns, mut from) = (vec![residual], Vec::new(), Vec::new());
        while let Some(v) = next.pop() {
            let Some(i) = made_by[v.index()] else { return };
            if eqns.contains(&i) {
                continue;
            }
            if eqns.len() == OPERATIONS {
                return;
            }
            eqns.push(i);
            for v in read(&jaxpr.eqns[i]) {
                match self.stored[v.index()] {
                    true => from.push(v),
                    false => next.push(v),
                }
            }
        }
        self.stored[residual.index()] = false;
        eqns.into_iter().for_each(|i| self.eqns[i] = true);
        from.into_iter().for_each(|v| self.needed[v.index()] = true);
    }

    fn is_stored(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Var(v) => self.stored[v.index()],
            Atom::Literal(_) => true,
        }
    }

    /// Returns the linear program of the stored residuals. `all` are the residuals of `linear`,
    /// with `None` for arguments.
    fn prepended(&self, jaxpr: &Jaxpr, all: &[Option<&Atom>], linear: &Jaxpr) -> Arc<Jaxpr> {
        let stored = |atom: &Option<&Atom>| atom.is_none_or(|a| self.is_stored(a));
        let types = linear.in_avals();
        let (before, tangents) = types.split_at(all.len());
        let before = before.iter().zip(all).filter(|(_, atom)| stored(atom));
        let mut avals: Vec<_> = before.map(|(aval, _)| *aval).collect();
        avals.extend_from_slice(tangents);
        let program = trace_to_jaxpr(&avals, |args| {
            let mut args = args.iter().cloned();
            let mut values: Evaluation<Array> = Evaluation::new(jaxpr);
            let mut operands: Vec<Option<Array>> = Vec::with_capacity(types.len());
            for atom in all {
                let value = stored(atom).then(|| args.next().expect("one for each"));
                if let (Some(Atom::Var(v)), Some(value)) = (atom, &value) {
                    values.set([v], [value.clone()]);
                }
                operands.push(value);
            }
            for (eqn, _) in jaxpr.eqns.iter().zip(&self.eqns).filter(|(_, on)| **on) {
                values.apply(eqn, |operands| eqn.bind(&operands));
            }
            let residuals = operands.into_iter().zip(all).map(|(value, atom)| {
                let computed = || values.get(atom.expect("arguments are stored"));
                value.or_else(computed).expect("computed again")
            });
            let operands: Vec<Array> = residuals.chain(args).collect();
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
    linear && eqn.primitive.fuses() && eqn.outputs.len() == 1
}

/// Returns the variables that an equation reads.
fn read(eqn: &Eqn) -> impl Iterator<Item = Var> {
    eqn.inputs.iter().filter_map(|atom| match atom {
        Atom::Var(v) => Some(*v),
        Atom::Literal(_) => None,
    })
}

/// Returns which variables depend on other arguments than the first `consts`.
fn varying(jaxpr: &Jaxpr, consts: usize) -> Vec<bool> {
    let mut varies = vec![false; jaxpr.num_vars()];
    for v in &jaxpr.invars[consts..] {
        varies[v.index()] = true;
    }
    for eqn in &jaxpr.eqns {
        let on = read(eqn).any(|v| varies[v.index()]);
        for v in &eqn.outputs {
            varies[v.index()] = on;
        }
    }
    varies
}

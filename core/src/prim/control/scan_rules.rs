//! Derivatives of `scan`.
//!
//! Forward mode adds tangents to the carry. Reverse mode splits the body into a primal and a
//! linear part. The primal loop also returns each step's residuals for the linear loop. Residuals
//! that are the same at every step are computed once, before the loops, and residuals that are
//! operands are not copied. The linear loop is transposed by running it in reverse; see
//! `scan_transpose.rs`.

use super::derive::{self, Residual, Split};
use super::scan::{Parts, Scan};
use super::split3;
use crate::prim::nested;
use crate::prim::{NestedDifferentiation, Operand, Tangents};
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr, Var};
use crate::program::lists::{given, some_where};
use crate::program::trace::trace_to_jaxpr;
use crate::{Array, Aval};
use std::sync::Arc;

/// Returns the tangents of the marked values, with zeros instead of `None`.
fn instantiated(dots: &[Option<Array>], values: &[Array], marked: &[bool]) -> Vec<Array> {
    dots.iter()
        .zip(values)
        .zip(marked)
        .filter(|(_, on)| **on)
        .map(|((t, x), _)| t.clone().unwrap_or_else(|| x.zeros_like()))
        .collect()
}

impl NestedDifferentiation for Scan {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let primals = self.parts(primals);
        let dots = self.parts(tangents);
        let mut on = dots.map(Option::is_some);
        let (program, nonzero) = on.until_stable(|on| self.pushed(on));
        let with = |values: &[Array], dots: &[Option<Array>], on: &[bool]| {
            let mut all = values.to_vec();
            all.extend(instantiated(dots, values, on));
            all
        };
        let args = Parts {
            consts: with(&primals.consts, &dots.consts, &on.consts),
            carry: with(&primals.carry, &dots.carry, &on.carry),
            xs: with(&primals.xs, &dots.xs, &on.xs),
        };
        let carried = args.carry.len();
        let mut outs = self.apply(program, args);
        // The results are carry, tangents of the carry, stacked results and their tangents; the
        // caller wants all results before all tangents.
        let mut ys = outs.split_off(carried);
        let mut dots = outs.split_off(self.num_carry);
        dots.extend(ys.split_off(self.jaxpr.outvars.len() - self.num_carry));
        outs.extend(ys);
        (outs, some_where(&nonzero, dots))
    }

    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let dots = self.parts(tangents);
        let mut on = dots.map(Option::is_some);
        let results = self.jaxpr.outvars.len();
        let carry = self.num_consts..self.num_consts + self.num_carry;
        let (split, _) = on.until_stable(|on| {
            let mut instantiate = on.carry.clone();
            instantiate.resize(results, false);
            // The carry changes at each step, so it must be stored.
            let split = derive::linearized(&self.jaxpr, &on.all(), &instantiate, |i| {
                !carry.contains(&i)
            });
            let nonzero = split.nonzero.clone();
            (split, nonzero)
        });

        // Storing residuals takes time and memory at each step; some are computed again instead.
        let split = self.lighter(split);
        let args = self.parts(primals);
        let (outs, saved) = self.run_known(&split, &args, results);
        let mut operands = Parts {
            consts: saved.values(false),
            carry: instantiated(&dots.carry, &args.carry, &on.carry),
            xs: dots.xs.iter().flatten().cloned().collect(),
        };
        operands
            .consts
            .extend(dots.consts.iter().flatten().cloned());
        // `arrange` puts the arguments of the linear program in this order.
        operands.xs.extend(saved.values(true));
        let program = ClosedJaxpr::without_consts(saved.arrange(&split.linear));
        let dots = self.apply(program, operands);
        (outs, some_where(&split.nonzero, dots))
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        self.transposed(cts, &self.parts(operands))
    }
}

/// The values of the known program that the linear program needs.
pub(super) struct Residuals {
    /// Values of its first arguments, and whether each is stacked over the steps.
    residuals: Vec<(Array, bool)>,
}

impl Residuals {
    /// Returns the stacked values, or those that are the same for all steps.
    pub(super) fn values(&self, stacked: bool) -> Vec<Array> {
        let marked = self.residuals.iter().filter(|r| r.1 == stacked);
        marked.map(|r| r.0.clone()).collect()
    }

    /// Orders the arguments of the linear program like a loop's operands: values that are the
    /// same for all steps come first, stacked values last.
    pub fn arrange(&self, linear: &Jaxpr) -> Jaxpr {
        let (before, rest) = linear.invars.split_at(self.residuals.len());
        let of = |stacked: bool| -> Vec<Var> {
            let marked = before.iter().zip(&self.residuals);
            let marked = marked.filter(|(_, r)| r.1 == stacked);
            marked.map(|(v, _)| *v).collect()
        };
        let invars = [of(false), rest.to_vec(), of(true)].concat();
        linear.with_interface(invars, linear.outvars.clone())
    }
}

impl Scan {
    /// Runs the known part of a split program with `results` results, and returns these and the
    /// values that the linear part needs.
    pub(super) fn run_known(
        &self,
        split: &Split,
        args: &Parts<Array>,
        results: usize,
    ) -> (Vec<Array>, Residuals) {
        let hoisted = derive::hoisted(&split.known, &args.consts, results);
        debug_assert_eq!(hoisted.invariant.len(), split.computed());
        let mut known = hoisted.program;
        let mut outs = Vec::new();
        // A value that is already a result of each step is not stacked twice.
        let mut outvars = known.jaxpr.outvars[..results].to_vec();
        let mut indices = Vec::new();
        for value in &known.jaxpr.outvars[results..] {
            let found = (self.num_carry..outvars.len()).find(|&i| outvars[i] == *value);
            indices.push(found.unwrap_or(outvars.len()));
            if found.is_none() {
                outvars.push(*value);
            }
        }
        let invars = known.jaxpr.invars.clone();
        known.jaxpr = Arc::new(known.jaxpr.with_interface(invars, outvars));
        if !known.jaxpr.outvars.is_empty() || known.jaxpr.has_effects() {
            // `hoisted` consumed the constants: the program captures the values that steps need.
            let operands = Parts {
                consts: Vec::new(),
                ..args.clone()
            };
            outs = self.apply(known, operands);
        }
        let stacked: Vec<Array> = indices.iter().map(|&i| outs[i].clone()).collect();
        let mut stacked = stacked.into_iter();
        // The additional results are residuals, which `stacked` keeps.
        outs.truncate(results);
        let mut invariant = hoisted.invariant.into_iter();
        let all = args.all();
        let before_xs = args.consts.len() + args.carry.len();
        let residuals = split.residuals.iter().map(|residual| match residual {
            Residual::Argument(i) => (all[*i].clone(), *i >= before_xs),
            Residual::Computed => match invariant.next().expect("one for each") {
                Some(value) => (value, false),
                None => (stacked.next().expect("one for each"), true),
            },
        });
        let residuals = residuals.collect();
        (outs, Residuals { residuals })
    }

    /// Returns the program on values and tangents, where constants, carry and elements are each
    /// followed by their tangents, and which results then have a tangent.
    fn pushed(&self, on: &Parts<bool>) -> (ClosedJaxpr, Vec<bool>) {
        let types = self.parts(&self.jaxpr.in_avals());
        let dots = |types: &[Aval], on: &[bool]| -> Vec<Aval> {
            let marked = types.iter().zip(on).filter(|(_, on)| **on);
            marked.map(|(a, _)| a.strong()).collect()
        };
        let const_dots = dots(&types.consts, &on.consts);
        let carry_dots = dots(&types.carry, &on.carry);
        let xs_dots = dots(&types.xs, &on.xs);
        let avals = [
            &types.consts[..],
            &const_dots,
            &types.carry,
            &carry_dots,
            &types.xs,
            &xs_dots,
        ]
        .concat();
        let mut instantiate = on.carry.clone();
        instantiate.resize(self.jaxpr.outvars.len(), false);
        let mut found = Vec::new();
        let program = trace_to_jaxpr(&avals, |args| {
            let (consts, const_dots, args) = split3(args, types.consts.len(), const_dots.len());
            let (carry, carry_dots, args) = split3(args, types.carry.len(), carry_dots.len());
            let (xs, xs_dots) = args.split_at(types.xs.len());
            let primals = [consts, carry, xs].concat();
            let mut tangents = some_where(&on.consts, const_dots.iter().cloned());
            tangents.extend(some_where(&on.carry, carry_dots.iter().cloned()));
            tangents.extend(some_where(&on.xs, xs_dots.iter().cloned()));
            let (outs, dots) = nested::jvp(&self.jaxpr, &primals, &tangents, &instantiate);
            found = given(&dots);
            let (carry, ys) = outs.split_at(self.num_carry);
            let (carry_dots, ys_dots) = dots.split_at(self.num_carry);
            let carry = carry.iter().chain(carry_dots.iter().flatten());
            let ys = ys.iter().chain(ys_dots.iter().flatten());
            carry.chain(ys).cloned().collect()
        });
        (program, found)
    }
}

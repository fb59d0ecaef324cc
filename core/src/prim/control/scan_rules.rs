//! Derivatives of `scan`.
//!
//! Forward mode carries tangents along. For reverse mode the program is split
//! into what depends on no tangent and what is linear in them: the first loop
//! gives, beside its results, what the second needs at each step. What is the
//! same at every step is computed once, before the loops, and what is an
//! operand anyway is not copied. The second loop is transposed by going back,
//! with sums of cotangents for the constants in the carry.

use super::derive::{self, Residual};
use super::scan::{Parts, Scan};
use super::{split3, spread, zeros};
use crate::jaxpr::{Atom, ClosedJaxpr, Var};
use crate::prim::{NestedDifferentiation, Operand};
use crate::trace::{fail, trace_to_jaxpr};
use crate::transform::transpose_call;
use crate::{Array, Aval};
use std::sync::Arc;

/// Which items are there.
fn given<T>(items: &[Option<T>]) -> Vec<bool> {
    items.iter().map(Option::is_some).collect()
}

/// The tangents of the marked values, zeros where there are none.
fn instantiated(dots: &[Option<Array>], values: &[Array], marked: &[bool]) -> Vec<Array> {
    dots.iter()
        .zip(values)
        .zip(marked)
        .filter(|(_, on)| **on)
        .map(|((t, x), _)| t.clone().unwrap_or_else(|| zeros(x.aval())))
        .collect()
}

impl NestedDifferentiation for Scan {
    fn jvp(
        &self,
        primals: &[Array],
        tangents: &[Option<Array>],
    ) -> (Vec<Array>, Vec<Option<Array>>) {
        let primals = self.parts(primals);
        let dots = self.parts(tangents);
        let mut on = dots.map(Option::is_some);
        let (program, nonzero) = loop {
            let (program, found) = self.pushed(&on);
            // A carry has a tangent if its first value or a later one has.
            if found[..self.num_carry] == on.carry[..] {
                break (program, found);
            }
            on.carry = found[..self.num_carry].to_vec();
        };
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
        let mut ys = outs.split_off(carried);
        let mut dots = outs.split_off(self.num_carry);
        dots.extend(ys.split_off(self.jaxpr.outvars.len() - self.num_carry));
        outs.extend(ys);
        (outs, spread(&nonzero, dots))
    }

    fn linearize(
        &self,
        primals: &[Array],
        tangents: &[Option<Array>],
    ) -> (Vec<Array>, Vec<Option<Array>>) {
        let dots = self.parts(tangents);
        let mut on = dots.map(Option::is_some);
        let results = self.jaxpr.outvars.len();
        let carry = self.num_consts..self.num_consts + self.num_carry;
        let split = loop {
            let mut instantiate = on.carry.clone();
            instantiate.resize(results, false);
            // A carry is another value at each step, and has to be kept.
            let split = derive::linearized(&self.jaxpr, &on.all(), &instantiate, |i| {
                !carry.contains(&i)
            });
            if split.nonzero[..self.num_carry] == on.carry[..] {
                break split;
            }
            on.carry = split.nonzero[..self.num_carry].to_vec();
        };

        let args = self.parts(primals);
        let hoisted = derive::hoisted(&split.known, &args.consts, results);
        debug_assert_eq!(hoisted.invariant.len(), split.computed());
        let known = hoisted.program;
        let mut outs = Vec::new();
        if !known.jaxpr.outvars.is_empty() || known.jaxpr.has_effects() {
            let operands = Parts {
                consts: Vec::new(),
                carry: args.carry.clone(),
                xs: args.xs.clone(),
            };
            outs = self.apply(known, operands);
        }
        let mut stacked = outs.split_off(results).into_iter();

        // The values of the linear program's first arguments, and which of them
        // have one for each step.
        let mut invariant = hoisted.invariant.into_iter();
        let mut residuals: Vec<(Array, bool)> = Vec::with_capacity(split.residuals.len());
        for residual in &split.residuals {
            residuals.push(match residual {
                Residual::Argument(i) => (primals[*i].clone(), *i >= carry.end),
                Residual::Computed => match invariant.next().expect("one for each") {
                    Some(value) => (value, false),
                    None => (stacked.next().expect("one for each"), true),
                },
            });
        }
        let linear = &split.linear;
        let (before, rest) = linear.invars.split_at(residuals.len());
        let of = |stacked: bool| -> Vec<Var> {
            let marked = before.iter().zip(&residuals);
            marked
                .filter(|(_, r)| r.1 == stacked)
                .map(|(v, _)| *v)
                .collect()
        };
        let invars = [of(false), rest.to_vec(), of(true)].concat();
        let program = linear.with_interface(invars, linear.outvars.clone());
        let values = |stacked: bool| -> Vec<Array> {
            let marked = residuals.iter().filter(|r| r.1 == stacked);
            marked.map(|r| r.0.clone()).collect()
        };
        let mut operands = Parts {
            consts: values(false),
            carry: instantiated(&dots.carry, &args.carry, &on.carry),
            xs: dots.xs.iter().flatten().cloned().collect(),
        };
        operands
            .consts
            .extend(dots.consts.iter().flatten().cloned());
        operands.xs.extend(values(true));
        let program = ClosedJaxpr {
            jaxpr: Arc::new(program),
            consts: Vec::new(),
        };
        let dots = self.apply(program, operands);
        (outs, spread(&split.nonzero, dots))
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        let operands = self.parts(operands);
        if let Some(known) = operands.carry.iter().find(|o| !o.is_linear())
            && !known.aval().dtype().is_float()
        {
            fail(&format!(
                "scan: cannot be transposed: the carry has {}, which does not depend on what the \
                 loop is linear in\n  help: pass it in the place of the carry as an array that the \
                 loop goes through, such as Array::arange(n)",
                known.aval()
            ));
        }
        let (ct_carry, ct_ys) = cts.split_at(self.num_carry);
        let known = |operands: &[Operand]| -> Vec<Array> {
            operands
                .iter()
                .filter_map(Operand::known)
                .cloned()
                .collect()
        };
        let linear = |operands: &[Operand]| -> Vec<Aval> {
            let linear = operands.iter().filter(|o| o.is_linear());
            linear.map(|o| o.aval().strong()).collect()
        };
        let sums = linear(&operands.consts);
        let carried = operands.carry.iter().map(|o| o.aval().strong());
        let mut args = Parts {
            consts: known(&operands.consts),
            carry: sums.iter().map(|aval| zeros(*aval)).collect(),
            xs: ct_ys.iter().flatten().cloned().collect(),
        };
        let ct_carry = ct_carry.iter().zip(carried);
        let ct_carry = ct_carry.map(|(ct, aval)| ct.clone().unwrap_or_else(|| zeros(aval)));
        args.carry.extend(ct_carry);
        args.xs.extend(known(&operands.xs));

        let mut stacked = Vec::new();
        let program = self.pulled(&operands, &given(ct_ys), &mut stacked);
        let back = Scan {
            reverse: !self.reverse,
            ..self.clone()
        };
        let mut grads = back.apply(program, args);
        let mut xs = grads.split_off(sums.len() + self.num_carry).into_iter();
        let mut carry = grads.split_off(sums.len()).into_iter();
        let mut consts = grads.into_iter();

        let consts = operands.consts.iter().map(|o| match o {
            Operand::Linear(_) => consts.next(),
            Operand::Known(_) => None,
        });
        let mut all: Vec<Option<Array>> = consts.collect();
        let carry = operands.carry.iter().map(|o| {
            let ct = carry.next();
            ct.filter(|_| o.is_linear())
        });
        all.extend(carry);
        all.extend(stacked.iter().map(|on| if *on { xs.next() } else { None }));
        all
    }
}

impl Scan {
    /// The program on values and tangents, constants, carry and elements each
    /// with theirs, and which results then have a tangent.
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
            let mut tangents = spread(&on.consts, const_dots.iter().cloned());
            tangents.extend(spread(&on.carry, carry_dots.iter().cloned()));
            tangents.extend(spread(&on.xs, xs_dots.iter().cloned()));
            let (outs, dots) = derive::jvp(&self.jaxpr, &primals, &tangents, &instantiate);
            found = given(&dots);
            let (carry, ys) = outs.split_at(self.num_carry);
            let (carry_dots, ys_dots) = dots.split_at(self.num_carry);
            let carry = carry.iter().chain(carry_dots.iter().flatten());
            let ys = ys.iter().chain(ys_dots.iter().flatten());
            carry.chain(ys).cloned().collect()
        });
        (program, found)
    }

    /// The program of one step back: from known constants, sums of cotangents
    /// of the linear ones, cotangents of the carry and of the marked results,
    /// and known elements, to sums, cotangents of the carry and of the linear
    /// elements. `stacked` says which elements get one.
    fn pulled(
        &self,
        operands: &Parts<Operand>,
        marked: &[bool],
        stacked: &mut Vec<bool>,
    ) -> ClosedJaxpr {
        let jaxpr = &*self.jaxpr;
        let types = self.parts(&jaxpr.in_avals());
        let ys = &jaxpr.out_avals()[self.num_carry..];
        let part = |operands: &[Operand], types: &[Aval], linear: bool| -> Vec<Aval> {
            let both = operands.iter().zip(types);
            let both = both.filter(|(o, _)| o.is_linear() == linear);
            both.map(|(_, aval)| *aval).collect()
        };
        let strong = |avals: Vec<Aval>| -> Vec<Aval> { avals.iter().map(Aval::strong).collect() };
        let known = part(&operands.consts, &types.consts, false);
        let sums = strong(part(&operands.consts, &types.consts, true));
        let ct_ys: Vec<Aval> = ys
            .iter()
            .zip(marked)
            .filter(|(_, on)| **on)
            .map(|(aval, _)| aval.strong())
            .collect();
        let avals = [
            known.clone(),
            sums.clone(),
            strong(types.carry.clone()),
            ct_ys.clone(),
            part(&operands.xs, &types.xs, false),
        ]
        .concat();
        // The linear constants are results too: the cotangents that these bring
        // are the sums so far, and what the step adds goes on top.
        let linear_consts = jaxpr.invars.iter().zip(&operands.consts);
        let linear_consts = linear_consts.filter(|(_, o)| o.is_linear());
        let mut outvars = jaxpr.outvars.clone();
        outvars.extend(linear_consts.map(|(v, _)| Atom::Var(*v)));
        let step = jaxpr.with_interface(jaxpr.invars.clone(), outvars);
        trace_to_jaxpr(&avals, |args| {
            let (known, sums, args) = split3(args, known.len(), sums.len());
            let (ct_carry, ct_ys, elements) = split3(args, self.num_carry, ct_ys.len());
            let mut known = known.iter().chain(elements);
            let mut inner = |o: &Operand, aval: &Aval| match o {
                Operand::Linear(_) => Operand::Linear(*aval),
                Operand::Known(_) => Operand::Known(known.next().expect("one for each").clone()),
            };
            let mut all: Vec<Operand> = Vec::with_capacity(jaxpr.invars.len());
            for (o, aval) in operands.consts.iter().zip(&types.consts) {
                all.push(inner(o, aval));
            }
            all.extend(types.carry.iter().map(|aval| Operand::Linear(*aval)));
            for (o, aval) in operands.xs.iter().zip(&types.xs) {
                all.push(inner(o, aval));
            }
            let mut cts: Vec<Option<Array>> = ct_carry.iter().cloned().map(Some).collect();
            cts.extend(spread(marked, ct_ys.iter().cloned()));
            cts.extend(sums.iter().cloned().map(Some));
            let grads = self.parts(&transpose_call(&step, &all, &cts));
            *stacked = given(&grads.xs);
            let consts = grads.consts.into_iter().flatten();
            let carry = grads.carry.into_iter().zip(&types.carry);
            let carry = carry.map(|(ct, aval)| ct.unwrap_or_else(|| zeros(*aval)));
            let xs = grads.xs.into_iter().flatten();
            consts.chain(carry).chain(xs).collect()
        })
    }
}

//! The transpose of `scan`: the steps in reverse, with the accumulated cotangents of constants in
//! the carry.

use super::derive;
use super::scan::{Parts, Scan};
use super::split3;
use crate::passes::transpose_call;
use crate::prim::Operand;
use crate::prim::nested::zeros;
use crate::program::jaxpr::{Atom, ClosedJaxpr};
use crate::program::lists::{given, picked, some_where};
use crate::program::trace::trace_to_jaxpr;
use crate::{Array, Aval};
use std::sync::Arc;

impl Scan {
    /// Computes the cotangents of the linear operands.
    pub(super) fn transposed(
        &self,
        cts: &[Option<Array>],
        operands: &Parts<Operand>,
    ) -> Vec<Option<Array>> {
        // A carry with a known initial value is linear if later values are: its initial tangent
        // is zero.
        let mut linear = operands.map(Operand::is_linear);
        linear.until_stable(|linear| {
            let reached = derive::reached(&self.jaxpr, &linear.all());
            let carry = linear.carry.iter().zip(&reached);
            ((), carry.map(|(a, b)| *a || *b).collect())
        });
        if linear.carry.iter().all(|on| *on) {
            return self.go_back(cts, operands);
        }
        self.without_known(cts, operands, &linear)
    }

    /// Transposes a loop in which some carry depends on nothing linear, such as a counter: a
    /// separate loop computes its values first.
    fn without_known(
        &self,
        cts: &[Option<Array>],
        operands: &Parts<Operand>,
        linear: &Parts<bool>,
    ) -> Vec<Option<Array>> {
        let split = derive::divided(&self.jaxpr, linear);
        let known = |operands: &[Operand], linear: &[bool]| -> Vec<Array> {
            let known = operands.iter().zip(linear).filter(|(_, on)| !**on);
            known.filter_map(|(o, _)| o.known().cloned()).collect()
        };
        let args = Parts {
            consts: known(&operands.consts, &linear.consts),
            carry: known(&operands.carry, &linear.carry),
            xs: known(&operands.xs, &linear.xs),
        };
        // Both loops run in the direction of the original; only `go_back` reverses the linear one.
        let (_, saved) = self.run_known(&split, &args, args.carry.len());
        let residuals = |stacked: bool| saved.values(stacked).into_iter().map(Operand::Known);
        let mut rest = Parts {
            consts: residuals(false).collect(),
            carry: picked(&operands.carry, &linear.carry, true),
            xs: picked(&operands.xs, &linear.xs, true),
        };
        // The residuals become operands of the linear loop, without cotangents: those that all
        // steps share are its first constants, and stacked ones are its last elements.
        let same_for_all = rest.consts.len();
        rest.consts
            .extend(picked(&operands.consts, &linear.consts, true));
        let elements = rest.xs.len();
        rest.xs.extend(residuals(true));
        let part = Scan {
            jaxpr: Arc::new(saved.arrange(&split.linear)),
            num_carry: rest.carry.len(),
            num_consts: rest.consts.len(),
            ..self.clone()
        };
        let cts = picked(cts, &split.nonzero, true);
        let grads = part.parts(&part.go_back(&cts, &rest));
        let expanded = |linear: &[bool], grads: &[Option<Array>]| {
            let all = some_where(linear, grads.iter().cloned());
            all.into_iter().map(Option::flatten).collect()
        };
        Parts {
            consts: expanded(&linear.consts, &grads.consts[same_for_all..]),
            carry: expanded(&linear.carry, &grads.carry),
            xs: expanded(&linear.xs, &grads.xs[..elements]),
        }
        .all()
    }

    fn go_back(&self, cts: &[Option<Array>], operands: &Parts<Operand>) -> Vec<Option<Array>> {
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
            // Each step adds its cotangents of the constants to sums in the carry, which precede
            // the cotangents of the loop's own carry.
            carry: sums.iter().map(|aval| zeros(*aval)).collect(),
            xs: ct_ys.iter().flatten().cloned().collect(),
        };
        let ct_carry = ct_carry.iter().zip(carried);
        let ct_carry = ct_carry.map(|(ct, aval)| ct.clone().unwrap_or_else(|| zeros(aval)));
        args.carry.extend(ct_carry);
        args.xs.extend(known(&operands.xs));

        let mut stacked = Vec::new();
        let program = self.pulled(operands, &given(ct_ys), &mut stacked);
        // Cotangents flow from the last step to the first.
        let back = Scan {
            reverse: !self.reverse,
            ..self.clone()
        };
        let mut grads = back.apply(program, args);
        let xs = grads.split_off(sums.len() + self.num_carry);
        let mut carry = grads.split_off(sums.len()).into_iter();
        let mut consts = grads.into_iter();

        let consts = operands.consts.iter().map(|o| match o {
            Operand::Linear(_) => consts.next(),
            Operand::Known(_) => None,
        });
        let mut all: Vec<Option<Array>> = consts.collect();
        // A known initial carry is linear in later steps only, so its own cotangent is dropped.
        let carry = operands.carry.iter().map(|o| {
            let ct = carry.next();
            ct.filter(|_| o.is_linear())
        });
        all.extend(carry);
        all.extend(some_where(&stacked, xs));
        all
    }

    /// Returns the program of one reverse step. It maps known constants, accumulated cotangents
    /// of the linear constants, cotangents of the carry and of the marked results, and known
    /// elements, to the new accumulated cotangents, and the cotangents of the carry and of the
    /// linear elements. `stacked` is set to which elements get a cotangent.
    fn pulled(
        &self,
        operands: &Parts<Operand>,
        marked: &[bool],
        stacked: &mut Vec<bool>,
    ) -> ClosedJaxpr {
        let jaxpr = &*self.jaxpr;
        let types = self.parts(&jaxpr.in_avals());
        let part = |operands: &[Operand], types: &[Aval], linear: bool| -> Vec<Aval> {
            let both = operands.iter().zip(types);
            let both = both.filter(|(o, _)| o.is_linear() == linear);
            both.map(|(_, aval)| *aval).collect()
        };
        let strong = |avals: Vec<Aval>| -> Vec<Aval> { avals.iter().map(Aval::strong).collect() };
        let known = part(&operands.consts, &types.consts, false);
        let sums = strong(part(&operands.consts, &types.consts, true));
        let ct_ys = strong(picked(&jaxpr.out_avals()[self.num_carry..], marked, true));
        let avals = [
            known.clone(),
            sums.clone(),
            strong(types.carry.clone()),
            ct_ys.clone(),
            part(&operands.xs, &types.xs, false),
        ]
        .concat();
        // The linear constants become results, too: their cotangents are the accumulated sums, to
        // which the step adds its contributions.
        let linear_consts = jaxpr.invars.iter().zip(&operands.consts);
        let linear_consts = linear_consts.filter(|(_, o)| o.is_linear());
        let mut outvars = jaxpr.outvars.clone();
        outvars.extend(linear_consts.map(|(v, _)| Atom::Var(*v)));
        let step = jaxpr.with_interface(jaxpr.invars.clone(), outvars);
        trace_to_jaxpr(&avals, |args| {
            let (known, sums, args) = split3(args, known.len(), sums.len());
            let (ct_carry, ct_ys, elements) = split3(args, self.num_carry, ct_ys.len());
            // `nested` takes the known values in the order of the operands. No carry is known, so
            // the elements follow the constants.
            let mut known = known.iter().chain(elements).cloned();
            let mut inner = |(o, aval): (&Operand, &Aval)| o.nested(*aval, &mut known);
            let mut all = Vec::with_capacity(jaxpr.invars.len());
            all.extend(operands.consts.iter().zip(&types.consts).map(&mut inner));
            all.extend(types.carry.iter().map(|aval| Operand::Linear(*aval)));
            all.extend(operands.xs.iter().zip(&types.xs).map(inner));
            let mut cts: Vec<Option<Array>> = ct_carry.iter().cloned().map(Some).collect();
            cts.extend(some_where(marked, ct_ys.iter().cloned()));
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

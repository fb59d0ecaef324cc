//! Differentiation of `shard_map`.

use super::ShardMap;
use crate::lax::psum;
use crate::passes::transpose_call;
use crate::prim::nested::{self, Split};
use crate::prim::{NestedDifferentiation, Operand, Tangents};
use crate::program::jaxpr::ClosedJaxpr;
use crate::program::lists::{self, picked, some_where};
use crate::program::trace::trace_to_jaxpr;
use crate::sharding::AxisName;
use crate::types::sharding::{PartitionSpec, SpecEntry};
use crate::{Array, Aval};
use std::sync::Arc;

impl ShardMap {
    /// Returns the axes along which values with the spec are the same although their types do not
    /// state it: the axes that the spec omits, unless types track varying axes.
    fn untracked(&self, spec: &PartitionSpec) -> Vec<AxisName> {
        let is_untracked = |n: &AxisName| !self.check_vma && spec.axes().all(|a| a != *n);
        self.manual.iter().copied().filter(is_untracked).collect()
    }

    /// Returns one device's share of the cotangent of a result: the devices on which the result is
    /// the same share it.
    fn share(&self, ct: Array, spec: &PartitionSpec) -> Array {
        let size = |n: &AxisName| self.axes.axis_size(*n).unwrap_or(1);
        match self.untracked(spec).iter().map(size).product::<usize>() {
            1 => ct,
            n => ct / n as i32,
        }
    }

    /// Sums the cotangent of an argument over the devices on which the argument is the same.
    fn summed(&self, grad: Array, spec: &PartitionSpec) -> Array {
        let names = self.untracked(spec);
        if names.is_empty() {
            grad
        } else {
            psum(&grad, &names[..])
        }
    }

    /// Returns the spec with which a residual leaves and re-enters the program unchanged:
    /// concatenated along its first dimension, over all axes along which it may vary.
    fn residual_spec(&self, aval: Aval) -> PartitionSpec {
        let varies = |n: &AxisName| !self.check_vma || aval.varying_set().contains(*n);
        let names: Vec<AxisName> = self.manual.iter().copied().filter(varies).collect();
        if names.is_empty() {
            PartitionSpec::default()
        } else {
            PartitionSpec::new([SpecEntry::from(&names[..])])
        }
    }

    /// Adds a dimension for concatenation to the residuals of the known program that have none;
    /// returns the program and which residuals were changed.
    fn with_dimensions(
        &self,
        known: ClosedJaxpr,
        results: usize,
        at_hand: &[Option<usize>],
    ) -> (ClosedJaxpr, Vec<bool>) {
        let outs = known.jaxpr.out_avals();
        let lifted: Vec<bool> = outs[results..]
            .iter()
            .zip(at_hand)
            .map(|(a, from)| {
                from.is_none() && a.ndim() == 0 && !self.residual_spec(*a).is_trivial()
            })
            .collect();
        if !lifted.contains(&true) {
            return (known, lifted);
        }
        let ins = known.jaxpr.in_avals();
        let program = self.scope(|| {
            trace_to_jaxpr(&ins, |args| {
                let mut outs = known.jaxpr.eval(&known.consts, args);
                for (out, on) in outs[results..].iter_mut().zip(&lifted) {
                    if *on {
                        *out = out.reshape(&[1]);
                    }
                }
                outs
            })
        });
        (program, lifted)
    }
}

impl NestedDifferentiation for ShardMap {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let perturbed = lists::given(tangents);
        let args = nested::with_tangents(primals, tangents);
        let mut in_specs = self.in_specs.clone();
        in_specs.extend(picked(&self.in_specs, &perturbed, true));
        let locals = self.locals(&in_specs, &lists::avals(&args));
        let (program, nonzero) =
            self.scope(|| nested::pushed(&self.jaxpr, &locals, &perturbed, &[]));
        let mut out_specs = self.out_specs.clone();
        out_specs.extend(picked(&self.out_specs, &nonzero, true));
        let mut outs = self.bind(program, &args, &in_specs, out_specs);
        let dots = outs.split_off(self.out_specs.len());
        (outs, some_where(&nonzero, dots))
    }

    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let perturbed = lists::given(tangents);
        let locals = self.locals(&self.in_specs, &lists::avals(primals));
        let Split {
            known,
            linear,
            nonzero,
        } = self.scope(|| nested::linearized(&self.jaxpr, &locals, &perturbed));
        let results = self.out_specs.len();
        // Residuals that are arguments are already available; the others become results.
        let source = known.jaxpr.forwarded().split_off(results);
        let (known, lifted) = self.with_dimensions(known, results, &source);
        let kept = known.jaxpr.out_avals().split_off(results);
        let mut specs = self.out_specs.clone();
        let mut outvars = known.jaxpr.outvars[..results].to_vec();
        for (i, aval) in kept.into_iter().enumerate() {
            if source[i].is_none() {
                outvars.push(known.jaxpr.outvars[results + i]);
                specs.push(self.residual_spec(aval));
            }
        }
        let invars = known.jaxpr.invars.clone();
        let known = ClosedJaxpr {
            jaxpr: self.scope(|| Arc::new(known.jaxpr.with_interface(invars, outvars))),
            consts: known.consts,
        };
        let mut outs = self.bind(known, primals, &self.in_specs, specs.clone());
        let mut made = outs
            .split_off(results)
            .into_iter()
            .zip(specs.split_off(results));
        let residual = |from: &Option<usize>| match *from {
            Some(i) => (primals[i].clone(), self.in_specs[i].clone()),
            None => made.next().expect("a result for each residual"),
        };
        let (mut args, mut in_specs): (Vec<_>, Vec<_>) = source.iter().map(residual).unzip();
        let residuals = args.len();
        args.extend(tangents.iter().flatten().cloned());
        in_specs.extend(picked(&self.in_specs, &perturbed, true));
        let locals = self.locals(&in_specs, &lists::avals(&args));
        let program = self.scope(|| {
            trace_to_jaxpr(&locals, |args| {
                let (kept, dots) = args.split_at(residuals);
                let lower = |(a, on): (&Array, &bool)| match on {
                    true => a.reshape(()),
                    false => a.clone(),
                };
                let kept: Vec<Array> = kept.iter().zip(&lifted).map(lower).collect();
                linear.eval(&kept, dots)
            })
        });
        let out_specs = picked(&self.out_specs, &nonzero, true);
        let dots = self.bind(program, &args, &in_specs, out_specs);
        (outs, some_where(&nonzero, dots))
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        let of_cotangents = |specs: &[PartitionSpec]| -> Vec<PartitionSpec> {
            specs.iter().map(PartitionSpec::of_cotangent).collect()
        };
        let known: Vec<bool> = operands.iter().map(|o| !o.is_linear()).collect();
        let there = lists::given(cts);
        let args = nested::known_and_given(operands, cts);
        let mut in_specs = picked(&self.in_specs, &known, true);
        in_specs.extend(picked(&of_cotangents(&self.out_specs), &there, true));
        let locals = self.locals(&in_specs, &lists::avals(&args));
        let mut nonzero = Vec::new();
        let program = self.scope(|| {
            trace_to_jaxpr(&locals, |args| {
                let mut args = args.iter().cloned();
                let inner = operands.iter().zip(self.jaxpr.in_avals());
                let inner = inner.map(|(o, local)| o.nested(local, &mut args));
                let inner: Vec<Operand> = inner.collect();
                let cts = some_where(&there, args).into_iter().zip(&self.out_specs);
                let cts = cts.map(|(ct, spec)| Some(self.share(ct?, spec)));
                let cts: Vec<Option<Array>> = cts.collect();
                let grads = transpose_call(&self.jaxpr, &inner, &cts);
                nonzero = lists::given(&grads);
                let grads = grads.into_iter().zip(&self.in_specs);
                let grads = grads.filter_map(|(grad, spec)| Some(self.summed(grad?, spec)));
                grads.collect()
            })
        });
        let out_specs = picked(&of_cotangents(&self.in_specs), &nonzero, true);
        let grads = self.bind(program, &args, &in_specs, out_specs);
        some_where(&nonzero, grads)
    }
}

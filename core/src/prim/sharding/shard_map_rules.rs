//! Differentiation of `shard_map`.

use super::ShardMap;
use crate::passes::transpose_call;
use crate::prim::nested::{self, Split};
use crate::prim::{NestedDifferentiation, Operand, Tangents};
use crate::program::jaxpr::ClosedJaxpr;
use crate::program::lists::{self, picked, some_where};
use crate::program::trace::trace_to_jaxpr;
use crate::types::sharding::{PartitionSpec, SpecEntry};
use crate::{Array, Aval, AxisName, psum};
use std::sync::Arc;

impl ShardMap {
    /// Returns the axes that a spec omits: the values are the same along these.
    fn unmentioned(&self, spec: &PartitionSpec) -> Vec<AxisName> {
        let mentioned = |n: &AxisName| spec.axes().any(|a| a == *n);
        self.manual
            .iter()
            .copied()
            .filter(|n| !mentioned(n))
            .collect()
    }

    /// Returns the spec with which a residual leaves and re-enters the program unchanged:
    /// concatenated along its first dimension, over all axes along which it may vary.
    fn residual_spec(&self, aval: Aval) -> PartitionSpec {
        let varies = |n: &AxisName| !self.check_vma || aval.varying_set().contains(*n);
        let names: Vec<AxisName> = self.manual.iter().copied().filter(varies).collect();
        match names.is_empty() {
            true => PartitionSpec::default(),
            false => PartitionSpec::new([SpecEntry::from(&names[..])]),
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
        for (i, aval) in kept
            .iter()
            .enumerate()
            .filter(|(i, _)| source[*i].is_none())
        {
            outvars.push(known.jaxpr.outvars[results + i]);
            specs.push(self.residual_spec(*aval));
        }
        let invars = known.jaxpr.invars.clone();
        let known = ClosedJaxpr {
            jaxpr: self.scope(|| Arc::new(known.jaxpr.with_interface(invars, outvars))),
            consts: known.consts,
        };
        let mut outs = self.bind(known, primals, &self.in_specs, specs.clone());
        let mut made = outs.split_off(results).into_iter();
        let mut made_specs = specs.split_off(results).into_iter();
        let mut args = Vec::new();
        let mut in_specs = Vec::new();
        for from in &source {
            match from {
                Some(i) => {
                    args.push(primals[*i].clone());
                    in_specs.push(self.in_specs[*i].clone());
                }
                None => {
                    args.push(made.next().expect("a result for each residual"));
                    in_specs.push(made_specs.next().expect("a spec for each"));
                }
            }
        }
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
        let size = |n: &AxisName| self.axes.axis_size(*n).unwrap_or(1);
        // If types do not track varying axes, the devices on which a result is the same share its
        // cotangent, and the cotangents of arguments that are the same are summed.
        let share = |spec: &PartitionSpec| -> usize {
            match self.check_vma {
                true => 1,
                false => self.unmentioned(spec).iter().map(size).product(),
            }
        };
        let known: Vec<bool> = operands.iter().map(|o| !o.is_linear()).collect();
        let there = lists::given(cts);
        let args = nested::known_and_given(operands, cts);
        let mut in_specs = picked(&self.in_specs, &known, true);
        let ct_specs: Vec<PartitionSpec> = self
            .out_specs
            .iter()
            .map(PartitionSpec::of_cotangent)
            .collect();
        in_specs.extend(picked(&ct_specs, &there, true));
        let locals = self.locals(&in_specs, &lists::avals(&args));
        let mut nonzero = Vec::new();
        let program = self.scope(|| {
            trace_to_jaxpr(&locals, |args| {
                let mut args = args.iter().cloned();
                let inner: Vec<Operand> = operands
                    .iter()
                    .zip(self.jaxpr.in_avals())
                    .map(|(o, local)| match o {
                        Operand::Linear(_) => Operand::Linear(local),
                        Operand::Known(_) => Operand::Known(args.next().expect("one for each")),
                    })
                    .collect();
                let cts: Vec<Option<Array>> = self
                    .out_specs
                    .iter()
                    .zip(&there)
                    .map(|(spec, on)| {
                        let ct = on.then(|| args.next().expect("one for each"))?;
                        Some(match share(spec) {
                            1 => ct,
                            n => ct / n as i32,
                        })
                    })
                    .collect();
                let grads = transpose_call(&self.jaxpr, &inner, &cts);
                nonzero = lists::given(&grads);
                let summed = |(grad, spec): (Option<Array>, &PartitionSpec)| {
                    let names = self.unmentioned(spec);
                    let grad = grad?;
                    Some(match self.check_vma || names.is_empty() {
                        true => grad,
                        false => psum(&grad, &names[..]),
                    })
                };
                grads
                    .into_iter()
                    .zip(&self.in_specs)
                    .filter_map(summed)
                    .collect()
            })
        });
        let ct_in_specs: Vec<PartitionSpec> = self
            .in_specs
            .iter()
            .map(PartitionSpec::of_cotangent)
            .collect();
        let out_specs = picked(&ct_in_specs, &nonzero, true);
        let grads = self.bind(program, &args, &in_specs, out_specs);
        some_where(&nonzero, grads)
    }
}

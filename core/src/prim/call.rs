//! `jit` as a primitive: a nested program, lowered to a function of its own.

use super::{
    Avals, BatchAxis, Batched, Differentiation, NestedDifferentiation, Operand, Param, Primitive,
};
use crate::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::lower::{Lowering, Value};
use crate::trace::{bind, trace_to_jaxpr};
use crate::transform::{batch_eval, jvp_eval, linearize_eval, transpose_call};
use crate::{Array, Aval, AxisName, ShapeError};
use smallvec::SmallVec;
use std::sync::Arc;

/// The call of a compiled function inside another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// The function's name.
    pub name: Arc<str>,
    /// Its program, without captured values.
    pub jaxpr: Arc<Jaxpr>,
    /// Which arguments are state that the function replaces; empty if none is.
    /// It is shown, as JAX shows it, and has no effect inside of a program,
    /// where the compiler decides about memory.
    pub donated_invars: Vec<bool>,
}

impl Call {
    /// Binds a program to arguments; its captured values become arguments.
    #[track_caller]
    pub(crate) fn apply(name: &Arc<str>, program: ClosedJaxpr, args: &[Array]) -> Vec<Array> {
        Call::apply_donating(name, program, args, &[])
    }

    /// [`apply`](Call::apply), with a mark for each argument that is state, or
    /// no marks.
    #[track_caller]
    pub(crate) fn apply_donating(
        name: &Arc<str>,
        program: ClosedJaxpr,
        args: &[Array],
        donated: &[bool],
    ) -> Vec<Array> {
        let donated_invars = if donated.contains(&true) {
            let captured = std::iter::repeat_n(false, program.consts.len());
            captured.chain(donated.iter().copied()).collect()
        } else {
            Vec::new()
        };
        let all: SmallVec<[&Array; 8]> = program.consts.iter().chain(args).collect();
        let jaxpr = if program.consts.is_empty() {
            program.jaxpr
        } else {
            let parts = Arc::try_unwrap(program.jaxpr).unwrap_or_else(|shared| shared.duplicate());
            Arc::new(parts.consts_as_inputs())
        };
        let name = name.clone();
        let call = Call {
            name,
            jaxpr,
            donated_invars,
        };
        bind(call, &all).into_vec()
    }

    fn avals(args: &[Array]) -> impl Iterator<Item = Aval> + '_ {
        args.iter().map(Array::aval)
    }
}

impl Primitive for Call {
    fn name(&self) -> &'static str {
        "jit"
    }
    fn params(&self) -> Vec<(&'static str, Param)> {
        // The order in which JAX prints the parameters of this primitive.
        let mut params = vec![("name", Param::new(&self.name))];
        if !self.donated_invars.is_empty() {
            let flags = self.donated_invars.iter();
            let flags = flags.map(|&d| if d { "True" } else { "False" });
            params.push(("donated_invars", Param::tuple(flags)));
        }
        params.push(("jaxpr", Param::Jaxpr(self.jaxpr.clone())));
        params
    }
    fn propagates_weak_type(&self) -> bool {
        false
    }
    fn has_effects(&self) -> bool {
        self.jaxpr.eqns.iter().any(|e| e.primitive.has_effects())
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let expected = self.jaxpr.in_avals();
        crate::ensure_shape!(
            args.len() == expected.len(),
            "`{}` takes {} arrays, got {}",
            self.name,
            expected.len(),
            args.len()
        );
        for (i, (a, e)) in args.iter().zip(&expected).enumerate() {
            crate::ensure_shape!(
                a.strong() == e.strong(),
                "`{}` takes {e} as array {i}, got {a}",
                self.name
            );
        }
        Ok(self.jaxpr.out_avals().into())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Nested(self)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], size: usize) -> Batched {
        self.batch_named(args, axes, size.into())
    }
    fn uses_axis(&self, name: AxisName) -> bool {
        self.jaxpr.uses_axis(name)
    }
    fn batch_named(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let mut out_axes = Vec::new();
        let avals: Vec<Aval> = Call::avals(args).collect();
        let program = trace_to_jaxpr(&avals, |args| {
            let (outs, places) = batch_eval(&self.jaxpr, &[], args, axes, axis);
            out_axes = places;
            outs
        });
        (
            Call::apply_donating(&self.name, program, args, &self.donated_invars).into(),
            out_axes.into(),
        )
    }
    fn evaluate(&self, args: &[&Array]) -> Option<crate::Result<crate::Outputs>> {
        let args: Vec<Array> = args.iter().map(|a| (*a).clone()).collect();
        crate::jit::jit_is_disabled().then(|| Ok(self.jaxpr.eval(&[], &args).into()))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval], _: &[Aval]) -> Vec<Value> {
        ctx.call(&self.name, &self.jaxpr, args)
    }
}

impl NestedDifferentiation for Call {
    fn jvp(
        &self,
        primals: &[Array],
        tangents: &[Option<Array>],
    ) -> (Vec<Array>, Vec<Option<Array>>) {
        let args: Vec<Array> = primals
            .iter()
            .chain(tangents.iter().flatten())
            .cloned()
            .collect();
        let mut nonzero = Vec::new();
        let avals: Vec<Aval> = Call::avals(&args).collect();
        let program = trace_to_jaxpr(&avals, |args| {
            let (primals, given) = args.split_at(primals.len());
            let mut given = given.iter().cloned();
            let ts: Vec<Option<Array>> = tangents
                .iter()
                .map(|t| t.as_ref().and_then(|_| given.next()))
                .collect();
            let (mut outs, dots) = jvp_eval(&self.jaxpr, &[], primals, &ts);
            nonzero = dots.iter().map(Option::is_some).collect();
            outs.extend(dots.into_iter().flatten());
            outs
        });
        // The tangent of state is state.
        let flags = self.donated_invars.iter().copied();
        let moving = flags.clone().zip(tangents).filter(|(_, t)| t.is_some());
        let donated: Vec<bool> = flags.chain(moving.map(|(flag, _)| flag)).collect();
        let mut outs = Call::apply_donating(&self.name, program, &args, &donated);
        let mut dots = outs.split_off(self.jaxpr.outvars.len()).into_iter();
        let dots = nonzero
            .into_iter()
            .map(|nz| if nz { dots.next() } else { None })
            .collect();
        (outs, dots)
    }

    fn linearize(
        &self,
        primals: &[Array],
        tangents: &[Option<Array>],
    ) -> (Vec<Array>, Vec<Option<Array>>) {
        let perturbed: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        let avals: Vec<Aval> = Call::avals(primals).collect();
        let mut parts = None;
        let known = trace_to_jaxpr(&avals, |args| {
            let mut lin = linearize_eval(&self.jaxpr, &[], args, &perturbed);
            let mut outs = std::mem::take(&mut lin.outs);
            outs.extend(lin.linear.consts.iter().cloned());
            parts = Some((lin.linear.jaxpr.clone(), lin.nonzero));
            outs
        });
        let (linear, nonzero) = parts.expect("the program was linearized");
        let mut outs = Call::apply(&self.name, known, primals);
        let residuals = outs.split_off(self.jaxpr.outvars.len());
        let program = ClosedJaxpr {
            jaxpr: linear,
            consts: residuals,
        };
        let ts: Vec<Array> = tangents.iter().flatten().cloned().collect();
        let mut dots = Call::apply(&self.name, program, &ts).into_iter();
        let dots = nonzero
            .into_iter()
            .map(|nz| if nz { dots.next() } else { None })
            .collect();
        (outs, dots)
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        let args: Vec<Array> = operands
            .iter()
            .filter_map(Operand::known)
            .chain(cts.iter().flatten())
            .cloned()
            .collect();
        let avals: Vec<Aval> = Call::avals(&args).collect();
        let mut nonzero = Vec::new();
        let program = trace_to_jaxpr(&avals, |args| {
            let mut args = args.iter().cloned();
            let inner: Vec<Operand> = operands
                .iter()
                .map(|o| match o {
                    Operand::Linear(a) => Operand::Linear(*a),
                    Operand::Known(_) => Operand::Known(args.next().expect("one per operand")),
                })
                .collect();
            let cts: Vec<Option<Array>> = cts
                .iter()
                .map(|ct| ct.as_ref().and_then(|_| args.next()))
                .collect();
            let grads = transpose_call(&self.jaxpr, &inner, &cts);
            nonzero = grads.iter().map(Option::is_some).collect();
            grads.into_iter().flatten().collect()
        });
        let mut grads = Call::apply(&self.name, program, &args).into_iter();
        nonzero
            .into_iter()
            .map(|nz: bool| if nz { grads.next() } else { None })
            .collect()
    }
}

//! `jit` as a primitive: a nested program, lowered to a separate function.

use super::nested::{self, Split};
use super::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Nested, NestedDifferentiation, Operand,
    Param, Primitive, Tangents,
};
use crate::prim::{Jaxprs, StatePass};
use crate::program::disable::jit_is_disabled;
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::lists::{self, some_where};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::{Array, Aval, ShapeError};
use smallvec::SmallVec;
use std::sync::Arc;

/// The call of a jitted function inside another program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Name of the function.
    pub name: Arc<str>,
    /// Program of the function, without captured values.
    pub jaxpr: Arc<Jaxpr>,
    /// Whether each argument is state that the function replaces; empty if none is. Printed like
    /// in JAX; it has no effect inside a program, where the compiler manages memory.
    pub donated_invars: Vec<bool>,
}

impl Call {
    /// Binds a program to arguments; its captured values become additional arguments.
    #[track_caller]
    pub(crate) fn apply(name: &Arc<str>, program: ClosedJaxpr, args: &[Array]) -> Vec<Array> {
        Call::apply_donating(name, program, args, &[])
    }

    /// Same as [`apply`](Call::apply), with a flag for each argument that is state, or no flags.
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
        let jaxpr = program.jaxpr.with_consts_as_inputs();
        let name = name.clone();
        let call = Call {
            name,
            jaxpr,
            donated_invars,
        };
        bind(call, &all).into_vec()
    }
}

impl Primitive for Call {
    fn name(&self) -> &'static str {
        "jit"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        // JAX prints the parameters of this primitive in this order.
        let mut params = vec![("name", Param::new(&self.name))];
        if !self.donated_invars.is_empty() {
            let flags = self.donated_invars.iter();
            let flags = flags.map(|&d| if d { "True" } else { "False" });
            params.push(("donated_invars", Param::tuple(flags)));
        }
        params.push(("jaxpr", Param::Jaxpr(self.jaxpr.clone())));
        params
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        nested::infer(format_args!("`{}`", self.name), &self.jaxpr, args)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Nested(self)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let avals = lists::avals(args);
        let (program, out_axes) = nested::batched(&self.jaxpr, &avals, axes, axis, |_, at| at);
        let outs = Call::apply_donating(&self.name, program, args, &self.donated_invars);
        (outs.into(), out_axes.into())
    }
    fn evaluate(&self, args: &[&Array]) -> Option<crate::Result<crate::extend::Outputs>> {
        jit_is_disabled().then(|| nested::evaluate(&self.jaxpr, args))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.call(&self.name, &self.jaxpr, args)
    }
}

impl Nested for Call {
    fn thread_state(&self, pass: &StatePass<'_>, args: &[Array]) -> Option<Vec<Array>> {
        let program = pass.program(&self.jaxpr, &lists::avals(args));
        Some(Call::apply(&self.name, program, &pass.with(args)))
    }
    fn callee(&self) -> Option<&Arc<Jaxpr>> {
        Some(&self.jaxpr)
    }
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.jaxpr])
    }
}

impl NestedDifferentiation for Call {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        // The tangents of state are also state.
        let flags = self.donated_invars.iter().copied();
        let moving = flags.clone().zip(tangents).filter(|(_, t)| t.is_some());
        let donated: Vec<bool> = flags.chain(moving.map(|(flag, _)| flag)).collect();
        nested::call_jvp(&self.jaxpr, primals, tangents, |program, args| {
            Call::apply_donating(&self.name, program, args, &donated)
        })
    }

    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let perturbed = lists::given(tangents);
        let Split {
            known,
            linear,
            nonzero,
        } = nested::linearized(&self.jaxpr, &lists::avals(primals), &perturbed);
        let mut outs = Call::apply(&self.name, known, primals);
        let residuals = outs.split_off(self.jaxpr.outvars.len());
        let program = ClosedJaxpr {
            jaxpr: linear,
            consts: residuals,
        };
        let ts: Vec<Array> = tangents.iter().flatten().cloned().collect();
        let dots = Call::apply(&self.name, program, &ts);
        (outs, some_where(&nonzero, dots))
    }

    fn transpose(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        nested::call_transpose(&self.jaxpr, cts, operands, |program, args| {
            Call::apply(&self.name, program, args)
        })
    }
}

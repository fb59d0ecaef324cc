//! Calls of host functions from programs.

use crate::base::location;
use crate::execution::callback::{HostFunction, VmapMethod};
use crate::extend::{Outputs, ShardingRule};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Effects, Facts, Param, Primitive, move_batch_axis,
};
use crate::program::lower::{Lowering, Value, avals, order, row_major};
use crate::program::trace::bind;
use crate::{Array, Aval, Result, ShapeError};
use ramie_pjrt::Callback;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

pub use crate::execution::callback::Level;

/// The kind of a callback, which determines its effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallbackKind {
    /// Observes values, for debugging. It has no results, and does not affect derivatives.
    Debug,
    /// Computes its results without side effects; it may be called any number of times, or not at
    /// all.
    Pure,
    /// Has side effects outside the program.
    Io,
}

/// `debug_callback`, `pure_callback`, `io_callback`: a host function called with the elements of
/// the operands.
#[derive(Clone, Debug)]
pub struct HostCallback {
    /// Kind of the callback.
    pub kind: CallbackKind,
    /// Types of the results of one call.
    pub results: Vec<Aval>,
    /// Whether calls happen in program order.
    pub ordered: bool,
    /// Behavior under `vmap`, if it is supported.
    pub vmap_method: Option<VmapMethod>,
    /// Batches whose examples are called one by one, outermost first.
    pub levels: Vec<Level>,
    function: HostFunction,
    /// Handle of the function, once a program has been lowered with it. It lives as long as the
    /// programs that contain this primitive.
    handle: Arc<OnceLock<Result<Callback>>>,
}

impl PartialEq for HostCallback {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for HostCallback {}
impl Hash for HostCallback {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl HostCallback {
    pub(crate) fn new(
        kind: CallbackKind,
        function: HostFunction,
        results: Vec<Aval>,
        ordered: bool,
        vmap_method: Option<VmapMethod>,
    ) -> HostCallback {
        HostCallback {
            kind,
            results,
            ordered,
            vmap_method,
            levels: Vec::new(),
            function,
            handle: Arc::default(),
        }
    }

    fn key(&self) -> (&HostFunction, &[Aval], &[Level]) {
        (&self.function, &self.results, &self.levels)
    }

    /// Returns the type of a result for all examples.
    fn batched(&self, result: Aval) -> Aval {
        let sizes = self.levels.iter().map(|l| l.size);
        let shape: crate::typing::Dims = sizes.chain(result.shape().iter().copied()).collect();
        result.with_shape(&shape)
    }

    fn outs(&self) -> Avals {
        self.results.iter().map(|r| self.batched(*r)).collect()
    }

    /// Returns the number that identifies the function in the lowered call, or 0 if programs
    /// cannot call functions: compiling such a program is an error.
    fn id(&self, ins: &[Aval]) -> i64 {
        let register = || {
            let (ins, results) = (ins.to_vec(), self.results.clone());
            self.function.register(self.levels.clone(), ins, results)
        };
        match self.handle.get_or_init(register) {
            Ok(callback) => callback.id(),
            Err(_) => 0,
        }
    }
}

impl Primitive for HostCallback {
    fn name(&self) -> &'static str {
        match self.kind {
            CallbackKind::Debug => "debug_callback",
            CallbackKind::Pure => "pure_callback",
            CallbackKind::Io => "io_callback",
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let mut params = vec![("callback", Param::new(format!("{:?}", self.function)))];
        if self.kind != CallbackKind::Pure {
            params.push(("ordered", Param::flag(self.ordered)));
        }
        params
    }
    fn facts(&self) -> Facts<'_> {
        let effects = match self.kind {
            CallbackKind::Pure => Effects::None,
            CallbackKind::Debug if !self.ordered => Effects::Observes,
            CallbackKind::Debug | CallbackKind::Io => Effects::Acts,
        };
        Facts {
            effects,
            ..Facts::strong()
        }
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        for level in &self.levels {
            crate::ensure_shape!(
                args.len() == level.mapped.len(),
                "takes {} arrays, got {}",
                level.mapped.len(),
                args.len()
            );
        }
        Ok(self.outs())
    }
    fn sharding(&self, _: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(if outs.is_empty() {
            ShardingRule::Specs(Vec::new())
        } else {
            ShardingRule::Unknown
        })
    }
    fn differentiation(&self) -> Differentiation<'_> {
        match self.kind {
            CallbackKind::Debug => Differentiation::Zero,
            _ => Differentiation::Undefined {
                why: "the derivative of a host function is unknown",
                help: "define one with `custom_jvp` or `custom_vjp`, or use `stop_gradient` on the arguments",
            },
        }
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let size = axis.size;
        if self.ordered {
            location::fail(&format!(
                "{}: ordered effects cannot be mapped by `vmap`\n  help: make the callback \
                 unordered, or loop over the examples with `scan`",
                self.name()
            ));
        }
        let Some(method) = self.vmap_method else {
            location::fail(&format!(
                "{}: `vmap` requires a vmap method for host functions\n  help: use \
                 `pure_callback_with(…, VmapMethod::Sequential)`",
                self.name()
            ));
        };
        let mapped: Vec<bool> = axes.iter().map(Option::is_some).collect();
        let args: Vec<Array> = args
            .iter()
            .zip(axes)
            .map(|(arg, axis)| match (axis, method) {
                (Some(_), _) | (None, VmapMethod::BroadcastAll) => {
                    move_batch_axis(arg, *axis, 0, size)
                }
                (None, VmapMethod::ExpandDims) => arg.expand_dims(&[0]),
                (None, VmapMethod::Sequential) => arg.clone(),
            })
            .collect();
        let mut call = HostCallback {
            handle: Arc::default(),
            ..self.clone()
        };
        match method {
            VmapMethod::Sequential => call.levels.insert(0, Level { size, mapped }),
            _ => {
                for result in &mut call.results {
                    let mut shape = result.shape().to_vec();
                    shape.insert(0, size);
                    *result = result.with_shape(&shape);
                }
            }
        }
        let refs: Vec<&Array> = args.iter().collect();
        let outs = bind(call, &refs);
        let out_axes = outs.iter().map(|_| Some(0)).collect();
        (outs, out_axes)
    }
    fn evaluate(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        let run = || {
            if self.ordered {
                crate::client::ordered::wait();
            }
            let device = crate::execution::eager::device_of(self, args)?;
            let outs = self.outs();
            self.function
                .run(&self.levels, args, &self.results, &outs, device)
                .map(Outputs::from_vec)
        };
        Some(run())
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        ctx.set_calls_back();
        // Programs for several devices do not support ordered effects.
        if self.ordered || ctx.runs_on_each_device(self.name()) {
            return self.lower_call(ctx, args, outs);
        }
        ctx.on_first_device(args, outs, |ctx, args| self.lower_call(ctx, args, outs))
    }
}

impl HostCallback {
    fn lower_call(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let id = self.id(&avals(args));
        let (mut args, mut outs) = (args.to_vec(), outs.to_vec());
        if self.ordered {
            args.push(ctx.order());
            outs.push(order::aval());
        }
        let attributes = format!(
            "call_target_name = \"{}\", api_version = 4 : i32, has_side_effect = {}, \
             backend_config = {{id = {id} : i64}}, operand_layouts = {}, result_layouts = {}",
            Callback::TARGET,
            self.kind != CallbackKind::Pure,
            row_major(&avals(&args)),
            row_major(&outs)
        );
        let mut values = ctx.op("custom_call", &args, &outs, &attributes, &[]);
        if self.ordered
            && let Some(after) = values.pop()
        {
            ctx.set_order(after);
        }
        values
    }
}

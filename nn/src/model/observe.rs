//! `observe`: records the calls of layers.

use super::parts::for_each_node;
use ramie_core::stages::{Compiled, Value};
use ramie_core::tree::{self, Tree, shape_dtype_structs};
use ramie_core::{Array, Result, jit, vjp};
use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;

/// Options of a recording.
#[derive(Clone, Copy, Default)]
pub(crate) struct Recording {
    outputs: bool,
    flops: bool,
    vjp_flops: bool,
}

impl Recording {
    /// Records the values of outputs.
    pub fn outputs(mut self) -> Recording {
        self.outputs = true;
        self
    }

    /// Records closures that compute the costs of calls.
    pub fn costs(mut self, flops: bool, vjp_flops: bool) -> Recording {
        (self.flops, self.vjp_flops) = (flops, vjp_flops);
        self
    }
}

/// Floating-point operations of a call, and of the call with its derivative.
pub(crate) type Costs = (Option<f64>, Option<f64>);

/// A recorded call of a layer.
pub(crate) struct Call {
    pub path: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    /// The outputs by their paths, if recorded.
    pub values: Vec<(String, Array)>,
    pub costs: Option<Box<dyn FnOnce() -> Costs>>,
}

struct Recorder {
    recording: Recording,
    /// The path of each node of the model, by its address and type.
    places: HashMap<(usize, TypeId), String>,
    calls: Vec<Call>,
}

thread_local! {
    static RECORDERS: RefCell<Vec<Recorder>> = const { RefCell::new(Vec::new()) };
}

/// Ends a recording when dropped.
pub(crate) struct Guard(());

impl Guard {
    /// Returns the calls, in the order in which they began.
    pub fn finish(self) -> Vec<Call> {
        let recorder = RECORDERS.with_borrow_mut(Vec::pop);
        std::mem::forget(self);
        recorder.map_or_else(Vec::new, |r| r.calls)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        RECORDERS.with_borrow_mut(Vec::pop);
    }
}

/// Starts recording the calls of a model's layers. The model must not move in the meantime.
pub(crate) fn start<M: Tree>(model: &M, recording: Recording) -> Guard {
    let mut places = HashMap::new();
    for_each_node(model, |path, _, node| {
        let address = std::ptr::from_ref(node).cast::<()>().addr();
        places.insert((address, node.type_id()), path.to_owned());
    });
    RECORDERS.with_borrow_mut(|all| {
        all.push(Recorder {
            recording,
            places,
            calls: Vec::new(),
        });
    });
    Guard(())
}

/// Returns the types of a tree's arrays.
pub(crate) fn types<T: Tree>(tree: &T) -> Vec<String> {
    let leaves = tree::leaves(tree);
    leaves.iter().map(|a| a.aval().to_string()).collect()
}

/// Runs a call of a layer and records it, if [`tabulate`](crate::nnx::tabulate) or a capture is
/// active. Otherwise returns `None`, at negligible cost.
///
/// The layers of this crate record their calls this way. Custom layers can do so, too: then
/// [`tabulate`](crate::nnx::tabulate) shows their inputs and outputs. `compute` is a function, not a
/// closure with captures, and must not record the same call again.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::{Linear, Module, nnx};
/// #[derive(Module)]
/// struct Block { linear: Linear }
/// impl Block {
///     fn forward(&self, x: &Array) -> Array {
///         if let Some(y) = nnx::observe(self, x.clone(), |block, x| block.compute(&x)) {
///             return y;
///         }
///         self.compute(x)
///     }
///     fn compute(&self, x: &Array) -> Array {
///         self.linear.forward(x).tanh()
///     }
/// }
/// ```
pub fn observe<L: Tree, A: Tree, R: Tree>(
    layer: &L,
    args: A,
    compute: fn(&L, A) -> R,
) -> Option<R> {
    let begun = begin(layer, &args, move |layer: L, args: A, recording| {
        program_costs(move |l: L, a: A| compute(&l, a), layer, args, recording)
    })?;
    let out = compute(layer, args);
    end(begun, &out);
    Some(out)
}

/// Expands to a layer's call with one array, recorded by [`observe`], or with `mut` by
/// [`observe_mut`]. The call is expanded in place, so that its panics report the line of the
/// caller.
macro_rules! observed {
    ($this:ident, |$layer:ident, $x:ident| $call:expr) => {
        $crate::model::observed!(observe, $this, $layer, $x, $call)
    };
    (mut $this:ident, |$layer:ident, $x:ident| $call:expr) => {
        $crate::model::observed!(observe_mut, $this, $layer, $x, $call)
    };
    ($observe:ident, $this:ident, $layer:ident, $x:ident, $call:expr) => {
        match $crate::model::$observe($this, $x.clone(), |$layer, $x| {
            let $x = &$x;
            $call
        }) {
            Some(y) => y,
            None => {
                let $layer = $this;
                $call
            }
        }
    };
}
pub(crate) use observed;

/// Like [`observe`], for a layer that is changed by its call.
pub fn observe_mut<L: Tree, A: Tree, R: Tree>(
    layer: &mut L,
    args: A,
    compute: fn(&mut L, A) -> R,
) -> Option<R> {
    let begun = begin(layer, &args, move |layer: L, args: A, recording| {
        let call = move |mut l: L, a: A| (compute(&mut l, a), l);
        program_costs(call, layer, args, recording)
    })?;
    let out = compute(layer, args);
    end(begun, &out);
    Some(out)
}

/// A call that has begun: its index among the calls, and the options of the recording.
type OpenCall = (usize, Recording);

fn begin<L: Tree, A: Tree>(
    layer: &L,
    args: &A,
    costs: impl FnOnce(L, A, Recording) -> Costs + 'static,
) -> Option<OpenCall> {
    let address = std::ptr::from_ref(layer).cast::<()>().addr();
    let key = (address, TypeId::of::<L>());
    // A thread that is exiting may have dropped its recorders already; nobody reads them then.
    let begun = RECORDERS.try_with(|all| {
        let mut all = all.borrow_mut();
        let recorder = all.last_mut()?;
        let path = recorder.places.get(&key)?.clone();
        let recording = recorder.recording;
        let costs = (recording.flops || recording.vjp_flops).then(|| {
            let (layer, args) = (shape_dtype_structs(layer), shape_dtype_structs(args));
            Box::new(move || costs(layer, args, recording)) as Box<dyn FnOnce() -> Costs>
        });
        recorder.calls.push(Call {
            path,
            inputs: types(args),
            outputs: Vec::new(),
            values: Vec::new(),
            costs,
        });
        Some((recorder.calls.len() - 1, recording))
    });
    begun.ok().flatten()
}

fn end<R: Tree>((place, recording): OpenCall, out: &R) {
    RECORDERS.with_borrow_mut(|all| {
        let Some(call) = all.last_mut().and_then(|r| r.calls.get_mut(place)) else {
            return;
        };
        call.outputs = types(out);
        if recording.outputs {
            let paths = tree::paths(out);
            call.values = paths.into_iter().zip(tree::leaves(out)).collect();
        }
    });
}

/// Returns the costs of a function, as estimated by the compiler.
pub(crate) fn program_costs<L: Tree, A: Tree, R: Tree>(
    call: impl Fn(L, A) -> R + Send + Sync,
    layer: L,
    args: A,
    recording: Recording,
) -> Costs {
    let copy = |layer: &L, args: &A| (shape_dtype_structs(layer), shape_dtype_structs(args));
    let forward = recording.flops.then(|| {
        let (layer, args) = copy(&layer, &args);
        flops(jit(|l: L, a: A| call(l, a)).compile((layer, args)))
    });
    let both = recording.vjp_flops.then(|| {
        let pulled = |l: L, a: A| {
            let (out, pull) = vjp(|(l, a): (L, A)| call(l, a), (l, a));
            pull(out)
        };
        flops(jit(pulled).compile((layer, args)))
    });
    (forward.flatten(), both.flatten())
}

/// Returns the number of floating-point operations of a compiled function, or `None` if the
/// compiler does not report it.
pub(crate) fn flops<S: Tree, A: Tree, R: Tree>(compiled: Result<Compiled<S, A, R>>) -> Option<f64> {
    let estimates = compiled.ok()?.cost_analysis().ok()?;
    let (_, value) = estimates.into_iter().find(|(name, _)| name == "flops")?;
    match value {
        Value::F32(v) => Some(f64::from(v)),
        Value::I64(v) => Some(v as f64),
        _ => None,
    }
}

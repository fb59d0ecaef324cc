//! Runs of a compiled program.

use super::compiled_call::CompiledCall;
use super::donate;
use super::place::changed;
use super::signature::{Description, Inputs, inputs};
use super::trace::Trace;
use crate::client::sharded::Layout;
use crate::client::{self, put};
use crate::execution::numerics;
use crate::program::array::{DeviceArray, Repr, taken};
use crate::sharding::Sharding;
use crate::transform::Arguments;
use crate::{Array, Aval, Result, Tree};
use ramie_pjrt::{Buffer, Device, Executable};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{slice, vec};

/// A compiled program.
pub(crate) struct Entry {
    trace: Trace,
    pub executable: Executable,
    ordered: bool,
    consts: Vec<Arc<DeviceArray>>,
    /// Types of the results of the program.
    outs: Vec<Aval>,
    /// See [`Plan::kept`](super::place::Plan::kept).
    kept: Vec<bool>,
    device: Device,
    /// Layouts of arguments and results, if the program runs on a mesh.
    layout: Option<Box<Layout>>,
    pub description: Description,
    /// Whether copies of donated arguments were reported.
    reported: AtomicBool,
}

/// The arrays of a call.
type Arrays = SmallVec<[Array; 16]>;

/// Indices of donated inputs, captured values first, that have other handles: the program gets
/// copies of them.
type Copied = SmallVec<[usize; 8]>;

/// The outputs of a run, in order.
enum Outputs<'a> {
    OnMesh(vec::IntoIter<Array>),
    OnDevice {
        /// Results of the program, and their types.
        buffers: vec::IntoIter<Buffer>,
        avals: slice::Iter<'a, Aval>,
        sharding: Sharding,
        /// Whether each of the first outputs is an input.
        kept: slice::Iter<'a, bool>,
        /// The inputs, whose handles become those of outputs: most outputs are a state's new arrays.
        inputs: slice::IterMut<'a, Array>,
    },
}

impl Iterator for Outputs<'_> {
    type Item = Array;
    fn next(&mut self) -> Option<Array> {
        match self {
            Outputs::OnMesh(arrays) => arrays.next(),
            Outputs::OnDevice {
                buffers,
                avals,
                sharding,
                kept,
                inputs,
            } => {
                // Taken for every output, so that output `i` meets input `i`: the state comes first
                // in both.
                let input = inputs.next();
                if kept.next() == Some(&true) {
                    return input.cloned();
                }
                let (aval, buffer) = (*avals.next()?, buffers.next()?);
                Some(match input {
                    Some(old) => Array::from_device_over(old, aval, buffer, *sharding),
                    None => Array::from_device(aval, buffer, *sharding),
                })
            }
        }
    }
}

impl Entry {
    /// Creates the program for calls from its trace.
    pub fn new(trace: Trace, made: CompiledCall, description: Description) -> Result<Entry> {
        let captured = &trace.program.consts;
        let consts = match &made.layout {
            None => {
                let refs: Vec<&Array> = captured.iter().collect();
                crate::execution::eager::place_on(made.device, &refs)?
                    .1
                    .into_vec()
            }
            Some(layout) => {
                let to = captured.iter().zip(&layout.ins);
                to.map(|(a, to)| put::follow(a, *to))
                    .collect::<Result<_>>()?
            }
        };
        Ok(Entry {
            executable: made.executable,
            ordered: made.ordered,
            consts,
            outs: changed(&made.kept, trace.program.jaxpr.out_avals()),
            kept: made.kept,
            device: made.device,
            layout: made.layout,
            description,
            reported: AtomicBool::new(false),
            trace,
        })
    }

    /// Runs the program on arguments of its signature. Checks the results if NaN or infinity checks
    /// are enabled. `S` and `R` are the types of the function.
    ///
    /// # Panics
    /// Panics if the results contain NaNs or infinities; see [`numerics`].
    #[track_caller]
    pub fn run<S: Tree, R: Tree>(
        &self,
        name: &str,
        state: &mut S,
        mut args: impl Arguments,
    ) -> Result<R> {
        // The additional handles prevent donation, so the inputs remain valid.
        let held = numerics::is_checked().then(|| inputs!(state, args).leaves());
        // Takes the arrays out of the trees, so that a handle count above one means that the user
        // has another handle.
        let mut inputs = Arrays::new();
        state.walk_mut(&mut |a| inputs.push(taken(a)));
        args.take(&mut |a| inputs.push(a));
        let names = inputs!(state, args);
        let mut outs = match self.execute(name, names, &mut inputs) {
            Ok(outs) => outs,
            Err(e) => {
                // The state still contains the placeholders that `taken` left.
                let mut inputs = inputs.into_iter();
                state.walk_mut(&mut |a| *a = inputs.next().expect("as many arrays"));
                return Err(e);
            }
        };
        let result: R = self.trace.put(state, &mut outs);
        if let Some(held) = held {
            let outs = inputs!(state, result).leaves();
            let path = |i| donate::path(i, inputs!(state, args));
            numerics::check_call(name, &self.trace.program, &held, &outs, path);
        }
        Ok(result)
    }

    /// Runs the program. `names` names the inputs in messages.
    fn execute<'a>(
        &'a self,
        name: &str,
        names: Inputs<'_>,
        inputs: &'a mut [Array],
    ) -> Result<Outputs<'a>> {
        let report = |inputs: &[Array], copied: &Copied| {
            if !copied.is_empty() && super::logs_compiles() {
                self.report_copies(name, names, inputs, copied);
            }
        };
        if let Some(layout) = &self.layout {
            let mut outs = Vec::with_capacity(self.outs.len());
            let copied = self.execute_sharded(layout, inputs, &mut outs)?;
            report(inputs, &copied);
            return Ok(Outputs::OnMesh(outs.into_iter()));
        }
        let mut buffers: Vec<Buffer> = Vec::with_capacity(self.outs.len());
        let copied = self.execute_on_device(inputs, &mut buffers)?;
        report(inputs, &copied);
        Ok(Outputs::OnDevice {
            buffers: buffers.into_iter(),
            avals: self.outs.iter(),
            sharding: Sharding::SingleDevice(self.device),
            kept: self.kept.iter(),
            inputs: inputs.iter_mut(),
        })
    }

    /// Reports, once, how many inputs could not be donated because they have other handles.
    #[cold]
    fn report_copies(&self, name: &str, names: Inputs<'_>, inputs: &[Array], copied: &Copied) {
        if self.reported.swap(true, Relaxed) {
            return;
        }
        // A host scalar has no buffer that could be donated.
        let numbers = copied.iter().map(|i| i - self.consts.len());
        let arrays: Vec<usize> = numbers
            .filter(|&i| matches!(inputs[i].0, Repr::Device(_)))
            .collect();
        let Some(&first) = arrays.first() else {
            return;
        };
        let bytes: usize = arrays.iter().map(|&i| inputs[i].aval().size_bytes()).sum();
        eprintln!(
            "ramie: `{name}` copies {} donated arrays ({bytes} bytes), which have other handles; \
             the first is `{}`, {}\n  help: a clone, such as an `Ema` of the parameters or \
             `nnx::clone`, keeps the old values; if it is not needed, drop it before the call",
            arrays.len(),
            donate::path(first, names),
            inputs[first].aval()
        );
    }

    /// Runs the program on the devices of a mesh.
    fn execute_sharded(
        &self,
        layout: &Layout,
        inputs: &[Array],
        outputs: &mut Vec<Array>,
    ) -> Result<Copied> {
        let donated = &self.executable.signature().donated;
        let consts = self.consts.len();
        // Arrays with another layout are moved for the call.
        let mut moved: SmallVec<[(usize, Arc<DeviceArray>); 2]> = SmallVec::new();
        for (i, (input, to)) in inputs.iter().zip(&layout.ins[consts..]).enumerate() {
            let is_placed =
                matches!(&input.0, Repr::Device(d) if d.sharding == Sharding::Named(*to));
            if !is_placed {
                moved.push((i, put::follow(input, *to)?));
            }
        }
        let mut next = moved.iter().peekable();
        let mut kept = Copied::new();
        let mut args: SmallVec<[&Arc<DeviceArray>; 24]> = self.consts.iter().collect();
        for (i, input) in inputs.iter().enumerate() {
            let held = match next.next_if(|(at, _)| *at == i) {
                Some((_, held)) => held,
                None => input.device_array()?,
            };
            if donated[consts + i] && Arc::strong_count(held) > 1 {
                kept.push(consts + i);
            }
            args.push(held);
        }
        layout.run(&self.executable, &args, &kept, |a| outputs.push(a))?;
        Ok(kept)
    }

    fn execute_on_device(&self, inputs: &[Array], outputs: &mut Vec<Buffer>) -> Result<Copied> {
        let donated = &self.executable.signature().donated;
        let consts = self.consts.len();
        // Scalars that are not on this program's device, copied there for the call.
        let mut placed: SmallVec<[(usize, Arc<DeviceArray>); 2]> = SmallVec::new();
        let mut kept = Copied::new();
        let mut buffers: SmallVec<[&Buffer; 24]> = SmallVec::new();
        for c in &self.consts {
            buffers.push(&c.buffers[0]);
        }
        // All copies are made before the next loop, which borrows them.
        for (i, input) in inputs.iter().enumerate() {
            if let Some(l) = input.as_literal()
                && input.device_array()?.sharding.single() != Some(self.device)
            {
                placed.push((i, client::put_scalar_on(l, self.device)?));
            }
        }
        for (i, input) in inputs.iter().enumerate() {
            let moved = placed.iter().find(|(at, _)| *at == i).map(|(_, d)| d);
            let held = match moved {
                Some(d) => d,
                None => input.device_array()?,
            };
            // A scalar's buffer is cached for later programs, so it is never donated.
            let shared = Arc::strong_count(held) > 1 || !matches!(input.0, Repr::Device(_));
            if donated[consts + i] && shared {
                kept.push(consts + i);
            }
            buffers.push(&held.buffers[0]);
        }
        client::ordered::execute(&self.executable, self.ordered, &buffers, &kept, outputs)?;
        Ok(kept)
    }
}

//! Calls of jitted functions: look up the program, run it, and store the results.

use super::made::Made;
use super::place::{Plan, changed, placed, plan, site_of};
use super::programs::{Forget, Shared, shared};
use super::signature::{Description, Signature, describe};
use super::{JitOptions, donate, retraces};
use crate::base::events;
use crate::base::location;
use crate::base::location::in_user_code;
use crate::client::sharded::{Layout, Site};
use crate::client::{self, Origin, put};
use crate::execution::numerics;
use crate::prim::call::Call;
use crate::program::array::{DeviceArray, Repr, taken, type_only};
use crate::program::disable::jit_is_disabled;
use crate::program::jaxpr::{Atom, ClosedJaxpr, Scope};
use crate::program::trace::{OpenTrace, is_tracing};
use crate::program::tree;
use crate::transform::{Arguments, ByRef, ByValue};
use crate::{Array, Aval, Error, Result, Sharding, Tree};
use ramie_pjrt::{Buffer, Callback, Device, Executable};
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

type Body<'f, S, A, R> = Box<dyn Fn(&mut S, A) -> R + Send + Sync + 'f>;

/// A jitted function and its compiled programs.
pub(crate) struct Jit<'f, S, A, R> {
    body: Body<'f, S, A, R>,
    pub name: Arc<str>,
    options: JitOptions,
    programs: Shared<Entry<S, R>>,
    /// Traces for calls inside other traces.
    nested: Shared<Arc<Trace<S, R>>>,
}

/// The result of tracing the function once.
pub(crate) struct Trace<S, R> {
    pub program: ClosedJaxpr,
    /// State and result as the function left them, with tracers as leaves.
    state: S,
    result: R,
    /// Number of leaves of the state among the inputs, and among the outputs.
    pub state_ins: usize,
    pub state_outs: usize,
    /// Whether the state kept its structure and fixed values.
    pub in_place: bool,
}

/// A compiled program.
pub(crate) struct Entry<S, R> {
    trace: Trace<S, R>,
    pub executable: Executable,
    ordered: bool,
    consts: Vec<Arc<DeviceArray>>,
    /// Types of the results of the program.
    outs: Vec<Aval>,
    /// See [`Plan::kept`].
    kept: Vec<bool>,
    device: Device,
    /// Layouts of arguments and results, if the program runs on a mesh.
    layout: Option<Box<Layout>>,
    pub description: Description,
    /// Whether copies of donated arguments were reported.
    reported: AtomicBool,
}

type Inputs = SmallVec<[Array; 16]>;

/// Indices of donated inputs, captured values first, that have other handles: the program gets
/// copies of them.
type Copied = SmallVec<[usize; 8]>;

/// Returns whether a call on this thread may have to do more than run a program. One branch
/// covers all cases that [`Jit::call`] then distinguishes.
#[inline]
fn is_in_a_mode() -> bool {
    jit_is_disabled()
        | is_tracing()
        | crate::program::trace::evaluates_at_compile_time()
        | Callback::is_running()
}

/// Returns the leaves of both trees.
#[cold]
fn leaves<A: Tree, B: Arguments>(a: &A, b: &B) -> Vec<Array> {
    let mut all = tree::leaves(a);
    all.extend(tree::leaves(&b.rebuild(&mut Array::clone)));
    all
}

impl<'f, S: Tree, A: Tree, R: Tree> Jit<'f, S, A, R> {
    pub fn new(body: Body<'f, S, A, R>, name: &str, options: JitOptions) -> Self {
        Jit {
            body,
            name: options.name.as_deref().unwrap_or(name).into(),
            programs: shared(options.cache_limit),
            nested: shared(options.cache_limit),
            options,
        }
    }

    /// Calls the function: runs the compiled program, or records a nested call inside a trace.
    pub fn call<X>(&self, state: &mut S, args: X, at: &'static Location<'static>) -> R
    where
        X: Arguments<Owned = A>,
    {
        if self.options.in_shardings.is_none() || jit_is_disabled() {
            return self.call_in_place(state, args, at);
        }
        match self.placed(args.own()) {
            Ok(args) => self.call_in_place(state, ByValue(args), at),
            Err(e) => panic!("{}: {e}\n  jit was called at {at}", self.name),
        }
    }

    fn call_in_place<X>(&self, state: &mut S, args: X, at: &'static Location<'static>) -> R
    where
        X: Arguments<Owned = A>,
    {
        if is_in_a_mode() {
            if jit_is_disabled() {
                return (self.body)(state, args.own());
            }
            if is_tracing() || self.is_recorded(state, &args) {
                return self.call_nested(state, args.own(), at);
            }
            crate::program::trace::refuse_in_callback(&self.name);
        }
        match self.try_call(state, args, at) {
            Ok(result) => result,
            Err(e) => panic!("{}: {e}\n  jit was called at {at}", self.name),
        }
    }

    /// Returns whether a call during compile-time evaluation has tracers as inputs, and must be
    /// recorded.
    #[cold]
    fn is_recorded<X: Arguments<Owned = A>>(&self, state: &S, args: &X) -> bool {
        crate::program::trace::evaluates_at_compile_time()
            && leaves(state, args).iter().any(Array::is_tracer)
    }

    fn try_call<X>(&self, state: &mut S, args: X, at: &'static Location<'static>) -> Result<R>
    where
        X: Arguments<Owned = A>,
    {
        let compile = || self.compile(state, &args.rebuild(&mut Array::clone), at);
        let made = self.programs.get_or_make(state, &args, compile)?;
        made.value.run_checked(&self.name, state, args)
    }

    /// Compiles the program for a call.
    #[cold]
    fn compile(&self, state: &S, args: &A, at: &'static Location<'static>) -> Result<Entry<S, R>> {
        let description = describe(state, args);
        let earlier = self.programs.all();
        let reason = description.explain(earlier.iter().map(|made| &made.value.description));
        let last = self.programs.last();
        let calls = last.iter().chain(&earlier);
        let change = description.change(calls.map(|made| &made.value.description));
        let start = Instant::now();
        let site = site_of(state, args)?;
        let trace = self.trace(state, args, at);
        let plan = self.plan(&trace, site, state, args)?;
        let traced = start.elapsed();
        let jaxpr = &trace.program.jaxpr;
        let program = plan.lower(&self.name, jaxpr);
        let flags = &self.options.compiler_options;
        let (made, origin) = Made::compile(program, jaxpr, &plan, flags)?;
        let total = start.elapsed();
        let why = reason.as_deref().unwrap_or("first call");
        let what = match origin {
            Origin::Compiled => "compiled",
            Origin::Cache => "loaded from the cache:",
        };
        tracing::debug!(name = %self.name, ?traced, ?total, why, ?origin, "compiled");
        if super::logs_compiles() {
            eprintln!(
                "ramie: {what} `{}` in {total:.1?} (traced in {traced:.1?}): {why}; jit was called at {at}",
                self.name
            );
        }
        let entry = trace.into_entry(made, description)?;
        self.programs.note_compilation(reason);
        if let Some(change) = change
            && self.programs.note_cause(&change.path) == retraces::MANY
        {
            retraces::warn(&self.name, &change, at);
        }
        Ok(entry)
    }

    /// Traces the function, and removes equations that its results do not need.
    pub fn trace(&self, state: &S, args: &A, at: &'static Location<'static>) -> Trace<S, R> {
        let mut trace = self.trace_all(state, args, at);
        trace.program.jaxpr = Arc::new(trace.program.jaxpr.dce().0);
        trace
    }

    /// Traces the function.
    fn trace_all(&self, state: &S, args: &A, at: &'static Location<'static>) -> Trace<S, R> {
        let _event = events::span(|| events::Event::named(format!("trace {}", self.name)));
        let open = location::at_location(at, || OpenTrace::full());
        // The trace is shared by calls in any scope, so it starts in an empty one.
        let body = |state: &mut S, args: A| Scope::default().within(|| (self.body)(state, args));
        let mut tracer = |a: &Array| open.input(a.aval());
        let mut inner = state.rebuild(&mut tracer);
        let state_ins = tree::count(state);
        let before = tree::fingerprint(state);
        let args = args.rebuild(&mut tracer);
        let result = in_user_code(|| body(&mut inner, args));
        let mut outs = tree::leaves(&inner);
        let state_outs = outs.len();
        outs.extend(tree::leaves(&result));
        let path = |i: usize| match i < state_outs {
            true => tree::paths(&inner).into_iter().nth(i),
            false => tree::paths(&result).into_iter().nth(i - state_outs),
        };
        Trace {
            program: open.finish_named(&outs, path),
            in_place: before == tree::fingerprint(&inner),
            state: inner,
            result,
            state_ins,
            state_outs,
        }
    }

    /// Calls the function inside a trace: binds one equation that contains the function's
    /// program.
    #[cold]
    fn call_nested(&self, state: &mut S, args: A, at: &'static Location<'static>) -> R {
        let key = Signature::of(state, &ByRef(&args)).and(crate::types::axis::bound());
        let trace = match self.nested.find(&key) {
            Some(made) => made.value.clone(),
            None => {
                let trace = Arc::new(self.trace_all(state, &args, at));
                // A program that captured tracers is only valid in the enclosing trace.
                if !trace.program.consts.iter().any(Array::is_tracer) {
                    self.nested.insert(key, trace.clone());
                }
                trace
            }
        };
        let mut inputs = tree::leaves(state);
        let mut donated = vec![true; inputs.len()];
        inputs.extend(tree::leaves(&args));
        donated.resize(inputs.len(), false);
        let program = trace.program.clone();
        let mut outs = match self.options.inline {
            true => program.eval(&inputs),
            false => location::at_location(at, || {
                Call::apply_donating(&self.name, program, &inputs, &donated)
            }),
        }
        .into_iter();
        trace.put_state(state, &mut outs);
        trace.result(&mut outs)
    }

    /// Moves the arguments to the shardings of `in_shardings`.
    pub fn placed(&self, args: A) -> Result<A> {
        match &self.options.in_shardings {
            None => Ok(args),
            Some(wanted) => placed(args, wanted),
        }
    }

    /// Plans a call at `site`.
    pub fn plan(&self, trace: &Trace<S, R>, site: Site, state: &S, args: &A) -> Result<Plan> {
        let donated = trace.donations(&self.name, state, args, &self.options.donate_argnums);
        let wanted = self.options.out_shardings.as_ref();
        plan(trace, site, state, args, donated, wanted)
    }

    /// Returns the compiled programs.
    pub fn programs(&self) -> &Shared<Entry<S, R>> {
        &self.programs
    }

    /// Removes all programs.
    pub fn clear(&self) {
        self.programs.forget();
        self.nested.forget();
    }

    /// Returns the XLA flags for this function.
    pub fn compiler_options(&self) -> &[(String, ramie_pjrt::OptionOverride)] {
        &self.options.compiler_options
    }
}

impl<S: Tree, R: Tree> Trace<S, R> {
    pub fn into_entry(self, made: Made, description: Description) -> Result<Entry<S, R>> {
        let captured = &self.program.consts;
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
            outs: changed(&made.kept, self.program.jaxpr.out_avals()),
            kept: made.kept,
            device: made.device,
            layout: made.layout,
            description,
            reported: AtomicBool::new(false),
            trace: self,
        })
    }

    /// Returns the number of outputs that are state.
    pub fn state_outputs(&self) -> usize {
        self.state_outs
    }

    /// Returns whether output `i` is the new value of the state's array `i`.
    pub fn keeps_state(&self, i: usize) -> bool {
        let jaxpr = &self.program.jaxpr;
        self.in_place
            && i < self.state_ins
            && jaxpr.in_avals()[i].shape() == jaxpr.out_avals()[i].shape()
    }

    /// Returns whether each output is an array of the state that the function leaves unchanged;
    /// empty if there are none.
    pub fn unchanged(&self) -> Vec<bool> {
        let jaxpr = &self.program.jaxpr;
        let pairs = jaxpr
            .outvars
            .iter()
            .zip(&jaxpr.invars)
            .take(self.state_outs);
        let kept: Vec<bool> = pairs
            .map(|(out, input)| self.in_place && *out == Atom::Var(*input))
            .collect();
        match kept.contains(&true) {
            true => kept,
            false => Vec::new(),
        }
    }

    /// Replaces the state's arrays by its new ones.
    fn put_state(&self, state: &mut S, outs: &mut impl Iterator<Item = Array>) {
        let mut next = || outs.next().expect("an output for every leaf");
        if self.in_place {
            state.walk_mut(&mut |a| *a = next());
        } else {
            *state = self.state.rebuild(&mut |_| next());
        }
    }

    /// Returns the result as arrays without elements.
    pub fn out_info(&self) -> R {
        self.result.rebuild(&mut type_only)
    }

    /// Returns the result as the trace left it.
    pub fn traced_result(&self) -> &R {
        &self.result
    }

    /// Returns the result with arrays as leaves.
    fn result(&self, outs: &mut impl Iterator<Item = Array>) -> R {
        self.result
            .rebuild(&mut |_| outs.next().expect("an output for every leaf"))
    }
}

impl<S: Tree, R: Tree> Entry<S, R> {
    /// Runs the program like [`run`](Self::run), but checks the results if NaN or infinity checks
    /// are enabled.
    ///
    /// # Panics
    /// Panics if the results contain NaNs or infinities; see [`numerics`].
    #[track_caller]
    pub fn run_checked<A: Arguments>(&self, name: &str, state: &mut S, args: A) -> Result<R> {
        // The additional handles prevent donation, so the inputs remain valid.
        let held = numerics::is_checked().then(|| leaves(state, &args));
        let result = self.run(name, state, args)?;
        if let Some(inputs) = held {
            let outs = leaves(state, &ByRef(&result));
            numerics::check_call(name, &self.trace.program, &inputs, &outs);
        }
        Ok(result)
    }

    /// Runs the program on arguments of its signature.
    fn run<A: Arguments>(&self, name: &str, state: &mut S, mut args: A) -> Result<R> {
        // Takes the arrays out of the trees, so that a handle count above one means that the user
        // has another handle.
        let mut inputs = Inputs::new();
        state.walk_mut(&mut |a| inputs.push(taken(a)));
        args.take(&mut |a| inputs.push(a));
        let restore = |state: &mut S, inputs: Inputs, e: Error| {
            let mut inputs = inputs.into_iter();
            state.walk_mut(&mut |a| *a = inputs.next().expect("as many arrays"));
            Err(e)
        };
        if let Some(layout) = &self.layout {
            let mut outs = Vec::with_capacity(self.outs.len());
            match self.execute_sharded(layout, &inputs, &mut outs) {
                Ok(copied) => self.report_copies(name, state, args, &inputs, &copied),
                Err(e) => return restore(state, inputs, e),
            }
            let mut outs = outs.into_iter();
            self.trace.put_state(state, &mut outs);
            return Ok(self.trace.result(&mut outs));
        }
        let mut outputs: Vec<Buffer> = Vec::with_capacity(self.outs.len());
        match self.execute(&inputs, &mut outputs) {
            Ok(copied) => self.report_copies(name, state, args, &inputs, &copied),
            Err(e) => return restore(state, inputs, e),
        }
        let sharding = Sharding::SingleDevice(self.device);
        let mut results = outputs
            .into_iter()
            .zip(&self.outs)
            .map(|(b, a)| Array::from_device(*a, b, sharding));
        let mut outs = (0..).map_while(|i| match self.kept.get(i) {
            Some(true) => Some(inputs[i].clone()),
            _ => results.next(),
        });
        self.trace.put_state(state, &mut outs);
        Ok(self.trace.result(&mut outs))
    }

    /// Reports, once, how many inputs could not be donated because they have other handles.
    #[inline]
    fn report_copies<A: Arguments>(
        &self,
        name: &str,
        state: &S,
        args: A,
        inputs: &[Array],
        copied: &Copied,
    ) {
        if copied.is_empty() || !super::logs_compiles() || self.reported.swap(true, Relaxed) {
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
            donate::path(first, state, &args.own()),
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
            let there = matches!(&input.0, Repr::Device(d) if d.sharding == Sharding::Named(*to));
            if !there {
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

    fn execute(&self, inputs: &[Array], outputs: &mut Vec<Buffer>) -> Result<Copied> {
        let donated = &self.executable.signature().donated;
        let consts = self.consts.len();
        // Scalars that are not on this program's device, copied there for the call.
        let mut placed: SmallVec<[(usize, Arc<DeviceArray>); 2]> = SmallVec::new();
        let mut kept = Copied::new();
        let mut buffers: SmallVec<[&Buffer; 24]> = SmallVec::new();
        for c in &self.consts {
            buffers.push(&c.buffers[0]);
        }
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

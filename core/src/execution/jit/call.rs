//! Calls of jitted functions: look up the program, run it, and store the results.

use super::compiled_call::CompiledCall;
use super::entry::Entry;
use super::place::{Plan, placed, plan, site_of, wanted};
use super::programs::{Forget, ProgramSlot, SharedCache, shared};
use super::signature::{Inputs, Signature, describe, inputs};
use super::trace::{Trace, Tracing};
use super::{JitOptions, retraces};
use crate::base::{erased, location};
use crate::client::Origin;
use crate::client::sharded::Site;
use crate::prim::call::Call;
use crate::program::disable::jit_is_disabled;
use crate::program::trace::{is_tracing, records};
use crate::transform::{Arguments, ByValue};
use crate::{Array, Error, Result, Tree};
use ramie_base::clock::Instant;
use ramie_pjrt::Callback;
use std::panic::Location;
use std::sync::Arc;
use std::vec;

type Body<'f, S, A, R> = Box<dyn Fn(&mut S, A) -> R + Send + Sync + 'f>;

/// A jitted function and its compiled programs.
pub(crate) struct Jit<'f, S, A, R> {
    body: Body<'f, S, A, R>,
    pub programs: Programs,
}

/// The programs of a jitted function, whatever its types.
pub(crate) struct Programs {
    pub name: Arc<str>,
    options: JitOptions,
    pub compiled: SharedCache<Entry>,
    /// Traces for calls inside other traces.
    nested: SharedCache<Arc<Trace>>,
}

/// Returns whether a call on this thread may have to do more than run a program. One branch
/// covers all cases that [`Jit::call`] then distinguishes.
#[inline]
fn is_in_a_mode() -> bool {
    jit_is_disabled()
        | is_tracing()
        | crate::program::trace::evaluates_at_compile_time()
        | Callback::is_running()
}

impl<'f, S: Tree, A: Tree, R: Tree> Jit<'f, S, A, R> {
    pub fn new(body: Body<'f, S, A, R>, name: &str, options: JitOptions) -> Self {
        Jit {
            body,
            programs: Programs::new(name, options),
        }
    }

    /// Calls the function: runs the compiled program, or records a nested call inside a trace.
    pub fn call<X>(&self, state: &mut S, args: X, at: &'static Location<'static>) -> R
    where
        X: Arguments<Owned = A>,
    {
        // With `jit` disabled the function runs on the arguments wherever they are.
        if self.programs.options.in_shardings.is_none() || jit_is_disabled() {
            return self.call_in_place(state, args, at);
        }
        match self.placed(args.own()) {
            Ok(args) => self.call_in_place(state, ByValue(args), at),
            Err(e) => self.programs.fail(&e, at),
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
            let inputs = inputs!(state, args);
            // Inside `compile_time_eval` a call without tracers runs the compiled program.
            if records(|| inputs.leaves()) {
                return self.call_nested(state, args.own(), at);
            }
            crate::program::trace::refuse_in_callback(&self.programs.name);
        }
        match self.try_call(state, args, at) {
            Ok(result) => result,
            Err(e) => self.programs.fail(&e, at),
        }
    }

    fn try_call<X>(&self, state: &mut S, args: X, at: &'static Location<'static>) -> Result<R>
    where
        X: Arguments<Owned = A>,
    {
        let programs = &self.programs;
        let inputs = inputs!(state, args);
        // Copies of the handles, since the call below moves the arguments. Only a call without a
        // program makes them.
        let trace = || self.trace(state, &args.rebuild(&mut Array::clone), at);
        let made = programs.find_or_compile(inputs, at, &trace)?;
        made.value.run(&programs.name, state, args)
    }

    /// Traces the function, and removes equations that its results do not need.
    pub fn trace(&self, state: &S, args: &A, at: &'static Location<'static>) -> Trace {
        let mut trace = self.trace_all(state, args, at);
        trace.program.jaxpr = Arc::new(trace.program.jaxpr.dce().0);
        trace
    }

    /// Traces the function.
    fn trace_all(&self, state: &S, args: &A, at: &'static Location<'static>) -> Trace {
        let tracing = Tracing::start(&self.programs.name, &|v| state.walk(v), at);
        let mut tracer = |a: &Array| tracing.input(a);
        let mut state = state.rebuild(&mut tracer);
        let args = args.rebuild(&mut tracer);
        let result = erased::through(|| (self.body)(&mut state, args), |body| tracing.run(body));
        tracing.finish(Box::new((state, result)))
    }

    /// Calls the function inside a trace: binds one equation that contains the function's
    /// program.
    #[cold]
    fn call_nested(&self, state: &mut S, args: A, at: &'static Location<'static>) -> R {
        let inputs = inputs!(state, args);
        let trace = || self.trace_all(state, &args, at);
        let (trace, mut outs) = self.programs.bind(inputs, at, &trace);
        trace.put(state, &mut outs)
    }

    /// Moves the arguments to the shardings of `in_shardings`.
    pub fn placed(&self, args: A) -> Result<A> {
        match &self.programs.options.in_shardings {
            None => Ok(args),
            Some(wanted) => placed(args, wanted),
        }
    }
}

impl Programs {
    fn new(name: &str, options: JitOptions) -> Programs {
        Programs {
            name: options.name.as_deref().unwrap_or(name).into(),
            compiled: shared(options.cache_limit),
            nested: shared(options.cache_limit),
            options,
        }
    }

    /// Panics with an error of a call.
    #[cold]
    fn fail(&self, error: &Error, at: &Location<'_>) -> ! {
        panic!("{}: {error}\n  jit was called at {at}", self.name)
    }

    /// Returns the program for a call, compiled at the first use.
    fn find_or_compile(
        &self,
        inputs: Inputs<'_>,
        at: &'static Location<'static>,
        trace: &dyn Fn() -> Trace,
    ) -> Result<ProgramSlot<Entry>> {
        let compile = || self.compile(inputs, at, trace);
        self.compiled.get_or_make(inputs, &compile)
    }

    /// Compiles the program for a call.
    #[cold]
    fn compile(
        &self,
        inputs: Inputs<'_>,
        at: &'static Location<'static>,
        trace: &dyn Fn() -> Trace,
    ) -> Result<Entry> {
        let description = describe(inputs);
        let earlier = self.compiled.all();
        let reason = description.explain(earlier.iter().map(|made| &made.value.description));
        // `change` chooses the first of equally similar calls, and the last call comes first.
        let last = self.compiled.last();
        let calls = last.iter().chain(&earlier);
        let change = description.change(calls.map(|made| &made.value.description));
        let start = Instant::now();
        let site = site_of(inputs)?;
        let trace = trace();
        let plan = self.plan(&trace, site, inputs)?;
        let traced = start.elapsed();
        let jaxpr = &trace.program.jaxpr;
        let program = plan.lower(&self.name, jaxpr);
        let flags = &self.options.compiler_options;
        let (made, origin) = CompiledCall::compile(program, jaxpr, &plan, flags)?;
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
        let entry = Entry::new(trace, made, description)?;
        self.compiled.note_compilation(reason);
        if let Some(change) = change
            && self.compiled.note_cause(&change.path) == retraces::MANY
        {
            retraces::warn(&self.name, &change, at);
        }
        Ok(entry)
    }

    /// Binds an equation that contains the function's program, and returns its results.
    fn bind(
        &self,
        inputs: Inputs<'_>,
        at: &'static Location<'static>,
        trace: &dyn Fn() -> Trace,
    ) -> (Arc<Trace>, vec::IntoIter<Array>) {
        // Programs traced here may depend on the mapped axes that are bound, for example by a
        // collective.
        let key = Signature::of(inputs).and(crate::types::axis::bound());
        let trace = match self.nested.find(&key) {
            Some(made) => made.value.clone(),
            None => {
                let trace = Arc::new(trace());
                // A program that captured tracers is only valid in the enclosing trace.
                if !trace.program.consts.iter().any(Array::is_tracer) {
                    self.nested.insert(key, trace.clone());
                }
                trace
            }
        };
        let inputs = inputs.leaves();
        // The state comes first among the inputs. The call replaces it, so its buffers can be
        // reused.
        let donated: Vec<bool> = (0..inputs.len()).map(|i| i < trace.state_ins).collect();
        let program = trace.program.clone();
        let outs = if self.options.inline {
            program.eval(&inputs)
        } else {
            location::at_location(at, || {
                Call::apply_donating(&self.name, program, &inputs, &donated)
            })
        };
        let outs = self.constrained(&trace, outs, at);
        (trace, outs.into_iter())
    }

    /// Constrains the results of a call inside a trace to `out_shardings`.
    fn constrained(
        &self,
        trace: &Trace,
        mut outs: Vec<Array>,
        at: &'static Location<'static>,
    ) -> Vec<Array> {
        let Some(shardings) = &self.options.out_shardings else {
            return outs;
        };
        let asked = wanted(shardings, trace).unwrap_or_else(|e| self.fail(&e, at));
        location::at_location(at, || {
            // The outputs start with the new state, to which `out_shardings` does not apply.
            for (out, to) in outs[trace.state_outs..].iter_mut().zip(asked) {
                if let Some(to) = to {
                    *out = crate::device_put(&*out, to);
                }
            }
        });
        outs
    }

    /// Plans a call at `site`.
    pub fn plan(&self, trace: &Trace, site: Site, inputs: Inputs<'_>) -> Result<Plan> {
        let donated = trace.donations(&self.name, inputs, &self.options.donate_argnums);
        let wanted = self.options.out_shardings.as_ref();
        plan(trace, site, inputs, donated, wanted)
    }

    /// Removes all programs.
    pub fn clear(&self) {
        self.compiled.forget();
        self.nested.forget();
    }

    /// Returns the XLA flags for this function.
    pub fn compiler_options(&self) -> &[(String, ramie_pjrt::OptionOverride)] {
        &self.options.compiler_options
    }
}

//! Tracing: the stack of open traces, and `bind`, which applies every operation.

use crate::base::hash::FastMap;
use crate::base::location::{at_location, current_location, fail};
use crate::base::scoped;
use crate::base::stack::with_room;
use crate::base::thread_stack::{ThreadStack, WithStack};
use crate::program::array::{Repr, Tracer};
use crate::program::backend::{Failure, backend};
use crate::program::jaxpr::{Atom, ClosedJaxpr, Eqn, Jaxpr, Scope, Var};
use crate::program::lost;
use crate::program::primitive::{Primitive, infer};
use crate::{Array, Aval, ShapeError};
use smallvec::SmallVec;
use std::cell::Cell;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The results of a primitive, usually one.
pub type Outputs = SmallVec<[Array; 1]>;

/// The operations that an open trace records.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All operations, including constants.
    Full,
    /// Only operations on values of this trace; others are handled by the traces below.
    /// Linearization records the tangent program this way, while the primal program runs (or is
    /// recorded) below.
    Partial,
}

#[derive(PartialEq, Eq, Hash)]
enum Identity {
    Device(usize),
    Outer(u64, Var),
}

struct Frame {
    id: u64,
    kind: Kind,
    avals: Vec<Aval>,
    constvars: Vec<Var>,
    captures: Vec<Array>,
    captured: FastMap<Identity, Var>,
    invars: Vec<Var>,
    eqns: Vec<Eqn>,
    /// Lost writes to copies of variables.
    dropped: Vec<lost::Write>,
}

/// Returns an operation's operands, varying over the same manual mesh axes; `None` if they do, or
/// if they may differ.
pub(crate) type Vary = fn(&dyn Primitive, &[&Array]) -> Option<SmallVec<[Array; 4]>>;

/// Maximum number of nested traces; more indicate an infinite recursion.
const MAX_DEPTH: usize = 4096;

thread_local! {
    static STACK: ThreadStack<Frame> = const { ThreadStack::new() };
    /// Number of traces, from the outermost, that do not record operations on concrete arrays.
    static PAUSED: Cell<usize> = const { Cell::new(0) };
    /// The function that makes operands vary over the same mesh axes.
    static VARY: Cell<Option<Vary>> = const { Cell::new(None) };
}
static NEXT_TRACE: AtomicU64 = AtomicU64::new(1);

impl Frame {
    fn fresh(&mut self, aval: Aval) -> Var {
        let var = Var(u32::try_from(self.avals.len()).expect("fewer than 2^32 variables"));
        self.avals.push(aval);
        var
    }

    fn atom(&mut self, array: &Array) -> Atom {
        // A value from outside becomes a captured value, one variable for all of its uses. The
        // address of a device array identifies it as long as `captures` contains a handle.
        let identity = match &array.0 {
            Repr::Tracer(t) if t.trace == self.id => return Atom::Var(t.var),
            Repr::Literal(l) => return Atom::Literal(l.literal),
            Repr::Tracer(t) => Identity::Outer(t.trace, t.var),
            Repr::Device(d) => Identity::Device(Arc::as_ptr(d).addr()),
            Repr::Abstract(..) => unreachable!("`usable` refuses arrays without elements"),
        };
        if let Some(var) = self.captured.get(&identity) {
            return Atom::Var(*var);
        }
        let var = self.fresh(array.aval());
        self.captured.insert(identity, var);
        self.captures.push(array.clone());
        self.constvars.push(var);
        Atom::Var(var)
    }
}

/// An open trace on this thread. Dropping it, even in a panic, closes it.
pub(crate) struct OpenTrace {
    id: u64,
    location: &'static Location<'static>,
}

impl OpenTrace {
    /// Opens a trace that records every operation.
    #[track_caller]
    pub fn full() -> OpenTrace {
        OpenTrace::open(Kind::Full)
    }

    /// Opens a trace that records only operations on its own values.
    #[track_caller]
    pub fn partial() -> OpenTrace {
        OpenTrace::open(Kind::Partial)
    }

    #[track_caller]
    fn open(kind: Kind) -> OpenTrace {
        let id = NEXT_TRACE.fetch_add(1, Ordering::Relaxed);
        if STACK.with_borrow(Vec::len) >= MAX_DEPTH {
            fail(&format!(
                "trace: {MAX_DEPTH} traced functions are nested\n  help: a traced function \
                 probably calls itself without a base case; use scan or while_loop to repeat a \
                 computation"
            ));
        }
        STACK.with_borrow_mut(|stack| {
            stack.push(Frame {
                id,
                kind,
                avals: Vec::new(),
                constvars: Vec::new(),
                captures: Vec::new(),
                captured: FastMap::default(),
                invars: Vec::new(),
                eqns: Vec::new(),
                dropped: Vec::new(),
            });
        });
        OpenTrace {
            id,
            location: current_location().unwrap_or(Location::caller()),
        }
    }

    /// Adds an argument to the program.
    pub fn input(&self, aval: Aval) -> Array {
        STACK.with_borrow_mut(|stack| {
            let frame = stack.last_mut().expect("the trace is open");
            debug_assert_eq!(frame.id, self.id);
            let var = frame.fresh(aval);
            frame.invars.push(var);
            Array(Repr::Tracer(Tracer {
                trace: self.id,
                var,
                aval,
                location: self.location,
            }))
        })
    }

    /// Returns whether the array is a value of this trace.
    pub fn owns(&self, array: &Array) -> bool {
        matches!(&array.0, Repr::Tracer(t) if t.trace == self.id)
    }

    /// Closes the trace and returns its program with the results `outputs`.
    ///
    /// # Panics
    /// Panics if an output is a value of a trace that has ended.
    #[track_caller]
    pub fn finish(self, outputs: &[Array]) -> ClosedJaxpr {
        self.finish_named(outputs, |_| None)
    }

    /// Closes the trace like [`finish`](OpenTrace::finish), with the paths of the results for
    /// messages.
    #[track_caller]
    pub fn finish_named(
        self,
        outputs: &[Array],
        name: impl Fn(usize) -> Option<String>,
    ) -> ClosedJaxpr {
        // Checked before the trace closes, since its own values are only usable until then.
        for out in outputs {
            if let Err(message) = usable("the traced function's result", out) {
                panic!("{message}");
            }
        }
        let frame = STACK.with_borrow_mut(|stack| {
            let frame = stack.last_mut().expect("the trace is open");
            debug_assert_eq!(frame.id, self.id);
            // Results from outside are captured, which adds to the frame.
            let atoms: Vec<Atom> = outputs.iter().map(|a| frame.atom(a)).collect();
            let frame = stack.pop().expect("the trace is open");
            (frame, atoms)
        });
        let id = self.id;
        // The frame has left the stack, so there is nothing for `drop` to close.
        std::mem::forget(self);
        let (frame, outvars) = frame;
        // Without a borrow of the stack: a write may move to the frame of an outer trace.
        for write in frame.dropped {
            let is_input =
                |a: &Array| matches!(&a.0, Repr::Tracer(t) if frame.invars.contains(&t.var));
            let output = |a: &Array| outputs.iter().position(|out| out.same(a));
            write.settle(id, is_input, output, &name);
        }
        ClosedJaxpr {
            jaxpr: Arc::new(Jaxpr::new(
                frame.constvars,
                frame.invars,
                frame.eqns,
                outvars,
                frame.avals,
            )),
            consts: frame.captures,
        }
    }
}

impl Drop for OpenTrace {
    fn drop(&mut self) {
        // The frame is returned from the closure and dropped after the borrow ends: destructors of
        // values in its primitives, such as closures of callbacks, may compute with arrays.
        let frame = STACK.with_borrow_mut(|stack| {
            let at = stack.iter().rposition(|f| f.id == self.id)?;
            Some(stack.split_off(at))
        });
        drop(frame);
    }
}

/// Traces a function of arrays to a jaxpr.
#[track_caller]
pub(crate) fn trace_to_jaxpr(
    avals: &[Aval],
    f: impl FnOnce(&[Array]) -> Vec<Array>,
) -> ClosedJaxpr {
    let mut f = Some(f);
    trace_once(avals, &mut |args| f.take().expect("one call")(args))
}

/// [`trace_to_jaxpr`], compiled once for all functions.
#[track_caller]
fn trace_once(avals: &[Aval], f: &mut dyn FnMut(&[Array]) -> Vec<Array>) -> ClosedJaxpr {
    let trace = OpenTrace::full();
    let args: Vec<Array> = avals.iter().map(|a| trace.input(*a)).collect();
    let outs = with_room(|| f(&args));
    trace.finish(&outs)
}

/// Returns the innermost open trace on this thread; 0 if there is none.
pub(crate) fn innermost() -> u64 {
    STACK.with_borrow(|stack| stack.last().map_or(0, |frame| frame.id))
}

/// Returns whether a trace is open on this thread.
pub(crate) fn is_open(trace: u64) -> bool {
    STACK.with_borrow(|stack| stack.iter().any(|frame| frame.id == trace))
}

/// Adds a lost write to a copy, which the trace reports when it ends.
pub(crate) fn add_dropped(trace: u64, write: lost::Write) {
    STACK.with_borrow_mut(|stack| {
        if let Some(frame) = stack.iter_mut().find(|frame| frame.id == trace) {
            frame.dropped.push(write);
        }
    });
}

/// Returns whether a trace is open on this thread and records operations.
#[inline]
pub fn is_tracing() -> bool {
    STACK.with_borrow(|stack| stack.len() > PAUSED.get())
}

/// Runs `f` with operations on concrete arrays executed immediately, even while a function is
/// traced: their results are values, not equations of the program
/// (`jax.ensure_compile_time_eval`). Operations on tracers are still recorded.
///
/// ```
/// use ramie_core::{Array, compile_time_eval, jit};
/// let f = jit(|x: Array| {
///     let steps = compile_time_eval(|| Array::from([1.0f32, 2.0]).sum().item::<f32>());
///     x * steps
/// });
/// assert_eq!(f(Array::from(2.0f32)).item::<f32>(), 6.0);
/// ```
#[doc(alias = "ensure_compile_time_eval")]
pub fn compile_time_eval<R>(f: impl FnOnce() -> R) -> R {
    // The count covers the traces that are open now. Those that `f` opens are above it and record
    // as usual.
    let open = STACK.with_borrow(Vec::len);
    scoped::with(&PAUSED, open, f)
}

/// Returns whether the thread is inside [`compile_time_eval`].
#[inline]
pub(crate) fn evaluates_at_compile_time() -> bool {
    PAUSED.get() > 0
}

/// Returns whether an operation on these arrays is recorded: inside a trace, and inside
/// [`compile_time_eval`] if one of them is a tracer.
#[inline]
pub(crate) fn records(arrays: impl FnOnce() -> Vec<Array>) -> bool {
    is_tracing() || evaluates_at_compile_time() && arrays().iter().any(Array::is_tracer)
}

/// Runs `f`, the body of a `shard_map`, with `vary` applied to the operands of recorded operations.
pub(crate) fn with_vary<R>(vary: Vary, f: impl FnOnce() -> R) -> R {
    scoped::with(&VARY, Some(vary), f)
}

/// Returns whether the innermost trace belongs to a linearization.
pub(crate) fn is_linearizing() -> bool {
    STACK.with_borrow(|stack| stack.last().is_some_and(|f| f.kind == Kind::Partial))
}

/// Same as [`at_location`], for the location and the named scopes of an equation.
pub(crate) fn at_equation<R>(eqn: &Eqn, f: impl FnOnce() -> R) -> R {
    eqn.scope.within(|| at_location(eqn.location, f))
}

/// Returns the message for a tracer whose trace has ended, or is open on another thread.
pub(crate) fn leaked(operation: &str, tracer: &Tracer) -> String {
    format!(
        "{operation}: a tracer {} was used after its trace ended (leaked tracer)\n  created at {}\n  \
         help: return the array from the traced function instead of storing it in a variable \
         outside, and use it only on the thread that traces",
        tracer.aval, tracer.location
    )
}

/// Checks that an operand can be used now on this thread.
fn usable(operation: &str, array: &Array) -> Result<(), String> {
    match &array.0 {
        Repr::Tracer(t) => {
            if is_open(t.trace) {
                Ok(())
            } else {
                Err(leaked(operation, t))
            }
        }
        Repr::Abstract(..) => Err(array.no_value(operation)),
        _ => Ok(()),
    }
}

/// Returns the index of the trace that records an operation on `args`, or `None` to run it now.
fn target(args: &[&Array]) -> Option<usize> {
    STACK.with_borrow(|stack| {
        // The innermost trace that accepts the operation records it. A partial trace, or a full one
        // that is paused, accepts only operations on its own values.
        let mut top = stack.len();
        let paused = PAUSED.get();
        while top > 0 {
            let frame = &stack[top - 1];
            let takes = (frame.kind == Kind::Full && top > paused)
                || args
                    .iter()
                    .any(|a| matches!(&a.0, Repr::Tracer(t) if t.trace == frame.id));
            if takes {
                return Some(top - 1);
            }
            top -= 1;
        }
        None
    })
}

/// Applies a primitive: records it in the innermost trace that accepts it, or otherwise runs it
/// immediately.
///
/// # Panics
/// Panics if the primitive's shape rule rejects the operands, if an operand is a leaked tracer,
/// or if running it immediately fails.
#[track_caller]
pub fn bind<P: Primitive>(primitive: P, args: &[&Array]) -> Outputs {
    match target(args) {
        None => run(&primitive, args),
        Some(at) => record(at, Arc::new(primitive), args),
    }
}

/// Applies a shared primitive like [`bind`].
///
/// # Panics
/// Panics in the same cases as [`bind`].
#[track_caller]
pub fn bind_arc(primitive: Arc<dyn Primitive>, args: &[&Array]) -> Outputs {
    match target(args) {
        None => run(&*primitive, args),
        Some(at) => record(at, primitive, args),
    }
}

/// Applies a primitive with one result like [`bind`].
///
/// # Panics
/// Panics in the same cases as [`bind`].
#[track_caller]
pub fn bind1<P: Primitive>(primitive: P, args: &[&Array]) -> Array {
    bind(primitive, args)
        .pop()
        .expect("the primitive has a result")
}

#[track_caller]
fn run(primitive: &dyn Primitive, args: &[&Array]) -> Outputs {
    for arg in args {
        if let Err(message) = usable(primitive.name(), arg) {
            fail(&message);
        }
    }
    refuse_in_callback(primitive.name());
    if let Some(outputs) = primitive.evaluate(args) {
        return outputs.unwrap_or_else(|e| fail(&e.to_string()));
    }
    match backend().run(primitive, args, Location::caller()) {
        Ok(outputs) => outputs,
        Err(Failure::Shape(e)) => refuse(primitive, args, &e),
        Err(Failure::Runtime(e)) => fail(&format!("{}: {e}", primitive.name())),
        Err(Failure::Value(message)) => panic!("{message}"),
    }
}

/// Panics inside a callback, since work for which a callback waits may need the callback's
/// thread.
#[track_caller]
pub(crate) fn refuse_in_callback(operation: &str) {
    if ramie_pjrt::Callback::is_running() {
        fail(&format!(
            "{operation}: arrays cannot be computed with inside a callback, since the device may \
             be waiting for it\n  help: read the elements with to_vec() and compute in Rust, or do \
             it before or after the callback"
        ));
    }
}

#[track_caller]
fn record(at: usize, primitive: Arc<dyn Primitive>, args: &[&Array]) -> Outputs {
    let location = current_location().unwrap_or(Location::caller());
    for arg in args {
        if let Err(message) = usable(primitive.name(), arg) {
            fail(&message);
        }
    }
    let avals: SmallVec<[Aval; 4]> = args.iter().map(|a| a.aval()).collect();
    // Bound again with operands that vary alike, for which `vary` returns `None`.
    if avals.iter().any(|a| !a.varying().is_empty())
        && let Some(vary) = VARY.get()
        && let Some(joined) = vary(&*primitive, args)
    {
        return bind_arc(primitive, &joined.iter().collect::<SmallVec<[&Array; 4]>>());
    }
    let outs = match infer(&*primitive, &avals) {
        Ok(outs) => outs,
        Err(e) => refuse(&*primitive, args, &e),
    };
    STACK.with_borrow_mut(|stack| {
        let frame = &mut stack[at];
        let inputs = args.iter().map(|a| frame.atom(a)).collect();
        let outputs: SmallVec<[Var; 1]> = outs.iter().map(|a| frame.fresh(*a)).collect();
        let arrays = outputs
            .iter()
            .zip(&outs)
            .map(|(&var, &aval)| {
                Array(Repr::Tracer(Tracer {
                    trace: frame.id,
                    var,
                    aval,
                    location,
                }))
            })
            .collect();
        frame.eqns.push(Eqn {
            primitive,
            inputs,
            outputs,
            location,
            scope: Scope::current(),
        });
        arrays
    })
}

#[track_caller]
fn refuse(primitive: &dyn Primitive, args: &[&Array], error: &ShapeError) -> ! {
    let names: &[&str] = match args.len() {
        1 => &["operand"],
        2 => &["lhs", "rhs"],
        _ => &[],
    };
    let operands: Vec<String> = args
        .iter()
        .enumerate()
        .map(|(i, a)| match names.get(i) {
            Some(name) => format!("{name} {}", a.describe()),
            None => format!("operand {i} {}", a.describe()),
        })
        .collect();
    fail(&error.render(primitive.name(), &operands))
}

//! Traces of where time goes (`jax.profiler`).
//!
//! A trace records what this process does, on every thread: tracing, lowering,
//! compiling and running programs, and what the program annotates. A plugin with
//! a profiler (CUDA, TPU) adds what its devices do. Two files are written for
//! it: one that XProf and TensorBoard open, and one for Perfetto
//! (<https://ui.perfetto.dev>) and Chrome.
//!
//! ```no_run
//! use ramie_core::{Array, jit, profiler};
//! let step = jit(|x: Array| (&x * &x).sum());
//! let (_, files) = profiler::trace("/tmp/trace", || {
//!     for i in 0..3 {
//!         let _step = profiler::StepTraceAnnotation::new("train", i);
//!         step(Array::from([1.0f32, 2.0])).block_until_ready();
//!     }
//! })?;
//! println!("{}", files.xplane.display());
//! # Ok::<(), ramie_core::Error>(())
//! ```

mod events;
mod files;

pub use files::TraceFiles;

pub(crate) use events::{Event, is_recording, span, waits};

use crate::lock::lock;
use crate::{Error, Result, runtime};
use ramie_pjrt::Profiler;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// The trace being taken.
struct Session {
    folder: PathBuf,
    /// The plugin's part.
    device: Option<Profiler>,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

fn session() -> MutexGuard<'static, Option<Session>> {
    lock(&SESSION)
}

/// Starts a trace that [`stop_trace`] ends (`jax.profiler.start_trace`). Its
/// files will be in `folder`, in the layout of TensorBoard.
///
/// While a trace is taken on a CPU, which has no profiler of its own, a call
/// waits until its program has run, so that its event shows how long that took.
///
/// # Errors
/// If a trace is being taken already, or the plugin's profiler does not start.
pub fn start_trace(folder: impl AsRef<Path>) -> Result<()> {
    let mut session = session();
    if session.is_some() {
        return Err(Error::Configuration(
            "start_trace: a trace is being taken already\n  help: end it with stop_trace()".into(),
        ));
    }
    let device = runtime::runtime()?.client().plugin().start_profiler()?;
    events::start(device.is_none());
    *session = Some(Session {
        folder: folder.as_ref().to_path_buf(),
        device,
    });
    Ok(())
}

/// Ends the trace and writes its files (`jax.profiler.stop_trace`).
///
/// # Errors
/// If no trace is being taken, or the files cannot be written.
pub fn stop_trace() -> Result<TraceFiles> {
    let Some(Session { folder, device }) = session().take() else {
        return Err(Error::Configuration(
            "stop_trace: no trace is being taken\n  help: begin one with start_trace(folder)"
                .into(),
        ));
    };
    // What is under way belongs to the trace.
    runtime::runtime()?.client().wait();
    let (begin, events) = events::stop();
    let space = device.map(Profiler::stop).transpose()?.unwrap_or_default();
    files::write(&folder, begin, &events, &space)
}

/// Takes a trace of `f` and writes it into `folder` (`jax.profiler.trace`). Gives
/// the result of `f`, and where the files are.
///
/// # Errors
/// As [`start_trace`] and [`stop_trace`].
pub fn trace<R>(folder: impl AsRef<Path>, f: impl FnOnce() -> R) -> Result<(R, TraceFiles)> {
    /// Ends the trace also when `f` panics.
    struct Stop;
    impl Drop for Stop {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let _ = stop_trace();
            }
        }
    }
    start_trace(folder)?;
    let stop = Stop;
    let result = f();
    drop(stop);
    Ok((result, stop_trace()?))
}

/// An event of the trace, from here until it is dropped
/// (`jax.profiler.TraceAnnotation`). It costs next to nothing where no trace is
/// being taken.
///
/// ```
/// use ramie_core::profiler::TraceAnnotation;
/// {
///     let _reading = TraceAnnotation::new("read a batch");
///     // …
/// }
/// ```
#[derive(Debug)]
#[must_use = "the event ends when this is dropped"]
pub struct TraceAnnotation(#[allow(dead_code)] Option<events::Span>);

impl TraceAnnotation {
    /// Begins an event.
    pub fn new(name: &str) -> TraceAnnotation {
        TraceAnnotation(span(|| Event::named(name)))
    }
}

/// The event of one step of training (`jax.profiler.StepTraceAnnotation`), with
/// its number.
#[derive(Debug)]
#[must_use = "the event ends when this is dropped"]
pub struct StepTraceAnnotation(#[allow(dead_code)] Option<events::Span>);

impl StepTraceAnnotation {
    /// Begins a step.
    pub fn new(name: &str, step: usize) -> StepTraceAnnotation {
        StepTraceAnnotation(span(|| Event::named(name).with("step_num", step)))
    }
}

/// The result of `f`, as an event of the trace (`jax.profiler.annotate_function`).
///
/// ```
/// use ramie_core::profiler::annotate_function;
/// let sum: u32 = annotate_function("sum", || (1..10).sum());
/// assert_eq!(sum, 45);
/// ```
pub fn annotate_function<R>(name: &str, f: impl FnOnce() -> R) -> R {
    let _event = TraceAnnotation::new(name);
    f()
}

//! Profiling: traces of where a program spends its time (`jax.profiler`).
//!
//! A trace records the activity of this process on every thread: tracing, lowering, compiling and
//! running programs, and the program's annotations. A plugin with a profiler (CUDA, TPU) adds the
//! activity of its devices. Each trace is written to two files: one for XProf and TensorBoard,
//! and one for Perfetto (<https://ui.perfetto.dev>) and Chrome.
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

mod data;
mod files;

pub use data::{ProfileData, ProfileEvent, ProfileLine, ProfilePlane};
pub use files::TraceFiles;

use crate::base::events::{Event, span};
use crate::base::lock::lock;
use crate::{Error, Result, client};
use ramie_pjrt::Profiler;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// A trace that is being recorded.
struct Session {
    folder: PathBuf,
    /// The plugin's profiler.
    device: Option<Profiler>,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

fn session() -> MutexGuard<'static, Option<Session>> {
    lock(&SESSION)
}

/// Starts a trace, which [`stop_trace`] ends (`jax.profiler.start_trace`). Its files are written
/// to the directory `folder`, in TensorBoard's layout.
///
/// The CPU plugin has no profiler: while a trace is recorded on a CPU, each call waits until its
/// program has run, so that its event shows the execution time.
///
/// # Errors
/// Returns an error if a trace is already being recorded, or if the plugin's profiler does not
/// start.
pub fn start_trace(folder: impl AsRef<Path>) -> Result<()> {
    let mut session = session();
    if session.is_some() {
        return Err(Error::Configuration(
            "start_trace: a trace is already being recorded\n  help: stop it with stop_trace()"
                .into(),
        ));
    }
    let device = client::runtime()?.client().plugin().start_profiler()?;
    crate::base::events::start(device.is_none());
    *session = Some(Session {
        folder: folder.as_ref().to_path_buf(),
        device,
    });
    Ok(())
}

/// Stops the trace and writes its files (`jax.profiler.stop_trace`).
///
/// # Errors
/// Returns an error if no trace is being recorded, or if the files cannot be written.
pub fn stop_trace() -> Result<TraceFiles> {
    let Some(Session { folder, device }) = session().take() else {
        return Err(Error::Configuration(
            "stop_trace: no trace is being recorded\n  help: start one with start_trace(folder)"
                .into(),
        ));
    };
    // Running programs belong to the trace.
    client::runtime()?.client().wait();
    let (begin, events) = crate::base::events::stop();
    let space = device.map(Profiler::stop).transpose()?.unwrap_or_default();
    files::write(&folder, begin, &events, &space)
}

/// Records a trace of `f` and writes it to the directory `folder` (`jax.profiler.trace`). Returns
/// the result of `f`, and the paths of the files.
///
/// # Errors
/// Returns an error in the same cases as [`start_trace`] and [`stop_trace`].
pub fn trace<R>(folder: impl AsRef<Path>, f: impl FnOnce() -> R) -> Result<(R, TraceFiles)> {
    /// Stops the trace even if `f` panics.
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

/// An event of the trace, which lasts until this is dropped (`jax.profiler.TraceAnnotation`). The
/// cost is negligible if no trace is being recorded.
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
pub struct TraceAnnotation(#[allow(dead_code)] Option<crate::base::events::Span>);

impl TraceAnnotation {
    /// Starts an event.
    pub fn new(name: &str) -> TraceAnnotation {
        TraceAnnotation(span(|| Event::named(name)))
    }
}

/// The event of one training step (`jax.profiler.StepTraceAnnotation`), with its step number.
#[derive(Debug)]
#[must_use = "the event ends when this is dropped"]
pub struct StepTraceAnnotation(#[allow(dead_code)] Option<crate::base::events::Span>);

impl StepTraceAnnotation {
    /// Starts a step.
    pub fn new(name: &str, step: usize) -> StepTraceAnnotation {
        StepTraceAnnotation(span(|| Event::named(name).with("step_num", step)))
    }
}

/// Runs `f` as an event of the trace and returns its result (`jax.profiler.annotate_function`).
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

//! Background saves.

use super::exit::Running;
use super::transaction::{Contents, Transaction, Written, check_name};
use super::{Atomicity, Group, MultiprocessingOptions, SaveReport, default_threads};
use crate::error::PANICKED;
use crate::items::SaveArgs;
use crate::warning::warn_loudly;
use crate::{Error, Result};
use ramie_core::lock::lock;
use serde_json::{Map, Value};
use std::panic;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Options of a [`Saver`].
#[derive(Clone)]
pub struct SaverOptions {
    asynchronous: bool,
    pub(crate) threads: usize,
    pub(crate) timeout: Duration,
    atomicity: Atomicity,
    permissions: Option<u32>,
    pub(crate) multiprocessing: MultiprocessingOptions,
    callback: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// Default time that processes wait for each other, as in Orbax.
const TIMEOUT: Duration = Duration::from_secs(1200);

impl Default for SaverOptions {
    fn default() -> SaverOptions {
        SaverOptions {
            asynchronous: true,
            threads: default_threads(),
            timeout: TIMEOUT,
            atomicity: Atomicity::default(),
            permissions: None,
            multiprocessing: MultiprocessingOptions::default(),
            callback: None,
        }
    }
}

impl SaverOptions {
    /// Creates default options: save in the background on several threads, and commit with a
    /// rename.
    pub fn new() -> SaverOptions {
        SaverOptions::default()
    }

    /// Sets whether saves continue in the background after the snapshot is taken. If `false`, the
    /// caller waits until the save is complete. Defaults to `true`.
    pub fn asynchronous(mut self, asynchronous: bool) -> SaverOptions {
        self.asynchronous = asynchronous;
        self
    }

    /// Sets the number of threads that write and delete. Defaults to the number of CPU cores,
    /// clamped to 4..=16.
    ///
    /// # Panics
    /// Panics if `threads` is 0.
    #[track_caller]
    pub fn threads(mut self, threads: usize) -> SaverOptions {
        assert!(
            threads > 0,
            "threads: `threads` is 0, but saving needs a thread\n  help: pass at least 1"
        );
        self.threads = threads;
        self
    }

    /// Sets how long processes wait for each other. Defaults to 20 minutes.
    pub fn timeout(mut self, timeout: Duration) -> SaverOptions {
        self.timeout = timeout;
        self
    }

    /// Sets how a checkpoint is committed. Defaults to an atomic rename.
    pub fn atomicity(mut self, atomicity: Atomicity) -> SaverOptions {
        self.atomicity = atomicity;
        self
    }

    /// Sets the Unix permissions of the checkpoint's directory, such as `0o750`. Defaults to those
    /// of new directories of the process.
    pub fn path_permission_mode(mut self, mode: u32) -> SaverOptions {
        self.permissions = Some(mode);
        self
    }

    /// Sets how the processes that save together synchronize.
    pub fn multiprocessing(mut self, options: MultiprocessingOptions) -> SaverOptions {
        self.multiprocessing = options;
        self
    }

    /// Sets a callback that the saving thread runs after it commits a checkpoint. If the callback
    /// panics, the save returns an error, but the checkpoint is committed.
    pub fn post_finalization_callback(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.callback = Some(Arc::new(f));
        self
    }
}

impl std::fmt::Debug for SaverOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SaverOptions")
            .field("asynchronous", &self.asynchronous)
            .field("threads", &self.threads)
            .field("timeout", &self.timeout)
            .field("atomicity", &self.atomicity)
            .finish_non_exhaustive()
    }
}

/// Options of a single save.
#[derive(Default)]
pub struct SaveOptions {
    force: bool,
    custom_metadata: Map<String, Value>,
    then: Option<Box<dyn FnOnce(bool) -> Result<()> + Send>>,
    begun: Option<(Instant, Duration)>,
}

impl SaveOptions {
    /// Creates default options: no metadata, and existing checkpoints are not replaced.
    pub fn new() -> SaveOptions {
        SaveOptions::default()
    }

    /// Sets whether to replace an existing checkpoint. Defaults to `false`.
    pub fn force(mut self, force: bool) -> SaveOptions {
        self.force = force;
        self
    }

    /// Sets custom metadata, which is stored in the file `_CHECKPOINT_METADATA`.
    pub fn custom_metadata(mut self, metadata: Map<String, Value>) -> SaveOptions {
        self.custom_metadata = metadata;
        self
    }

    /// Sets a function to run in the background after the commit or after its failure; the
    /// argument is `true` if the checkpoint was committed.
    pub(crate) fn then(mut self, f: impl FnOnce(bool) -> Result<()> + Send + 'static) -> Self {
        self.then = Some(Box::new(f));
        self
    }

    /// Sets when the caller's wait began, and how much of it was for the previous save.
    pub(crate) fn begun(mut self, begun: Instant, waited: Duration) -> Self {
        self.begun = Some((begun, waited));
        self
    }
}

/// Saves checkpoints one at a time while the caller continues.
///
/// A save returns once it has taken its [snapshot](SaveArgs::snapshot). A background thread then
/// writes and commits it with a bounded number of helper threads. The next save waits for that
/// thread, so there is never more than one snapshot in memory. The error of a background save is
/// returned by the next call of [`save`](Saver::save),
/// [`wait_until_finished`](Saver::wait_until_finished) or
/// [`check_for_errors`](Saver::check_for_errors).
///
/// Dropping a saver waits for its save. When the process exits normally (`main` returns or panics,
/// or [`std::process::exit`] is called), it waits for all saves, including those of savers in
/// statics, of leaked savers and of other threads. Errors that were never returned are printed to
/// stderr. After an abort or a kill, the last committed checkpoint is intact. On Windows,
/// [`std::process::exit`] does not wait: drop the saver, or call
/// [`wait_until_finished`](Saver::wait_until_finished) first.
///
/// ```
/// use ramie_checkpoint::commit::{SaveOptions, Saver, SaverOptions};
/// use ramie_checkpoint::items::JsonSave;
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let saver = Saver::new(SaverOptions::new());
/// let path = folder.path().join("state");
/// saver.save(&path, &JsonSave::new(&[1, 2, 3]), SaveOptions::new())?;
/// // … meanwhile …
/// saver.wait_until_finished()?;
/// assert!(path.is_dir());
/// println!("{}", saver.last_report().unwrap());
/// # Ok(())
/// # }
/// ```
pub struct Saver {
    options: SaverOptions,
    saving: Mutex<()>,
    running: Mutex<Option<JoinHandle<()>>>,
    shared: Arc<Shared>,
}

/// State shared with the background thread.
#[derive(Default)]
pub(super) struct Shared {
    busy: AtomicBool,
    failure: Mutex<Option<Error>>,
    report: Mutex<Option<SaveReport>>,
}

impl Shared {
    /// Takes the error that has not been returned yet.
    pub fn take_failure(&self) -> Option<Error> {
        lock(&self.failure).take()
    }
}

/// Marks a saver as busy until this is dropped.
struct Busy(Arc<Shared>);

impl Busy {
    fn begin(shared: &Arc<Shared>) -> Busy {
        shared.busy.store(true, Ordering::SeqCst);
        Busy(shared.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::SeqCst);
    }
}

impl Saver {
    /// Creates an idle saver.
    pub fn new(options: SaverOptions) -> Saver {
        Saver {
            options,
            saving: Mutex::new(()),
            running: Mutex::new(None),
            shared: Arc::default(),
        }
    }

    /// Saves one item, or a composite of several, in a directory that appears atomically once all
    /// files are on disk. In a multi-process program, all processes must call this.
    ///
    /// # Errors
    /// Returns the previous save's error, if it failed; nothing is then saved. Returns an error if
    /// the path already exists and `force` is not set, or if the snapshot fails. Without
    /// background saving, also returns an error if something cannot be written. In all these cases
    /// an existing checkpoint is unchanged.
    #[track_caller]
    pub fn save(&self, path: &Path, args: &dyn SaveArgs, options: SaveOptions) -> Result<()> {
        let name = path.to_string_lossy();
        let multiprocessing = &self.options.multiprocessing;
        let group = Arc::new(Group::new(&name, multiprocessing, self.options.timeout)?);
        self.save_in(group, path, args, options)
    }

    /// Saves like [`save`](Saver::save), with an existing group of processes.
    pub(crate) fn save_in(
        &self,
        group: Arc<Group>,
        path: &Path,
        args: &dyn SaveArgs,
        options: SaveOptions,
    ) -> Result<()> {
        // Only one thread saves at a time.
        let _saving = lock(&self.saving);
        let start = Instant::now();
        self.wait_until_finished()?;
        let (begun, waited) = options.begun.unwrap_or((start, start.elapsed()));
        let copying = Instant::now();
        let free = if group.process().is_primary() {
            check_name(path, options.force)
        } else {
            Ok(())
        };
        let contents = free.and_then(|()| Contents::of(args, &group));
        let contents = group.agree("snapshot", contents)?;
        let snapshot = copying.elapsed();
        let transaction = Transaction {
            path: path.to_owned(),
            overwrite: options.force,
            contents,
            custom_metadata: options.custom_metadata,
            group,
            threads: self.options.threads,
            atomicity: self.options.atomicity,
            permissions: self.options.permissions,
        };
        let report = SaveReport {
            path: path.to_owned(),
            waited,
            snapshot,
            blocking: begun.elapsed(),
            total: Duration::ZERO,
            files: 0,
            bytes: 0,
        };
        let job = Job {
            transaction,
            then: options.then,
            callback: self.options.callback.clone(),
            begun,
            report,
        };
        if self.options.asynchronous {
            return self.start(job);
        }
        let _busy = Busy::begin(&self.shared);
        job.run(&self.shared, true)
    }

    fn start(&self, job: Job) -> Result<()> {
        let mut running = lock(&self.running);
        let shared = self.shared.clone();
        let path = job.report.path.clone();
        let work = {
            let path = path.clone();
            let (running, busy) = (Running::begin(&shared), Busy::begin(&shared));
            move || {
                running.here();
                let result =
                    panic::catch_unwind(panic::AssertUnwindSafe(|| job.run(&shared, false)));
                let result = result.unwrap_or_else(|_| {
                    let message = format!("the save thread panicked{PANICKED}");
                    Err(Error::format(&path, message))
                });
                if let Err(error) = result {
                    tracing::error!(path = %path.display(), %error, "a background save failed");
                    *lock(&shared.failure) = Some(error);
                }
                drop(busy);
            }
        };
        let thread = std::thread::Builder::new().name("checkpoint save".into());
        match thread.spawn(work) {
            Ok(handle) => *running = Some(handle),
            Err(e) => return Err(Error::io(&path, "spawn the save thread", e)),
        }
        Ok(())
    }

    /// Waits until the running save is complete.
    ///
    /// # Errors
    /// Returns the error of that save, or of an earlier one whose error was not returned yet:
    /// [`Error::Save`].
    pub fn wait_until_finished(&self) -> Result<()> {
        // The lock is held while waiting, so that concurrent callers wait as well.
        let mut running = lock(&self.running);
        if let Some(thread) = running.take() {
            // The thread stored its outcome in `shared`.
            let _ = thread.join();
        }
        drop(running);
        self.check_for_errors()
    }

    /// Returns the background error since the last call, if any, without waiting.
    ///
    /// # Errors
    /// Returns the error of the last save: [`Error::Save`].
    pub fn check_for_errors(&self) -> Result<()> {
        self.shared.take_failure().map_or(Ok(()), Err)
    }

    /// Returns whether a save is running.
    pub fn is_saving_in_progress(&self) -> bool {
        self.shared.busy.load(Ordering::SeqCst)
    }

    /// Returns the timings of the last committed save.
    pub fn last_report(&self) -> Option<SaveReport> {
        lock(&self.shared.report).clone()
    }
}

impl std::fmt::Debug for Saver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Saver")
            .field("options", &self.options)
            .field("is_saving_in_progress", &self.is_saving_in_progress())
            .finish_non_exhaustive()
    }
}

/// Waits for the running save. An error that was never returned is logged, or printed to stderr if
/// there is no logger.
impl Drop for Saver {
    fn drop(&mut self) {
        if let Err(error) = self.wait_until_finished() {
            warn_loudly(&error.to_string());
        }
    }
}

/// A single save, independent of its caller.
struct Job {
    transaction: Transaction,
    then: Option<Box<dyn FnOnce(bool) -> Result<()> + Send>>,
    callback: Option<Arc<dyn Fn() + Send + Sync>>,
    begun: Instant,
    report: SaveReport,
}

impl Job {
    fn run(self, shared: &Shared, blocking: bool) -> Result<()> {
        let group = self.transaction.group.clone();
        let written = self.transaction.run();
        let committed = written.is_ok();
        let after = self.then.map_or(Ok(()), |then| then(committed));
        let Written { files, bytes } = written.map_err(|source| {
            if blocking {
                source
            } else {
                Error::Save {
                    path: self.report.path.clone(),
                    source: Box::new(source),
                }
            }
        })?;
        let after = group.agree("after", after);
        let total = self.begun.elapsed();
        let report = SaveReport {
            blocking: if blocking {
                total
            } else {
                self.report.blocking
            },
            total,
            files,
            bytes,
            ..self.report
        };
        tracing::info!(
            path = %report.path.display(),
            blocking_ms = report.blocking.as_secs_f64() * 1e3,
            snapshot_ms = report.snapshot.as_secs_f64() * 1e3,
            total_ms = report.total.as_secs_f64() * 1e3,
            bytes = report.bytes,
            files = report.files,
            "saved"
        );
        let path = report.path.clone();
        *lock(&shared.report) = Some(report);
        let called = match &self.callback {
            Some(callback) => call(&path, &**callback),
            None => Ok(()),
        };
        after.and(called)
    }
}

/// Calls the callback of a committed checkpoint.
fn call(path: &Path, callback: &(dyn Fn() + Send + Sync)) -> Result<()> {
    panic::catch_unwind(panic::AssertUnwindSafe(callback)).map_err(|_| {
        let message = format!(
            "the checkpoint is committed, but its `post_finalization_callback` panicked{PANICKED}"
        );
        Error::format(path, message)
    })
}

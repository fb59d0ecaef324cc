//! Saving to and restoring from a single path, by default in the background.

use super::exit::PendingSave;
use super::transaction::{Contents, SaveSize, Transaction, check_name};
use super::{
    Atomicity, Group, ItemReader, MultiprocessingOptions, RestoreArgs, SaveArgs, SaveReport,
    default_threads, restore_checked,
};
use crate::error::PANICKED;
use crate::warning::warn_loudly;
use crate::{Error, Result};
use ramie_core::files::Message;
use ramie_core::lock::lock;
use serde_json::{Map, Value};
use std::panic;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Options of a [`Checkpointer`].
#[derive(Clone)]
pub struct CheckpointerOptions {
    pub(super) asynchronous: bool,
    pub(crate) threads: usize,
    pub(crate) timeout: Duration,
    pub(super) atomicity: Atomicity,
    pub(super) permissions: Option<u32>,
    pub(crate) multiprocessing: MultiprocessingOptions,
    pub(super) callback: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// Default time that processes wait for each other, as in Orbax.
const TIMEOUT: Duration = Duration::from_secs(1200);

impl Default for CheckpointerOptions {
    fn default() -> CheckpointerOptions {
        CheckpointerOptions {
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

impl CheckpointerOptions {
    /// Creates default options: save in the background on several threads, and commit with a
    /// rename.
    pub fn new() -> CheckpointerOptions {
        CheckpointerOptions::default()
    }

    /// Sets whether saves continue in the background after the snapshot is taken. If `false`, the
    /// caller waits until the save is complete. Defaults to `true`.
    #[doc(alias = "enable_async_checkpointing")]
    pub fn asynchronous(mut self, asynchronous: bool) -> CheckpointerOptions {
        self.asynchronous = asynchronous;
        self
    }

    /// Sets the number of threads that write and delete. Defaults to the number of CPU cores,
    /// clamped to 4..=16.
    ///
    /// # Panics
    /// Panics if `threads` is 0.
    #[doc(alias = "num_deletion_threads")]
    #[track_caller]
    pub fn threads(mut self, threads: usize) -> CheckpointerOptions {
        assert!(
            threads > 0,
            "threads: `threads` is 0, but saving needs a thread\n  help: pass at least 1"
        );
        self.threads = threads;
        self
    }

    /// Sets how long processes wait for each other. Defaults to 20 minutes.
    #[doc(alias = "timeout_secs")]
    pub fn timeout(mut self, timeout: Duration) -> CheckpointerOptions {
        self.timeout = timeout;
        self
    }

    /// Sets how a checkpoint is committed. Defaults to an atomic rename.
    #[doc(alias = "atomicity_options")]
    pub fn atomicity(mut self, atomicity: Atomicity) -> CheckpointerOptions {
        self.atomicity = atomicity;
        self
    }

    /// Sets the Unix permissions of the checkpoint's directory, such as `0o750`. Defaults to those
    /// of new directories of the process.
    #[doc(alias = "file_options")]
    pub fn path_permission_mode(mut self, mode: u32) -> CheckpointerOptions {
        self.permissions = Some(mode);
        self
    }

    /// Sets how the processes that save together synchronize.
    #[doc(alias = "multiprocessing_options")]
    pub fn multiprocessing(mut self, options: MultiprocessingOptions) -> CheckpointerOptions {
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

impl std::fmt::Debug for CheckpointerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckpointerOptions")
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

/// Saves one item to a path, by default while the caller continues
/// (`orbax.checkpoint.Checkpointer`).
///
/// A save returns once it has taken its [snapshot](SaveArgs::snapshot). On CPUs that is immediate,
/// because a training step copies arrays that are still being written; on accelerators it is after
/// the copy to the host. A background thread then writes and commits the snapshot with a bounded
/// number of helper threads. The next save waits for that thread, so there is never more than one
/// snapshot in memory. The error of a background save is returned by the next call of
/// [`save`](Checkpointer::save), [`restore`](Checkpointer::restore),
/// [`wait_until_finished`](Checkpointer::wait_until_finished) or
/// [`check_for_errors`](Checkpointer::check_for_errors). With
/// [`asynchronous(false)`](CheckpointerOptions::asynchronous), and in [`save_item`], a save returns
/// after the commit.
///
/// Dropping a checkpointer waits for its save. When the process exits normally (`main` returns or
/// panics, or [`std::process::exit`] is called), it waits for all saves, including those of
/// checkpointers in statics, of leaked checkpointers and of other threads. Errors that were never
/// returned are printed to stderr. After an abort or a kill, the last committed checkpoint is
/// intact. On Windows, [`std::process::exit`] does not wait: drop the checkpointer, or call
/// [`wait_until_finished`](Checkpointer::wait_until_finished) first.
///
/// For the checkpoints of a run's steps, use
/// [`CheckpointManager`](crate::manager::CheckpointManager).
///
/// ```
/// use ramie_checkpoint::commit::Checkpointer;
/// use ramie_checkpoint::pytree::{StandardRestore, StandardSave};
/// use ramie_core::{Array, DType, State};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("weights");
/// let params = State::from_iter([("w", Array::ones(&[1000], DType::F32))]);
/// let checkpointer = Checkpointer::new();
/// checkpointer.save(&path, &StandardSave::new(&params))?;
/// // … training goes on …
/// checkpointer.wait_until_finished()?;
/// println!("{}", checkpointer.last_report().unwrap());
/// let params = checkpointer.restore(&path, StandardRestore::new(&params))?;
/// # Ok(())
/// # }
/// ```
#[doc(alias("AsyncCheckpointer", "PyTreeCheckpointer", "StandardCheckpointer"))]
pub struct Checkpointer {
    options: CheckpointerOptions,
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

/// Marks a checkpointer as busy until this is dropped.
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

impl Checkpointer {
    /// Creates a checkpointer with default options.
    pub fn new() -> Checkpointer {
        Checkpointer::default()
    }

    /// Creates a checkpointer with these options.
    pub fn with_options(options: CheckpointerOptions) -> Checkpointer {
        Checkpointer {
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
    /// the path already exists or the snapshot fails. Without background saving, also returns an
    /// error if something cannot be written. In all these cases nothing has changed.
    pub fn save(&self, path: impl AsRef<Path>, args: &dyn SaveArgs) -> Result<()> {
        self.save_with(path, args, SaveOptions::new())
    }

    /// Saves like [`save`](Checkpointer::save), with options to add metadata or to replace an
    /// existing checkpoint.
    ///
    /// # Errors
    /// Same as [`save`](Checkpointer::save), except that `force` allows an existing checkpoint. On
    /// error, that checkpoint is unchanged.
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        args: &dyn SaveArgs,
        options: SaveOptions,
    ) -> Result<()> {
        let path = path.as_ref();
        let name = path.to_string_lossy();
        let multiprocessing = &self.options.multiprocessing;
        let group = Arc::new(Group::new(&name, multiprocessing, self.options.timeout)?);
        self.save_in(group, path, args, options)
    }

    /// Saves like [`save`](Checkpointer::save), with an existing group of processes.
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
            let (running, busy) = (PendingSave::begin(&shared), Busy::begin(&shared));
            move || {
                running.here();
                let result =
                    panic::catch_unwind(panic::AssertUnwindSafe(|| job.run(&shared, false)));
                let result = result.unwrap_or_else(|_| {
                    let message = Message::new("the save thread panicked").help(PANICKED);
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

    /// Restores an item after waiting for the running save.
    ///
    /// # Errors
    /// Returns the error of that save. Also returns an error if a file is missing, damaged,
    /// unreadable, or of another kind.
    pub fn restore<R: RestoreArgs>(&self, path: impl AsRef<Path>, args: R) -> Result<R::Item> {
        self.wait_until_finished()?;
        restore_item(path, args)
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

impl Default for Checkpointer {
    fn default() -> Checkpointer {
        Checkpointer::with_options(CheckpointerOptions::new())
    }
}

impl std::fmt::Debug for Checkpointer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpointer")
            .field("options", &self.options)
            .field("is_saving_in_progress", &self.is_saving_in_progress())
            .finish_non_exhaustive()
    }
}

/// Waits for the running save. An error that was never returned is logged, or printed to stderr if
/// there is no logger.
impl Drop for Checkpointer {
    fn drop(&mut self) {
        if let Err(error) = self.wait_until_finished() {
            warn_loudly(&error.to_string());
        }
    }
}

/// Saves one item, or a composite of several, in a directory that appears atomically once all
/// files are on disk.
///
/// In a multi-process program, all processes must call this.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::items::{JsonRestore, JsonSave};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("settings");
/// save_item(&path, &JsonSave::new(&vec![1, 2, 3]))?;
/// assert_eq!(restore_item(&path, JsonRestore::<Vec<u32>>::new())?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if the path already exists or something cannot be written; then nothing has
/// changed.
#[doc(alias = "save_pytree")]
pub fn save_item(path: impl AsRef<Path>, args: &dyn SaveArgs) -> Result<()> {
    let options = CheckpointerOptions::new().asynchronous(false);
    Checkpointer::with_options(options).save(path, args)
}

/// Restores an item that was saved by [`save_item`] or by Orbax's checkpointers.
///
/// # Errors
/// Returns an error if a file is missing, damaged, unreadable, or of another kind.
#[doc(alias = "load_pytree")]
pub fn restore_item<R: RestoreArgs>(path: impl AsRef<Path>, args: R) -> Result<R::Item> {
    restore_checked(args, &ItemReader::open(path.as_ref())?)
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
        let SaveSize { files, bytes } = written.map_err(|source| {
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
        let what = "the checkpoint is committed, but its `post_finalization_callback` panicked";
        Error::format(path, Message::new(what).help(PANICKED))
    })
}

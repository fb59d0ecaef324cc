//! Saves that go on in the background.

use super::exit::Running;
use super::transaction::{Contents, Transaction, Written, check_name};
use super::{Atomicity, Group, MultiprocessingOptions, SaveReport, default_threads};
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

/// How a [`Saver`] saves.
#[derive(Clone)]
pub struct SaverOptions {
    asynchronous: bool,
    threads: usize,
    pub(crate) timeout: Duration,
    atomicity: Atomicity,
    permissions: Option<u32>,
    pub(crate) multiprocessing: MultiprocessingOptions,
    callback: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// How long processes wait for each other, if nothing else is said; Orbax's.
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
    /// In the background, on a few threads, with a rename at the end.
    pub fn new() -> SaverOptions {
        SaverOptions::default()
    }

    /// Whether a save goes on in the background when its caller has its snapshot; if
    /// not, the caller waits for the end. It does, if not set.
    pub fn asynchronous(mut self, asynchronous: bool) -> SaverOptions {
        self.asynchronous = asynchronous;
        self
    }

    /// How many threads write; between 4 and 16, as there are cores, if not set.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn threads(mut self, threads: usize) -> SaverOptions {
        assert!(
            threads > 0,
            "threads: 0 threads write nothing\n  help: give 1 at least"
        );
        self.threads = threads;
        self
    }

    /// How long processes wait for each other; 20 minutes, if not set.
    pub fn timeout(mut self, timeout: Duration) -> SaverOptions {
        self.timeout = timeout;
        self
    }

    /// How a checkpoint becomes one.
    pub fn atomicity(mut self, atomicity: Atomicity) -> SaverOptions {
        self.atomicity = atomicity;
        self
    }

    /// The permissions of the folder of a checkpoint, as a number of Unix such as
    /// `0o750`; what the process gives to new folders, if not set.
    pub fn path_permission_mode(mut self, mode: u32) -> SaverOptions {
        self.permissions = Some(mode);
        self
    }

    /// How the processes find each other that save together.
    pub fn multiprocessing(mut self, options: MultiprocessingOptions) -> SaverOptions {
        self.multiprocessing = options;
        self
    }

    /// A function that is called when a checkpoint has its name, from the thread that
    /// wrote it.
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

/// What one save is to do besides writing.
#[derive(Default)]
pub struct SaveOptions {
    force: bool,
    custom_metadata: Map<String, Value>,
    then: Option<Box<dyn FnOnce(bool) -> Result<()> + Send>>,
    begun: Option<(Instant, Duration)>,
}

impl SaveOptions {
    /// Nothing.
    pub fn new() -> SaveOptions {
        SaveOptions::default()
    }

    /// Whether a checkpoint that is there already is replaced.
    pub fn force(mut self, force: bool) -> SaveOptions {
        self.force = force;
        self
    }

    /// What is kept in the file `_CHECKPOINT_METADATA`.
    pub fn custom_metadata(mut self, metadata: Map<String, Value>) -> SaveOptions {
        self.custom_metadata = metadata;
        self
    }

    /// What is done in the background after the commit, or after its failure: the
    /// argument says whether the checkpoint is there.
    pub(crate) fn then(mut self, f: impl FnOnce(bool) -> Result<()> + Send + 'static) -> Self {
        self.then = Some(Box::new(f));
        self
    }

    /// When the caller's wait began, and how much of it was for the save before.
    pub(crate) fn begun(mut self, begun: Instant, waited: Duration) -> Self {
        self.begun = Some((begun, waited));
        self
    }
}

/// Saves checkpoints, one after the other, while the caller goes on.
///
/// A save returns when it has its [snapshot](SaveArgs::snapshot); a thread of its own
/// writes and commits it, with the help of a bounded number of others. The next save
/// waits for the end of the last, so that there is never more than one snapshot in
/// memory. What fails in the background is returned by the next call: of
/// [`save`](Saver::save), [`wait_until_finished`](Saver::wait_until_finished) or
/// [`check_for_errors`](Saver::check_for_errors).
///
/// A saver waits when it is dropped. When the process ends in an orderly way, by a return or
/// a panic of `main` or by [`std::process::exit`], it waits for all saves, also those of
/// savers in statics, of leaked ones and of other threads, and prints a failure that nobody
/// asked for on stderr. After an abort or a kill the last step that was committed is intact.
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

/// What the thread in the background leaves.
#[derive(Default)]
pub(super) struct Shared {
    busy: AtomicBool,
    failure: Mutex<Option<Error>>,
    report: Mutex<Option<SaveReport>>,
}

impl Shared {
    /// The failure that was not returned yet.
    pub fn take_failure(&self) -> Option<Error> {
        lock(&self.failure).take()
    }
}

impl Saver {
    /// A saver that has nothing to do yet.
    pub fn new(options: SaverOptions) -> Saver {
        Saver {
            options,
            saving: Mutex::new(()),
            running: Mutex::new(None),
            shared: Arc::default(),
        }
    }

    /// Saves one item, or a composite of several, in a folder that appears when
    /// everything is on the disk. Of several processes all call it.
    ///
    /// # Errors
    /// The failure of the save before this one, and then nothing is saved. If the path is
    /// taken and `force` is not set, or the snapshot fails. Without a background also if something cannot be written; a
    /// checkpoint that was there is then as it was.
    #[track_caller]
    pub fn save(&self, path: &Path, args: &dyn SaveArgs, options: SaveOptions) -> Result<()> {
        let name = path.to_string_lossy();
        let multiprocessing = &self.options.multiprocessing;
        let group = Arc::new(Group::new(&name, multiprocessing, self.options.timeout)?);
        self.save_in(group, path, args, options)
    }

    /// [`save`](Saver::save) by processes that know each other.
    pub(crate) fn save_in(
        &self,
        group: Arc<Group>,
        path: &Path,
        args: &dyn SaveArgs,
        options: SaveOptions,
    ) -> Result<()> {
        // Of several threads that save, one is here.
        let _saving = lock(&self.saving);
        let start = Instant::now();
        self.wait_until_finished()?;
        let (begun, waited) = options.begun.unwrap_or((start, start.elapsed()));
        let copying = Instant::now();
        let free = match group.process().is_primary() {
            true => check_name(path, options.force),
            false => Ok(()),
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
        self.shared.busy.store(true, Ordering::SeqCst);
        let result = job.run(&self.shared, true);
        self.shared.busy.store(false, Ordering::SeqCst);
        result
    }

    fn start(&self, job: Job) -> Result<()> {
        let mut running = lock(&self.running);
        let shared = self.shared.clone();
        let path = job.report.path.clone();
        let work = {
            let path = path.clone();
            let running = Running::begin(&shared);
            move || {
                running.here();
                let result =
                    panic::catch_unwind(panic::AssertUnwindSafe(|| job.run(&shared, false)));
                let result = result.unwrap_or_else(|_| {
                    Err(Error::format(&path, "the thread that wrote it panicked"))
                });
                if let Err(error) = result {
                    tracing::error!(path = %path.display(), %error, "a save failed");
                    *lock(&shared.failure) = Some(error);
                }
                shared.busy.store(false, Ordering::SeqCst);
            }
        };
        self.shared.busy.store(true, Ordering::SeqCst);
        let thread = std::thread::Builder::new().name("checkpoint save".into());
        match thread.spawn(work) {
            Ok(handle) => *running = Some(handle),
            Err(e) => {
                self.shared.busy.store(false, Ordering::SeqCst);
                return Err(Error::io(&path, "get a thread to be saved by", e));
            }
        }
        Ok(())
    }

    /// Waits for the end of the save that is going on.
    ///
    /// # Errors
    /// The failure of that save, or of one before, if it was not returned yet:
    /// [`Error::Save`].
    pub fn wait_until_finished(&self) -> Result<()> {
        // The lock is held while waiting: who comes later waits as well.
        let mut running = lock(&self.running);
        if let Some(thread) = running.take() {
            // What happened in it, it has left behind.
            let _ = thread.join();
        }
        drop(running);
        self.check_for_errors()
    }

    /// Returns what failed in the background since the last call, without waiting.
    ///
    /// # Errors
    /// The failure of the last save: [`Error::Save`].
    pub fn check_for_errors(&self) -> Result<()> {
        self.shared.take_failure().map_or(Ok(()), Err)
    }

    /// Whether a save is going on.
    pub fn is_saving_in_progress(&self) -> bool {
        self.shared.busy.load(Ordering::SeqCst)
    }

    /// How long the last save took that was committed.
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

/// Waits for the end of the save. A failure that nobody has asked for is logged, or printed
/// on stderr where there is no log.
impl Drop for Saver {
    fn drop(&mut self) {
        if let Err(error) = self.wait_until_finished() {
            warn_loudly(&error.to_string());
        }
    }
}

/// One save, without its caller.
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
        let Written { files, bytes } = written.map_err(|source| match blocking {
            true => source,
            false => Error::Save {
                path: self.report.path.clone(),
                source: Box::new(source),
            },
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
        *lock(&shared.report) = Some(report);
        if let Some(callback) = self.callback {
            callback();
        }
        after
    }
}

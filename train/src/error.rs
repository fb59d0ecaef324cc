//! Errors of training runs.

use crate::folder::free_name;
use ramie_core::files::WithHelp;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error that ends a training run.
///
/// Its `Debug` form is the message, so that `fn main() -> ramie::train::Result` prints a readable
/// error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A batch could not be read or copied to the device.
    #[error(transparent)]
    Data(#[from] ramie_data::Error),
    /// A checkpoint could not be written or read.
    #[error(transparent)]
    Checkpoint(#[from] ramie_checkpoint::Error),
    /// Metrics could not be written.
    #[error(transparent)]
    Write(#[from] crate::writers::WriteError),
    /// A program could not be compiled or run.
    #[error(transparent)]
    Core(#[from] ramie_core::Error),
    /// The data has no batch.
    #[error("there is no batch to train on: {}", no_batch(*dropped))]
    NoBatches {
        /// The number of elements and the batch size, if an incomplete batch was dropped.
        dropped: Option<(usize, usize)>,
    },
    /// The data for a validation has no batch.
    #[error("there is no batch to validate on: {}", no_batch(*dropped))]
    NoValidationBatches {
        /// The number of elements and the batch size, if an incomplete batch was dropped.
        dropped: Option<(usize, usize)>,
    },
    /// The loss is NaN or infinite.
    #[error(
        "step {step}: the metric `{metric}` is {value}\n  help: {}; `RAMIE_DEBUG_NANS=1` finds the operation; \
         `.allow_non_finite()` trains on",
        causes(*step, *value)
    )]
    NonFinite {
        /// Step of the value.
        step: u64,
        /// Name of the metric.
        metric: String,
        /// The value.
        value: f64,
    },
    /// A metric that early stopping or `keep_best` observes does not exist.
    #[error(
        "there is no metric `{name}` to observe; existing metrics: {}\n  help: use one of these names",
        known.join(", ")
    )]
    UnknownMetric {
        /// The requested name.
        name: String,
        /// The names of the existing metrics.
        known: Vec<String>,
    },
    /// The folder of a run cannot be created.
    #[error("{}: the directory cannot be created: {}", path.display(), WithHelp(error))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file of [`Trainer::file`](crate::Trainer::file) cannot be written.
    #[error("{}: the file cannot be written: {}", path.display(), WithHelp(error))]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// An earlier run cannot be moved to another name, so the new one does not start.
    #[error(
        "{}: the earlier run cannot be moved aside: {}\n  help: use another folder for the new run",
        path.display(),
        WithHelp(error)
    )]
    Move {
        /// The folder or file of the earlier run.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// Another run uses the folder at this time.
    #[error(
        "{}: another run is writing to this folder\n  help: wait until it ends, or use another folder",
        folder.display()
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The run in the folder has finished, and [`Resume::Unfinished`](crate::Resume::Unfinished) does not continue it.
    #[error(
        "{}: the run in this folder finished after step {step}\n  help: continue it with \
         `.resume(Resume::Always)`, for example with more epochs, or start a new run with \
         `.resume(Resume::Never)`, which moves this one to {}",
        folder.display(),
        free_name(folder).display()
    )]
    Finished {
        /// The folder.
        folder: PathBuf,
        /// The last step.
        step: u64,
    },
    /// The last checkpoint in the folder belongs to another model or dataset, or is damaged.
    #[error(
        "{}: the run in this folder cannot be continued; use another folder, or start a new run with \
         `.resume(Resume::Never)`, which moves this one to {}\n  reason: {error}",
        folder.display(),
        free_name(folder).display()
    )]
    Restore {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        error: Box<Error>,
    },
    /// The run was interrupted and has saved a checkpoint.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The metrics of a run cannot be read.
    #[error("{}: {message}", path.display())]
    History {
        /// The file.
        path: PathBuf,
        /// Description of the problem, and the remedy.
        message: String,
    },
    /// Another error, such as that of a callback.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Creates an error of a callback from a message or from any other error.
    ///
    /// ```
    /// let error = ramie_train::Error::other("the validation server is unreachable");
    /// assert_eq!(format!("{error:?}"), "the validation server is unreachable");
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Other(error.into())
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::other(error)
    }
}

/// Returns the reason for which data have no batch, with a remedy.
fn no_batch(dropped: Option<(usize, usize)>) -> String {
    match dropped {
        Some((elements @ 1.., batch_size)) => format!(
            "the dataset has {elements} elements, less than the batch size {batch_size}, and the loader drops \
             incomplete batches\n  help: use a batch size of at most {elements}, or remove `drop_last`"
        ),
        _ => "the dataset is empty\n  help: pass data with at least one element".to_owned(),
    }
}

/// Returns the remedies for a metric that is not finite.
fn causes(step: u64, value: f64) -> &'static str {
    match (step, value.is_nan()) {
        // The learning rate has had no effect yet.
        (1, true) => {
            "no update has happened yet, so check the data: labels must be at least 0 and less than the \
             number of classes (a call of the loss outside `jit` names others), and inputs must be finite"
        }
        (1, false) => {
            "check that the inputs and the initial parameters are finite and not too large"
        }
        (_, true) => {
            "use a smaller learning rate, or clip the gradients; check that labels are at least 0 and less \
             than the number of classes, and that inputs are finite"
        }
        (_, false) => "use a smaller learning rate, or clip the gradients",
    }
}

ramie_core::debug_is_message!(Error);

/// The run was interrupted by Ctrl-C, by SIGTERM or by
/// [`preemption::request`](ramie_checkpoint::preemption::request), and has saved a checkpoint.
#[derive(Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The last step, which is saved.
    pub step: u64,
    /// Folder of the run.
    pub folder: PathBuf,
}

ramie_core::debug_is_message!(Stopped);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Stopped and saved after step {} in {}; a resumed run continues from there",
            self.step,
            self.folder.display()
        )
    }
}
impl std::error::Error for Stopped {}

/// The result of a training function; see [`Error`].
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

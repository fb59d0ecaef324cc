//! Writers of metrics: TensorBoard event files, JSON lines and CSV.
//!
//! ```no_run
//! use ramie_train::writers::{JsonLinesWriter, MetricWriter, MultiWriter, TensorBoardWriter};
//! let mut writer = MultiWriter::new()
//!     .with(TensorBoardWriter::create("logs/run1")?)
//!     .with(JsonLinesWriter::create("logs/run1.jsonl")?);
//! for step in 0..100 {
//!     writer.scalars(step, &[("loss", 0.5), ("accuracy", 0.9)])?;
//! }
//! writer.flush()?;
//! # Ok::<(), ramie_train::writers::WriteError>(())
//! ```

mod csv;
mod json_lines;
mod multi;
mod rows;
mod tensorboard;

pub use csv::CsvWriter;
pub use json_lines::JsonLinesWriter;
pub use multi::MultiWriter;
pub use tensorboard::TensorBoardWriter;

use ramie_core::files::WithHelp;
use ramie_core::{Array, DType, State};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error of writing metrics to a file.
///
/// Its `Debug` form is the message, so that `unwrap` and `main` print a readable error.
pub struct WriteError {
    path: PathBuf,
    what: WriteFailure,
}

enum WriteFailure {
    Io(io::Error),
    /// The metric has no column; the second field lists the columns.
    Column(String, Vec<String>),
    /// The file has contents; the function that continues it, if there is one.
    Exists(Option<&'static str>),
}

impl WriteError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> WriteError + '_ {
        move |error| WriteError {
            path: path.to_owned(),
            what: WriteFailure::Io(error),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.what {
            WriteFailure::Io(error) => {
                write!(f, "{path}: failed to write metrics: {}", WithHelp(error))
            }
            WriteFailure::Exists(append) => {
                let append = append.map(|name| format!("continue it with `{name}`, "));
                write!(
                    f,
                    "{path}: the file contains the metrics of an earlier run\n  help: {}rename it, or use \
                     another path",
                    append.unwrap_or_default()
                )
            }
            WriteFailure::Column(tag, columns) => write!(
                f,
                "{path}: there is no column for the metric `{tag}`; existing columns: {}\n  \
                 help: list all metrics when the file is created",
                columns.join(", ")
            ),
        }
    }
}

ramie_core::debug_is_message!(WriteError);

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.what {
            WriteFailure::Io(error) => Some(error),
            WriteFailure::Column(..) | WriteFailure::Exists(_) => None,
        }
    }
}

/// A destination for the metrics of training steps.
pub trait MetricWriter {
    /// Writes a number.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn scalar(&mut self, step: u64, tag: &str, value: f64) -> Result<(), WriteError>;

    /// Writes the distribution of values. Formats without histograms ignore it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn histogram(&mut self, step: u64, tag: &str, values: &Array) -> Result<(), WriteError> {
        let _ = (step, tag, values);
        Ok(())
    }

    /// Writes a text entry. Formats without text entries ignore it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn text(&mut self, step: u64, tag: &str, text: &str) -> Result<(), WriteError> {
        let _ = (step, tag, text);
        Ok(())
    }

    /// Writes all buffered data.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn flush(&mut self) -> Result<(), WriteError>;

    /// Writes several numbers of a step.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn scalars(&mut self, step: u64, values: &[(&str, f64)]) -> Result<(), WriteError> {
        for (tag, value) in values {
            self.scalar(step, tag, *value)?;
        }
        Ok(())
    }

    /// Writes the scalars of a state under their paths, such as the result of
    /// [`MultiMetric::compute`](ramie_nn::metrics::Metric::compute). Blocks until the values are
    /// available.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    ///
    /// # Panics
    /// Panics if an array is not a scalar.
    fn state(&mut self, step: u64, values: &State) -> Result<(), WriteError> {
        for (path, array) in values.iter() {
            assert!(
                array.ndim() == 0,
                "MetricWriter::state: `{path}` is {}, expected a scalar\n  help: reduce it, or write \
                 it as a histogram",
                array.aval()
            );
            self.scalar(step, path, array.astype(DType::F64).item::<f64>())?;
        }
        Ok(())
    }
}

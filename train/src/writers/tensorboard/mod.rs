//! `TensorBoardWriter`: TensorBoard event files.

mod proto;
mod record;

use super::{MetricWriter, WriteError};
use proto::{Event, Histogram};
use ramie_core::{Array, DType, files};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes metrics as TensorBoard event files: numbers, histograms and text.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_train::writers::{MetricWriter, TensorBoardWriter};
/// let mut writer = TensorBoardWriter::create("logs/run1")?;
/// writer.scalar(1, "train/loss", 0.5)?;
/// writer.histogram(1, "weights", &Array::from([0.1f32, 0.2, -0.3]))?;
/// writer.text(0, "configuration", "learning rate 0.001")?;
/// # Ok::<(), ramie_train::writers::WriteError>(())
/// ```
pub struct TensorBoardWriter {
    path: PathBuf,
    file: BufWriter<File>,
    buckets: usize,
}

/// Returns the seconds since 1970.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |t| t.as_secs_f64())
}

impl TensorBoardWriter {
    /// Creates a new event file in a directory, which is created if necessary. TensorBoard
    /// shows all files of a directory as one run.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn create(folder: impl AsRef<Path>) -> Result<TensorBoardWriter, WriteError> {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let folder = folder.as_ref();
        std::fs::create_dir_all(folder).map_err(WriteError::io(folder))?;
        let name = format!(
            "events.out.tfevents.{:010}.ramie.{}.{}",
            now() as u64,
            files::process_id(),
            FILES.fetch_add(1, Ordering::Relaxed)
        );
        let path = folder.join(name);
        let file = File::create_new(&path).map_err(WriteError::io(&path))?;
        let mut writer = TensorBoardWriter {
            file: BufWriter::new(file),
            path,
            buckets: 30,
        };
        writer.write(&Event::version(now()))?;
        writer.flush()?;
        Ok(writer)
    }

    /// Sets the number of histogram buckets. Defaults to 30.
    #[must_use]
    pub fn buckets(mut self, buckets: usize) -> TensorBoardWriter {
        self.buckets = buckets.max(1);
        self
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, event: &Event) -> Result<(), WriteError> {
        let record = record::framed(event.bytes());
        self.file
            .write_all(&record)
            .map_err(WriteError::io(&self.path))
    }
}

impl MetricWriter for TensorBoardWriter {
    fn scalar(&mut self, step: u64, tag: &str, value: f64) -> Result<(), WriteError> {
        self.write(&Event::scalar(now(), step, tag, value as f32))
    }

    /// Blocks until the values are available.
    fn histogram(&mut self, step: u64, tag: &str, values: &Array) -> Result<(), WriteError> {
        let values = values.astype(DType::F32).to_vec::<f32>();
        let histogram = Histogram::of(&values, self.buckets);
        self.write(&Event::histogram(now(), step, tag, &histogram))
    }

    fn text(&mut self, step: u64, tag: &str, text: &str) -> Result<(), WriteError> {
        self.write(&Event::text(now(), step, tag, text))
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.file.flush().map_err(WriteError::io(&self.path))
    }
}

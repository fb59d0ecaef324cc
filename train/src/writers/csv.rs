//! `CsvWriter`: a CSV file with one row per step.

use super::json_lines::{check_empty, make_folder};
use super::rows::{Row, Rows};
use super::{MetricWriter, WriteError, WriteFailure};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes metrics as comma-separated values: one row per step, with columns that are named when
/// the file is created. If a step has no value for a metric, its cell is empty.
///
/// ```
/// use ramie_train::writers::{CsvWriter, MetricWriter};
/// # let path = std::env::temp_dir().join(format!("ramie-doc-{}.csv", std::process::id()));
/// let mut writer = CsvWriter::create(&path, &["loss", "accuracy"])?;
/// writer.scalar(1, "loss", 0.5)?;
/// writer.scalars(2, &[("accuracy", 0.75), ("loss", 0.25)])?;
/// writer.flush()?;
/// let text = std::fs::read_to_string(&path)?;
/// assert_eq!(text, "step,loss,accuracy\n1,0.5,\n2,0.25,0.75\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CsvWriter {
    path: PathBuf,
    file: BufWriter<File>,
    columns: Vec<String>,
    rows: Rows,
}

impl CsvWriter {
    /// Creates a file and its directory.
    ///
    /// # Errors
    /// Returns an error if the file exists and is not empty, or if it cannot be created.
    pub fn create(path: impl AsRef<Path>, columns: &[&str]) -> Result<CsvWriter, WriteError> {
        let path = path.as_ref();
        make_folder(path)?;
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(false).open(path);
        let file = file.map_err(WriteError::io(path))?;
        check_empty(path, &file, None)?;
        let mut file = BufWriter::new(file);
        let names: Vec<String> = ["step"].iter().chain(columns).map(|c| cell(c)).collect();
        writeln!(file, "{}", names.join(",")).map_err(WriteError::io(path))?;
        Ok(CsvWriter {
            path: path.to_owned(),
            file,
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            rows: Rows::default(),
        })
    }

    fn write(&mut self, row: Option<Row>) -> Result<(), WriteError> {
        let Some(row) = row else { return Ok(()) };
        let cells = self.columns.iter().map(|column| {
            let value = row.values.iter().find(|(tag, _)| tag == column);
            value.map_or_else(String::new, |(_, value)| value.to_string())
        });
        let cells: Vec<String> = std::iter::once(row.step.to_string()).chain(cells).collect();
        writeln!(self.file, "{}", cells.join(",")).map_err(WriteError::io(&self.path))
    }
}

/// Formats a string as a cell, quoting it if necessary.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

impl MetricWriter for CsvWriter {
    fn scalar(&mut self, step: u64, tag: &str, value: f64) -> Result<(), WriteError> {
        if !self.columns.iter().any(|c| c == tag) {
            return Err(WriteError {
                path: self.path.clone(),
                what: WriteFailure::Column(tag.to_owned(), self.columns.clone()),
            });
        }
        let done = self.rows.add(step, tag, value);
        self.write(done)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        let row = self.rows.take();
        self.write(row)?;
        self.file.flush().map_err(WriteError::io(&self.path))
    }
}

/// Writes buffered rows. Errors are ignored here.
impl Drop for CsvWriter {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

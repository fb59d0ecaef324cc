//! `JsonLinesWriter`: a JSON object per step.

use super::rows::{Row, Rows};
use super::{MetricWriter, WriteError, WriteFailure};
use ramie_core::text::non_finite;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes metrics as JSON lines: one object per step with `step` and the step's metrics by
/// name. Non-finite numbers, which JSON cannot represent, are the strings `"NaN"`, `"Infinity"` and
/// `"-Infinity"`. Text entries are separate objects.
///
/// ```
/// use ramie_train::writers::{JsonLinesWriter, MetricWriter};
/// # let path = std::env::temp_dir().join(format!("ramie-doc-{}.jsonl", std::process::id()));
/// let mut writer = JsonLinesWriter::create(&path)?;
/// writer.scalars(10, &[("loss", 0.5), ("accuracy", 0.75)])?;
/// writer.flush()?;
/// let text = std::fs::read_to_string(&path)?;
/// assert_eq!(text, "{\"step\":10,\"loss\":0.5,\"accuracy\":0.75}\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JsonLinesWriter {
    path: PathBuf,
    file: BufWriter<File>,
    rows: Rows,
}

impl JsonLinesWriter {
    /// Creates a file and its directory.
    ///
    /// # Errors
    /// Returns an error if the file exists and is not empty, or if it cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<JsonLinesWriter, WriteError> {
        let path = path.as_ref();
        let writer = JsonLinesWriter::open(path, File::options().write(true))?;
        check_empty(path, writer.file.get_ref(), Some("JsonLinesWriter::append"))?;
        Ok(writer)
    }

    /// Opens a file for appending, creating it and its directory if necessary.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub fn append(path: impl AsRef<Path>) -> Result<JsonLinesWriter, WriteError> {
        JsonLinesWriter::open(path.as_ref(), File::options().append(true))
    }

    fn open(path: &Path, options: &mut std::fs::OpenOptions) -> Result<Self, WriteError> {
        make_folder(path)?;
        let file = options.create(true).open(path);
        Ok(JsonLinesWriter {
            path: path.to_owned(),
            file: BufWriter::new(file.map_err(WriteError::io(path))?),
            rows: Rows::default(),
        })
    }

    fn line(&mut self, line: &str) -> Result<(), WriteError> {
        writeln!(self.file, "{line}").map_err(WriteError::io(&self.path))
    }

    fn write(&mut self, row: Option<Row>) -> Result<(), WriteError> {
        let Some(row) = row else { return Ok(()) };
        let values = row
            .values
            .iter()
            .map(|(tag, value)| format!(",{}:{}", quoted(tag), number(*value)));
        let line = format!("{{\"step\":{}{}}}", row.step, values.collect::<String>());
        self.line(&line)
    }
}

/// Formats a number as JSON.
fn number(value: f64) -> String {
    non_finite(value).map_or_else(|| value.to_string(), quoted)
}

/// Formats a string as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Checks that a new file of metrics has no contents. `append` is the function that continues it.
pub(super) fn check_empty(
    path: &Path,
    file: &File,
    append: Option<&'static str>,
) -> Result<(), WriteError> {
    let metadata = file.metadata().map_err(WriteError::io(path))?;
    match metadata.len() {
        0 => Ok(()),
        _ => Err(WriteError {
            path: path.to_owned(),
            what: WriteFailure::Exists(append),
        }),
    }
}

/// Creates the parent directory of a file.
pub(super) fn make_folder(path: &Path) -> Result<(), WriteError> {
    match path.parent() {
        Some(folder) => std::fs::create_dir_all(folder).map_err(WriteError::io(path)),
        None => Ok(()),
    }
}

impl MetricWriter for JsonLinesWriter {
    fn scalar(&mut self, step: u64, tag: &str, value: f64) -> Result<(), WriteError> {
        let done = self.rows.add(step, tag, value);
        self.write(done)
    }

    fn text(&mut self, step: u64, tag: &str, text: &str) -> Result<(), WriteError> {
        self.line(&format!(
            "{{\"step\":{step},{}:{}}}",
            quoted(tag),
            quoted(text)
        ))
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        let row = self.rows.take();
        self.write(row)?;
        self.file.flush().map_err(WriteError::io(&self.path))
    }
}

/// Writes buffered rows. Errors are ignored here.
impl Drop for JsonLinesWriter {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

//! JSON lines: a JSON value on each line.

use super::file::bad_row;
use super::text::Lines;
use crate::{Result, Source};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::path::Path;

/// A file with a JSON value on each line, read when asked for. Blank lines are
/// passed over.
///
/// ```no_run
/// use ramie_data::{Source, readers::jsonl::JsonLines};
/// use serde::Deserialize;
/// #[derive(Deserialize)]
/// struct Example {
///     text: String,
///     label: i32,
/// }
/// let examples: JsonLines<Example> = JsonLines::open("train.jsonl")?;
/// let first = examples.get(0)?;
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Debug)]
pub struct JsonLines<T> {
    lines: Lines,
    value: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + Send> JsonLines<T> {
    /// The values of a file. It is read once, to find its lines.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<JsonLines<T>> {
        Ok(JsonLines {
            lines: Lines::open(path)?.without_blank()?,
            value: PhantomData,
        })
    }
}

impl<T: DeserializeOwned + Send> Source for JsonLines<T> {
    type Item = T;
    fn len(&self) -> usize {
        self.lines.len()
    }
    fn get(&self, index: usize) -> Result<T> {
        let line = self.lines.get(index)?;
        let value = serde_json::from_str(&line);
        value.map_err(|e| {
            bad_row(
                self.lines.file(),
                self.lines.row(index),
                format!("is not as expected: {e}"),
            )
        })
    }
}

//! Reader of JSON Lines files, with a JSON value on each line.

use super::file::bad_row;
use super::text::Lines;
use crate::{Result, Source};
use ramie_core::files::Message;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::path::Path;

/// A JSON Lines file, whose lines are read and parsed on access. Blank lines are skipped.
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
    /// Opens a file and scans it once to find its lines.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
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
                Message::new(format!("cannot be parsed: {e}")).help(
                    "correct the line, or pass a type that accepts it: fields that can be \
                missing are an `Option`",
                ),
            )
        })
    }
}

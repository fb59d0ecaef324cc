//! The saved position of a stream.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The position of a stream: a few numbers for each stage. It is small enough to be saved with
/// every checkpoint, and serializable.
///
/// ```
/// use ramie_data::{IntoSource, SourceExt, Stream, stream::Position};
/// let mut stream = (0..10).into_source().stream();
/// stream.next();
/// let saved = serde_json::to_string(&stream.position())?;
///
/// let mut again = (0..10).into_source().stream();
/// again.restore(&serde_json::from_str::<Position>(&saved)?)?;
/// assert_eq!(again.next(), Some(Ok(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    stage: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    numbers: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    from: Vec<Position>,
}

impl Position {
    /// Creates the position of a stage from its numbers and the positions of its input streams.
    pub fn new(
        stage: &'static str,
        numbers: impl Into<Vec<u64>>,
        from: impl Into<Vec<Position>>,
    ) -> Position {
        Position {
            stage: Cow::Borrowed(stage),
            numbers: numbers.into(),
            from: from.into(),
        }
    }

    /// Returns the numbers and positions of a stage with this name and these counts.
    ///
    /// # Errors
    /// Returns an error if the position belongs to a different stage, or if the counts differ.
    pub fn of<const N: usize, const P: usize>(
        &self,
        stage: &str,
    ) -> Result<([u64; N], &[Position; P])> {
        let numbers = self.numbers.as_slice().try_into();
        let from = self.from.as_slice().try_into();
        match (numbers, from) {
            (Ok(numbers), Ok(from)) if self.stage == stage => Ok((numbers, from)),
            _ => Err(self.mismatch(stage, &format!("{N} numbers, {P} positions"))),
        }
    }

    /// Returns the numbers and positions of a stage with this name.
    ///
    /// # Errors
    /// Returns an error if the position belongs to a different stage.
    pub fn parts(&self, stage: &str) -> Result<(&[u64], &[Position])> {
        if self.stage == stage {
            Ok((&self.numbers, &self.from))
        } else {
            Err(self.mismatch(stage, "any numbers"))
        }
    }

    fn mismatch(&self, stage: &str, what: &str) -> Error {
        Error::position(format!(
            "it belongs to a stage `{}` ({} numbers, {} positions), but the stream has `{stage}` \
             ({what}) there; build the stream as it was when it was saved",
            self.stage,
            self.numbers.len(),
            self.from.len()
        ))
    }
}

//! Where a stream stands.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Where a stream stands: a few numbers of each stage, small enough to be saved
/// with every checkpoint, and serialisable.
///
/// ```
/// use ramie_data::{IntoSource, Source, Stream, stream::Position};
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
    /// The position of a stage: its numbers, and the positions of the streams
    /// that it draws from.
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

    /// The numbers and positions of a stage of this name, with so many of both.
    ///
    /// # Errors
    /// If the position is that of another stage.
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

    /// The numbers and positions of a stage of this name, however many.
    ///
    /// # Errors
    /// If the position is that of another stage.
    pub fn parts(&self, stage: &str) -> Result<(&[u64], &[Position])> {
        match self.stage == stage {
            true => Ok((&self.numbers, &self.from)),
            false => Err(self.mismatch(stage, "any numbers")),
        }
    }

    fn mismatch(&self, stage: &str, what: &str) -> Error {
        Error::Position(format!(
            "it is that of a stage `{}` ({} numbers, {} positions), and the stream has `{stage}` ({what}) \
             there; build the stream as it was when it was saved",
            self.stage,
            self.numbers.len(),
            self.from.len()
        ))
    }
}

//! Sequences of any length to rows of one.

use super::{Position, Stream};
use crate::{Error, Result};

/// Rows of one length of sequences put one behind the other; see [`concat_split`].
#[derive(Clone, Debug)]
pub struct ConcatSplit<S, T> {
    stream: S,
    length: usize,
    /// What is left of the last sequence, where the stream stood before it, and how
    /// many of its elements were used.
    rest: Option<(Position, u64, Vec<T>)>,
}

/// Puts sequences one behind the other, and cuts rows of `length` from them
/// (Grain's `ConcatThenSplitIterDataset`). What does not fill a row at the end is
/// left out.
///
/// ```
/// use ramie_data::{Stream, stream};
/// let sequences = || [vec![1, 2], vec![3, 4, 5], vec![6]].map(Ok);
/// let mut rows = stream::concat_split(stream::from_fn(sequences), 2);
/// let rows: Vec<Vec<i32>> = rows.iter().collect::<Result<_, _>>()?;
/// assert_eq!(rows, [[1, 2], [3, 4], [5, 6]]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// # Panics
/// If the length is 0.
#[track_caller]
pub fn concat_split<T, S>(stream: S, length: usize) -> ConcatSplit<S, T>
where
    T: Clone + Send,
    S: Stream<Item = Vec<T>>,
{
    assert!(
        length > 0,
        "concat_split: rows of 0 elements\n  help: give at least 1"
    );
    ConcatSplit {
        stream,
        length,
        rest: None,
    }
}

/// A sequence that cannot be read takes the row with it that it is needed for.
impl<T: Clone + Send, S: Stream<Item = Vec<T>>> Stream for ConcatSplit<S, T> {
    type Item = Vec<T>;
    fn next(&mut self) -> Option<Result<Vec<T>>> {
        let mut row = Vec::with_capacity(self.length);
        loop {
            if let Some((_, used, rest)) = &mut self.rest {
                let count = rest.len().min(self.length - row.len());
                row.extend(rest.drain(..count));
                *used += count as u64;
                if rest.is_empty() {
                    self.rest = None;
                }
            }
            if row.len() == self.length {
                return Some(Ok(row));
            }
            let before = self.stream.position();
            match self.stream.next()? {
                Ok(sequence) => self.rest = Some((before, 0, sequence)),
                Err(e) => return Some(Err(e)),
            }
        }
    }
    fn position(&self) -> Position {
        match &self.rest {
            Some((before, used, _)) => Position::new("concat_split", [1, *used], [before.clone()]),
            None => Position::new("concat_split", [0, 0], [self.stream.position()]),
        }
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([inside, used], [from]) = position.of("concat_split")?;
        self.stream.restore(from)?;
        self.rest = None;
        if inside == 0 {
            return Ok(());
        }
        let sequence = self.stream.next().transpose()?;
        let rest = sequence
            .as_ref()
            .and_then(|s| s.get(usize::try_from(used).ok()?..));
        let Some(rest) = rest else {
            return Err(Error::Position(format!(
                "it is behind {used} elements of a sequence that is not there, or shorter"
            )));
        };
        self.rest = Some((from.clone(), used, rest.to_vec()));
        Ok(())
    }
}

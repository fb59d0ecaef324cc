//! Regrouping of batches into batches of equal size.

use super::{Position, Stream};
use crate::{Batch, Error, LastBatch, Result};

/// Batches of equal size, made from batches of any size; see
/// [`StreamExt::rebatch`](crate::StreamExt::rebatch).
#[derive(Clone, Debug)]
pub struct Rebatch<S: Stream> {
    stream: S,
    size: usize,
    last: LastBatch,
    /// The current batch, with the position before it and the number of rows used, which is less
    /// than its number of rows.
    current: Option<(Position, usize, S::Item)>,
}

impl<S: Stream> Rebatch<S> {
    #[track_caller]
    pub(crate) fn new(operation: &str, stream: S, size: usize, last: LastBatch) -> Self {
        assert!(
            size > 0,
            "{operation}: the number of rows is 0\n  help: pass at least 1"
        );
        Rebatch {
            stream,
            size,
            last,
            current: None,
        }
    }
}

impl<S: Stream<Item: Batch>> Rebatch<S> {
    /// Takes at most `count` rows of the current batch.
    fn take(&mut self, count: usize) -> Option<S::Item> {
        let (_, used, batch) = self.current.as_mut()?;
        let start = *used;
        *used = batch.rows().min(start + count);
        let rows = batch.slice(start..*used);
        if *used == batch.rows() {
            self.current = None;
        }
        Some(rows)
    }
}

/// If an input batch cannot be read, its error is returned instead of the output batch that needs
/// it.
impl<S: Stream<Item: Batch>> Stream for Rebatch<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        let mut parts = Vec::new();
        let mut missing = self.size;
        while missing > 0 {
            if let Some(rows) = self.take(missing) {
                missing -= rows.rows();
                parts.push(rows);
                continue;
            }
            let before = self.stream.position();
            match self.stream.next() {
                Some(Ok(batch)) if batch.rows() == 0 => {}
                Some(Ok(batch)) => self.current = Some((before, 0, batch)),
                Some(Err(e)) => return Some(Err(e)),
                None => break,
            }
        }
        let wanted = missing == 0 || (missing < self.size && self.last == LastBatch::Keep);
        wanted.then(|| match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => Batch::join(parts),
        })
    }
    fn position(&self) -> Position {
        match &self.current {
            Some((before, used, _)) => {
                Position::new("rebatch", [1, *used as u64], [before.clone()])
            }
            None => Position::new("rebatch", [0, 0], [self.stream.position()]),
        }
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([inside, used], [from]) = position.of("rebatch")?;
        self.stream.restore(from)?;
        self.current = None;
        if inside == 0 {
            return Ok(());
        }
        let batch = self.stream.next().transpose()?;
        let Some(batch) = batch.filter(|batch| used < batch.rows() as u64) else {
            return Err(Error::position(format!(
                "it is after {used} rows of a batch that is missing or shorter; the data has changed \
                 since it was saved"
            )));
        };
        self.current = Some((from.clone(), used as usize, batch));
        Ok(())
    }
    seed_of_input!(stream);
}

/// Concatenates sequences and splits the result into rows of `length` elements (Grain's
/// `ConcatThenSplitIterDataset`). An incomplete row at the end is dropped.
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
/// Panics if `length` is 0.
#[doc(alias = "ConcatThenSplitIterDataset")]
#[track_caller]
pub fn concat_split<T: Clone + Send, S: Stream<Item = Vec<T>>>(
    stream: S,
    length: usize,
) -> Rebatch<S> {
    Rebatch::new("concat_split", stream, length, LastBatch::Drop)
}

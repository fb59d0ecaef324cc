//! Packing of sequences into rows, in the order of the stream.

use super::{Position, Stream};
use crate::packed::Packed;
use crate::{Error, Result};
use std::collections::VecDeque;

/// The choice among the open rows with room for a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fit {
    /// The first row.
    #[doc(alias = "FirstFitPackIterDataset")]
    #[default]
    First,
    /// The row that has the least room left.
    #[doc(alias = "BestFitPackIterDataset")]
    Best,
}

/// Sequences packed into rows; see [`pack`].
#[derive(Clone, Debug)]
pub struct PackStream<S> {
    stream: S,
    length: usize,
    open: usize,
    fit: Fit,
    /// The position before the first sequence of the current rows.
    start: Position,
    /// The rows being filled, and the number of sequences read for them, including those that
    /// failed.
    filling: Vec<Packed>,
    read: u64,
    /// The complete rows, and the number of rows already returned.
    ready: VecDeque<Packed>,
    given: u64,
    /// The sequence that did not fit, and the position before it.
    next: Option<(Position, Vec<i32>)>,
}

/// Packs sequences of tokens into rows of `length` tokens. `open` rows are filled at a time; when
/// a sequence fits in none of them, all are returned (Grain's `FirstFitPackIterDataset` and
/// `BestFitPackIterDataset`). The last rows are returned at the end of the stream. To pack a
/// source with random access, use [`readers::tokens::pack`](crate::readers::tokens::pack).
///
/// ```
/// use ramie_data::{Stream, stream::{self, Fit}};
/// let sequences = || [vec![1, 2, 3], vec![4], vec![5, 6]].map(Ok);
/// let mut rows = stream::pack(stream::from_fn(sequences), 4, 2, Fit::First);
/// let first = rows.next().unwrap()?;
/// assert_eq!((first.tokens, first.segment_ids), (vec![1, 2, 3, 4], vec![1, 1, 1, 2]));
/// let second = rows.next().unwrap()?;
/// assert_eq!((second.tokens, second.positions), (vec![5, 6, 0, 0], vec![0, 1, 0, 0]));
/// assert_eq!(rows.next(), None);
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// If a sequence is longer than a row, an error is returned instead of it.
///
/// # Panics
/// Panics if `length` or `open` is 0.
#[track_caller]
pub fn pack<S: Stream<Item = Vec<i32>>>(
    stream: S,
    length: usize,
    open: usize,
    fit: Fit,
) -> PackStream<S> {
    assert!(
        length > 0 && open > 0,
        "pack: {open} open rows of {length} tokens\n  help: pass at least 1 for both"
    );
    PackStream {
        start: stream.position(),
        stream,
        length,
        open,
        fit,
        filling: Vec::new(),
        read: 0,
        ready: VecDeque::new(),
        given: 0,
        next: None,
    }
}

impl<S: Stream<Item = Vec<i32>>> PackStream<S> {
    /// Returns the row for a sequence of this length, opening one if necessary, or `None` if no
    /// row has room.
    fn row(&mut self, length: usize) -> Option<&mut Packed> {
        let room = |row: &Packed| self.length - row.tokens.len();
        let rows = self.filling.iter().enumerate();
        let mut fitting = rows.filter(|(_, row)| room(row) >= length);
        let found = match self.fit {
            Fit::First => fitting.next(),
            Fit::Best => fitting.min_by_key(|(_, row)| room(row)),
        };
        // An index instead of a reference ends the borrow of the rows before one is added.
        let place = match found {
            Some((place, _)) => place,
            None if self.filling.len() < self.open => {
                self.filling.push(Packed::default());
                self.filling.len() - 1
            }
            None => return None,
        };
        Some(&mut self.filling[place])
    }

    /// Puts the next sequence into a row. Returns `false` at the end, or if no row has room.
    fn put(&mut self) -> Result<bool> {
        let (before, sequence) = match self.next.take() {
            Some((before, sequence)) => (before, Ok(sequence)),
            None => {
                let before = self.stream.position();
                let Some(sequence) = self.stream.next() else {
                    return Ok(false);
                };
                (before, sequence)
            }
        };
        // Failed sequences count, so that `restore` passes them again.
        self.read += 1;
        let sequence = sequence?;
        if sequence.len() > self.length {
            return Err(Error::Collate(format!(
                "a sequence of {} tokens is longer than the rows, which have {}; truncate it first",
                sequence.len(),
                self.length
            )));
        }
        match self.row(sequence.len()) {
            Some(row) => {
                row.push(sequence);
                Ok(true)
            }
            None => {
                // It belongs to the next rows, and `here` is before it.
                self.read -= 1;
                self.next = Some((before, sequence));
                Ok(false)
            }
        }
    }

    /// Fills rows until they are complete. If a sequence cannot be read, its error is returned,
    /// and the next call continues to fill the same rows.
    fn fill(&mut self) -> Result<()> {
        while self.put()? {}
        self.ready = std::mem::take(&mut self.filling).into();
        self.ready.iter_mut().for_each(|row| row.fill(self.length));
        Ok(())
    }

    /// Returns the position before the first sequence of the next rows.
    fn here(&self) -> Position {
        match &self.next {
            Some((before, _)) => before.clone(),
            None => self.stream.position(),
        }
    }
}

impl<S: Stream<Item = Vec<i32>>> Stream for PackStream<S> {
    type Item = Packed;
    fn next(&mut self) -> Option<Result<Packed>> {
        if self.ready.is_empty() {
            // After an error the rows are partly filled, and their start remains.
            if self.filling.is_empty() {
                self.start = self.here();
                self.read = 0;
                self.given = 0;
            }
            if let Err(e) = self.fill() {
                return Some(Err(e));
            }
        }
        let row = self.ready.pop_front()?;
        self.given += 1;
        Some(Ok(row))
    }
    fn position(&self) -> Position {
        // Between groups of rows the position needs no history.
        if self.ready.is_empty() && self.filling.is_empty() {
            Position::new("pack", [0, 0], [self.here()])
        } else {
            Position::new("pack", [self.given, self.read], [self.start.clone()])
        }
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([given, read], [from]) = position.of("pack")?;
        self.stream.restore(from)?;
        self.start = from.clone();
        self.filling.clear();
        self.ready.clear();
        self.next = None;
        self.given = given;
        self.read = 0;
        // Sequences that failed before fail again; their errors were already returned.
        // No row of the group was returned: put the same number of sequences into open rows.
        if given == 0 {
            while self.read < read && self.put().unwrap_or(true) {}
            return Ok(());
        }
        while self.fill().is_err() {}
        if (self.ready.len() as u64) < given {
            return Err(Error::position(format!(
                "it is after {given} rows, but only {} were packed",
                self.ready.len()
            )));
        }
        self.ready.drain(..given as usize);
        Ok(())
    }
    seed_of_input!(stream);
}

//! Sequences packed into rows as they come.

use super::{Position, Stream};
use crate::readers::tokens::Packed;
use crate::{Error, Result};
use std::collections::VecDeque;

/// Into which of the rows with room a sequence goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fit {
    /// The first.
    #[default]
    First,
    /// The one that it leaves the least room in.
    Best,
}

/// Sequences packed into rows; see [`pack`].
#[derive(Clone, Debug)]
pub struct PackStream<S> {
    stream: S,
    length: usize,
    open: usize,
    fit: Fit,
    /// Where the stream stood before the first sequence of these rows.
    start: Position,
    /// The rows that are being filled, and how many sequences were read for them,
    /// those that could not be included.
    filling: Vec<Packed>,
    read: u64,
    /// Rows that are full, and how many were given of them.
    ready: VecDeque<Packed>,
    given: u64,
    /// The sequence that had no room, and where the stream stood before it.
    next: Option<(Position, Vec<i32>)>,
}

/// Packs sequences of tokens into rows of `length`, of which `open` are filled at a
/// time: when a sequence has room in none of them, all are given (Grain's
/// `FirstFitPackIterDataset` and `BestFitPackIterDataset`). The last rows are as
/// full as they are. For a source,
/// [`readers::tokens::pack`](crate::readers::tokens::pack) packs with random access.
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
/// A sequence that is longer than a row is an error in its place.
///
/// # Panics
/// If `length` or `open` is 0.
#[track_caller]
pub fn pack<S: Stream<Item = Vec<i32>>>(
    stream: S,
    length: usize,
    open: usize,
    fit: Fit,
) -> PackStream<S> {
    assert!(
        length > 0 && open > 0,
        "pack: {open} open rows of {length} tokens\n  help: both are at least 1"
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
    /// The row that a sequence of this length goes into.
    fn row(&mut self, length: usize) -> Option<&mut Packed> {
        let room = |row: &Packed| self.length - row.tokens.len();
        let rows = self.filling.iter().enumerate();
        let mut fitting = rows.filter(|(_, row)| room(row) >= length);
        let found = match self.fit {
            Fit::First => fitting.next(),
            Fit::Best => fitting.min_by_key(|(_, row)| room(row)),
        };
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

    /// Puts the next sequence into a row, if there is one, and one has room.
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
        self.read += 1;
        let sequence = sequence?;
        if sequence.len() > self.length {
            return Err(Error::Collate(format!(
                "a sequence of {} tokens is longer than the rows, which have {}; cut it first",
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
                self.read -= 1;
                self.next = Some((before, sequence));
                Ok(false)
            }
        }
    }

    /// Fills rows until they are to be given. A sequence that cannot be read is
    /// told; the rows are filled further by the next call.
    fn fill(&mut self) -> Result<()> {
        while self.put()? {}
        self.ready = std::mem::take(&mut self.filling).into();
        self.ready.iter_mut().for_each(|row| row.fill(self.length));
        Ok(())
    }

    /// Where the rows begin that are filled next.
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
        match self.ready.is_empty() && self.filling.is_empty() {
            true => Position::new("pack", [0, 0], [self.here()]),
            false => Position::new("pack", [self.given, self.read], [self.start.clone()]),
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
        // What failed before fails again, and was reported then.
        if given == 0 {
            while self.read < read && self.put().unwrap_or(true) {}
            return Ok(());
        }
        while self.fill().is_err() {}
        if (self.ready.len() as u64) < given {
            return Err(Error::Position(format!(
                "it is behind {given} rows, and {} are packed here",
                self.ready.len()
            )));
        }
        self.ready.drain(..given as usize);
        Ok(())
    }
}

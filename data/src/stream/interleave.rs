//! Interleaving of streams.

use super::{Position, Stream};
use crate::{DefaultSeed, Error, Result};

/// Streams read in turn, several at a time; see [`interleave`].
#[derive(Clone, Debug)]
pub struct Interleave<S> {
    streams: Vec<S>,
    /// The initial position of each stream.
    starts: Vec<Position>,
    /// The streams being read, by slot.
    open: Vec<Option<usize>>,
    /// The number of streams opened so far.
    opened: usize,
    /// The slot that is read next.
    turn: usize,
}

/// Interleaves the elements of several streams, `open` streams at a time. When a stream ends, the
/// next unread stream replaces it. With [`prefetch`](crate::StreamExt::prefetch), each open stream
/// is read in a separate thread (Grain's `InterleaveIterDataset`; PyTorch's workers of an
/// `IterableDataset`).
///
/// ```
/// use ramie_data::{Stream, StreamExt, stream};
/// let file = |name: &'static str| stream::from_fn(move || name.chars().map(Ok)).prefetch(4);
/// let mut all = stream::interleave(["abc", "1", "xy"].map(file), 2);
/// assert_eq!(all.iter().collect::<Result<String, _>>()?, "a1bxcy");
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// # Panics
/// Panics if `open` is 0.
#[doc(alias = "InterleaveIterDataset")]
#[track_caller]
pub fn interleave<S: Stream>(streams: impl IntoIterator<Item = S>, open: usize) -> Interleave<S> {
    assert!(
        open > 0,
        "interleave: the number of open streams is 0\n  help: pass at least 1"
    );
    let streams: Vec<S> = streams.into_iter().collect();
    let open = open.min(streams.len());
    Interleave {
        starts: streams.iter().map(S::position).collect(),
        streams,
        open: (0..open).map(Some).collect(),
        opened: open,
        turn: 0,
    }
}

/// Marks an empty slot in a position.
const NONE: u64 = u64::MAX;

impl<S: Stream> Stream for Interleave<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        while self.open.iter().any(Option::is_some) {
            let turn = self.turn;
            if let Some(stream) = self.open[turn] {
                if let Some(item) = self.streams[stream].next() {
                    self.turn = (turn + 1) % self.open.len();
                    return Some(item);
                }
                let more = self.opened < self.streams.len();
                self.open[turn] = more.then_some(self.opened);
                self.opened += usize::from(more);
            } else {
                self.turn = (turn + 1) % self.open.len();
            }
        }
        None
    }
    fn position(&self) -> Position {
        let open = self.open.iter().map(|o| o.map_or(NONE, |o| o as u64));
        let numbers = [self.opened as u64, self.turn as u64];
        let numbers: Vec<u64> = numbers.into_iter().chain(open).collect();
        let open = self.open.iter().flatten();
        let from: Vec<Position> = open.map(|o| self.streams[*o].position()).collect();
        Position::new("interleave", numbers, from)
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let (numbers, from) = position.parts("interleave")?;
        let other = || {
            Error::position(format!(
                "it does not belong to {} interleaved streams with {} open at a time",
                self.streams.len(),
                self.open.len()
            ))
        };
        let [opened, turn, open @ ..] = numbers else {
            return Err(other());
        };
        let place = |n: &u64| usize::try_from(*n).ok().filter(|n| *n < self.streams.len());
        let known = open.iter().all(|o| *o == NONE || place(o).is_some());
        let slots: Vec<Option<usize>> = open.iter().map(place).collect();
        let fits = slots.len() == self.open.len()
            && known
            && slots.iter().flatten().count() == from.len()
            && *opened <= self.streams.len() as u64
            && *turn < slots.len().max(1) as u64;
        if !fits {
            return Err(other());
        }
        for (stream, position) in slots.iter().flatten().zip(from) {
            self.streams[*stream].restore(position)?;
        }
        for stream in *opened as usize..self.opened {
            self.streams[stream].restore(&self.starts[stream])?;
        }
        self.open = slots;
        self.opened = *opened as usize;
        self.turn = *turn as usize;
        Ok(())
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after(self.streams.iter().map(S::default_seed))
    }
}

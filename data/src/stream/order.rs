//! Shuffling and repetition of streams.

use super::{Position, Stream};
use crate::{Permutation, Result};
use std::collections::VecDeque;

/// A stream shuffled within windows of consecutive elements; see
/// [`StreamExt::window_shuffle`](crate::StreamExt::window_shuffle).
#[derive(Clone, Debug)]
pub struct WindowShuffle<S: Stream> {
    stream: S,
    size: usize,
    seed: u64,
    /// The number of the current window, and the position at its start.
    window: u64,
    start: Position,
    /// The remaining elements of the window, and the number already returned.
    left: VecDeque<Result<S::Item>>,
    given: u64,
}

impl<S: Stream> WindowShuffle<S> {
    #[track_caller]
    pub(crate) fn new(stream: S, size: usize, seed: u64) -> Self {
        assert!(
            size > 0,
            "window_shuffle: the size is 0\n  help: pass at least 1"
        );
        let start = stream.position();
        WindowShuffle {
            stream,
            size,
            seed,
            window: 0,
            start,
            left: VecDeque::new(),
            given: 0,
        }
    }

    /// Reads the window that begins at the current position.
    fn fill(&mut self) {
        self.start = self.stream.position();
        self.given = 0;
        let mut window: Vec<_> = self.stream_items().map(Some).collect();
        let order = Permutation::new(window.len(), self.seed, self.window as usize);
        // From the last to the first, as Grain does.
        let places = order.iter().rev();
        self.left = places.filter_map(|place| window[place].take()).collect();
    }

    fn stream_items(&mut self) -> impl Iterator<Item = Result<S::Item>> + '_ {
        let stream = &mut self.stream;
        std::iter::from_fn(|| stream.next()).take(self.size)
    }
}

impl<S: Stream> Stream for WindowShuffle<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        if self.left.is_empty() {
            if self.given > 0 {
                self.window += 1;
            }
            self.fill();
        }
        let item = self.left.pop_front()?;
        self.given += 1;
        Some(item)
    }
    fn position(&self) -> Position {
        let numbers = [self.window, self.given];
        Position::new("window_shuffle", numbers, [self.start.clone()])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([window, given], [from]) = position.of("window_shuffle")?;
        self.stream.restore(from)?;
        self.window = window;
        self.left.clear();
        self.given = 0;
        self.start = from.clone();
        if given > 0 {
            self.fill();
            let given = given.min(self.left.len() as u64);
            self.left.drain(..given as usize);
            self.given = given;
        }
        Ok(())
    }
    seed_of_input!(stream);
}

/// A stream that is repeated; see [`StreamExt::repeat`](crate::StreamExt::repeat).
#[derive(Clone, Debug)]
pub struct RepeatStream<S> {
    stream: S,
    start: Position,
    times: Option<u64>,
    round: u64,
    /// Whether this round has returned any element. An infinite repetition of an empty stream
    /// ends.
    given: bool,
}

impl<S: Stream> RepeatStream<S> {
    pub(crate) fn new(stream: S, repetitions: Option<usize>) -> Self {
        let start = stream.position();
        RepeatStream {
            stream,
            start,
            times: repetitions.map(|n| n as u64),
            round: 0,
            given: false,
        }
    }
}

impl<S: Stream> Stream for RepeatStream<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        loop {
            if self.times.is_some_and(|times| self.round >= times) {
                return None;
            }
            if let Some(item) = self.stream.next() {
                self.given = true;
                return Some(item);
            }
            if !self.given {
                return None;
            }
            self.round += 1;
            self.given = false;
            if self.times.is_none_or(|times| self.round < times)
                && let Err(e) = self.stream.restore(&self.start)
            {
                return Some(Err(e));
            }
        }
    }
    fn position(&self) -> Position {
        let numbers = [self.round, u64::from(self.given)];
        Position::new("repeat", numbers, [self.stream.position()])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([round, given], [from]) = position.of("repeat")?;
        self.stream.restore(from)?;
        self.round = round;
        self.given = given != 0;
        Ok(())
    }
    seed_of_input!(stream);
}

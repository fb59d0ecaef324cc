//! Batches of elements of similar length.

use super::{Position, Stream};
use crate::{Buckets, Error, Result};

/// Batches of elements of similar length; see [`StreamExt::bucket`](crate::StreamExt::bucket). A
/// batch is returned as soon as its bucket is full; at the end, the incomplete batches are
/// returned, those of the shortest bucket first. The position includes where each buffered element
/// was read.
#[derive(Clone, Debug)]
pub struct Bucketed<S: Stream, L> {
    stream: S,
    buckets: Buckets,
    length: L,
    /// The buffered elements of each bucket, each with the position before it.
    held: Vec<Vec<(Position, S::Item)>>,
}

impl<S: Stream, L> Bucketed<S, L> {
    pub(crate) fn new(stream: S, buckets: Buckets, length: L) -> Self {
        let held = buckets.lengths().iter().map(|_| Vec::new()).collect();
        Bucketed {
            stream,
            buckets,
            length,
            held,
        }
    }

    fn empty(&mut self, bucket: usize) -> Vec<S::Item> {
        let held = std::mem::take(&mut self.held[bucket]);
        held.into_iter().map(|(_, item)| item).collect()
    }
}

impl<S: Stream, L: FnMut(&S::Item) -> usize + Send> Stream for Bucketed<S, L> {
    type Item = Vec<S::Item>;
    fn next(&mut self) -> Option<Result<Self::Item>> {
        loop {
            // Each buffered element keeps its position, since full buckets leave gaps between them.
            let before = self.stream.position();
            let item = match self.stream.next() {
                Some(Ok(item)) => item,
                Some(Err(e)) => return Some(Err(e)),
                None => break,
            };
            let bucket = match self.buckets.of((self.length)(&item)) {
                Ok(bucket) => bucket,
                Err(e) => return Some(Err(e)),
            };
            self.held[bucket].push((before, item));
            if self.held[bucket].len() == self.buckets.sizes()[bucket] {
                return Some(Ok(self.empty(bucket)));
            }
        }
        let bucket = self.held.iter().position(|held| !held.is_empty())?;
        Some(Ok(self.empty(bucket)))
    }
    fn position(&self) -> Position {
        let counts: Vec<u64> = self.held.iter().map(|held| held.len() as u64).collect();
        let held = self.held.iter().flatten().map(|(before, _)| before.clone());
        let from: Vec<Position> = held.chain([self.stream.position()]).collect();
        Position::new("bucket", counts, from)
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let (counts, from) = position.parts("bucket")?;
        let total = counts.iter().try_fold(0u64, |a, n| a.checked_add(*n));
        // One position per buffered element, and that of the stream.
        let fits = total.is_some_and(|n| n + 1 == from.len() as u64);
        if counts.len() != self.held.len() || !fits {
            return Err(Error::position(format!(
                "it belongs to a stream with {} buckets, but this one has {}",
                counts.len(),
                self.held.len()
            )));
        }
        let (now, mut before) = from.split_last().expect("one position more");
        for (held, count) in self.held.iter_mut().zip(counts) {
            held.clear();
            let (own, others) = before.split_at(*count as usize);
            before = others;
            for position in own {
                self.stream.restore(position)?;
                let Some(item) = self.stream.next().transpose()? else {
                    return Err(Error::position(
                        "a bucket contains an element beyond the end of the stream",
                    ));
                };
                held.push((position.clone(), item));
            }
        }
        // Reading the buffered elements moved the stream.
        self.stream.restore(now)
    }
    seed_of_input!(stream);
}

//! Batches of elements of similar length.

use super::{Position, Stream};
use crate::{Error, Result};

/// The lengths to which elements are padded, and the batch size of each.
///
/// A compiled step compiles once for each shape. Padding to one of a few lengths limits the
/// number of compilations and wastes little computation.
///
/// ```
/// use ramie_data::{Buckets, Stream, collate, stream};
/// let texts = || ["a", "abc", "b", "abcdefg", "c"].map(|t| Ok(t.as_bytes().to_vec()));
/// let buckets = Buckets::new([2, 8], 2);
/// let mut batches = stream::from_fn(texts)
///     .bucket(buckets.clone(), |t| t.len())
///     .try_map(collate::padded(buckets.lengths(), 0u8));
/// let shapes: Vec<_> = batches.iter().map(|b| b.map(|b| b.values.dim())).collect::<Result<_, _>>()?;
/// assert_eq!(shapes, [(2, 2), (2, 8), (1, 2)]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    lengths: Vec<usize>,
    sizes: Vec<usize>,
}

impl Buckets {
    /// Creates buckets of these lengths with the same batch size.
    ///
    /// # Panics
    /// Panics if there is no length, if the lengths are not increasing, or if the size is 0.
    #[track_caller]
    pub fn new(lengths: impl Into<Vec<usize>>, size: usize) -> Buckets {
        let lengths = lengths.into();
        let sizes = vec![size; lengths.len()];
        Buckets::with_sizes(lengths, sizes)
    }

    /// Creates buckets of these lengths with individual batch sizes, for example smaller batches
    /// of longer elements, which take the same memory.
    ///
    /// # Panics
    /// Panics if there is no length, if the lengths are not increasing, if the numbers of lengths
    /// and sizes differ, or if a size is 0.
    #[track_caller]
    pub fn with_sizes(lengths: impl Into<Vec<usize>>, sizes: impl Into<Vec<usize>>) -> Buckets {
        let (lengths, sizes) = (lengths.into(), sizes.into());
        assert!(
            !lengths.is_empty() && lengths.windows(2).all(|w| w[0] < w[1]),
            "Buckets: the lengths are {lengths:?}\n  help: pass at least one length, in increasing \
             order"
        );
        assert!(
            sizes.len() == lengths.len() && !sizes.contains(&0),
            "Buckets: the sizes are {sizes:?} for {} lengths\n  help: pass one size for each length, \
             at least 1",
            lengths.len()
        );
        Buckets { lengths, sizes }
    }

    /// Returns the lengths, in increasing order.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Returns the batch size of each bucket.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns the index of the bucket for an element of this length.
    ///
    /// # Errors
    /// Returns [`Error::Collate`] if the element is longer than the longest bucket.
    pub fn of(&self, length: usize) -> Result<usize> {
        match self.lengths.partition_point(|l| *l < length) {
            b if b < self.lengths.len() => Ok(b),
            _ => Err(Error::Collate(format!(
                "an element of length {length} is longer than the longest bucket, {}; truncate it, \
                 skip it, or add a bucket",
                self.lengths[self.lengths.len() - 1]
            ))),
        }
    }
}

/// Batches of elements of similar length; see [`Stream::bucket`]. A batch is returned as soon as
/// its bucket is full; at the end, the incomplete batches are returned, those of the shortest
/// bucket first. The position includes where each buffered element was read.
#[derive(Clone, Debug)]
pub struct Bucketed<S: Stream, L> {
    stream: S,
    buckets: Buckets,
    length: L,
    /// The buffered elements of each bucket, each with the position before it.
    held: Vec<Vec<(Position, S::Item)>>,
}

impl<S: Stream, L> Bucketed<S, L> {
    pub(super) fn new(stream: S, buckets: Buckets, length: L) -> Self {
        let held = buckets.lengths.iter().map(|_| Vec::new()).collect();
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
            if self.held[bucket].len() == self.buckets.sizes[bucket] {
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
            return Err(Error::Position(format!(
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
                    return Err(Error::Position(
                        "a bucket contains an element beyond the end of the stream".into(),
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

//! Batches of elements of similar length.

use super::{Position, Stream};
use crate::{Error, Result};

/// Lengths up to which elements are padded, and how many make a batch there.
///
/// A compiled step compiles once for each shape. Batches that are padded to one
/// of a few lengths compile that often, and waste little.
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
    /// Buckets of these lengths with batches of one size.
    ///
    /// # Panics
    /// If the lengths do not grow, or the size is 0.
    #[track_caller]
    pub fn new(lengths: impl Into<Vec<usize>>, size: usize) -> Buckets {
        let lengths = lengths.into();
        let sizes = vec![size; lengths.len()];
        Buckets::with_sizes(lengths, sizes)
    }

    /// Buckets of these lengths with batches of sizes of their own: fewer of the
    /// longer elements, for the same memory.
    ///
    /// # Panics
    /// If the lengths do not grow, there are more or fewer sizes, or one is 0.
    #[track_caller]
    pub fn with_sizes(lengths: impl Into<Vec<usize>>, sizes: impl Into<Vec<usize>>) -> Buckets {
        let (lengths, sizes) = (lengths.into(), sizes.into());
        assert!(
            !lengths.is_empty() && lengths.windows(2).all(|w| w[0] < w[1]),
            "Buckets: the lengths are {lengths:?}\n  help: give at least one, shorter ones first"
        );
        assert!(
            sizes.len() == lengths.len() && !sizes.contains(&0),
            "Buckets: the sizes are {sizes:?} for {} lengths\n  help: give one for each, at least 1",
            lengths.len()
        );
        Buckets { lengths, sizes }
    }

    /// The lengths, shorter ones first.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// How many elements make a batch, in each bucket.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The bucket of an element.
    ///
    /// # Errors
    /// [`Error::Collate`] if it is longer than the longest.
    pub fn of(&self, length: usize) -> Result<usize> {
        match self.lengths.partition_point(|l| *l < length) {
            b if b < self.lengths.len() => Ok(b),
            _ => Err(Error::Collate(format!(
                "an element of length {length} is longer than the longest bucket, {}; cut it, leave it \
                 out, or add a bucket",
                self.lengths[self.lengths.len() - 1]
            ))),
        }
    }
}

/// Batches of elements of similar length. A batch comes as soon as its bucket is
/// full; at the end come those that are not, shortest first. What buckets hold is
/// part of the position, by where it was read.
#[derive(Clone, Debug)]
pub struct Bucketed<S: Stream, L> {
    stream: S,
    buckets: Buckets,
    length: L,
    /// What each bucket holds, with where the stream stood before it.
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
        let fits = total.is_some_and(|n| n + 1 == from.len() as u64);
        if counts.len() != self.held.len() || !fits {
            return Err(Error::Position(format!(
                "it is that of {} buckets, and the stream has {}",
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
                        "a bucket holds an element behind the end".into(),
                    ));
                };
                held.push((position.clone(), item));
            }
        }
        self.stream.restore(now)
    }
}

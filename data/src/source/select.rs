//! Subsets of a source.

use super::{Source, by_epoch, check, derived, finite, fixed_order};
use crate::progress::Progress;
use crate::{Error, Permutation, Result, Shard};
use std::any::Any;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// Some of the elements of a source, in a given order.
#[derive(Clone, Debug)]
pub struct Subset<S> {
    source: S,
    indices: Indices,
}

#[derive(Clone, Debug)]
enum Indices {
    List(Arc<[usize]>),
    /// `len` indices from `start` on, `step` apart.
    Steps {
        start: usize,
        step: usize,
        len: usize,
    },
}

impl Indices {
    fn len(&self) -> usize {
        match self {
            Indices::List(list) => list.len(),
            Indices::Steps { len, .. } => *len,
        }
    }

    fn get(&self, place: usize) -> usize {
        match self {
            Indices::List(list) => list[place],
            Indices::Steps { start, step, .. } => start + place * step,
        }
    }
}

impl<S: Source> Subset<S> {
    #[track_caller]
    pub(crate) fn new(source: S, indices: Vec<usize>) -> Self {
        fixed_order("subset", &source);
        let len = source.len();
        if let Some(place) = indices.iter().position(|&i| i >= len) {
            panic!(
                "subset: index {} at position {place} is out of range for a source with {len} \
                 elements\n  help: indices start at 0",
                indices[place]
            );
        }
        let indices = Indices::List(indices.into());
        Subset { source, indices }
    }

    #[track_caller]
    pub(crate) fn matching(source: S, predicate: impl Fn(&S::Item) -> bool) -> Result<Self> {
        fixed_order("subset_where", &source);
        let mut indices = Vec::new();
        for index in 0..finite("subset_where", &source) {
            match source.get(index) {
                Ok(item) if predicate(&item) => indices.push(index),
                Ok(_) => {}
                Err(e) => return Err(Error::element(index, e)),
            }
        }
        Ok(Subset::new(source, indices))
    }

    #[track_caller]
    pub(crate) fn range(source: S, range: impl RangeBounds<usize>) -> Self {
        let len = source.len();
        let start = match range.start_bound() {
            Bound::Included(&n) => n,
            Bound::Excluded(&n) => n + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&n) => n + 1,
            Bound::Excluded(&n) => n,
            Bound::Unbounded => len,
        };
        assert!(
            start <= end && end <= len,
            "slice: {start}..{end} is out of range for a source with {len} elements\n  help: pass a \
             range that ends at the length at most"
        );
        let indices = Indices::Steps {
            start,
            step: 1,
            len: match end {
                usize::MAX => usize::MAX,
                end => end - start,
            },
        };
        Subset { source, indices }
    }

    pub(crate) fn shard(source: S, shard: Shard) -> Self {
        let (index, count) = (shard.index(), shard.count());
        let indices = Indices::Steps {
            start: index,
            step: count,
            len: derived(source.len(), |n| n.saturating_sub(index).div_ceil(count)),
        };
        Subset { source, indices }
    }

    #[track_caller]
    pub(crate) fn random_split<const N: usize>(
        source: S,
        lengths: [usize; N],
        seed: u64,
    ) -> [Subset<Arc<S>>; N] {
        let len = finite("random_split", &source);
        fixed_order("random_split", &source);
        assert!(
            lengths.iter().sum::<usize>() == len,
            "random_split: the lengths {lengths:?} sum to {}, but the source has {len} elements\n  \
             help: pass lengths that sum to the number of elements",
            lengths.iter().sum::<usize>()
        );
        let order = Permutation::new(len, seed, 0);
        let mut indices = order.iter();
        let source = Arc::new(source);
        lengths.map(|n| Subset {
            source: source.clone(),
            indices: Indices::List(indices.by_ref().take(n).collect()),
        })
    }

    #[track_caller]
    pub(crate) fn stratified_split<const N: usize, L: Eq + Hash>(
        source: S,
        fractions: [f64; N],
        labels: impl IntoIterator<Item = L>,
        seed: u64,
    ) -> [Subset<Arc<S>>; N] {
        let len = finite("stratified_split", &source);
        fixed_order("stratified_split", &source);
        // Labels as numbers in the order of their first elements, and the elements of each.
        let (mut numbers, mut counts) = (HashMap::new(), Vec::new());
        let number = |label: L| {
            let number = *numbers.entry(label).or_insert(counts.len());
            if number == counts.len() {
                counts.push(0usize);
            }
            counts[number] += 1;
            number
        };
        let labels: Vec<usize> = labels.into_iter().map(number).collect();
        assert!(
            labels.len() == len,
            "stratified_split: there are {} labels, but the source has {len} elements\n  help: pass one \
             label for each element, in their order",
            labels.len()
        );
        check_fractions("stratified_split", &fractions);
        let mut left: Vec<[usize; N]> = counts.iter().map(|n| lengths_of(*n, fractions)).collect();
        let mut parts = [const { Vec::new() }; N];
        // Each element in random order belongs to the first part that lacks one of its label.
        for index in Permutation::new(len, seed, 0).iter() {
            let left = &mut left[labels[index]];
            let part = left.iter().position(|n| *n > 0);
            let part = part.expect("the lengths sum to the number of elements");
            left[part] -= 1;
            parts[part].push(index);
        }
        let source = Arc::new(source);
        parts.map(|indices| Subset {
            source: source.clone(),
            indices: Indices::List(indices.into()),
        })
    }

    /// Returns the indices of the elements in the underlying source.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        (0..self.indices.len()).map(|place| self.indices.get(place))
    }
}

/// Checks that fractions are those of parts of a whole.
#[track_caller]
pub(crate) fn check_fractions(operation: &str, fractions: &[f64]) {
    let sum: f64 = fractions.iter().sum();
    assert!(
        (sum - 1.0).abs() < 1e-6 && fractions.iter().all(|f| *f >= 0.0),
        "{operation}: the fractions {fractions:?} sum to {sum}\n  help: pass fractions that \
         are not negative and sum to 1, such as `[0.8, 0.2]`"
    );
}

/// Returns the lengths of parts with these fractions of `len`.
pub(crate) fn lengths_of<const N: usize>(len: usize, fractions: [f64; N]) -> [usize; N] {
    // Fractions whose sum is rounded up may exceed the length.
    let mut left = len;
    let mut lengths = fractions.map(|f| {
        let length = ((f * len as f64).floor() as usize).min(left);
        left -= length;
        length
    });
    for i in 0..left {
        lengths[i % N] += 1;
    }
    lengths
}

impl<S: Source> Source for Subset<S> {
    type Item = S::Item;
    fn len(&self) -> usize {
        self.indices.len()
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<S::Item> {
        check(index, self.len())?;
        self.source.get_in_epoch(self.indices.get(index), epoch)
    }
    fn gather(&self, indices: &[usize], epoch: usize) -> Option<Result<Box<dyn Any + Send>>> {
        let mapped = checked(indices, self.len(), |i| self.indices.get(i));
        match mapped {
            Ok(mapped) => self.source.gather(&mapped, epoch),
            Err(e) => Some(Err(e)),
        }
    }
}

/// Maps the indices with a function, after checking that they are in range.
pub(super) fn checked(
    indices: &[usize],
    len: usize,
    to: impl Fn(usize) -> usize,
) -> Result<Vec<usize>> {
    let progress = Progress::new();
    let mut mapped = Vec::with_capacity(indices.len());
    for (place, &index) in indices.iter().enumerate() {
        progress.at(place);
        check(index, len)?;
        mapped.push(to(index));
    }
    progress.done();
    Ok(mapped)
}

#[cfg(test)]
mod tests {
    use super::lengths_of;

    #[test]
    fn parts_of_rounded_fractions_do_not_exceed_the_length() {
        let lengths = lengths_of(10_000_000, [0.5000004, 0.5000004]);
        assert_eq!(lengths, [5_000_004, 4_999_996]);
        let rounded = [0.8f32, 0.2].map(f64::from);
        assert_eq!(lengths_of(100_000_000, rounded), [80_000_001, 19_999_999]);
        assert_eq!(lengths_of(10, [0.45, 0.45, 0.1]), [5, 4, 1]);
    }
}

//! Shuffling and repetition of sources.

use super::select::checked;
use super::{Source, by_epoch, check, finite};
use crate::{DefaultSeed, Permutation, Result};
use ramie_core::lock::lock;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A source in a random order, which differs in each epoch.
#[derive(Debug)]
pub struct Shuffle<S> {
    source: S,
    seed: u64,
    /// The orders of the two epochs that were used last: threads that work on the end of an epoch
    /// and on the beginning of the next take turns.
    recent: Mutex<VecDeque<(usize, Arc<Permutation>)>>,
}

impl<S: Source> Shuffle<S> {
    #[track_caller]
    pub(crate) fn new(source: S, seed: u64) -> Self {
        finite("shuffle", &source);
        Shuffle {
            source,
            seed,
            recent: Mutex::new(VecDeque::with_capacity(2)),
        }
    }

    /// Returns the order of an epoch.
    fn order(&self, epoch: usize) -> Arc<Permutation> {
        let mut recent = lock(&self.recent);
        if let Some((_, order)) = recent.iter().find(|(of, _)| *of == epoch) {
            return order.clone();
        }
        let order = Arc::new(Permutation::new(self.source.len(), self.seed, epoch));
        if recent.len() == 2 {
            recent.pop_front();
        }
        recent.push_back((epoch, order.clone()));
        order
    }
}

impl<S: Source> Source for Shuffle<S> {
    type Item = S::Item;
    fn len(&self) -> usize {
        self.source.len()
    }
    by_epoch!();
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after([self.source.default_seed()])
    }
    fn order_changes(&self) -> bool {
        true
    }
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<S::Item> {
        check(index, self.len())?;
        self.source
            .get_in_epoch(self.order(epoch).get(index), epoch)
    }
    fn gather(&self, indices: &[usize], epoch: usize) -> Option<Result<Box<dyn Any + Send>>> {
        let order = self.order(epoch);
        let mapped = checked(indices, self.len(), |i| order.get(i));
        match mapped {
            Ok(mapped) => self.source.gather(&mapped, epoch),
            Err(e) => Some(Err(e)),
        }
    }
}

/// A source that is repeated, in a later epoch each time.
#[derive(Clone, Debug)]
pub struct Repeat<S> {
    source: S,
    /// The number of repetitions, or `None` if they are endless.
    epochs: Option<usize>,
    len: usize,
    /// Whether each repetition is a different epoch.
    anew: bool,
}

impl<S: Source> Repeat<S> {
    #[track_caller]
    pub(crate) fn new(source: S, epochs: Option<usize>) -> Self {
        assert!(
            !source.is_endless(),
            "repeat: the source is already endless\n  help: remove this `repeat`"
        );
        let len = source.len();
        let total = match epochs {
            None if len == 0 => Some(0),
            None => Some(usize::MAX),
            Some(epochs) => epochs.checked_mul(len).filter(|total| *total < usize::MAX),
        };
        let Some(len) = total else {
            panic!(
                "repeat: {len} elements repeated {} times overflow a usize\n  help: pass fewer \
                 epochs, or `None` to repeat endlessly",
                epochs.unwrap_or_default()
            )
        };
        Repeat {
            source,
            epochs,
            len,
            anew: true,
        }
    }

    /// Makes all repetitions equal to the first: the shuffled order and the random values stay
    /// the same (`reseed_each_epoch=False`).
    ///
    /// ```
    /// use ramie_data::{IntoSource, Source, SourceExt};
    /// let twice = (0..5).into_source().shuffle(1).repeat(2).same_each_time();
    /// assert_eq!(twice.get(1)?, twice.get(6)?);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    #[doc(alias = "reseed_each_epoch")]
    #[must_use]
    pub fn same_each_time(mut self) -> Self {
        self.anew = false;
        self
    }
}

impl<S: Source> Source for Repeat<S> {
    type Item = S::Item;
    fn len(&self) -> usize {
        self.len
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<S::Item> {
        check(index, self.len())?;
        let n = self.source.len();
        let epoch = if self.anew {
            epoch
                .wrapping_mul(self.epochs.unwrap_or(1))
                .wrapping_add(index / n)
        } else {
            epoch
        };
        self.source.get_in_epoch(index % n, epoch)
    }
}

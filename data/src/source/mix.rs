//! Mixtures of sources in given proportions.

use super::places::at_place;
use super::{Source, by_epoch, check};
use crate::{DefaultSeed, Result};
use std::sync::Arc;

/// Sources of the same element type, mixed in proportion to weights; see [`mix`].
pub struct Mix<T> {
    sources: Vec<Arc<dyn Source<Item = T>>>,
    /// The share of each source, out of what the sources before it leave, in units of 2^-32. The
    /// last source takes everything left.
    parts: Vec<u64>,
    len: usize,
}

/// Mixes the elements of several sources in proportion to weights, evenly interleaved, until one
/// of the sources is exhausted (`grain.MapDataset.mix`). To make a source last longer,
/// [repeat](crate::SourceExt::repeat) it first.
///
/// ```
/// use ramie_data::{IntoSource, Source, SourceExt, source::mix};
/// let of = |c: char, n| vec![c; n].into_source();
/// let mixed = mix([(of('a', 30), 3.0), (of('b', 90), 1.0)]);
/// let text = mixed.slice(..8).iter().collect::<Result<String, _>>()?;
/// assert_eq!(text, "baaabaaa");
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// # Panics
/// Panics if there is no source, or if a weight is not positive and finite.
#[track_caller]
pub fn mix<S: Source + 'static>(sources: impl IntoIterator<Item = (S, f64)>) -> Mix<S::Item> {
    let sources = sources.into_iter();
    let boxed = sources.map(|(s, w)| (Arc::new(s) as Arc<dyn Source<Item = S::Item>>, w));
    Mix::new(boxed.collect())
}

impl<T: Send> Mix<T> {
    /// Creates a [`mix`] of sources of different types.
    ///
    /// # Panics
    /// Panics if there is no source, or if a weight is not positive and finite.
    #[track_caller]
    pub fn new(sources: Vec<(Arc<dyn Source<Item = T>>, f64)>) -> Mix<T> {
        let (sources, weights): (Vec<_>, Vec<f64>) = sources.into_iter().unzip();
        assert!(
            !weights.is_empty() && weights.iter().all(|w| *w > 0.0 && w.is_finite()),
            "mix: the weights are {weights:?}\n  help: pass at least one source, with positive and \
             finite weights"
        );
        let mut left: f64 = weights.iter().sum();
        let mut parts = Vec::with_capacity(weights.len());
        for w in &weights {
            let part = (w / left).min(1.0) * WHOLE as f64;
            parts.push((part.round() as u64).clamp(1, WHOLE));
            left -= w;
        }
        parts[weights.len() - 1] = WHOLE;
        let mut mix = Mix {
            sources,
            parts,
            len: 0,
        };
        // Counts grow with the length: find the largest length for which every source has enough
        // elements.
        let has = |mix: &Mix<T>, n: usize| {
            let counts = mix.counts(n);
            counts.iter().zip(&mix.sources).all(|(c, s)| *c <= s.len())
        };
        let total = mix
            .sources
            .iter()
            .map(|s| s.len())
            .fold(0, usize::saturating_add);
        let (mut enough, mut beyond) = (0, total.saturating_add(1));
        if mix.sources.iter().all(|s| s.is_endless()) {
            (enough, beyond) = (usize::MAX, usize::MAX);
        }
        while beyond - enough > 1 {
            let middle = enough + (beyond - enough) / 2;
            if has(&mix, middle) {
                enough = middle
            } else {
                beyond = middle
            }
        }
        mix.len = enough;
        mix
    }

    /// Returns how many of the first `n` elements come from each source.
    fn counts(&self, n: usize) -> Vec<usize> {
        let mut left = n;
        let count = |part: &u64| {
            let own = share(left, *part);
            left -= own;
            own
        };
        self.parts.iter().map(count).collect()
    }

    /// Returns the source of an element, and its index there.
    fn place(&self, index: usize) -> (usize, usize) {
        let mut index = index;
        for (s, &part) in self.parts.iter().enumerate() {
            let before = share(index, part);
            if share(index + 1, part) > before {
                return (s, before);
            }
            index -= before;
        }
        unreachable!("the last source takes all that is left")
    }
}

const WHOLE: u64 = 1 << 32;

/// Returns how many of the first `n` positions belong to a share. They are evenly spaced, and the
/// first is at the end of its first period. Integer arithmetic ensures that no element is
/// skipped.
fn share(n: usize, part: u64) -> usize {
    (n as u128 * u128::from(part) / u128::from(WHOLE)) as usize
}

impl<T: Send> Source for Mix<T> {
    type Item = T;
    fn len(&self) -> usize {
        self.len
    }
    by_epoch!();
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<T> {
        check(index, self.len)?;
        at_place("mix", &self.sources, self.place(index), epoch)
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after(self.sources.iter().map(|source| source.default_seed()))
    }
    fn order_changes(&self) -> bool {
        self.sources.iter().any(|source| source.order_changes())
    }
}

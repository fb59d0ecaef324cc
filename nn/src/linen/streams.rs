//! `Streams`: the RNG keys for `init` and `apply`.

use super::CollectionFilter;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType};
use ramie_derive::Tree;
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;

/// RNG keys by the name of their stream: Linen's `rngs`.
///
/// A single key or a seed converts to the stream `params`, which is also used for missing
/// streams.
///
/// ```no_run
/// use ramie_core::random;
/// use ramie_nn::linen::Streams;
/// let one: Streams = random::key(0).into();
/// let two: Streams = [("params", random::key(0)), ("dropout", random::key(1))].into();
/// ```
#[derive(Clone, Debug, Default, Tree)]
pub struct Streams {
    keys: BTreeMap<String, Key>,
}

impl Streams {
    /// Creates an empty set of streams.
    pub fn none() -> Streams {
        Streams::default()
    }

    /// Adds or replaces a stream.
    #[must_use]
    pub fn with(mut self, name: &str, key: Key) -> Streams {
        self.keys.insert(name.to_owned(), key);
        self
    }

    /// Returns the key of a stream.
    pub fn get(&self, name: &str) -> Option<&Key> {
        self.keys.get(name)
    }

    /// Returns an iterator over the names of the streams.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    /// Returns the streams that a filter accepts.
    #[must_use]
    pub fn filter(&self, filter: &CollectionFilter) -> Streams {
        let kept = self.keys.iter().filter(|(name, _)| filter.accepts(name));
        Streams {
            keys: kept.map(|(n, k)| (n.clone(), k.clone())).collect(),
        }
    }

    /// Applies `f` to the name and key of each stream.
    #[must_use]
    pub fn map(&self, mut f: impl FnMut(&str, &Key) -> Key) -> Streams {
        Streams {
            keys: self
                .keys
                .iter()
                .map(|(n, k)| (n.clone(), f(n, k)))
                .collect(),
        }
    }

    /// Merges two sets of streams. For streams in both, `other` wins.
    #[must_use]
    pub(crate) fn joined_with(mut self, other: Streams) -> Streams {
        self.keys.extend(other.keys);
        self
    }

    /// Returns an iterator over names and keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Key)> {
        self.keys.iter().map(|(n, k)| (n.as_str(), k))
    }
}

impl From<Key> for Streams {
    fn from(key: Key) -> Streams {
        Streams::none().with("params", key)
    }
}
impl From<&Key> for Streams {
    fn from(key: &Key) -> Streams {
        key.clone().into()
    }
}
impl From<u64> for Streams {
    fn from(seed: u64) -> Streams {
        random::key(seed).into()
    }
}
impl From<()> for Streams {
    fn from((): ()) -> Streams {
        Streams::none()
    }
}
impl<const N: usize> From<[(&str, Key); N]> for Streams {
    fn from(keys: [(&str, Key); N]) -> Streams {
        let mut streams = Streams::none();
        for (name, key) in keys {
            streams.keys.insert(name.to_owned(), key);
        }
        streams
    }
}

/// Returns the key for the `count`-th request of a stream at a path, derived as in Flax: folds
/// in the first four bytes of the SHA-1 of the path's names and the count. Without a count,
/// returns the key of the path itself.
pub(crate) fn fold_in_path(key: &Key, path: &[String], count: Option<u32>) -> Key {
    if path.is_empty() && count.is_none() {
        return key.clone();
    }
    let mut hash = Sha1::new();
    for name in path {
        hash.update(name.as_bytes());
    }
    if let Some(count) = count {
        // As few big-endian bytes as the number needs.
        let bytes = count.to_be_bytes();
        hash.update(&bytes[count.leading_zeros() as usize / 8..]);
    }
    let digest = hash.finalize();
    let data = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    key.fold_in(Array::scalar(data, DType::U32))
}

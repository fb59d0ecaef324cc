//! `Rngs`: named streams of keys.

use crate::RngCount;
use ramie_core::random::{self, Key, Seed};
use ramie_core::tree::{Tree, Visitor};
use ramie_core::{Array, DType};
use ramie_derive::Tree;
use std::collections::BTreeMap;

/// The key of a stream of random numbers.
#[derive(Clone, Debug)]
pub struct RngKey(pub Key);

impl RngKey {
    /// The name of this kind of variable.
    pub const KIND: &'static str = "rng_key";
}

impl Tree for RngKey {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.kind(RngKey::KIND);
        self.0.walk(visitor);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        self.0.walk_mut(visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        RngKey(self.0.rebuild(leaf))
    }
}

/// A key and a count: each key that it gives is the stream's key with the
/// count folded in (`nnx.RngStream`).
#[derive(Clone, Debug, Tree)]
pub struct RngStream {
    /// What decides all keys of the stream.
    pub key: RngKey,
    /// How many keys were given, 0-d `u32`.
    pub count: RngCount,
}

impl RngStream {
    /// A stream that has given no keys.
    pub fn new(key: Key) -> RngStream {
        RngStream {
            key: RngKey(key),
            count: RngCount::new(Array::scalar(0, DType::U32)),
        }
    }

    /// The next key.
    #[track_caller]
    pub fn next_key(&mut self) -> Key {
        let key = self.key.0.fold_in(&self.count);
        self.count = RngCount::new(&*self.count + 1);
        key
    }

    /// A new stream, from the next key.
    #[track_caller]
    pub fn fork(&mut self) -> RngStream {
        RngStream::new(self.next_key())
    }
}

/// Streams of keys by name (`nnx.Rngs`): `params` for initial values,
/// `dropout` for dropout, and what else a model asks for. A stream that is not
/// there is replaced by the one named `default`.
///
/// The keys are those that Flax gives for the same seeds and the same order of
/// requests.
///
/// ```no_run
/// use ramie_nn::Rngs;
/// let mut rngs = Rngs::new(0).stream("dropout", 1);
/// let params = rngs.params();
/// let dropout = rngs.dropout();
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Rngs {
    streams: BTreeMap<String, RngStream>,
}

/// The stream that stands in for those that are not there.
const DEFAULT: &str = "default";

impl Rngs {
    /// The stream `default` of a seed.
    ///
    /// # Panics
    /// If the seed is an array of anything but integers.
    #[track_caller]
    pub fn new(seed: impl Into<Seed>) -> Rngs {
        Rngs::empty().stream(DEFAULT, seed)
    }

    /// The stream `default` of a key.
    pub fn from_key(key: Key) -> Rngs {
        Rngs::empty().stream_of_key(DEFAULT, key)
    }

    /// No streams; add them with [`stream`](Rngs::stream).
    pub fn empty() -> Rngs {
        Rngs {
            streams: BTreeMap::new(),
        }
    }

    /// Adds or replaces the stream of a name.
    ///
    /// # Panics
    /// If the seed is an array of anything but integers.
    #[must_use]
    #[track_caller]
    pub fn stream(self, name: &str, seed: impl Into<Seed>) -> Rngs {
        self.stream_of_key(name, random::key(seed))
    }

    /// Adds or replaces the stream of a name by one of a key.
    #[must_use]
    pub fn stream_of_key(mut self, name: &str, key: Key) -> Rngs {
        self.streams.insert(name.to_owned(), RngStream::new(key));
        self
    }

    /// The stream of a name, or `default`.
    ///
    /// # Panics
    /// If neither is there.
    #[track_caller]
    pub fn get(&mut self, name: &str) -> &mut RngStream {
        let name = if self.streams.contains_key(name) {
            name
        } else {
            DEFAULT
        };
        let there = || self.streams.keys().cloned().collect::<Vec<_>>().join(", ");
        if !self.streams.contains_key(name) {
            panic!(
                "Rngs: there is no such stream, and none named `default`; there are: {}\n  help: \
                 add it with Rngs::stream, or make a default one with Rngs::new(seed)",
                there()
            );
        }
        self.streams.get_mut(name).expect("it is there")
    }

    /// The next key of a stream, for what is random under that name.
    ///
    /// # Panics
    /// If neither the stream nor `default` is there.
    #[track_caller]
    pub fn key(&mut self, name: &str) -> Key {
        self.get(name).next_key()
    }

    /// The next key for initial values.
    ///
    /// # Panics
    /// If neither `params` nor `default` is there.
    #[track_caller]
    pub fn params(&mut self) -> Key {
        self.key("params")
    }

    /// The next key for dropout.
    ///
    /// # Panics
    /// If neither `dropout` nor `default` is there.
    #[track_caller]
    pub fn dropout(&mut self) -> Key {
        self.key("dropout")
    }
}

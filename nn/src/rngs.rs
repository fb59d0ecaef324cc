//! `Rngs`: named streams of keys.

use crate::RngCount;
use crate::names::listed_or_none;
use ramie_core::random::{self, Key, Population, Seed};
use ramie_core::tree::{self, Tree, Visitor};
use ramie_core::{Array, DType, IntoArray};
use ramie_derive::Tree;
use std::any::Any;
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
    /// The name of the stream that it comes from; empty if it has none.
    pub tag: String,
    /// What decides all keys of the stream.
    pub key: RngKey,
    /// How many keys were given, 0-d `u32`; with an array of keys, for `vmap`,
    /// of that shape.
    pub count: RngCount,
}

impl RngStream {
    /// A stream that has given no keys.
    pub fn new(key: Key) -> RngStream {
        let count = match key.shape() {
            [] => Array::scalar(0, DType::U32),
            shape => Array::zeros(shape, DType::U32),
        };
        RngStream {
            tag: String::new(),
            key: RngKey(key),
            count: RngCount::new(count),
        }
    }

    /// The stream under another name.
    #[must_use]
    pub fn with_tag(mut self, tag: &str) -> RngStream {
        tag.clone_into(&mut self.tag);
        self
    }

    /// The next key.
    ///
    /// # Panics
    /// If the stream has an array of keys: each example of
    /// [`nnx::vmap`](crate::nnx::vmap) has one of them.
    #[track_caller]
    pub fn next_key(&mut self) -> Key {
        let key = self.peek();
        self.count.set(&*self.count + 1);
        key
    }

    /// The key that [`next_key`](RngStream::next_key) returns next.
    #[track_caller]
    pub(crate) fn peek(&self) -> Key {
        let shape = self.key.0.shape();
        assert!(
            shape.is_empty(),
            "RngStream: the stream `{}` has an array of keys, of shape {shape:?}, and a key is asked \
             for\n  help: call the layer within nnx::vmap or nnx::scan, which give each example or \
             step its own key",
            self.tag
        );
        self.key.0.fold_in(&self.count)
    }

    /// A new stream, from the next key.
    #[track_caller]
    pub fn fork(&mut self) -> RngStream {
        RngStream::new(self.next_key()).with_tag(&self.tag)
    }

    /// A new stream with an array of keys, split from the next key.
    #[track_caller]
    pub fn split(&mut self, shape: &[usize]) -> RngStream {
        RngStream::new(self.next_key().split_array(shape)).with_tag(&self.tag)
    }

    /// A new stream with the next key at every place of an array.
    #[track_caller]
    pub fn broadcast(&mut self, shape: &[usize]) -> RngStream {
        let key = self.next_key();
        let words: Vec<usize> = [shape, random::key_data(&key).shape()].concat();
        let keys = tree::map(&key, |data| data.broadcast_to(&words));
        RngStream::new(keys).with_tag(&self.tag)
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
#[derive(Clone, Debug)]
pub struct Rngs {
    streams: BTreeMap<String, RngStream>,
}

/// The streams are at their names, as in Flax: `params.key`, `params.count`.
impl Tree for Rngs {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.node("Rngs", self);
        self.streams.walk(visitor);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        self.streams.walk_mut(visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        Rngs {
            streams: self.streams.rebuild(leaf),
        }
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        self.streams.visit_parts(visit);
    }
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
        let stream = RngStream::new(key).with_tag(name);
        self.streams.insert(name.to_owned(), stream);
        self
    }

    /// The stream of a name, or `default`.
    ///
    /// # Panics
    /// If neither is there.
    #[track_caller]
    pub fn get(&mut self, name: &str) -> &mut RngStream {
        let found = match self.streams.contains_key(name) {
            true => name,
            false => DEFAULT,
        };
        if !self.streams.contains_key(found) {
            let there: Vec<&String> = self.streams.keys().collect();
            panic!(
                "Rngs: there is no stream `{name}`, and none named `default` in its place; there \
                 are: {}\n  help: add it with Rngs::stream(\"{name}\", seed), or make a default one \
                 with Rngs::new(seed)",
                listed_or_none(&there)
            );
        }
        self.streams.get_mut(found).expect("it is there")
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

    /// The names of the streams and the streams (`Rngs.items`).
    pub fn items(&self) -> impl Iterator<Item = (&str, &RngStream)> {
        self.streams.iter().map(|(n, s)| (n.as_str(), s))
    }

    /// Whether there is a stream of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.streams.contains_key(name)
    }

    /// The number of streams.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// `true` if there are no streams.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    fn each(&mut self, mut f: impl FnMut(&str, &mut RngStream) -> RngStream) -> Rngs {
        let streams = self.streams.iter_mut();
        Rngs {
            streams: streams.map(|(n, s)| (n.clone(), f(n, s))).collect(),
        }
    }

    /// New streams, each from the next key of the one of its name.
    #[track_caller]
    pub fn fork(&mut self) -> Rngs {
        self.each(|_, stream| stream.fork())
    }

    /// New streams with `n` keys each, for `vmap`.
    ///
    /// ```no_run
    /// use ramie_core::random;
    /// use ramie_nn::Rngs;
    /// let mut rngs = Rngs::new(0).split(5);
    /// assert_eq!(rngs.get("default").key.0.shape(), [5]);
    /// ```
    #[track_caller]
    pub fn split(&mut self, n: usize) -> Rngs {
        self.each(|_, stream| stream.split(&[n]))
    }

    /// New streams with arrays of keys of the shape that a function gives for
    /// each name; `None` is the stream from its start.
    #[track_caller]
    pub fn split_by(&mut self, shape: impl Fn(&str) -> Option<Vec<usize>>) -> Rngs {
        self.each(|name, stream| match shape(name) {
            Some(shape) => stream.split(&shape),
            None => RngStream::new(stream.key.0.clone()).with_tag(name),
        })
    }

    /// New streams with one key `n` times each, for `vmap`.
    #[track_caller]
    pub fn broadcast(&mut self, n: usize) -> Rngs {
        self.each(|_, stream| stream.broadcast(&[n]))
    }

    /// New streams with arrays of one key of the shape that a function gives for
    /// each name; `None` is the stream from its start.
    #[track_caller]
    pub fn broadcast_by(&mut self, shape: impl Fn(&str) -> Option<Vec<usize>>) -> Rngs {
        self.each(|name, stream| match shape(name) {
            Some(shape) => stream.broadcast(&shape),
            None => RngStream::new(stream.key.0.clone()).with_tag(name),
        })
    }
}

macro_rules! samplers {
    ($( $f:ident ( $($arg:ident: $ty:ty),* ); )*) => {
        impl RngStream { $(
            #[doc = concat!("[`random::", stringify!($f), "`] with the next key.")]
            #[track_caller]
            pub fn $f(&mut self, $($arg: $ty),*) -> Array {
                random::$f(&self.next_key(), $($arg),*)
            }
        )* }
        impl Rngs { $(
            #[doc = concat!("[`random::", stringify!($f), "`] with the next key of the stream \
                `default`.")]
            ///
            /// # Panics
            /// If that stream is not there.
            #[track_caller]
            pub fn $f(&mut self, $($arg: $ty),*) -> Array {
                self.get(DEFAULT).$f($($arg),*)
            }
        )* }
    };
}

samplers! {
    bernoulli(p: impl IntoArray, shape: &[usize]);
    beta(a: impl IntoArray, b: impl IntoArray, shape: &[usize], dtype: DType);
    bits(shape: &[usize], dtype: DType);
    categorical(logits: &Array, axis: isize);
    cauchy(shape: &[usize], dtype: DType);
    choice(a: impl Into<Population>, shape: &[usize]);
    dirichlet(alpha: impl IntoArray, shape: &[usize], dtype: DType);
    exponential(shape: &[usize], dtype: DType);
    gamma(a: impl IntoArray, shape: &[usize], dtype: DType);
    gumbel(shape: &[usize], dtype: DType);
    laplace(shape: &[usize], dtype: DType);
    logistic(shape: &[usize], dtype: DType);
    normal(shape: &[usize], dtype: DType);
    orthogonal(n: usize, m: usize, shape: &[usize], dtype: DType);
    permutation(x: impl Into<Population>);
    poisson(lam: impl IntoArray, shape: &[usize], dtype: DType);
    rademacher(shape: &[usize], dtype: DType);
    randint(shape: &[usize], minval: impl IntoArray, maxval: impl IntoArray, dtype: DType);
    truncated_normal(lower: impl IntoArray, upper: impl IntoArray, shape: &[usize], dtype: DType);
    uniform(shape: &[usize], dtype: DType);
    uniform_range(
        shape: &[usize],
        dtype: DType,
        minval: impl IntoArray,
        maxval: impl IntoArray
    );
}

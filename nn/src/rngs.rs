//! `Rngs`: named RNG streams.

use crate::RngCount;
use crate::init::{self, Distribution, FanMode};
use ramie_core::random::{self, CovarianceRoot, Key, Population, Seed};
use ramie_core::text::listed;
use ramie_core::tree::{self, Tree, Visitor};
use ramie_core::{Array, DType, IntoArray};
use ramie_derive::Tree;
use std::any::Any;
use std::collections::BTreeMap;

/// The key of an RNG stream.
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

/// An RNG stream: a key and a counter. The n-th key that it returns is the stream's key with
/// the count folded in (`nnx.RngStream`).
#[derive(Clone, Debug, Tree)]
pub struct RngStream {
    /// The name of the stream; empty if it has none.
    #[tree(fixed)]
    pub tag: String,
    /// The key from which all keys of the stream are derived.
    pub key: RngKey,
    /// Number of keys returned so far: a 0-d `u32`, or an array of the key's shape if the
    /// stream has an array of keys for `vmap`.
    pub count: RngCount,
}

impl RngStream {
    /// Creates a stream from a key. Its count starts at 0.
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

    /// Sets the name of the stream.
    #[must_use]
    pub fn with_tag(mut self, tag: &str) -> RngStream {
        tag.clone_into(&mut self.tag);
        self
    }

    /// Returns the next key and increments the count.
    ///
    /// # Panics
    /// Panics if the stream has an array of keys. Inside [`nnx::vmap`](crate::nnx::vmap) each
    /// batch element has one of them.
    #[track_caller]
    pub fn next_key(&mut self) -> Key {
        let key = self.peek();
        self.count.set(&*self.count + 1);
        key
    }

    /// Returns the key that the next call of [`next_key`](RngStream::next_key) will return.
    #[track_caller]
    pub(crate) fn peek(&self) -> Key {
        let shape = self.key.0.shape();
        assert!(
            shape.is_empty(),
            "RngStream: cannot take a key from the stream `{}`, which has an array of keys of \
             shape {shape:?}\n  help: call the layer inside nnx::vmap or nnx::scan, which pass a \
             separate key to each batch element or step",
            self.tag
        );
        self.key.0.fold_in(&self.count)
    }

    /// Creates a new stream from the next key.
    #[track_caller]
    pub fn fork(&mut self) -> RngStream {
        RngStream::new(self.next_key()).with_tag(&self.tag)
    }

    /// Creates a new stream whose keys are an array of the given shape, split from the next
    /// key.
    #[track_caller]
    pub fn split(&mut self, shape: &[usize]) -> RngStream {
        RngStream::new(self.next_key().split_array(shape)).with_tag(&self.tag)
    }

    /// Creates a new stream whose keys are an array of the given shape, all equal to the next
    /// key.
    #[track_caller]
    pub fn broadcast(&mut self, shape: &[usize]) -> RngStream {
        let key = self.next_key();
        let words: Vec<usize> = [shape, random::key_data(&key).shape()].concat();
        let keys = tree::map(&key, |data| data.broadcast_to(&words));
        RngStream::new(keys).with_tag(&self.tag)
    }
}

/// RNG streams by name (`nnx.Rngs`): `params` for initial values, `dropout` for dropout, and
/// any other name that a model requests. The stream `default` is used for missing names.
///
/// For the same seeds and the same order of requests, the keys are those of Flax.
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

/// The streams are stored under their names, as in Flax: `params.key`, `params.count`.
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

/// The stream used for missing names.
const DEFAULT: &str = "default";

impl Rngs {
    /// Creates an `Rngs` with the stream `default`, from a seed.
    ///
    /// # Panics
    /// Panics if the seed is an array of a non-integer dtype.
    #[track_caller]
    pub fn new(seed: impl Into<Seed>) -> Rngs {
        Rngs::empty().stream(DEFAULT, seed)
    }

    /// Creates an `Rngs` with the stream `default`, from a key.
    pub fn from_key(key: Key) -> Rngs {
        Rngs::empty().stream_of_key(DEFAULT, key)
    }

    /// Creates an `Rngs` without streams; add them with [`stream`](Rngs::stream).
    pub fn empty() -> Rngs {
        Rngs {
            streams: BTreeMap::new(),
        }
    }

    /// Adds or replaces the stream `name`, from a seed.
    ///
    /// # Panics
    /// Panics if the seed is an array of a non-integer dtype.
    #[must_use]
    #[track_caller]
    pub fn stream(self, name: &str, seed: impl Into<Seed>) -> Rngs {
        self.stream_of_key(name, random::key(seed))
    }

    /// Adds or replaces the stream `name`, from a key.
    #[must_use]
    pub fn stream_of_key(mut self, name: &str, key: Key) -> Rngs {
        let stream = RngStream::new(key).with_tag(name);
        self.streams.insert(name.to_owned(), stream);
        self
    }

    /// Returns the stream `name`, or the stream `default` if there is none of that name.
    ///
    /// # Panics
    /// Panics if neither stream exists.
    #[track_caller]
    pub fn get(&mut self, name: &str) -> &mut RngStream {
        let found = if self.streams.contains_key(name) {
            name
        } else {
            DEFAULT
        };
        if !self.streams.contains_key(found) {
            panic!(
                "Rngs: there is neither a stream `{name}` nor a stream `default`; existing \
                 streams: {}\n  help: add it with Rngs::stream(\"{name}\", seed), or use \
                 Rngs::new(seed) for a default stream",
                listed(self.streams.keys())
            );
        }
        self.streams.get_mut(found).expect("the stream exists")
    }

    /// Returns the next key of the stream `name`, or of `default` if there is none of that
    /// name.
    ///
    /// # Panics
    /// Panics if neither stream exists.
    #[track_caller]
    pub fn key(&mut self, name: &str) -> Key {
        self.get(name).next_key()
    }

    /// Returns the next key for initial values, from the stream `params` or `default`.
    ///
    /// # Panics
    /// Panics if neither stream exists.
    #[track_caller]
    pub fn params(&mut self) -> Key {
        self.key("params")
    }

    /// Returns the next key for dropout, from the stream `dropout` or `default`.
    ///
    /// # Panics
    /// Panics if neither stream exists.
    #[track_caller]
    pub fn dropout(&mut self) -> Key {
        self.key("dropout")
    }

    /// Returns an iterator over the names and streams (`Rngs.items`).
    pub fn items(&self) -> impl Iterator<Item = (&str, &RngStream)> {
        self.streams.iter().map(|(n, s)| (n.as_str(), s))
    }

    /// Returns `true` if there is a stream of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.streams.contains_key(name)
    }

    /// Returns the number of streams.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Returns `true` if there are no streams.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    fn each(&mut self, mut f: impl FnMut(&str, &mut RngStream) -> RngStream) -> Rngs {
        let streams = self.streams.iter_mut();
        Rngs {
            streams: streams.map(|(n, s)| (n.clone(), f(n, s))).collect(),
        }
    }

    /// Creates new streams, each from the next key of the stream of the same name.
    #[track_caller]
    pub fn fork(&mut self) -> Rngs {
        self.each(|_, stream| stream.fork())
    }

    /// Creates new streams with `n` keys each, for `vmap`.
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

    /// Creates new streams whose keys are arrays of the shape that `shape` returns for each
    /// name. If it returns `None`, the new stream starts from the same key as the old one.
    #[track_caller]
    pub fn split_by(&mut self, shape: impl Fn(&str) -> Option<Vec<usize>>) -> Rngs {
        self.each(|name, stream| match shape(name) {
            Some(shape) => stream.split(&shape),
            None => RngStream::new(stream.key.0.clone()).with_tag(name),
        })
    }

    /// Creates new streams with `n` copies of one key each, for `vmap`.
    #[track_caller]
    pub fn broadcast(&mut self, n: usize) -> Rngs {
        self.each(|_, stream| stream.broadcast(&[n]))
    }

    /// Creates new streams with copies of one key in arrays of the shape that `shape` returns
    /// for each name. If it returns `None`, the new stream starts from the same key as the old
    /// one.
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
            #[doc = concat!("Calls [`random::", stringify!($f), "`] with the next key.")]
            #[track_caller]
            pub fn $f(&mut self, $($arg: $ty),*) -> Array {
                random::$f(&self.next_key(), $($arg),*)
            }
        )* }
        impl Rngs { $(
            #[doc = concat!("Calls [`random::", stringify!($f), "`] with the next key of the stream \
                `default`.")]
            ///
            /// # Panics
            /// Panics if the stream `default` is missing.
            #[track_caller]
            pub fn $f(&mut self, $($arg: $ty),*) -> Array {
                self.get(DEFAULT).$f($($arg),*)
            }
        )* }
    };
}

samplers! {
    bernoulli(p: impl IntoArray, shape: &[usize]);
    ball(d: usize, p: impl IntoArray, shape: &[usize], dtype: DType);
    beta(a: impl IntoArray, b: impl IntoArray, shape: &[usize], dtype: DType);
    binomial(n: impl IntoArray, p: impl IntoArray, shape: &[usize], dtype: DType);
    bits(shape: &[usize], dtype: DType);
    categorical(logits: &Array, axis: isize);
    cauchy(shape: &[usize], dtype: DType);
    chisquare(df: impl IntoArray, shape: &[usize], dtype: DType);
    choice(a: impl Into<Population>, shape: &[usize]);
    dirichlet(alpha: impl IntoArray, shape: &[usize], dtype: DType);
    double_sided_maxwell(
        loc: impl IntoArray,
        scale: impl IntoArray,
        shape: &[usize],
        dtype: DType
    );
    exponential(shape: &[usize], dtype: DType);
    f(dfnum: impl IntoArray, dfden: impl IntoArray, shape: &[usize], dtype: DType);
    gamma(a: impl IntoArray, shape: &[usize], dtype: DType);
    generalized_normal(p: impl IntoArray, shape: &[usize], dtype: DType);
    geometric(p: impl IntoArray, shape: &[usize], dtype: DType);
    gumbel(shape: &[usize], dtype: DType);
    laplace(shape: &[usize], dtype: DType);
    loggamma(a: impl IntoArray, shape: &[usize], dtype: DType);
    logistic(shape: &[usize], dtype: DType);
    lognormal(sigma: impl IntoArray, shape: &[usize], dtype: DType);
    maxwell(shape: &[usize], dtype: DType);
    multinomial(n: impl IntoArray, p: impl IntoArray, dtype: DType);
    multivariate_normal(
        mean: &Array,
        covariance: &Array,
        shape: &[usize],
        dtype: DType,
        root: CovarianceRoot
    );
    normal(shape: &[usize], dtype: DType);
    orthogonal(n: usize, m: usize, shape: &[usize], dtype: DType);
    pareto(b: impl IntoArray, shape: &[usize], dtype: DType);
    permutation(x: impl Into<Population>);
    poisson(lam: impl IntoArray, shape: &[usize], dtype: DType);
    rademacher(shape: &[usize], dtype: DType);
    randint(shape: &[usize], minval: impl IntoArray, maxval: impl IntoArray, dtype: DType);
    rayleigh(scale: impl IntoArray, shape: &[usize], dtype: DType);
    t(df: impl IntoArray, shape: &[usize], dtype: DType);
    triangular(
        left: impl IntoArray,
        mode: impl IntoArray,
        right: impl IntoArray,
        shape: &[usize],
        dtype: DType
    );
    truncated_normal(lower: impl IntoArray, upper: impl IntoArray, shape: &[usize], dtype: DType);
    uniform(shape: &[usize], dtype: DType);
    uniform_range(
        shape: &[usize],
        dtype: DType,
        minval: impl IntoArray,
        maxval: impl IntoArray
    );
    wald(mean: impl IntoArray, shape: &[usize], dtype: DType);
    weibull_min(
        scale: impl IntoArray,
        concentration: impl IntoArray,
        shape: &[usize],
        dtype: DType
    );
}

macro_rules! initializers {
    ($( $f:ident ( $($arg:ident: $ty:ty),* ); )*) => {
        impl RngStream { $(
            #[doc = concat!("Draws a value from [`init::", stringify!($f), "`](crate::init::",
                stringify!($f), ") with the next key.")]
            #[track_caller]
            pub fn $f(&mut self, $($arg: $ty,)* shape: &[usize], dtype: DType) -> Array {
                init::$f($($arg),*).draw(&self.next_key(), shape, dtype)
            }
        )* }
        impl Rngs { $(
            #[doc = concat!("Draws a value from [`init::", stringify!($f), "`](crate::init::",
                stringify!($f), ") with the next key of the stream `default`; Flax writes `rngs.",
                stringify!($f), "()(shape, dtype)`.")]
            ///
            /// # Panics
            /// Panics if the stream `default` is missing.
            #[track_caller]
            pub fn $f(&mut self, $($arg: $ty,)* shape: &[usize], dtype: DType) -> Array {
                self.get(DEFAULT).$f($($arg,)* shape, dtype)
            }
        )* }
    };
}

initializers! {
    delta_orthogonal(scale: f64, column_axis: isize);
    glorot_normal();
    glorot_uniform();
    he_normal();
    he_uniform();
    kaiming_normal();
    kaiming_uniform();
    lecun_normal();
    lecun_uniform();
    variance_scaling(scale: f64, mode: FanMode, distribution: Distribution);
    xavier_normal();
    xavier_uniform();
}

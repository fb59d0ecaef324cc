//! Random keys.

use super::KeyLayout;
use super::generator::{Kind, default_impl};
use crate::prim::fused;
use crate::prim::random::key_impl::KeyImpl;
use crate::program::tree::{Tree, Visitor};
use crate::{Array, DType, IntoArray, is_tracing};

/// A random key, or an array of keys.
///
/// A key is a pytree with one leaf, the key data `u32[…, words]`: two words for threefry, four
/// for other generators. Generator and layout are static. Arrays of keys, created by
/// [`split_array`](Key::split_array), are for `vmap`, which passes one key to each batch element.
/// Other functions require a single key.
#[derive(Clone)]
pub struct Key {
    data: Array,
    kind: Kind,
}

/// The seed of a key: an integer, or an array of integers.
///
/// A 64-bit integer fills both words of a key, a narrower integer only the second, as in JAX. So
/// `key(-1)` is `[0, 4294967295]`, and `key(-1i64)` has all bits of both words set.
#[derive(Clone)]
pub struct Seed(Source);

#[derive(Clone)]
enum Source {
    Words([u32; 2], Array),
    Array(Array),
}

macro_rules! seed {
    ($($t:ty: |$v:ident| $words:expr;)*) => { $(
        impl From<$t> for Seed {
            fn from($v: $t) -> Seed {
                Seed(Source::Words($words, Array::from($v)))
            }
        }
    )* };
}
fn both(v: u64) -> [u32; 2] {
    [(v >> 32) as u32, v as u32]
}
seed! {
    u8: |v| [0, u32::from(v)];
    u16: |v| [0, u32::from(v)];
    u32: |v| [0, v];
    u64: |v| both(v);
    i8: |v| [0, i32::from(v) as u32];
    i16: |v| [0, i32::from(v) as u32];
    i32: |v| [0, v as u32];
    i64: |v| both(v as u64);
}
impl From<usize> for Seed {
    fn from(v: usize) -> Seed {
        Seed::from(v as u64)
    }
}
impl From<&Array> for Seed {
    fn from(array: &Array) -> Seed {
        Seed(Source::Array(array.clone()))
    }
}
impl From<Array> for Seed {
    fn from(array: Array) -> Seed {
        Seed(Source::Array(array))
    }
}

/// Creates a key from a seed (`jax.random.key`), with the default generator and layout.
///
/// An array of integers gives an array of keys.
///
/// ```no_run
/// use ramie_core::random;
/// let key = random::key(42);
/// assert_eq!(random::key_data(&key).to_vec::<u32>(), [0, 42]);
/// ```
///
/// # Panics
/// Panics if the seed is an array of another dtype than integers.
#[doc(alias = "PRNGKey")]
#[track_caller]
pub fn key(seed: impl Into<Seed>) -> Key {
    key_with(seed, default_impl())
}

/// Creates a key with the given generator (`jax.random.key` with `impl`).
///
/// # Panics
/// Panics if the seed is an array of another dtype than integers.
#[track_caller]
pub fn key_with(seed: impl Into<Seed>, generator: KeyImpl) -> Key {
    let kind = Kind {
        layout: KeyLayout::default(),
        generator,
    };
    let data = match seed.into().0 {
        Source::Words([hi, lo], _) if !is_tracing() => match kind.generator {
            KeyImpl::Threefry2x32 => Array::from([hi, lo]),
            KeyImpl::Rbg | KeyImpl::UnsafeRbg => Array::from([hi, lo, hi, lo]),
        },
        Source::Words(_, scalar) => kind.seed(&scalar),
        Source::Array(array) => kind.seed(&array),
    };
    Key { data, kind }
}

/// Returns the words of a key (`jax.random.key_data`), `u32[…, words]`.
pub fn key_data(key: &Key) -> &Array {
    &key.data
}

/// Returns the generator of a key (`jax.random.key_impl`).
pub fn key_impl(key: &Key) -> KeyImpl {
    key.kind.generator
}

/// Returns the dtype name of a generator's keys (`jax.random.key_dtype`).
///
/// ```
/// use ramie_core::random::{self, KeyImpl};
/// assert_eq!(random::key_dtype(KeyImpl::Threefry2x32), "key<fry>");
/// ```
pub fn key_dtype(generator: KeyImpl) -> String {
    format!("key<{}>", generator.tag())
}

/// Clones a key, to mark its reuse as intentional (`jax.random.clone`).
pub fn clone(key: &Key) -> Key {
    key.clone()
}

/// Creates a key, or an array of keys, from key data (`jax.random.wrap_key_data`), with the
/// default generator and layout.
///
/// # Panics
/// Panics if the array is not `u32[…, words]`.
#[track_caller]
pub fn wrap_key_data(data: Array) -> Key {
    wrap_key_data_with(data, default_impl())
}

/// Same as [`wrap_key_data`], with the given generator.
///
/// # Panics
/// Panics if the array is not `u32[…, words]`.
#[track_caller]
pub fn wrap_key_data_with(data: Array, generator: KeyImpl) -> Key {
    assert!(
        data.dtype() == DType::U32 && data.shape().last() == Some(&generator.words()),
        "wrap_key_data: expects key data u32[...,{}] of {generator}, got {}\n  help: use \
         `random::key` to create keys from integers",
        generator.words(),
        data.aval()
    );
    let kind = Kind {
        layout: KeyLayout::default(),
        generator,
    };
    Key { data, kind }
}

impl Key {
    /// Returns the key with the same words and another layout.
    ///
    /// ```no_run
    /// use ramie_core::{DType, random::{self, KeyLayout}};
    /// let key = random::key(42).with_layout(KeyLayout::Original);
    /// assert_eq!(random::normal(&key, &[], DType::F32).item::<f32>(), -0.18471177);
    /// ```
    pub fn with_layout(self, layout: KeyLayout) -> Key {
        let kind = Kind {
            layout,
            ..self.kind
        };
        Key { kind, ..self }
    }

    /// Creates a key from its data.
    pub(super) fn of(data: Array, kind: Kind) -> Key {
        Key { data, kind }
    }

    /// Returns the properties of the key, other than its words, that operations depend on.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the layout of random numbers generated with the key. Derived keys inherit it.
    pub fn layout(&self) -> KeyLayout {
        self.kind.layout
    }

    /// Returns the shape of an array of keys; `[]` for a single key.
    pub fn shape(&self) -> &'static [usize] {
        let data = self.data.shape();
        &data[..data.len() - 1]
    }

    pub(super) fn wrap(&self, data: Array) -> Key {
        Key::of(data, self.kind)
    }

    /// Panics if this is an array of keys.
    #[track_caller]
    pub(super) fn single(&self, operation: &str) {
        assert!(
            self.shape().is_empty(),
            "{}: expects a single key, got an array of keys of shape {:?}\n  help: apply the \
             function to each key with `vmap`",
            operation.trim_start_matches('_'),
            self.shape()
        );
    }

    /// Splits the key into `n` independent keys. The key itself should not be used again.
    ///
    /// ```no_run
    /// use ramie_core::random;
    /// let keys = random::key(0).split(3);
    /// assert_eq!(keys.len(), 3);
    /// ```
    ///
    /// # Panics
    /// Panics if this is an array of keys.
    #[track_caller]
    pub fn split(&self, n: usize) -> Vec<Key> {
        self.single("split");
        let parts = |key: &Key| -> Vec<Array> {
            let all = key.split_array(&[n]).data;
            let words = [key.kind.generator.words()];
            (0..n)
                .map(|i| all.slice_in_dim(i, i + 1, 1, 0).reshape(&words))
                .collect()
        };
        let arrays = if is_tracing() {
            parts(self)
        } else {
            let kind = self.kind;
            fused::fused(
                "_split",
                (kind, n),
                std::slice::from_ref(&self.data),
                |args| parts(&Key::of(args[0].clone(), kind)),
            )
        };
        arrays.into_iter().map(|data| self.wrap(data)).collect()
    }

    /// Same as [`split`](Key::split), with the number of keys inferred from the pattern.
    ///
    /// ```no_run
    /// use ramie_core::random;
    /// let [params, dropout] = random::key(0).split_into();
    /// # let _ = (params, dropout);
    /// ```
    ///
    /// # Panics
    /// Panics if this is an array of keys.
    #[track_caller]
    pub fn split_into<const N: usize>(&self) -> [Key; N] {
        match self.split(N).try_into() {
            Ok(keys) => keys,
            Err(_) => unreachable!("split makes as many keys as it is asked for"),
        }
    }

    /// Splits the key into an array of independent keys of the given shape, for `vmap`.
    ///
    /// # Panics
    /// Panics if this is an array of keys.
    #[track_caller]
    pub fn split_array(&self, shape: &[usize]) -> Key {
        self.single("split");
        self.wrap(self.kind.split(&self.data, shape))
    }

    /// Returns the key, or the array of keys, at an index along the first axis of an array of
    /// keys.
    ///
    /// ```no_run
    /// use ramie_core::random;
    /// let keys = random::key(0).split_array(&[3, 2]);
    /// assert_eq!(keys.get(1).shape(), [2]);
    /// ```
    ///
    /// # Panics
    /// Panics if this is a single key, or if the index is out of range.
    #[track_caller]
    pub fn get(&self, index: usize) -> Key {
        assert!(
            self.shape().first().is_some_and(|&n| index < n),
            "get: there is no key {index} in an array of keys of shape {:?}\n  help: the index must \
             be below the size of the first axis",
            self.shape()
        );
        let part = self.data.slice_in_dim(index, index + 1, 1, 0);
        self.wrap(part.squeeze(&[0]))
    }

    /// Reshapes an array of keys.
    ///
    /// # Panics
    /// Panics if the shape has a different number of elements.
    #[track_caller]
    pub fn reshape(&self, shape: &[usize]) -> Key {
        let words = self.kind.generator.words();
        self.wrap(self.data.reshape(&[shape, &[words]].concat()))
    }

    /// Derives a key from this key and a number, such as the number of a step or device. Integer
    /// arrays are converted to `u32` and wrap.
    ///
    /// ```no_run
    /// use ramie_core::random;
    /// let key = random::key(0);
    /// let per_step: Vec<_> = (0..3).map(|step| key.fold_in(step)).collect();
    /// # let _ = per_step;
    /// ```
    ///
    /// # Panics
    /// Panics if `data` is a negative literal, if it is not a 0-d integer, or if this is an array
    /// of keys.
    #[track_caller]
    pub fn fold_in(&self, data: impl IntoArray) -> Key {
        self.single("fold_in");
        let data = data.into_array();
        assert!(
            data.dtype().is_integer() && data.ndim() == 0,
            "fold_in: expects a 0-d integer, got {}\n  help: use `vmap` to fold in each element \
             of an array",
            data.describe()
        );
        if let Some(l) = data.as_literal() {
            assert!(
                l.value().to_f64() >= 0.0,
                "fold_in: expects a non-negative number, got {}\n  help: convert it to u32 first",
                l.value()
            );
        }
        self.wrap(self.kind.fold_in(&self.data, &data.astype(DType::U32)))
    }
}

impl Tree for Key {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.fixed(&self.kind);
        visitor.metadata(&self.kind.generator);
        visitor.leaf(&self.data);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        visit(&mut self.data);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        self.wrap(leaf(&self.data))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Kind { layout, generator } = self.kind;
        write!(f, "Key({:?}, {generator:?}, {layout:?})", self.data)
    }
}

impl std::fmt::Display for Key {
    /// Formats the key like JAX: its shape, dtype and words.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape: Vec<String> = self.shape().iter().map(|d| d.to_string()).collect();
        let shape = match shape.as_slice() {
            [one] => format!("{one},"),
            many => many.join(", "),
        };
        let dtype = key_dtype(self.kind.generator);
        write!(
            f,
            "Array(({shape}), dtype={dtype}) overlaying:\n{}",
            self.data
        )
    }
}

//! The generators of keys, and their operations on key data.

use super::{KeyImpl, KeyLayout};
use crate::prim::random::{
    RandomBits, RandomFoldIn, RandomSeed, RandomSplit, RngAlgorithm, rng_bit_generator,
};
use crate::program::trace::bind1;
use crate::{Array, DType, concatenate};
use std::sync::atomic::{AtomicU8, Ordering};

static DEFAULT: AtomicU8 = AtomicU8::new(0);

/// Returns the default generator of keys created by [`key`](super::key) and
/// [`wrap_key_data`](super::wrap_key_data).
#[doc(alias = "default_prng_impl")]
pub fn default_impl() -> KeyImpl {
    KeyImpl::ALL[usize::from(DEFAULT.load(Ordering::Relaxed))]
}

/// Sets the default generator of keys created from now on, on every thread (JAX's option
/// `jax_default_prng_impl`).
///
/// ```no_run
/// use ramie_core::random::{self, KeyImpl};
/// random::set_default_impl(KeyImpl::Rbg);
/// assert_eq!(random::key_impl(&random::key(0)), KeyImpl::Rbg);
/// ```
pub fn set_default_impl(generator: KeyImpl) {
    DEFAULT.store(generator as u8, Ordering::Relaxed);
}

/// The properties of a key, other than its words, that operations depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub layout: KeyLayout,
    pub generator: KeyImpl,
}

/// Returns a four-word key both of whose halves are the given two-word key.
fn doubled(half: &Array) -> Array {
    concatenate(&[half, half], -1)
}

impl Kind {
    /// Creates key data from an integer array, or from the two words of one seed.
    #[track_caller]
    pub(super) fn seed(self, seed: &Array) -> Array {
        self.of_half(bind1(RandomSeed, &[seed]))
    }

    /// Converts threefry key data to key data of this generator.
    pub(super) fn of_half(self, half: Array) -> Array {
        match self.generator {
            KeyImpl::Threefry2x32 => half,
            KeyImpl::Rbg | KeyImpl::UnsafeRbg => doubled(&half),
        }
    }

    /// Splits a key into `shape` keys.
    #[track_caller]
    pub(super) fn split(self, data: &Array, shape: &[usize]) -> Array {
        let split = RandomSplit {
            shape: shape.into(),
            layout: self.layout,
        };
        let words = [shape, &[4]].concat();
        match self.generator {
            KeyImpl::Threefry2x32 => bind1(split, &[data]),
            KeyImpl::Rbg => bind1(split, &[&data.reshape(&[2, 2])])
                .move_axis(0, -2)
                .reshape(&words),
            // Takes every tenth generated row, treating ten rounds as a hash.
            KeyImpl::UnsafeRbg => {
                let n = crate::types::aval::element_count(shape).saturating_mul(10);
                let rows = device_bits(data, &[n, 4], DType::U32);
                rows.slice_in_dim(0, n, 10, 0).reshape(&words)
            }
        }
    }

    /// Folds a 0-d word into a key.
    #[track_caller]
    pub(super) fn fold_in(self, data: &Array, word: &Array) -> Array {
        match self.generator {
            KeyImpl::Threefry2x32 => bind1(RandomFoldIn, &[data, word]),
            KeyImpl::Rbg => {
                let halves = data.reshape(&[2, 2]);
                bind1(RandomFoldIn, &[&halves, &word.broadcast_to(&[2])]).reshape(&[4])
            }
            KeyImpl::UnsafeRbg => {
                let rows = device_bits(&self.seed(word), &[10, 4], DType::U32);
                data.bitwise_xor(rows.slice_in_dim(9, 10, 1, 0).reshape(&[4]))
            }
        }
    }

    /// Generates random bits as elements of an unsigned dtype.
    #[track_caller]
    pub(super) fn bits(self, data: &Array, shape: &[usize], dtype: DType) -> Array {
        if self.generator != KeyImpl::Threefry2x32 {
            return device_bits(data, shape, dtype);
        }
        let bits = RandomBits {
            bit_width: dtype.bits(),
            shape: shape.into(),
            layout: self.layout,
        };
        bind1(bits, &[data])
    }
}

fn device_bits(data: &Array, shape: &[usize], dtype: DType) -> Array {
    rng_bit_generator(data, shape, dtype, RngAlgorithm::Default).1
}

//! Rotary position embeddings.

use crate::{Module, Tree};
use ramie_core::{Array, DType, concatenate, fixed_tree, stack};
use std::f64::consts::TAU;

/// Selects the pairs of features of a head that are rotated together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RotaryStyle {
    /// Feature `i` with feature `i + dim / 2`, as in published Llama checkpoints.
    #[default]
    Half,
    /// Feature `2 i` with feature `2 i + 1`, as in the paper and GPT-J.
    Interleaved,
}

fixed_tree!(RotaryStyle);

/// Scaling of frequencies for sequences longer than those of the training.
#[derive(Clone, Copy, Debug, PartialEq, Tree)]
pub enum RotaryScaling {
    /// All frequencies divided by a factor, which is position interpolation (Chen et al.,
    /// 2023).
    Linear {
        /// The divisor of the frequencies.
        factor: f64,
    },
    /// Llama 3.1's scaling: low frequencies are divided by a factor, high ones are unchanged,
    /// and those between are interpolated.
    Llama3 {
        /// The divisor of low frequencies.
        factor: f64,
        /// Maximum number of turns of a low frequency within the original length.
        low_freq_factor: f64,
        /// Minimum number of turns of a high frequency within the original length.
        high_freq_factor: f64,
        /// Maximum length of the training sequences.
        original_max_position_embeddings: usize,
    },
}

/// Rotates pairs of features by angles proportional to the position, so that products of
/// queries and keys depend on their distance.
///
/// Su et al., *RoFormer: Enhanced Transformer with Rotary Position Embedding*, 2021.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::RotaryEmbedding;
/// let rotary = RotaryEmbedding::new(64);
/// let queries = Array::ones(&[2, 10, 8, 64], DType::F32);
/// let places = Array::arange(10);
/// assert_eq!(rotary.forward(&queries, &places).shape(), queries.shape());
/// ```
#[doc(alias("RoPE", "dot_product_attention_with_rope"))]
#[derive(Clone, Debug, PartialEq, Module)]
pub struct RotaryEmbedding {
    /// Number of leading features of each head that are rotated.
    pub dim: usize,
    /// The base of the frequencies, which are `base^(-2 i / dim)`.
    pub base: f64,
    /// The pairs of features that are rotated together.
    pub style: RotaryStyle,
    /// The scaling of frequencies, if any.
    pub scaling: Option<RotaryScaling>,
}

impl RotaryEmbedding {
    /// Creates an embedding for heads of `dim` features, with base 10000 and the style `Half`.
    ///
    /// # Panics
    /// Panics if `dim` is odd.
    #[track_caller]
    pub fn new(dim: usize) -> RotaryEmbedding {
        assert!(
            dim.is_multiple_of(2),
            "RotaryEmbedding: {dim} features cannot be rotated in pairs\n  help: use an even \
             number of features; for heads of odd size, rotate only the first ones"
        );
        RotaryEmbedding {
            dim,
            base: 10_000.0,
            style: RotaryStyle::Half,
            scaling: None,
        }
    }

    /// Sets the base of the frequencies. Defaults to 10000.
    #[must_use]
    pub fn base(self, base: f64) -> RotaryEmbedding {
        RotaryEmbedding { base, ..self }
    }

    /// Sets the pairs of features that are rotated together. Defaults to `RotaryStyle::Half`.
    #[must_use]
    pub fn style(self, style: RotaryStyle) -> RotaryEmbedding {
        RotaryEmbedding { style, ..self }
    }

    /// Sets the scaling of frequencies. Defaults to none.
    #[must_use]
    pub fn scaling(self, scaling: RotaryScaling) -> RotaryEmbedding {
        RotaryEmbedding {
            scaling: Some(scaling),
            ..self
        }
    }

    /// Returns the angle in radians between adjacent positions, for each of the `dim / 2`
    /// pairs.
    pub fn frequencies(&self) -> Vec<f64> {
        let plain = (0..self.dim / 2).map(|i| self.base.powf(-2.0 * i as f64 / self.dim as f64));
        plain.map(|f| self.scaling.map_or(f, |s| s.of(f))).collect()
    }

    /// Rotates an array `[batch.., length, heads, size]` by the angles of the positions, which
    /// are integers that broadcast to `[batch.., length]`. Angles are computed and applied in
    /// `f32`; the result has the dtype of the input.
    ///
    /// # Panics
    /// Panics if a head is smaller than `dim`, or if the positions do not broadcast.
    #[track_caller]
    pub fn forward(&self, x: &Array, positions: &Array) -> Array {
        let rank = x.ndim();
        assert!(
            rank >= 3 && x.shape()[rank - 1] >= self.dim,
            "RotaryEmbedding: the input is {}, expected [batch.., length, heads, size] with a size of \
             {} or more\n  help: split the features into heads first; `dim` is the number of features \
             of a head to rotate",
            x.aval(),
            self.dim
        );
        let places = positions.shape();
        let each = places.iter().rev().zip(x.shape()[..rank - 2].iter().rev());
        assert!(
            places.len() <= rank - 2 && each.clone().all(|(p, n)| p == n || *p == 1),
            "RotaryEmbedding: the positions are {}, which do not broadcast to the [batch.., \
             length] of {}\n  help: pass an integer per position: Array::arange(length)",
            positions.aval(),
            x.aval()
        );
        let frequencies: Vec<f32> = self.frequencies().iter().map(|&f| f as f32).collect();
        let places = positions.astype(DType::F32).expand_dims(&[-1, -2]);
        let angles = places * Array::from(frequencies);
        let (cos, sin) = (angles.cos(), angles.sin());
        let wide = x.astype(DType::F32);
        let rotated = wide.slice_in_dim(0, self.dim, 1, -1);
        let rotated = match self.style {
            RotaryStyle::Half => {
                let parts = rotated.split(2, -1);
                let (a, b) = turned(&parts[0], &parts[1], &cos, &sin);
                concatenate(&[a, b], -1)
            }
            RotaryStyle::Interleaved => {
                let shape = rotated.shape().to_vec();
                let pairs = rotated.reshape(&[&shape[..rank - 1], &[self.dim / 2, 2]].concat());
                let part = |i: usize| pairs.slice_in_dim(i, i + 1, 1, -1).squeeze(&[-1]);
                let (a, b) = turned(&part(0), &part(1), &cos, &sin);
                stack(&[a, b], -1).reshape(&shape)
            }
        };
        let size = x.shape()[rank - 1];
        let whole = if size == self.dim {
            rotated
        } else {
            concatenate(&[rotated, wide.slice_in_dim(self.dim, size, 1, -1)], -1)
        };
        whole.astype(x.dtype())
    }
}

fn turned(a: &Array, b: &Array, cos: &Array, sin: &Array) -> (Array, Array) {
    (a * cos - b * sin, b * cos + a * sin)
}

impl RotaryScaling {
    fn of(self, frequency: f64) -> f64 {
        match self {
            RotaryScaling::Linear { factor } => frequency / factor,
            RotaryScaling::Llama3 {
                factor,
                low_freq_factor,
                high_freq_factor,
                original_max_position_embeddings,
            } => {
                let turns = original_max_position_embeddings as f64 * frequency / TAU;
                let high = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor);
                let high = high.clamp(0.0, 1.0);
                frequency * high + frequency / factor * (1.0 - high)
            }
        }
    }
}

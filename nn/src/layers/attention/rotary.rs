//! Rotary embeddings: places told by rotation.

use crate::Tree;
use ramie_core::{Array, DType, concatenate, fixed_tree, stack};
use std::f64::consts::TAU;

/// Which two features of a head are rotated together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RotaryStyle {
    /// Feature `i` with feature `i + dim / 2`, as in published Llama checkpoints.
    #[default]
    Half,
    /// Feature `2 i` with feature `2 i + 1`, as in the paper and GPT-J.
    Interleaved,
}

fixed_tree!(RotaryStyle);

/// Frequencies made lower, for longer sequences than those trained with.
#[derive(Clone, Copy, Debug, PartialEq, Tree)]
pub enum RotaryScaling {
    /// All divided by a factor: places are closer to each other (Chen et al.,
    /// 2023).
    Linear {
        /// What frequencies are divided by.
        factor: f64,
    },
    /// As in Llama 3.1: low frequencies are divided by a factor, high ones stay,
    /// and those between are a mean of both.
    Llama3 {
        /// What low frequencies are divided by.
        factor: f64,
        /// How many turns a low frequency makes in the original length, at most.
        low_freq_factor: f64,
        /// How many turns a high frequency makes in the original length, at
        /// least.
        high_freq_factor: f64,
        /// The length of the sequences trained with.
        original_max_position_embeddings: usize,
    },
}

/// Rotates pairs of features by angles that grow with the place, so that products
/// of queries and keys depend on how far apart they are.
///
/// Su et al., *RoFormer: Enhanced Transformer with Rotary Position Embedding*,
/// 2021.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::RotaryEmbedding;
/// let rotary = RotaryEmbedding::new(64);
/// let queries = Array::ones(&[2, 10, 8, 64], DType::F32);
/// let places = Array::arange(10);
/// assert_eq!(rotary.forward(&queries, &places).shape(), queries.shape());
/// ```
#[derive(Clone, Debug, PartialEq, Tree)]
pub struct RotaryEmbedding {
    /// How many features of each head are rotated, the first ones.
    pub dim: usize,
    /// The frequencies are `base^(-2 i / dim)`.
    pub base: f64,
    /// Which features are rotated together.
    pub style: RotaryStyle,
    /// How frequencies are changed.
    pub scaling: Option<RotaryScaling>,
}

impl RotaryEmbedding {
    /// Of heads of `dim` features, with base 10000 and halves rotated together.
    ///
    /// # Panics
    /// If `dim` is odd.
    #[track_caller]
    pub fn new(dim: usize) -> RotaryEmbedding {
        assert!(
            dim.is_multiple_of(2),
            "RotaryEmbedding: {dim} features were to be rotated in pairs\n  help: give an even number \
             of features; of a head of odd size, rotate the first ones"
        );
        RotaryEmbedding {
            dim,
            base: 10_000.0,
            style: RotaryStyle::Half,
            scaling: None,
        }
    }

    /// With another base.
    #[must_use]
    pub fn base(self, base: f64) -> RotaryEmbedding {
        RotaryEmbedding { base, ..self }
    }

    /// With other features rotated together.
    #[must_use]
    pub fn style(self, style: RotaryStyle) -> RotaryEmbedding {
        RotaryEmbedding { style, ..self }
    }

    /// With lower frequencies.
    #[must_use]
    pub fn scaling(self, scaling: RotaryScaling) -> RotaryEmbedding {
        RotaryEmbedding {
            scaling: Some(scaling),
            ..self
        }
    }

    /// The angle in radians from one place to the next, for each of `dim / 2`
    /// pairs.
    pub fn frequencies(&self) -> Vec<f64> {
        let plain = (0..self.dim / 2).map(|i| self.base.powf(-2.0 * i as f64 / self.dim as f64));
        plain.map(|f| self.scaling.map_or(f, |s| s.of(f))).collect()
    }

    /// `[batch.., length, heads, size]` rotated by the angles of the places,
    /// integers in a shape that broadcasts to `[batch.., length]`. Angles are
    /// computed and applied in `f32`, the result has the input's element type.
    ///
    /// # Panics
    /// If a head is smaller than `dim`, or the places do not broadcast.
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
            "RotaryEmbedding: the places are {}, which do not broadcast to the [batch.., length] of \
             {}\n  help: give an integer for each place: Array::arange(length)",
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
        let whole = match size == self.dim {
            true => rotated,
            false => concatenate(&[rotated, wide.slice_in_dim(self.dim, size, 1, -1)], -1),
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

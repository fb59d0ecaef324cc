//! Mixtures of distributions of one family.

use crate::parameters::{Values, check_value};
use crate::{Categorical, Distribution};
use ramie_core::random::Key;
use ramie_core::{Array, DType};
use ramie_derive::Tree;

/// A mixture of the distributions along the last batch axis of `components`. Entropy and mode have
/// no closed form.
///
/// A draw samples all components and selects one of them. It is differentiable with respect to
/// the components, not with respect to the weights.
///
/// ```
/// use ramie_core::Array;
/// use ramie_distributions::{Categorical, Distribution, MixtureSameFamily, Normal};
/// let weights = Categorical::from_probs(Array::from([0.25f32, 0.75]));
/// let mixture = MixtureSameFamily::new(weights, Normal::new(Array::from([-2.0f32, 2.0]), 0.5));
/// assert_eq!((mixture.batch_shape(), mixture.mean().item::<f32>()), (vec![], 1.0));
/// ```
#[derive(Clone, Debug, Tree)]
pub struct MixtureSameFamily<D> {
    /// The weights of the components.
    pub mixture: Categorical,
    /// The components.
    pub components: D,
}

impl<D: Distribution> MixtureSameFamily<D> {
    /// Creates mixtures of `n` components: `mixture` has `n` categories, and the batch shape of
    /// `components` is that of `mixture` followed by `n`.
    ///
    /// # Panics
    /// Panics if the batch shapes do not fit, or if the components are not of floats.
    #[track_caller]
    pub fn new(mixture: Categorical, components: D) -> MixtureSameFamily<D> {
        let expected = [mixture.batch_shape(), vec![mixture.num_categories()]].concat();
        assert!(
            components.batch_shape() == expected,
            "MixtureSameFamily: expects components of the batch shape {expected:?}, that of the \
             mixture and its categories, got {} of the batch shape {:?}\n  help: the last batch axis \
             of the components is the axis of the mixture",
            components.name(),
            components.batch_shape()
        );
        assert!(
            components.dtype().is_float(),
            "MixtureSameFamily: expects components of floats, {} has samples of {}\n  help: pass \
             a distribution of floats",
            components.name(),
            components.dtype()
        );
        MixtureSameFamily {
            mixture,
            components,
        }
    }

    fn event_ndim(&self) -> isize {
        self.components.event_shape().len() as isize
    }

    /// Sums an array of the components' shape over the components, weighted by `weights`.
    fn weighted(&self, weights: &Array, array: &Array) -> Array {
        let inner: Vec<isize> = (1..=self.event_ndim()).map(|axis| -axis).collect();
        (weights.expand_dims(&inner) * array).sum_over(-1 - self.event_ndim())
    }
}

impl<D: Distribution> Distribution for MixtureSameFamily<D> {
    fn batch_shape(&self) -> Vec<usize> {
        self.mixture.batch_shape()
    }
    fn event_shape(&self) -> Vec<usize> {
        self.components.event_shape()
    }
    fn dtype(&self) -> DType {
        self.components.dtype()
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        let [mixture, components] = key.split_into();
        let chosen = self.mixture.sample(&mixture, shape);
        let chosen = chosen.one_hot(self.mixture.num_categories(), self.dtype());
        self.weighted(&chosen, &self.components.sample(&components, shape))
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Floats);
        let each = value.expand_dims(&[-1 - self.event_ndim()]);
        let log_probs = self.components.log_prob(&each);
        (log_probs + self.mixture.logits().log_softmax(-1)).logsumexp(-1)
    }
    fn mean(&self) -> Array {
        self.weighted(&self.mixture.probs(), &self.components.mean())
    }
    fn variance(&self) -> Array {
        let probs = self.mixture.probs();
        let within = self.weighted(&probs, &self.components.variance());
        let mean = self.mean().expand_dims(&[-1 - self.event_ndim()]);
        let distance = self.components.mean() - mean;
        within + self.weighted(&probs, &distance.square())
    }
}

//! Distributions of functions of samples.

use crate::distribution::short_name;
use crate::parameters::{Values, check_value};
use crate::{Bijector, Distribution};
use ramie_core::random::Key;
use ramie_core::{Array, DType};
use ramie_derive::Tree;

/// The distribution of a bijector's results for samples of a base distribution.
///
/// The mean, the mode and the entropy have a closed form if the bijector's Jacobian is constant,
/// as that of [`ScalarAffine`](crate::ScalarAffine) is.
///
/// ```
/// use ramie_core::{Array, DType, random};
/// use ramie_distributions::{Block, Distribution, MultivariateNormalDiag, Tanh, Transformed};
/// // The policy of an agent with three actions between -1 and 1.
/// let normal = MultivariateNormalDiag::new(Array::zeros(&[3], DType::F32), 0.5);
/// let policy = Transformed::new(normal, Block::new(Tanh, 1));
/// let (action, log_prob) = policy.sample_and_log_prob(&random::key(0), &[]);
/// assert!(action.abs().max().item::<f32>() < 1.0);
/// assert_eq!(log_prob.ndim(), 0);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Transformed<D, B> {
    /// The distribution of the arguments.
    pub distribution: D,
    /// The function.
    pub bijector: B,
}

impl<D: Distribution, B: Bijector> Transformed<D, B> {
    /// Creates the distribution.
    ///
    /// # Panics
    /// Panics if the events of the distribution and those of the bijector differ in their number of
    /// axes, if the distribution is not of floats, or if the bijector's parameters do not broadcast
    /// with the samples.
    #[track_caller]
    pub fn new(distribution: D, bijector: B) -> Transformed<D, B> {
        let (name, event) = (distribution.name(), distribution.event_shape());
        assert!(
            event.len() == bijector.event_ndims(),
            "Transformed: events of {name} have the shape {event:?}, {} expects {} axes\n  help: wrap \
             the bijector in `Block` or the distribution in `Independent`",
            short_name::<B>(),
            bijector.event_ndims()
        );
        assert!(
            distribution.dtype().is_float(),
            "Transformed: samples of {name} are {}, bijectors expect floats\n  help: pass a \
             distribution of floats",
            distribution.dtype()
        );
        bijector.forward_shape(&inner_shape(&distribution));
        Transformed {
            distribution,
            bijector,
        }
    }

    /// Returns the batch shape and the event shape.
    fn shapes(&self) -> (Vec<usize>, Vec<usize>) {
        let mut batch = self
            .bijector
            .forward_shape(&inner_shape(&self.distribution));
        let event = batch.split_off(batch.len() - self.bijector.event_ndims());
        (batch, event)
    }

    /// Inserts axes of size 1 between those of a draw and the `inner` axes that follow, where the
    /// parameters of the bijector have more batch axes than the base distribution.
    fn aligned(&self, array: &Array, draw: &[usize]) -> Array {
        let more = self.shapes().0.len() - self.distribution.batch_shape().len();
        let inner = &array.shape()[draw.len()..];
        array.reshape(&[draw, &vec![1; more], inner].concat())
    }

    #[track_caller]
    fn expect_constant(&self, what: &str) {
        assert!(
            self.bijector.is_constant_jacobian(),
            "Transformed.{what}: the {what} has no closed form, because the Jacobian of {} is not \
             constant\n  help: estimate it from draws of `sample_and_log_prob`, or apply the bijector \
             to the {what} of the base distribution",
            short_name::<B>()
        );
    }
}

/// Returns the batch shape followed by the event shape.
fn inner_shape(distribution: &impl Distribution) -> Vec<usize> {
    [distribution.batch_shape(), distribution.event_shape()].concat()
}

impl<D: Distribution, B: Bijector> Distribution for Transformed<D, B> {
    fn batch_shape(&self) -> Vec<usize> {
        self.shapes().0
    }
    fn event_shape(&self) -> Vec<usize> {
        self.shapes().1
    }
    fn dtype(&self) -> DType {
        self.distribution.dtype()
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        let x = self.distribution.sample(key, shape);
        self.bijector.forward(&self.aligned(&x, shape))
    }
    fn sample_and_log_prob(&self, key: &Key, shape: &[usize]) -> (Array, Array) {
        let (x, log_prob) = self.distribution.sample_and_log_prob(key, shape);
        let x = self.aligned(&x, shape);
        let (y, log_det) = self.bijector.forward_and_log_det(&x);
        (y, self.aligned(&log_prob, shape) - log_det)
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Floats);
        let (x, log_det) = self.bijector.inverse_and_log_det(value);
        self.distribution.log_prob(&x) + log_det
    }
    fn entropy(&self) -> Array {
        self.expect_constant("entropy");
        let anywhere = Array::zeros(&inner_shape(&self.distribution), self.dtype());
        self.distribution.entropy() + self.bijector.forward_and_log_det(&anywhere).1
    }
    fn mean(&self) -> Array {
        self.expect_constant("mean");
        self.bijector.forward(&self.distribution.mean())
    }
    fn mode(&self) -> Array {
        self.expect_constant("mode");
        self.bijector.forward(&self.distribution.mode())
    }
}

//! The trait of all distributions.

use ramie_core::random::Key;
use ramie_core::{Array, DType, Tree};

/// A probability distribution, or a batch of independent ones.
///
/// The documentation of a distribution names the methods without a closed form, which panic and name
/// the distribution. Custom distributions implement the trait like those of this crate.
pub trait Distribution: Tree + Clone {
    /// Returns the shape of the batch: one distribution for each element.
    fn batch_shape(&self) -> Vec<usize>;

    /// Returns the shape of one draw from one distribution. Defaults to `[]`, a number.
    fn event_shape(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Returns the dtype of samples.
    fn dtype(&self) -> DType;

    /// Returns the name in messages. Defaults to the name of the type.
    fn name(&self) -> &'static str {
        short_name::<Self>()
    }

    /// Draws samples: an array of `shape`, followed by the batch shape and the event shape. An
    /// empty `shape` draws one sample from each distribution.
    ///
    /// # Panics
    /// Panics if `key` is an array of keys.
    #[track_caller]
    fn sample(&self, key: &Key, shape: &[usize]) -> Array;

    /// Draws samples with their log probabilities. Transformed distributions need no inverse for
    /// them, which is faster and more accurate than [`log_prob`](Distribution::log_prob) of samples.
    ///
    /// # Panics
    /// Panics in the same cases as [`sample`](Distribution::sample).
    #[track_caller]
    fn sample_and_log_prob(&self, key: &Key, shape: &[usize]) -> (Array, Array) {
        let sample = self.sample(key, shape);
        let log_prob = self.log_prob(&sample);
        (sample, log_prob)
    }

    /// Computes the logarithm of the density at `value`, or of the probability of a discrete
    /// value. The axes of the event are the last ones of `value`; the others broadcast with the
    /// batch shape to the shape of the result.
    ///
    /// # Panics
    /// Panics if the shape of `value` does not fit, or if its dtype does not: distributions of
    /// floats take floats, [`Categorical`](crate::Categorical) takes integers.
    #[track_caller]
    fn log_prob(&self, value: &Array) -> Array;

    /// Computes the entropy in nats, in the batch shape.
    ///
    /// # Panics
    /// Panics if the entropy has no closed form.
    #[track_caller]
    fn entropy(&self) -> Array {
        no_closed_form(self.name(), "entropy", "-log_prob")
    }

    /// Computes the mean, in the batch shape followed by the event shape.
    ///
    /// # Panics
    /// Panics if the mean has no closed form.
    #[track_caller]
    fn mean(&self) -> Array {
        no_closed_form(self.name(), "mean", "samples")
    }

    /// Computes the value of the largest probability or density, in the batch shape followed by
    /// the event shape.
    ///
    /// # Panics
    /// Panics if the mode has no closed form.
    #[track_caller]
    fn mode(&self) -> Array {
        panic!(
            "{}.mode: the mode is not unique or has no closed form\n  help: take the mode of the \
             base distribution and apply the bijector to it, or maximize log_prob",
            self.name()
        )
    }

    /// Computes the variance of each element, in the batch shape followed by the event shape.
    ///
    /// # Panics
    /// Panics if the variance has no closed form.
    #[track_caller]
    fn variance(&self) -> Array {
        no_closed_form(self.name(), "variance", "the squared distance to the mean")
    }

    /// Computes the standard deviation of each element: the square root of the variance.
    ///
    /// # Panics
    /// Panics in the same cases as [`variance`](Distribution::variance).
    #[track_caller]
    fn stddev(&self) -> Array {
        self.variance().sqrt()
    }
}

/// Returns the last part of a type's path, without its parameters.
pub(crate) fn short_name<T>() -> &'static str {
    let path = std::any::type_name::<T>().split('<').next();
    path.and_then(|path| path.rsplit("::").next())
        .unwrap_or_default()
}

#[track_caller]
fn no_closed_form(name: &str, what: &str, of: &str) -> ! {
    panic!(
        "{name}.{what}: the {what} has no closed form\n  help: estimate it by the mean of {of} over \
         draws of `sample_and_log_prob`"
    )
}

//! Distributions of one of several categories.

use crate::Distribution;
use crate::bernoulli::Parameter;
use crate::parameters::{Values, check_value, floats, full, multiply_no_nan};
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, IntoArray, where_};
use ramie_derive::Tree;

/// The distribution of indices of categories, which are `i32`. It has neither mean nor variance.
///
/// A sample of probabilities that are negative or not finite is -1.
///
/// ```
/// use ramie_core::{Array, random};
/// use ramie_distributions::{Categorical, Distribution};
/// let policy = Categorical::from_logits(Array::from([[0.0f32, 1.0, 2.0], [3.0, 0.0, 0.0]]));
/// let action = policy.sample(&random::key(0), &[]);
/// assert_eq!(policy.log_prob(&action).shape(), [2]);
/// assert_eq!(policy.mode().to_vec::<i32>(), [2, 0]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Categorical(Parameter);

/// Converts a parameter with an axis of categories.
#[track_caller]
fn categories(parameter: &str, array: impl IntoArray) -> Array {
    let [array] = floats("Categorical", [(parameter, array.into_array())]);
    assert!(
        array.ndim() > 0,
        "Categorical: expects an axis of categories, got {parameter} {}\n  help: pass an array of at \
         least one axis; for two outcomes use `Bernoulli`",
        array.aval()
    );
    array
}

impl Categorical {
    /// Creates distributions from unnormalized log probabilities `[.., n]` of `n` categories.
    ///
    /// # Panics
    /// Panics if `logits` are not floats or 0-d.
    #[track_caller]
    pub fn from_logits(logits: impl IntoArray) -> Categorical {
        let logits = categories("logits", logits);
        Categorical(Parameter::Logits(logits.log_softmax(-1)))
    }

    /// Creates distributions from probabilities `[.., n]` of `n` categories, whose sums need not
    /// be 1.
    ///
    /// # Panics
    /// Panics if `probs` are not floats or 0-d.
    #[track_caller]
    pub fn from_probs(probs: impl IntoArray) -> Categorical {
        let probs = categories("probs", probs);
        let sum = probs.sum_over(-1).expand_dims(&[-1]);
        Categorical(Parameter::Probs(probs / sum))
    }

    /// Returns the normalized log probabilities `[.., n]`.
    pub fn logits(&self) -> Array {
        match &self.0 {
            Parameter::Logits(logits) => logits.clone(),
            Parameter::Probs(probs) => probs.log(),
        }
    }

    /// Returns the normalized probabilities `[.., n]`.
    pub fn probs(&self) -> Array {
        match &self.0 {
            Parameter::Logits(logits) => logits.softmax(-1),
            Parameter::Probs(probs) => probs.clone(),
        }
    }

    fn parameter(&self) -> &Array {
        let (Parameter::Logits(array) | Parameter::Probs(array)) = &self.0;
        array
    }

    /// Returns the number of categories.
    pub fn num_categories(&self) -> usize {
        self.parameter().shape()[self.parameter().ndim() - 1]
    }
}

/// Computes `x` times the probability of which `log_prob` is the logarithm, summed over the
/// categories. The product is zero if the probability is.
pub(crate) fn expectation(x: &Array, log_prob: &Array) -> Array {
    let probs = log_prob.exp();
    (where_(probs.eq(0), 0.0, x) * probs).sum_over(-1)
}

impl Distribution for Categorical {
    fn batch_shape(&self) -> Vec<usize> {
        let shape = self.parameter().shape();
        shape[..shape.len() - 1].to_vec()
    }
    fn dtype(&self) -> DType {
        DType::I32
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        let (logits, probs) = (self.logits(), self.probs());
        let valid = probs.is_finite().bitwise_and(probs.ge(0)).all_over(-1);
        let draws = random::Categorical::of(&logits).shape(&full(shape, self));
        where_(valid, draws.draw(key), -1)
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Integers);
        let logits = self.logits();
        let chosen = value.one_hot(self.num_categories(), logits.dtype());
        let log_prob = multiply_no_nan(&logits, &chosen).sum_over(-1);
        // An index that is out of bounds has a code of zeros.
        where_(chosen.any_over(-1), log_prob, f64::NEG_INFINITY)
    }
    fn entropy(&self) -> Array {
        let logits = self.logits();
        -expectation(&logits, &logits)
    }
    fn mode(&self) -> Array {
        self.parameter().argmax(-1)
    }
}

/// The distribution of one-hot vectors of categories, which are `i32`. Values may also be floats,
/// as those of a straight-through estimator.
///
/// ```
/// use ramie_core::Array;
/// use ramie_distributions::{Distribution, OneHotCategorical};
/// let choice = OneHotCategorical::from_probs(Array::from([0.25f32, 0.75]));
/// assert_eq!(choice.mode().to_vec::<i32>(), [0, 1]);
/// assert_eq!(choice.log_prob(&choice.mode()).item::<f32>(), 0.75f32.ln());
/// ```
#[derive(Clone, Debug, Tree)]
pub struct OneHotCategorical(Categorical);

impl OneHotCategorical {
    /// Creates distributions from unnormalized log probabilities `[.., n]` of `n` categories.
    ///
    /// # Panics
    /// Panics if `logits` are not floats or 0-d.
    #[track_caller]
    pub fn from_logits(logits: impl IntoArray) -> OneHotCategorical {
        OneHotCategorical(Categorical::from_logits(logits))
    }

    /// Creates distributions from probabilities `[.., n]` of `n` categories, whose sums need not
    /// be 1.
    ///
    /// # Panics
    /// Panics if `probs` are not floats or 0-d.
    #[track_caller]
    pub fn from_probs(probs: impl IntoArray) -> OneHotCategorical {
        OneHotCategorical(Categorical::from_probs(probs))
    }

    /// Returns the distribution of the indices of the categories.
    pub fn indices(&self) -> &Categorical {
        &self.0
    }

    fn encoded(&self, index: &Array) -> Array {
        index.one_hot(self.0.num_categories(), DType::I32)
    }
}

impl Distribution for OneHotCategorical {
    fn batch_shape(&self) -> Vec<usize> {
        self.0.batch_shape()
    }
    fn event_shape(&self) -> Vec<usize> {
        vec![self.0.num_categories()]
    }
    fn dtype(&self) -> DType {
        DType::I32
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        let index = self.0.sample(key, shape);
        let invalid = index.lt(0).expand_dims(&[-1]);
        where_(invalid, -1, self.encoded(&index))
    }
    fn log_prob(&self, value: &Array) -> Array {
        check_value(self, value, Values::Numbers);
        multiply_no_nan(&self.0.logits(), value).sum_over(-1)
    }
    fn entropy(&self) -> Array {
        self.0.entropy()
    }
    fn mode(&self) -> Array {
        self.encoded(&self.0.mode())
    }
}

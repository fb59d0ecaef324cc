//! Batches of distributions as distributions of arrays.

use crate::Distribution;
use ramie_core::random::Key;
use ramie_core::{Array, DType};
use ramie_derive::Tree;

/// A distribution whose last batch axes are axes of the event: the log probability is the sum over
/// them.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_distributions::{Distribution, Independent, Normal};
/// let normal = Normal::new(Array::zeros(&[8, 3], DType::F32), 1.0);
/// let vectors = Independent::new(normal, 1);
/// assert_eq!((vectors.batch_shape(), vectors.event_shape()), (vec![8], vec![3]));
/// assert_eq!(vectors.entropy().shape(), [8]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Independent<D> {
    /// The batch of distributions.
    pub distribution: D,
    #[tree(fixed)]
    reinterpreted_batch_ndims: usize,
}

impl<D: Distribution> Independent<D> {
    /// Creates a distribution with the last `reinterpreted_batch_ndims` batch axes in the event.
    ///
    /// # Panics
    /// Panics if `distribution` has fewer batch axes.
    #[track_caller]
    pub fn new(distribution: D, reinterpreted_batch_ndims: usize) -> Independent<D> {
        let batch = distribution.batch_shape();
        assert!(
            reinterpreted_batch_ndims <= batch.len(),
            "Independent: cannot move {reinterpreted_batch_ndims} batch axes into the event, {} has \
             the batch shape {batch:?}\n  help: pass at most {}, or parameters with more axes",
            distribution.name(),
            batch.len()
        );
        Independent {
            distribution,
            reinterpreted_batch_ndims,
        }
    }

    fn batch_ndim(&self) -> usize {
        self.distribution.batch_shape().len() - self.reinterpreted_batch_ndims
    }

    /// Sums an array in the batch shape of the inner distribution over the axes of the event.
    pub(crate) fn sum(&self, array: &Array) -> Array {
        sum_last(array, self.reinterpreted_batch_ndims)
    }
}

/// Sums over the last `ndims` axes.
pub(crate) fn sum_last(array: &Array, ndims: usize) -> Array {
    let axes: Vec<isize> = (1..=ndims as isize).map(|axis| -axis).collect();
    array.sum_over(&axes)
}

impl<D: Distribution> Distribution for Independent<D> {
    fn batch_shape(&self) -> Vec<usize> {
        self.distribution.batch_shape()[..self.batch_ndim()].to_vec()
    }
    fn event_shape(&self) -> Vec<usize> {
        let moved = &self.distribution.batch_shape()[self.batch_ndim()..];
        [moved, &self.distribution.event_shape()].concat()
    }
    fn dtype(&self) -> DType {
        self.distribution.dtype()
    }
    fn sample(&self, key: &Key, shape: &[usize]) -> Array {
        self.distribution.sample(key, shape)
    }
    fn sample_and_log_prob(&self, key: &Key, shape: &[usize]) -> (Array, Array) {
        let (sample, log_prob) = self.distribution.sample_and_log_prob(key, shape);
        (sample, self.sum(&log_prob))
    }
    fn log_prob(&self, value: &Array) -> Array {
        self.sum(&self.distribution.log_prob(value))
    }
    fn entropy(&self) -> Array {
        self.sum(&self.distribution.entropy())
    }
    fn mean(&self) -> Array {
        self.distribution.mean()
    }
    fn mode(&self) -> Array {
        self.distribution.mode()
    }
    fn variance(&self) -> Array {
        self.distribution.variance()
    }
    fn stddev(&self) -> Array {
        self.distribution.stddev()
    }
}

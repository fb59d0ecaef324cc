//! `Welford`: mean and variance in one pass.

use super::{Metric, MetricArgs, MetricState, masked};
use crate::wide::wide;
use ramie_core::lax::psum;
use ramie_core::options::Reduction;
use ramie_core::typing::AxisNames;
use ramie_core::{Array, DType, where_};
use ramie_derive::Tree;

/// The result of [`Welford`].
#[derive(Clone, Debug, Tree)]
pub struct Statistics {
    /// The mean.
    pub mean: Array,
    /// The standard deviation divided by the square root of the number of values.
    pub standard_error_of_mean: Array,
    /// The standard deviation.
    pub standard_deviation: Array,
}

/// The mean and standard deviation of all values so far, computed by Welford's method
/// (`nnx.metrics.Welford`).
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::metrics::{Metric, Welford};
/// let mut statistics = Welford::new();
/// statistics.update(&(&Array::from([1.0f32, 3.0])).into());
/// assert_eq!(statistics.compute().mean.item::<f32>(), 2.0);
/// assert_eq!(statistics.compute().standard_deviation.item::<f32>(), 1.0);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Welford {
    /// The name of the `update` argument to use.
    #[tree(fixed)]
    pub argname: String,
    /// Number of values, 0-d `i32`.
    pub count: MetricState,
    /// The mean of the values, 0-d `f32`.
    pub mean: MetricState,
    /// The sum of squared distances from the mean, 0-d `f32`.
    pub m2: MetricState,
}

impl Default for Welford {
    fn default() -> Self {
        Welford::new()
    }
}

impl Welford {
    /// Creates the statistics of the argument `values`.
    pub fn new() -> Welford {
        Welford::of("values")
    }

    /// Creates the statistics of the argument of this name.
    pub fn of(argname: &str) -> Welford {
        let zero = || MetricState::new(Array::scalar(0.0, DType::F32));
        Welford {
            argname: argname.to_owned(),
            count: MetricState::new(Array::scalar(0, DType::I32)),
            mean: zero(),
            m2: zero(),
        }
    }
}

impl Metric for Welford {
    type Value = Statistics;

    fn update(&mut self, args: &MetricArgs) {
        let values = args.expect("Welford", &self.argname);
        let values = if values.dtype().is_float() {
            wide(values).into_owned()
        } else {
            values.astype(DType::F32)
        };
        let mut values = values;
        let (n, over) = match args.get("mask") {
            None => (
                Array::scalar(values.size() as i32, DType::I32),
                Reduction::all(),
            ),
            Some(mask_given) => {
                let mask;
                [mask, values] = masked("Welford", mask_given, &values);
                let n = mask.count_nonzero().astype(DType::I32);
                (n, Reduction::all().mask(&mask))
            }
        };
        let before = self.count.value().clone();
        let count = &before + &n;
        // The mean of no values is NaN.
        let some = n.gt(0);
        let known = |x: Array| where_(&some, x, 0);
        let delta = known(values.mean_over(&over) - &*self.mean);
        let divisor = count.maximum(1);
        self.mean.set(&*self.mean + &delta * &n / &divisor);
        let within = known(values.var_over(&over)) * &n;
        let between = &delta * &delta * &n * &before / divisor;
        self.m2.set(&*self.m2 + (within + between));
        self.count.set(count);
    }

    fn compute(&self) -> Statistics {
        let variance = &*self.m2 / &*self.count;
        let deviation = variance.sqrt();
        Statistics {
            mean: self.mean.value().clone(),
            standard_error_of_mean: &deviation / self.count.astype(DType::F32).sqrt(),
            standard_deviation: deviation,
        }
    }

    fn reset(&mut self) {
        *self = Welford::of(&self.argname);
    }

    fn reduce(&mut self, axes: &AxisNames) {
        let sum = |a: Array| psum(&a, axes.clone());
        let count = sum(self.count.value().clone());
        // Avoid dividing by zero before the first value.
        let divisor = count.maximum(1);
        let mean = sum(&*self.mean * &*self.count) / divisor;
        let off = &*self.mean - &mean;
        let m2 = sum(&*self.m2 + off.square() * &*self.count);
        self.count.set(count);
        self.mean.set(mean);
        self.m2.set(m2);
    }
}

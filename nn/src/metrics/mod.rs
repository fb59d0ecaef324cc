//! Metrics that accumulate over batches (`nnx.metrics`): averages, accuracy and statistics.
//!
//! A metric is a pytree and its state consists of variables, so that a compiled train step can
//! contain and update it.
//!
//! ```
//! use ramie_core::Array;
//! use ramie_nn::metrics::{Accuracy, Average, Metric, MetricArgs, MultiMetric};
//! let mut metrics = MultiMetric::new()
//!     .with("accuracy", Accuracy::new())
//!     .with("loss", Average::of("loss"));
//! let logits = Array::from([1.0f32, 0.0, 0.0, 1.0]).reshape(&[2, 2]);
//! let labels = Array::from([0, 0]);
//! let args = MetricArgs::new().logits(&logits).labels(&labels);
//! metrics.update(&args.with("loss", &Array::from([0.5f32, 1.5])));
//! let values = metrics.compute();
//! assert_eq!(values["accuracy"].item::<f32>(), 0.5);
//! assert_eq!(values["loss"].item::<f32>(), 1.0);
//! ```

mod average;
mod multi;
mod welford;

pub use average::{Accuracy, Average};
pub use multi::MultiMetric;
pub use welford::{Statistics, Welford};

use crate::variables;
use ramie_core::numpy::broadcast_shapes;
use ramie_core::typing::AxisNames;
use ramie_core::{Array, Tree};
use std::collections::BTreeMap;

variables! {
    /// The accumulated state of a metric (`nnx.metrics.MetricState`).
    MetricState = "metric_state";
}

/// A metric that accumulates over batches.
pub trait Metric: Tree {
    /// The type of the metric's value.
    type Value: Tree;

    /// Updates the metric with a batch.
    ///
    /// # Panics
    /// Panics if an argument that the metric requires is missing or has a wrong shape.
    #[track_caller]
    fn update(&mut self, args: &MetricArgs);

    /// Computes the value over all batches so far.
    fn compute(&self) -> Self::Value;

    /// Resets the metric to its initial state.
    fn reset(&mut self);

    /// Combines the state of all devices along mesh axes, or of all batch elements along a
    /// mapped axis. Afterwards each of them has the total.
    #[track_caller]
    fn reduce(&mut self, axes: &AxisNames);
}

/// The arguments of an update: arrays by name. Each metric uses those that it knows.
#[derive(Clone, Debug, Default)]
pub struct MetricArgs {
    arrays: BTreeMap<String, Array>,
}

impl MetricArgs {
    /// Creates an empty set of arguments.
    pub fn new() -> MetricArgs {
        MetricArgs::default()
    }

    /// Adds an array under a name.
    #[must_use]
    pub fn with(mut self, name: &str, array: &Array) -> MetricArgs {
        self.arrays.insert(name.to_owned(), array.clone());
        self
    }

    /// Sets the values for averages and statistics.
    #[must_use]
    pub fn values(self, values: &Array) -> MetricArgs {
        self.with("values", values)
    }

    /// Sets the scores of all classes, or of the positive class.
    #[must_use]
    pub fn logits(self, logits: &Array) -> MetricArgs {
        self.with("logits", logits)
    }

    /// Sets the correct classes, which are integers.
    #[must_use]
    pub fn labels(self, labels: &Array) -> MetricArgs {
        self.with("labels", labels)
    }

    /// Sets the mask of elements to include: booleans, or numbers that are not 0 for these. The
    /// mask and the values broadcast together.
    #[must_use]
    pub fn mask(self, mask: &Array) -> MetricArgs {
        self.with("mask", mask)
    }

    /// Returns the array under a name, if present.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.arrays.get(name)
    }

    /// Returns the array under a name, which a metric requires.
    ///
    /// # Panics
    /// Panics if there is no such array.
    #[track_caller]
    pub fn expect(&self, metric: &str, name: &str) -> &Array {
        self.get(name).unwrap_or_else(|| {
            let there: Vec<&str> = self.arrays.keys().map(String::as_str).collect();
            panic!(
                "{metric}::update: the argument `{name}` is missing; existing arguments: {}\n  \
                 help: pass it: MetricArgs::new().with(\"{name}\", &array)",
                there.join(", ")
            )
        })
    }
}

/// Returns a mask as booleans and the values that it selects from, broadcast together.
#[track_caller]
fn masked(metric: &str, mask: &Array, values: &Array) -> [Array; 2] {
    let Some(shape) = broadcast_shapes(&[mask.shape(), values.shape()]) else {
        panic!(
            "{metric}::update: the mask is {}, which does not broadcast with the values {}\n  help: \
             pass a mask with the axes of the values; use expand_dims to add axes of size 1",
            mask.aval(),
            values.aval()
        )
    };
    [mask.ne(0).broadcast_to(&shape), values.broadcast_to(&shape)]
}

/// Converts one array to the argument `values`.
impl From<&Array> for MetricArgs {
    fn from(values: &Array) -> MetricArgs {
        MetricArgs::new().values(values)
    }
}

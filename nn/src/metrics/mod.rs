//! Metrics that gather over batches (`nnx.metrics`): averages, accuracy,
//! statistics.
//!
//! A metric is a tree and its state are variables, so that a compiled train step
//! can hold it and update it.
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
use ramie_core::{Array, AxisNames, Tree};
use std::collections::BTreeMap;

variables! {
    /// What a metric has gathered (`nnx.metrics.MetricState`).
    MetricState = "metric_state";
}

/// A value gathered over batches.
pub trait Metric: Tree {
    /// What it gives.
    type Value: Tree;

    /// Takes a batch in.
    ///
    /// # Panics
    /// If an argument that the metric reads is missing, or has a wrong shape.
    #[track_caller]
    fn update(&mut self, args: &MetricArgs);

    /// The value over all that was taken in.
    fn compute(&self) -> Self::Value;

    /// Forgets what was taken in.
    fn reset(&mut self);

    /// Joins what each device along axes of a mesh, or each example of a mapped
    /// axis, has taken in: afterwards all have the whole.
    #[track_caller]
    fn reduce(&mut self, axes: &AxisNames);
}

/// What metrics are updated with: arrays by name. Each metric takes those that
/// it knows.
#[derive(Clone, Debug, Default)]
pub struct MetricArgs {
    arrays: BTreeMap<String, Array>,
}

impl MetricArgs {
    /// Nothing yet.
    pub fn new() -> MetricArgs {
        MetricArgs::default()
    }

    /// Adds an array under a name.
    #[must_use]
    pub fn with(mut self, name: &str, array: &Array) -> MetricArgs {
        self.arrays.insert(name.to_owned(), array.clone());
        self
    }

    /// The values that averages and statistics are of.
    #[must_use]
    pub fn values(self, values: &Array) -> MetricArgs {
        self.with("values", values)
    }

    /// Scores of the classes, or of the positive class.
    #[must_use]
    pub fn logits(self, logits: &Array) -> MetricArgs {
        self.with("logits", logits)
    }

    /// The right classes, integers.
    #[must_use]
    pub fn labels(self, labels: &Array) -> MetricArgs {
        self.with("labels", labels)
    }

    /// Which elements count: ones and zeros, or booleans.
    #[must_use]
    pub fn mask(self, mask: &Array) -> MetricArgs {
        self.with("mask", mask)
    }

    /// The array under a name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.arrays.get(name)
    }

    /// The array under a name, which a metric needs.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn expect(&self, metric: &str, name: &str) -> &Array {
        self.get(name).unwrap_or_else(|| {
            let there: Vec<&str> = self.arrays.keys().map(String::as_str).collect();
            panic!(
                "{metric}::update: there is no argument `{name}`, there are: {}\n  help: give it: \
                 MetricArgs::new().with(\"{name}\", &array)",
                there.join(", ")
            )
        })
    }
}

/// One array as `values`.
impl From<&Array> for MetricArgs {
    fn from(values: &Array) -> MetricArgs {
        MetricArgs::new().values(values)
    }
}

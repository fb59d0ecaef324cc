//! `Average` and `Accuracy`.

use super::{Metric, MetricArgs, MetricState, masked};
use crate::wide::wide;
use ramie_core::lax::psum;
use ramie_core::typing::AxisNames;
use ramie_core::{Array, DType, where_};
use ramie_derive::Tree;

/// The mean of all values so far (`nnx.metrics.Average`). It is NaN before the first value.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::metrics::{Average, Metric};
/// let mut loss = Average::new();
/// loss.update(&(&Array::from([1.0f32, 2.0, 3.0, 4.0])).into());
/// loss.update(&(&Array::from([3.0f32, 2.0, 1.0, 0.0])).into());
/// assert_eq!(loss.compute().item::<f32>(), 2.0);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Average {
    /// The name of the `update` argument to average.
    #[tree(fixed)]
    pub argname: String,
    /// The sum of the values, 0-d `f32`.
    pub total: MetricState,
    /// Number of values, 0-d `i32`.
    pub count: MetricState,
}

impl Default for Average {
    fn default() -> Self {
        Average::new()
    }
}

impl Average {
    /// Creates an average of the argument `values`.
    pub fn new() -> Average {
        Average::of("values")
    }

    /// Creates an average of the argument of this name.
    pub fn of(argname: &str) -> Average {
        Average {
            argname: argname.to_owned(),
            total: MetricState::new(Array::scalar(0.0, DType::F32)),
            count: MetricState::new(Array::scalar(0, DType::I32)),
        }
    }

    #[track_caller]
    fn add(&mut self, values: &Array, mask: Option<&Array>) {
        let values = match values.dtype() {
            DType::Bool => values.astype(DType::I32),
            _ => wide(values).into_owned(),
        };
        match mask {
            None => {
                self.total.set(&*self.total + values.sum());
                self.count.set(&*self.count + values.size() as i32);
            }
            Some(mask) => {
                let [mask, values] = masked("Average", mask, &values);
                let kept = where_(&mask, values, 0);
                self.total.set(&*self.total + kept.sum());
                self.count
                    .set(&*self.count + mask.count_nonzero().astype(DType::I32));
            }
        }
    }
}

impl Metric for Average {
    type Value = Array;

    fn update(&mut self, args: &MetricArgs) {
        let values = args.expect("Average", &self.argname);
        self.add(values, args.get("mask"));
    }

    fn compute(&self) -> Array {
        &*self.total / &*self.count
    }

    fn reset(&mut self) {
        *self = Average::of(&self.argname);
    }

    fn reduce(&mut self, axes: &AxisNames) {
        self.total.set(psum(&*self.total, axes.clone()));
        self.count.set(psum(&*self.count, axes.clone()));
    }
}

/// The fraction of correct predictions (`nnx.metrics.Accuracy`), from the arguments `logits`
/// and `labels`.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::metrics::{Accuracy, Metric, MetricArgs};
/// let mut accuracy = Accuracy::with_threshold(0.5);
/// let (logits, labels) = (Array::from([0.9f32, 0.2, 0.7]), Array::from([1, 1, 1]));
/// accuracy.update(&MetricArgs::new().logits(&logits).labels(&labels));
/// assert_eq!(accuracy.compute().item::<f32>(), 2.0 / 3.0);
/// ```
#[derive(Clone, Debug, Default, Tree)]
pub struct Accuracy {
    /// For two classes, the score from which the prediction is positive. `None` for many
    /// classes, of which the one with the highest score is predicted.
    #[tree(fixed)]
    pub threshold: Option<f64>,
    /// The average of the correct predictions.
    pub average: Average,
}

impl Accuracy {
    /// Creates the accuracy for scores of many classes along the last axis.
    pub fn new() -> Accuracy {
        Accuracy::default()
    }

    /// Creates the accuracy for two classes. Scores of at least `threshold` are positive.
    pub fn with_threshold(threshold: f64) -> Accuracy {
        Accuracy {
            threshold: Some(threshold),
            ..Accuracy::default()
        }
    }
}

impl Metric for Accuracy {
    type Value = Array;

    fn update(&mut self, args: &MetricArgs) {
        let logits = args.expect("Accuracy", "logits");
        let labels = args.expect("Accuracy", "labels");
        let scores = usize::from(self.threshold.is_none());
        assert!(
            logits.ndim() == labels.ndim() + scores,
            "Accuracy::update: the logits are {}, the labels {}; expected {}\n  help: {}",
            logits.aval(),
            labels.aval(),
            match scores {
                0 => "one logit for each label",
                _ => "a class axis after the axes of the labels",
            },
            match scores {
                0 => "for many classes, omit the threshold: Accuracy::new()",
                _ => "for two classes, set a threshold: Accuracy::with_threshold(0.5)",
            }
        );
        assert!(
            labels.dtype().is_integer(),
            "Accuracy::update: the labels are {}, expected integers\n  help: pass class indices; \
             convert whole numbers with astype(DType::I32)",
            labels.aval()
        );
        let right = match self.threshold {
            Some(threshold) => wide(logits).ge(threshold).eq(labels.gt(0)),
            None => logits
                .argmax(-1)
                .astype(DType::I32)
                .eq(labels.astype(DType::I32)),
        };
        self.average.add(&right, args.get("mask"));
    }

    fn compute(&self) -> Array {
        self.average.compute()
    }

    fn reset(&mut self) {
        self.average.reset();
    }

    fn reduce(&mut self, axes: &AxisNames) {
        self.average.reduce(axes);
    }
}

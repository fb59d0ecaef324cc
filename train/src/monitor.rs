//! Metrics that a run observes: early stopping, and the best state.

use crate::number::Number;
use crate::{Error, History, Result};
use serde::{Deserialize, Serialize};

/// A metric whose best value is wanted: the smallest or the largest.
///
/// ```
/// use ramie_train::Monitor;
/// assert_eq!(Monitor::min("val_loss").name(), "val_loss");
/// assert!(Monitor::max("val_accuracy").is_better(0.9, 0.8));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    name: String,
    max: bool,
}

impl Monitor {
    /// Observes a metric that should become small, such as `val_loss`.
    pub fn min(name: impl Into<String>) -> Monitor {
        Monitor {
            name: name.into(),
            max: false,
        }
    }

    /// Observes a metric that should become large, such as `val_accuracy`.
    pub fn max(name: impl Into<String>) -> Monitor {
        Monitor {
            name: name.into(),
            max: true,
        }
    }

    /// Returns the name of the metric.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether a value is better than another. NaN is never better.
    pub fn is_better(&self, value: f64, than: f64) -> bool {
        if self.max { value > than } else { value < than }
    }
}

/// Stops a run when a metric has not improved for a number of evaluations
/// (`flax.training.early_stopping.EarlyStopping`).
///
/// A trainer takes it as a setting ([`Trainer::early_stopping`](crate::Trainer::early_stopping)). A
/// loop of your own calls [`update`](EarlyStopping::update):
///
/// ```
/// use ramie_train::{EarlyStopping, Monitor};
/// let mut stopping = EarlyStopping::new(Monitor::min("val_loss")).patience(2).min_delta(1e-3);
/// let losses = [4.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0];
/// let end = losses.iter().position(|loss| stopping.update(*loss));
/// assert_eq!((end, stopping.best()), (Some(7), Some(2.0)));
/// ```
#[derive(Clone, Debug)]
pub struct EarlyStopping {
    pub(crate) monitor: Monitor,
    patience: usize,
    min_delta: f64,
    pub(crate) observed: Observed,
}

impl EarlyStopping {
    /// Stops at the first evaluation that does not improve the metric.
    pub fn new(monitor: Monitor) -> EarlyStopping {
        EarlyStopping {
            monitor,
            patience: 0,
            min_delta: 0.0,
            observed: Observed::default(),
        }
    }

    /// Sets the number of consecutive evaluations without improvement that are tolerated.
    #[must_use]
    pub fn patience(mut self, evaluations: usize) -> EarlyStopping {
        self.patience = evaluations;
        self
    }

    /// Sets the smallest change of the metric that counts as an improvement. Defaults to 0.
    #[must_use]
    pub fn min_delta(mut self, change: f64) -> EarlyStopping {
        self.min_delta = change.abs();
        self
    }

    /// Notes the value of another evaluation. Returns whether to stop. NaN is no improvement, also
    /// as the first value.
    pub fn update(&mut self, value: f64) -> bool {
        self.observed.note(&self.monitor, self.min_delta, value);
        self.observed.since > self.patience
    }

    /// Returns the best value so far, `None` before a value that is not NaN.
    pub fn best(&self) -> Option<f64> {
        self.observed.best.map(|best| best.0)
    }

    /// Returns whether the last value was the best so far, for example to save the state.
    pub fn has_improved(&self) -> bool {
        self.observed.best.is_some() && self.observed.since == 0
    }

    /// Notes the last value of the metric, if it is new. Returns whether the run should stop.
    pub(crate) fn observe(&mut self, history: &History) -> Result<bool> {
        match self.observed.news(&self.monitor, history)? {
            Some(value) => Ok(self.update(value)),
            None => Ok(false),
        }
    }
}

/// The progress of an observed metric, which is saved with checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Observed {
    /// The best value so far.
    best: Option<Number>,
    /// Evaluations since then.
    since: usize,
    /// The step of the last value.
    step: Option<u64>,
}

impl Observed {
    /// Notes the last value of the metric, if it is new. Returns whether it is the best so far.
    pub fn update(&mut self, monitor: &Monitor, history: &History) -> Result<bool> {
        let value = self.news(monitor, history)?;
        Ok(value.is_some_and(|value| self.note(monitor, 0.0, value)))
    }

    /// Returns the last value of the metric, if it is new.
    fn news(&mut self, monitor: &Monitor, history: &History) -> Result<Option<f64>> {
        let Some(&(step, value)) = history.get(&monitor.name).last() else {
            // The first mean over an epoch exists at its end.
            let of_steps = monitor.name.strip_prefix("epoch_");
            if of_steps.is_some_and(|name| !history.get(name).is_empty()) {
                return Ok(None);
            }
            return Err(Error::UnknownMetric {
                name: monitor.name.clone(),
                known: history.names().map(str::to_owned).collect(),
            });
        };
        Ok((self.step.replace(step) != Some(step)).then_some(value))
    }

    /// Notes a value. Returns whether it is the best so far.
    fn note(&mut self, monitor: &Monitor, min_delta: f64, value: f64) -> bool {
        let margin = if monitor.max { -min_delta } else { min_delta };
        let improved = match self.best {
            Some(Number(best)) => monitor.is_better(value + margin, best),
            None => !value.is_nan(),
        };
        self.since += 1;
        if improved {
            (self.best, self.since) = (Some(Number(value)), 0);
        }
        improved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(stopping: &EarlyStopping, values: &[f64]) -> Option<usize> {
        let (mut run, mut alone) = (stopping.clone(), stopping.clone());
        let mut history = History::default();
        (1..).zip(values).position(|(step, value)| {
            history.record(step, "x", *value);
            let stops = run.observe(&history).unwrap();
            assert_eq!(alone.update(*value), stops, "step {step}");
            assert_eq!(alone.has_improved(), run.has_improved());
            stops
        })
    }

    #[test]
    fn a_run_stops_after_evaluations_without_improvement() {
        let min = EarlyStopping::new(Monitor::min("x"));
        assert_eq!(stops(&min, &[3.0, 2.0, 2.0]), Some(2));
        assert_eq!(
            stops(&min.clone().patience(1), &[3.0, 2.0, 2.0, 1.0, 1.5, 1.0]),
            Some(5)
        );
        let max = EarlyStopping::new(Monitor::max("x")).min_delta(0.5);
        assert_eq!(stops(&max, &[1.0, 2.0, 2.4]), Some(2));
        assert_eq!(stops(&max, &[1.0, 2.0, 2.6]), None);
        assert_eq!(stops(&min, &[f64::NAN, 1.0]), Some(0));
    }

    /// Flax keeps a first NaN as the best value, than which none is better.
    #[test]
    fn nan_is_never_the_best_value() {
        let mut stopping = EarlyStopping::new(Monitor::min("x")).patience(5);
        assert!(!stopping.update(f64::NAN));
        assert_eq!((stopping.best(), stopping.has_improved()), (None, false));
        assert!(!stopping.update(2.0));
        assert_eq!(
            (stopping.best(), stopping.has_improved()),
            (Some(2.0), true)
        );
        assert!(!stopping.update(f64::NAN));
        assert_eq!(
            (stopping.best(), stopping.has_improved()),
            (Some(2.0), false)
        );
    }

    #[test]
    fn a_value_is_observed_once() {
        let mut stopping = EarlyStopping::new(Monitor::min("epoch_loss"));
        let mut history = History::default();
        let mut stops = |history: &History| stopping.observe(history).unwrap();
        history.record(1, "loss", 2.0);
        assert!(!stops(&history), "the first epoch has not ended");
        history.record(6, "epoch_loss", 2.0);
        assert!(!stops(&history));
        assert!(!stops(&history), "no new value");
        history.record(12, "epoch_loss", 2.0);
        assert!(stops(&history));
    }

    #[test]
    fn unknown_metrics_are_errors_with_the_known_ones() {
        let mut history = History::default();
        history.record(1, "loss", 1.0);
        let error = Observed::default().update(&Monitor::min("val_los"), &history);
        assert_eq!(
            error.unwrap_err().to_string(),
            "there is no metric `val_los` to observe; existing metrics: loss\n  help: use one of these names"
        );
    }
}

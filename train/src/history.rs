//! The metrics of a run by step.

use crate::number::Number;
use crate::{Error, Result};
use ramie_core::files::{self, WithHelp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Name of the file of metrics in the folder of a run.
pub(crate) const FILE: &str = "metrics.jsonl";

/// The metrics of a run: by name, the steps with their values.
///
/// [`Trainer::fit`](crate::Trainer::fit) returns it. Metrics of training steps have the names that
/// [`Trainer::metrics`](crate::Trainer::metrics) sets, their means over an epoch start with
/// `epoch_`, and those of validations with `val_`. These means are weighted by the numbers of rows of
/// the batches, so a smaller last batch counts less. Steps count from 1.
///
/// ```
/// use ramie_train::History;
/// let mut history = History::default();
/// history.record(1, "loss", 0.5);
/// history.record(2, "loss", 0.25);
/// assert_eq!(history.get("loss"), [(1, 0.5), (2, 0.25)]);
/// assert_eq!(history.last("loss"), Some(0.25));
/// assert_eq!(history.min("loss"), Some((2, 0.25)));
/// ```
///
/// `serde` writes it as a map from names to lists of pairs. Numbers that are not finite, which JSON
/// cannot represent, are the strings `NaN`, `Infinity` and `-Infinity`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Data", into = "Data")]
pub struct History {
    metrics: BTreeMap<String, Vec<(u64, f64)>>,
}

type Data = BTreeMap<String, Vec<(u64, Number)>>;

impl From<Data> for History {
    fn from(data: Data) -> History {
        let numbers =
            |values: Vec<(u64, Number)>| values.into_iter().map(|(s, v)| (s, v.0)).collect();
        let metrics = data
            .into_iter()
            .map(|(name, values)| (name, numbers(values)));
        History {
            metrics: metrics.collect(),
        }
    }
}

impl From<History> for Data {
    fn from(history: History) -> Data {
        let numbers =
            |values: Vec<(u64, f64)>| values.into_iter().map(|(s, v)| (s, Number(v))).collect();
        let metrics = history.metrics.into_iter();
        metrics
            .map(|(name, values)| (name, numbers(values)))
            .collect()
    }
}

impl History {
    /// Reads the metrics of a run from its folder.
    ///
    /// # Errors
    /// Returns an error if the folder contains no `metrics.jsonl`, or if a line of it is invalid.
    /// A truncated last line, which a killed run leaves, is ignored.
    pub fn read(folder: impl AsRef<Path>) -> Result<History> {
        let path = folder.as_ref().join(FILE);
        let error = |message: String| Error::History {
            path: path.clone(),
            message,
        };
        let text = fs::read_to_string(&path).map_err(|e| {
            let e = WithHelp(&e);
            error(format!("the metrics of the run cannot be read: {e}"))
        })?;
        let mut history = History::default();
        for (number, line) in text.lines().enumerate() {
            match serde_json::from_str::<Value>(line) {
                Ok(row) => history.add_row(&row),
                Err(_) if number + 1 == text.lines().count() => {}
                Err(e) => {
                    let message = format!("line {} is invalid: {e}", number + 1);
                    return Err(error(format!("{message}\n  help: remove this line")));
                }
            }
        }
        Ok(history)
    }

    fn add_row(&mut self, row: &Value) {
        let Some(step) = row["step"].as_u64() else {
            return;
        };
        for (name, value) in row.as_object().into_iter().flatten() {
            if let Some(Number(value)) = Number::read(value).filter(|_| name != "step") {
                self.record(step, name, value);
            }
        }
    }

    /// Adds a value. Values of one metric must be added in the order of their steps.
    pub fn record(&mut self, step: u64, name: &str, value: f64) {
        match self.metrics.get_mut(name) {
            Some(values) => values.push((step, value)),
            None => {
                self.metrics.insert(name.to_owned(), vec![(step, value)]);
            }
        }
    }

    /// Removes the values of all steps after this one.
    pub(crate) fn truncate(&mut self, step: u64) {
        for values in self.metrics.values_mut() {
            values.truncate(values.partition_point(|(s, _)| *s <= step));
        }
    }

    /// Returns the names of the metrics, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.metrics.keys().map(String::as_str)
    }

    /// Returns the steps and values of a metric, empty if there are none.
    pub fn get(&self, name: &str) -> &[(u64, f64)] {
        self.metrics.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the last value of a metric.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.get(name).last().map(|(_, value)| *value)
    }

    /// Returns the step of the smallest value of a metric, and the value.
    pub fn min(&self, name: &str) -> Option<(u64, f64)> {
        let values = self.get(name).iter().copied();
        values.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Returns the step of the largest value of a metric, and the value.
    pub fn max(&self, name: &str) -> Option<(u64, f64)> {
        let values = self.get(name).iter().copied();
        values.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Prints the last value of each metric with its minimum and maximum.
impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.names().map(str::len).max().unwrap_or(0).max(6);
        write!(
            f,
            "{:width$}  {:>10}  {:>10}  {:>10}",
            "metric", "last", "min", "max"
        )?;
        for name in self.names() {
            let [last, min, max] = [
                self.last(name),
                self.min(name).map(|m| m.1),
                self.max(name).map(|m| m.1),
            ]
            .map(Option::unwrap_or_default);
            write!(f, "\n{name:width$}  {last:>10.4}  {min:>10.4}  {max:>10.4}")?;
        }
        Ok(())
    }
}

/// Removes the lines of steps after this one from the file of metrics, and truncated lines.
pub(crate) fn cut_after(path: &Path, step: u64) -> Result {
    let error = |e: std::io::Error| Error::History {
        path: path.to_owned(),
        message: format!(
            "the metrics after step {step}, which are computed again, cannot be removed: {}",
            WithHelp(&e)
        ),
    };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(error(e)),
    };
    let is_kept = |line: &&str| {
        let row = serde_json::from_str::<Value>(line).ok();
        row.and_then(|row| row["step"].as_u64())
            .is_some_and(|s| s <= step)
    };
    let kept: String = text
        .lines()
        .filter(is_kept)
        .flat_map(|line| [line, "\n"])
        .collect();
    files::replace(path, kept.as_bytes()).map_err(error)
}

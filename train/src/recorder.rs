//! The metrics of a run on their way from the device to its files.

use crate::folder::EVENTS;
use crate::history::{self, History};
use crate::names::metric_names;
use crate::writers::{JsonLinesWriter, MetricWriter, MultiWriter, TensorBoardWriter};
use crate::{Error, Result};
use ramie_core::distributed::process_index;
use ramie_core::{Array, DType, Tree, tree};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Delay, in calls, before metrics are read. They are computed by then, so reading them does not
/// block the program, which runs ahead of the device.
const LATER: usize = 10;

pub(crate) struct Recorder {
    /// Names that the user has set, if any.
    given: Vec<String>,
    names: Arc<[String]>,
    /// Metrics that are still being computed.
    coming: VecDeque<Coming>,
    writer: Option<MultiWriter>,
    allow_non_finite: bool,
    pub history: History,
    /// Sums of the metrics of the current epoch, weighted by rows, and the number of rows.
    pub sums: Vec<f64>,
    pub rows: u64,
}

/// The metrics of a call.
struct Coming {
    /// The last step of the call.
    last: u64,
    /// The number of rows of each step's batch.
    rows: u64,
    leaves: Vec<Array>,
}

impl Recorder {
    /// Opens the files of metrics in a folder. A resumed run continues them after a step.
    pub fn open(
        given: Vec<String>,
        allow_non_finite: bool,
        folder: Option<&Path>,
        after: Option<u64>,
    ) -> Result<Recorder> {
        let mut history = History::default();
        let mut writer = None;
        // The interrupted run may have written metrics of steps that this run computes again.
        if let (Some(folder), Some(step)) = (folder, after)
            && folder.join(history::FILE).exists()
        {
            history = History::read(folder)?;
            history.truncate(step);
        }
        // Only one process writes.
        if let Some(folder) = folder.filter(|_| process_index() == 0) {
            let (lines, events) = (folder.join(history::FILE), folder.join(EVENTS));
            let lines = match after {
                Some(step) => {
                    history::cut_after(&lines, step)?;
                    JsonLinesWriter::append(lines)?
                }
                None => JsonLinesWriter::create(lines)?,
            };
            let events = TensorBoardWriter::create(events)?;
            writer = Some(MultiWriter::new().with(lines).with(events));
        }
        Ok(Recorder {
            given,
            names: Arc::from([]),
            coming: VecDeque::new(),
            writer,
            allow_non_finite,
            history,
            sums: Vec::new(),
            rows: 0,
        })
    }

    /// Takes the result of a call, before which `before` steps were completed and whose batches have
    /// `rows` rows each. Returns the number of its steps.
    ///
    /// # Panics
    /// Panics if the metrics are not scalars, or not one value per step of a call that runs several.
    pub fn call<R: Tree>(
        &mut self,
        before: u64,
        result: &R,
        stacked: bool,
        rows: usize,
    ) -> Result<u64> {
        if self.names.is_empty() {
            self.names = metric_names(result, &self.given);
        }
        let leaves = tree::leaves(result);
        let count = if stacked { leaves[0].size() } else { 1 };
        check_scalars(&self.names, &leaves, usize::from(stacked));
        self.coming.push_back(Coming {
            last: before + count as u64,
            rows: rows as u64,
            leaves,
        });
        self.read(LATER)?;
        Ok(count as u64)
    }

    /// Reads and writes all metrics except those of the last `left` calls.
    pub fn read(&mut self, left: usize) -> Result {
        while self.coming.len() > left {
            let Coming { last, rows, leaves } = self.coming.pop_front().expect("more than `left`");
            let values: Vec<Vec<f64>> = leaves.iter().map(numbers).collect();
            self.sums.resize(values.len(), 0.0);
            let count = values[0].len() as u64;
            for i in 0..count {
                // The call ran the steps `last - count + 1` to `last`.
                let step = last + 1 + i - count;
                let names = Arc::clone(&self.names);
                for (n, name) in names.iter().enumerate() {
                    let value = values[n][i as usize];
                    self.sums[n] += rows as f64 * value;
                    if n == 0 {
                        self.check_loss(step, name, value)?;
                    }
                    self.write(step, name, value)?;
                }
                self.rows += rows;
            }
        }
        Ok(())
    }

    /// Checks that a loss is finite.
    pub fn check_loss(&self, step: u64, name: &str, value: f64) -> Result {
        if value.is_finite() || self.allow_non_finite {
            Ok(())
        } else {
            Err(Error::NonFinite {
                step,
                metric: name.to_owned(),
                value,
            })
        }
    }

    fn write(&mut self, step: u64, name: &str, value: f64) -> Result {
        self.history.record(step, name, value);
        match &mut self.writer {
            Some(writer) => Ok(writer.scalar(step, name, value)?),
            None => Ok(()),
        }
    }

    /// Records metrics that the host has computed after a step.
    pub fn record(&mut self, step: u64, metrics: &[(String, f64)]) -> Result {
        // Write the steps' own metrics first, so that the files are in order of steps.
        if !metrics.is_empty() {
            self.read(0)?;
        }
        for (name, value) in metrics {
            self.write(step, name, *value)?;
        }
        Ok(())
    }

    /// Returns the means of the metrics since the last call, weighted by the rows of each batch, with
    /// `epoch_` before their names.
    pub fn means(&mut self) -> Result<Vec<(String, f64)>> {
        self.read(0)?;
        let rows = self.rows.max(1) as f64;
        let names = self.names.iter().map(|name| format!("epoch_{name}"));
        let means = names.zip(self.sums.iter().map(|sum| sum / rows)).collect();
        (self.sums, self.rows) = (Vec::new(), 0);
        Ok(means)
    }

    /// Updates metrics to the last known ones of a step. Called after each step, so names are copied
    /// only once.
    pub fn latest(&self, metrics: &mut Vec<(String, f64)>) {
        let known = self.names.iter();
        let known = known.filter_map(|name| Some((name, self.history.last(name)?)));
        for (i, (name, value)) in known.enumerate() {
            match metrics.get_mut(i) {
                Some(metric) => metric.1 = value,
                None => metrics.push((name.clone(), value)),
            }
        }
    }

    /// Writes everything to the files.
    pub fn flush(&mut self) -> Result {
        self.read(0)?;
        match &mut self.writer {
            Some(writer) => Ok(writer.flush()?),
            None => Ok(()),
        }
    }
}

/// Checks the ranks of metrics: 0, or 1 for those of several steps.
///
/// # Panics
/// Panics if a metric has another rank.
pub(crate) fn check_scalars(names: &[String], metrics: &[Array], ndim: usize) {
    for (name, x) in names.iter().zip(metrics) {
        assert!(
            x.ndim() == ndim,
            "Trainer: the metric `{name}` is {}, but metrics are scalars\n  help: reduce it, for example with \
             .mean()",
            x.aval()
        );
    }
}

/// Returns the values of a metric on the host.
pub(crate) fn numbers(x: &Array) -> Vec<f64> {
    match x.dtype() {
        DType::F32 => x.to_vec::<f32>().into_iter().map(f64::from).collect(),
        // Counts beyond 2²⁴ are exact.
        _ => x.astype(DType::F64).to_vec::<f64>(),
    }
}

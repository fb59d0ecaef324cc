//! The content of a dashboard.

use super::{Curve, Memory};
use crate::Status;
use std::collections::VecDeque;
use std::time::Duration;

/// The content of a dashboard, which [`draw`](super::draw) draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The position of the run, and the metrics of its last step.
    pub status: Status,
    /// Time since the start of this process's part of the run.
    pub elapsed: Duration,
    /// The training loss by step.
    pub training: Curve,
    /// The validation loss by step.
    pub validation: Curve,
    /// The metrics of the last epoch or validation.
    pub evaluated: Vec<(String, f64)>,
    /// Memory in use.
    pub memory: Memory,
    /// The last messages.
    pub messages: VecDeque<String>,
    /// Whether the run was asked to stop.
    pub is_stopping: bool,
}

/// Number of messages that a view keeps.
const MESSAGES: usize = 50;

impl View {
    /// Updates the view after a call of the step.
    pub fn step(&mut self, status: &Status) {
        self.status.clone_from(status);
        if let Some((_, loss)) = status.metrics.first() {
            self.training.push(status.step as f64, *loss);
        }
    }

    /// Updates the view after an epoch or a validation.
    pub fn evaluated(&mut self, status: &Status, metrics: &[(String, f64)]) {
        for (name, value) in metrics {
            match self.evaluated.iter_mut().find(|(n, _)| n == name) {
                Some((_, old)) => *old = *value,
                None => self.evaluated.push((name.clone(), *value)),
            }
        }
        // The first metric of a validation is the loss.
        let loss = metrics.iter().find(|(name, _)| name.starts_with("val_"));
        if let Some((_, loss)) = loss {
            self.validation.push(status.step as f64, *loss);
        }
    }

    /// Adds a message.
    pub fn message(&mut self, text: &str) {
        let lines = text.lines().map(str::to_string);
        self.messages.extend(lines);
        while self.messages.len() > MESSAGES {
            self.messages.pop_front();
        }
    }

    /// Returns the remaining time at the current rate.
    pub fn time_left(&self) -> Option<Duration> {
        let rate = self.status.rate.filter(|rate| *rate > 0.0)?;
        let steps = self.status.total.saturating_sub(self.status.step);
        Duration::try_from_secs_f64(steps as f64 / rate).ok()
    }

    /// Returns the number of epochs.
    pub fn epochs(&self) -> Option<u64> {
        let per_epoch = self.status.steps_per_epoch;
        (per_epoch > 0).then(|| self.status.total.div_ceil(per_epoch))
    }

    /// Returns the completed part of the run, from 0 to 1.
    pub fn progress(&self) -> f64 {
        let total = self.status.total.max(1) as f64;
        (self.status.step as f64 / total).clamp(0.0, 1.0)
    }
}

//! `EarlyStopping`: ends training when it no longer improves.

/// Detects when a metric no longer decreases (`flax.training.early_stopping.EarlyStopping`).
///
/// ```
/// use ramie_nn::training::EarlyStopping;
/// let mut stopping = EarlyStopping::new(1e-3, 2);
/// let losses = [4.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0];
/// let end = losses.iter().position(|loss| stopping.update(*loss).should_stop);
/// assert_eq!(end, Some(7));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyStopping {
    /// The minimum decrease of the metric that counts as an improvement.
    pub min_delta: f64,
    /// Number of consecutive updates without improvement that are tolerated.
    pub patience: usize,
    /// The metric at the last improvement; initially infinite.
    pub best_metric: f64,
    /// Number of updates since the last improvement.
    pub patience_count: usize,
    /// Whether training should stop.
    pub should_stop: bool,
    /// Whether the last update was an improvement.
    pub has_improved: bool,
}

impl EarlyStopping {
    /// Creates the initial state.
    pub fn new(min_delta: f64, patience: usize) -> EarlyStopping {
        EarlyStopping {
            min_delta,
            patience,
            best_metric: f64::INFINITY,
            patience_count: 0,
            should_stop: false,
            has_improved: false,
        }
    }

    /// Resets to the initial state.
    pub fn reset(&mut self) {
        *self = EarlyStopping::new(self.min_delta, self.patience);
    }

    /// Updates the state with the metric of another evaluation.
    pub fn update(&mut self, metric: f64) -> &EarlyStopping {
        let improved = self.best_metric.is_infinite() || self.best_metric - metric > self.min_delta;
        self.has_improved = improved;
        if improved {
            self.best_metric = metric;
            self.patience_count = 0;
        } else {
            self.should_stop = self.patience_count >= self.patience || self.should_stop;
            self.patience_count += 1;
        }
        self
    }
}

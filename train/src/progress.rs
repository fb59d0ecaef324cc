//! Progress of a run on the terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Measures the number of steps per second.
pub(crate) struct Rate {
    since: Instant,
    step: u64,
}

impl Rate {
    /// The shortest time for a measurement.
    const TIME: Duration = Duration::from_millis(500);

    pub fn new(step: u64) -> Rate {
        Rate {
            since: Instant::now(),
            step,
        }
    }

    /// Returns the rate since the last measurement, if it was long ago.
    pub fn update(&mut self, step: u64) -> Option<f64> {
        let elapsed = self.since.elapsed();
        if elapsed < Rate::TIME {
            return None;
        }
        let rate = (step - self.step) as f64 / elapsed.as_secs_f64();
        *self = Rate::new(step);
        Some(rate)
    }
}

/// The position of a run, with the metrics that are known at that point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Completed steps.
    pub step: u64,
    /// Steps at the end of the run.
    pub total: u64,
    /// The current epoch, from 0.
    pub epoch: usize,
    /// Steps of an epoch.
    pub steps_per_epoch: u64,
    /// Examples in the batch of a step: the size of the first axis.
    pub examples_per_step: Option<usize>,
    /// Steps per second, during the last half second or longer.
    pub rate: Option<f64>,
    /// The last known metrics of a training step, by name.
    pub metrics: Vec<(String, f64)>,
    /// The step of the last checkpoint.
    pub saved: Option<u64>,
    /// The folder of the run.
    pub folder: Option<PathBuf>,
}

impl Status {
    /// Formats the metrics in one line, such as `loss 0.1234  accuracy 0.9700`.
    pub fn metrics_line(&self) -> String {
        line(&self.metrics)
    }
}

fn line(metrics: &[(String, f64)]) -> String {
    let shown = |(name, value): &(String, f64)| format!("{name} {value:.4}");
    metrics.iter().map(shown).collect::<Vec<_>>().join("  ")
}

/// A display of a running training, such as a progress bar.
///
/// ```
/// use ramie_train::{Progress, Status};
///
/// /// Prints a line for each checkpoint.
/// struct Lines;
///
/// impl Progress for Lines {
///     fn step(&mut self, _: &Status) {}
///     fn checkpoint(&mut self, status: &Status) {
///         println!("{}/{}: {}", status.step, status.total, status.metrics_line());
///     }
///     fn message(&mut self, text: &str) {
///         println!("{text}");
///     }
/// }
/// ```
pub trait Progress {
    /// Starts, or continues at the step of a checkpoint.
    fn start(&mut self, status: &Status) {
        let _ = status;
    }

    /// Updates the display after one call of the compiled step.
    fn step(&mut self, status: &Status);

    /// Shows that a checkpoint is being written; [`Status::saved`] is its step.
    fn checkpoint(&mut self, status: &Status) {
        let _ = status;
    }

    /// Shows the metrics of an epoch or of a validation.
    fn evaluated(&mut self, status: &Status, metrics: &[(String, f64)]) {
        let _ = (status, metrics);
    }

    /// Shows a message.
    fn message(&mut self, text: &str);

    /// Ends the display.
    fn finish(&mut self) {}
}

/// A progress bar on stderr, and a line on stdout for each validation. Without a terminal, only
/// the lines.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// Creates the bar.
    pub fn new() -> Bar {
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::new(0)
        } else {
            ProgressBar::hidden()
        };
        let style = "{bar:30} step {pos}/{len}  {per_sec}  eta {eta}  {msg}";
        let style = ProgressStyle::with_template(style).expect("the template is well-formed");
        Bar {
            bar: bar.with_style(style),
        }
    }
}

impl Default for Bar {
    fn default() -> Bar {
        Bar::new()
    }
}

impl Progress for Bar {
    fn start(&mut self, status: &Status) {
        self.bar.set_length(status.total);
        self.bar.set_position(status.step);
        self.bar.reset_eta();
    }

    fn step(&mut self, status: &Status) {
        self.bar.set_position(status.step);
        if !self.bar.is_hidden() {
            self.bar.set_message(status.metrics_line());
        }
    }

    fn evaluated(&mut self, status: &Status, metrics: &[(String, f64)]) {
        let (epoch, step) = (status.epoch + 1, status.step);
        self.message(&format!("Epoch {epoch}, step {step}: {}", line(metrics)));
    }

    fn message(&mut self, text: &str) {
        self.bar.suspend(|| println!("{text}"));
    }

    fn finish(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows nothing.
pub(crate) struct Quiet;

impl Progress for Quiet {
    fn step(&mut self, _: &Status) {}
    fn message(&mut self, _: &str) {}
}

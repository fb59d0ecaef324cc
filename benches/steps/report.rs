//! Time samples, and the JSON lines that report them.

use crate::measure::Plan;
use std::fmt::Display;
use std::time::Instant;

/// Times in seconds, sorted and with at least one element.
pub struct Times(Vec<f64>);

impl Times {
    /// Creates times that were measured elsewhere.
    pub fn new(mut seconds: Vec<f64>) -> Times {
        assert!(!seconds.is_empty(), "nothing was measured");
        seconds.sort_by(f64::total_cmp);
        Times(seconds)
    }

    /// Takes the plan's samples, of `steps` steps and a wait for the last step each. A time is
    /// that of one step.
    pub fn sample(plan: &Plan, steps: usize, mut sample: impl FnMut()) -> Times {
        let one = |_| {
            let start = Instant::now();
            sample();
            start.elapsed().as_secs_f64() / steps as f64
        };
        Times::new((0..plan.samples.max(1)).map(one).collect())
    }

    /// Returns the median.
    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        match self.0.len() % 2 {
            1 => self.0[middle],
            _ => (self.0[middle - 1] + self.0[middle]) / 2.0,
        }
    }

    /// Returns the minimum.
    pub fn best(&self) -> f64 {
        self.0[0]
    }
}

/// A JSON line about a workload.
pub struct Line(String);

impl Line {
    pub fn of(workload: &str) -> Line {
        Line(String::from("{"))
            .text("workload", workload)
            .text("framework", "ramie")
    }

    /// Adds a string field without characters that JSON escapes.
    pub fn text(self, name: &str, text: impl Display) -> Line {
        self.value(name, format_args!("\"{text}\""))
    }

    /// Adds a field whose displayed form is valid JSON.
    pub fn value(mut self, name: &str, value: impl Display) -> Line {
        let comma = if self.0.len() > 1 { ", " } else { "" };
        self.0 += &format!("{comma}\"{name}\": {value}");
        self
    }

    /// Adds a number of seconds, to the microsecond.
    pub fn seconds(self, name: &str, seconds: f64) -> Line {
        self.value(name, format_args!("{seconds:.6}"))
    }

    /// Adds the median, the minimum and the number of samples.
    pub fn times(self, times: &Times) -> Line {
        self.value("median_s", format_args!("{:e}", times.median()))
            .value("best_s", format_args!("{:e}", times.best()))
            .value("samples", times.0.len())
    }

    pub fn print(self) {
        println!("{}}}", self.0);
    }
}

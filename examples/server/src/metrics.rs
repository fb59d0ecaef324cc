//! Counts and times of a server, in the text format of Prometheus.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Upper bounds of the times to the first token, in seconds.
const BOUNDS: [f64; 10] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0];

/// The span over which tokens per second are counted.
const SPAN: Duration = Duration::from_secs(10);

/// The metrics of a server.
#[derive(Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// Requests by path and status.
    requests: BTreeMap<(&'static str, u16), u64>,
    abandoned: u64,
    prompt_tokens: u64,
    generated_tokens: u64,
    /// Requests that wait for a slot, and those in slots.
    queued: usize,
    active: usize,
    /// Times to the first token: the number at most each bound, of all, and their sum.
    first_tokens: [u64; BOUNDS.len()],
    first_token_count: u64,
    first_token_sum: f64,
    /// Ends of recent steps, and their numbers of tokens.
    recent: VecDeque<(Instant, usize)>,
}

impl Metrics {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an answered request.
    pub(crate) fn answered(&self, path: &'static str, status: u16) {
        *self.counts().requests.entry((path, status)).or_default() += 1;
    }

    /// Counts a request whose client went away.
    pub(crate) fn abandoned(&self) {
        self.counts().abandoned += 1;
    }

    pub(crate) fn queued(&self) {
        self.counts().queued += 1;
    }

    pub(crate) fn left_queue(&self) {
        self.counts().queued -= 1;
    }

    /// Counts a request that starts with a prompt.
    pub(crate) fn started(&self, prompt_tokens: usize) {
        let mut counts = self.counts();
        counts.active += 1;
        counts.prompt_tokens += prompt_tokens as u64;
    }

    pub(crate) fn ended(&self) {
        self.counts().active -= 1;
    }

    /// Counts the first token of a request.
    pub(crate) fn first_token(&self, time: Duration) {
        let mut counts = self.counts();
        let seconds = time.as_secs_f64();
        for (count, bound) in counts.first_tokens.iter_mut().zip(BOUNDS) {
            *count += u64::from(seconds <= bound);
        }
        counts.first_token_count += 1;
        counts.first_token_sum += seconds;
    }

    /// Counts the tokens of a step.
    pub(crate) fn step(&self, tokens: usize) {
        let mut counts = self.counts();
        counts.generated_tokens += tokens as u64;
        counts.recent.push_back((Instant::now(), tokens));
        counts.forget();
    }

    /// Returns all metrics as text.
    pub(crate) fn render(&self) -> String {
        let mut counts = self.counts();
        counts.forget();
        let mut text = String::new();
        counts.write(&mut text).expect("strings grow");
        text
    }
}

impl Counts {
    fn forget(&mut self) {
        while (self.recent.front()).is_some_and(|(end, _)| end.elapsed() > SPAN) {
            self.recent.pop_front();
        }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        *out += &head("requests_total", "counter", "Answered requests.");
        for ((path, status), count) in &self.requests {
            writeln!(
                out,
                "ramie_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}"
            )?;
        }
        let recent: usize = self.recent.iter().map(|(_, tokens)| tokens).sum();
        let speed = recent as f64 / SPAN.as_secs_f64();
        let single: [(&str, &str, &str, f64); 6] = [
            (
                "requests_abandoned_total",
                "counter",
                "Requests whose client went away.",
                self.abandoned as f64,
            ),
            (
                "prompt_tokens_total",
                "counter",
                "Tokens of prompts.",
                self.prompt_tokens as f64,
            ),
            (
                "generated_tokens_total",
                "counter",
                "Generated tokens.",
                self.generated_tokens as f64,
            ),
            (
                "queue_length",
                "gauge",
                "Requests that wait for a slot.",
                self.queued as f64,
            ),
            (
                "active_requests",
                "gauge",
                "Requests in slots.",
                self.active as f64,
            ),
            (
                "tokens_per_second",
                "gauge",
                "Generated tokens per second, over 10 seconds.",
                speed,
            ),
        ];
        for (name, kind, help, value) in single {
            writeln!(out, "{}ramie_{name} {value}", head(name, kind, help))?;
        }
        self.write_first_tokens(out)
    }

    /// Writes the histogram of the times to the first token.
    fn write_first_tokens(&self, out: &mut String) -> fmt::Result {
        let name = "time_to_first_token_seconds";
        *out += &head(name, "histogram", "Time from a request to its first token.");
        for (bound, count) in BOUNDS.iter().zip(self.first_tokens) {
            writeln!(out, "ramie_{name}_bucket{{le=\"{bound}\"}} {count}")?;
        }
        writeln!(
            out,
            "ramie_{name}_bucket{{le=\"+Inf\"}} {}",
            self.first_token_count
        )?;
        writeln!(out, "ramie_{name}_sum {}", self.first_token_sum)?;
        writeln!(out, "ramie_{name}_count {}", self.first_token_count)
    }
}

/// Returns the lines before the samples of a metric.
fn head(name: &str, kind: &str, help: &str) -> String {
    format!("# HELP ramie_{name} {help}\n# TYPE ramie_{name} {kind}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_are_cumulative() {
        let metrics = Metrics::default();
        metrics.first_token(Duration::from_millis(70));
        metrics.first_token(Duration::from_secs(3));
        metrics.answered("/health", 200);
        metrics.step(20);
        let text = metrics.render();
        for line in [
            "ramie_requests_total{path=\"/health\",status=\"200\"} 1",
            "ramie_time_to_first_token_seconds_bucket{le=\"0.05\"} 0",
            "ramie_time_to_first_token_seconds_bucket{le=\"0.1\"} 1",
            "ramie_time_to_first_token_seconds_bucket{le=\"5\"} 2",
            "ramie_time_to_first_token_seconds_sum 3.07",
            "ramie_generated_tokens_total 20",
            "ramie_tokens_per_second 2",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\nin\n{text}");
        }
    }
}

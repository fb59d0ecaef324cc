//! The measurement protocol: some warm-up steps, then samples of many steps. Each step uses the
//! state of the previous one, and each sample waits once, at its end.

use crate::report::{Line, Times};
use ramie::core::stages::Compiled;
use ramie::core::{DType, Result, Tree, tree};
use std::time::Instant;

/// The number of steps and samples.
pub struct Plan {
    pub steps: Option<usize>,
    pub samples: usize,
    pub warmup: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            steps: None,
            samples: 10,
            warmup: 3,
        }
    }
}

impl Plan {
    /// Returns the plan as arguments of this program.
    pub fn arguments(&self) -> Vec<String> {
        let mut out = vec![
            "--samples".into(),
            self.samples.to_string(),
            "--warmup".into(),
            self.warmup.to_string(),
        ];
        if let Some(steps) = self.steps {
            out.extend(["--steps".into(), steps.to_string()]);
        }
        out
    }
}

/// A workload: its state, a call of the jitted step, and the times that tracing and lowering, and
/// compiling, took.
pub struct Workload<S, F> {
    pub state: S,
    pub step: F,
    pub trace_lower_s: f64,
    pub compile_s: f64,
}

/// Runs a stage of creating a workload; returns its result and its duration in seconds.
pub fn timed<T>(f: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let value = f()?;
    Ok((value, start.elapsed().as_secs_f64()))
}

/// Compiles without the persistent cache and returns the time it takes.
pub fn compile_time<S: Tree, A: Tree, R: Tree>(
    lowered: ramie::stages::Lowered<S, A, R>,
) -> Result<f64> {
    let (_compiled, seconds): (Compiled<S, A, R>, f64) = timed(|| lowered.compile())?;
    Ok(seconds)
}

/// Runs a workload and prints its line.
pub fn measure<S: Tree, R: Tree, F: FnMut(&mut S) -> R>(
    name: &str,
    plan: &Plan,
    default_steps: usize,
    build: impl FnOnce() -> Result<Workload<S, F>>,
) -> Result<()> {
    // Compile times must be those of XLA, not of the cache.
    ramie::core::configure(ramie::options::RuntimeOptions {
        compilation_cache: Some(false),
        ..Default::default()
    })?;
    let mut work = build()?;
    let steps = plan.steps.unwrap_or(default_steps);
    let wait = |state: &S, out: &R| {
        for a in tree::leaves(state).iter().chain(&tree::leaves(out)) {
            a.block_until_ready();
        }
    };
    let mut out = (work.step)(&mut work.state);
    for _ in 1..plan.warmup.max(1) {
        out = (work.step)(&mut work.state);
    }
    wait(&work.state, &out);
    let times = Times::sample(plan, steps, || {
        for _ in 0..steps {
            out = (work.step)(&mut work.state);
        }
        wait(&work.state, &out);
    });
    let shown = tree::leaves(&out);
    let shown = shown
        .first()
        .cloned()
        .or_else(|| tree::leaves(&work.state).into_iter().next());
    Line::of(name)
        .text("platform", ramie::core::runtime()?.client().platform_name())
        .times(&times)
        .value("steps", steps)
        .seconds("trace_lower_s", work.trace_lower_s)
        .seconds("compile_s", work.compile_s)
        .value("peak_rss_mb", format_args!("{:.1}", peak_rss_mb()))
        .value(
            "loss",
            shown.map_or(f32::NAN, |a| a.astype(DType::F32).mean().item()),
        )
        .print();
    Ok(())
}

/// Returns the peak resident memory of this process.
fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(0.0, |kb| kb / 1024.0)
}

//! The code shared by the programs of other frameworks: the protocol of README.md and the JSON
//! line. Both programs take `WORKLOAD [--samples N] [--steps N]`.

use std::process::{Command, Stdio, exit};
use std::time::Instant;

const WARMUP: usize = 3;
/// The maximum duration of a sample, which reduces its number of steps if necessary.
const SAMPLE_SECONDS: f64 = 1.5;

/// A workload that is ready to run.
pub struct Workload {
    /// Runs a step; the state is captured.
    pub step: Box<dyn FnMut()>,
    /// Waits for the last step and returns its loss.
    pub loss: Box<dyn FnMut() -> f32>,
}

impl Workload {
    /// Creates a workload whose step returns a loss that `read` waits for.
    pub fn new<T: 'static>(
        mut step: impl FnMut() -> T + 'static,
        read: impl Fn(&T) -> f32 + 'static,
    ) -> Workload {
        let last = std::rc::Rc::new(std::cell::RefCell::new(None));
        let out = last.clone();
        Workload {
            step: Box::new(move || *out.borrow_mut() = Some(step())),
            loss: Box::new(move || last.borrow().as_ref().map_or(f32::NAN, &read)),
        }
    }
}

/// Runs the command line. `build` creates a workload by name, if there is one.
pub fn main(framework: &str, build: impl Fn(&str) -> Option<Workload>) {
    let mut name = None;
    let (mut samples, mut steps, mut inside) = (10, 100, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse().ok()).unwrap_or(1);
        match arg.as_str() {
            "--samples" => samples = number(),
            "--steps" => steps = number(),
            "--inside" => inside = true,
            _ => name = Some(arg),
        }
    }
    let name = name.unwrap_or_default();
    if name == "first_step" && !inside {
        return first_step(framework, samples);
    }
    let model = if inside { "digits" } else { &name };
    let Some(mut work) = build(model) else {
        eprintln!("{framework}: unknown workload `{name}`");
        exit(2);
    };
    if inside {
        (work.step)();
        println!("{}", (work.loss)());
        return;
    }
    measure(framework, &name, &mut work, samples, steps);
}

fn measure(framework: &str, name: &str, work: &mut Workload, samples: usize, steps: usize) {
    (work.step)();
    let first = (work.loss)();
    let mut last = 0.0;
    for _ in 1..WARMUP {
        last = seconds(|| {
            (work.step)();
            (work.loss)();
        });
    }
    let steps = steps.min((SAMPLE_SECONDS / last) as usize).max(1);
    let sample = |_| {
        let sample = seconds(|| {
            for _ in 0..steps {
                (work.step)();
            }
            (work.loss)();
        });
        sample / steps as f64
    };
    let times: Vec<f64> = (0..samples).map(sample).collect();
    let (median, best) = median_and_best(times);
    println!(
        "{{\"workload\": \"{name}\", \"framework\": \"{framework}\", \"platform\": \"cpu\", \
         \"median_s\": {median:e}, \"best_s\": {best:e}, \"steps\": {steps}, \"samples\": {samples}, \
         \"peak_rss_mb\": {:.1}, \"first_loss\": {first}, \"loss\": {}}}",
        peak_rss_mb(),
        (work.loss)(),
    );
}

/// Measures the time from the start of a fresh process until it has finished one step of
/// `digits`.
fn first_step(framework: &str, samples: usize) {
    let program = std::env::current_exe().expect("the path of this program");
    let one = |_| {
        seconds(|| {
            let mut command = Command::new(&program);
            let command = command.args(["first_step", "--inside"]);
            let status = command.stdout(Stdio::null()).status();
            assert!(status.expect("this program starts").success());
        })
    };
    // The first process loads the program into memory and is not counted.
    let times = (0..samples + 1).map(one).skip(1).collect();
    let (median, best) = median_and_best(times);
    println!(
        "{{\"workload\": \"first_step\", \"framework\": \"{framework}\", \"platform\": \"cpu\", \
         \"median_s\": {median:e}, \"best_s\": {best:e}, \"samples\": {samples}}}"
    );
}

/// Returns the duration of a call in seconds.
pub fn seconds(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64()
}

/// Returns the median and the minimum of durations.
pub fn median_and_best(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    let median = match times.len() % 2 {
        1 => times[middle],
        _ => (times[middle - 1] + times[middle]) / 2.0,
    };
    (median, times[0])
}

fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kb| kb / 1024.0)
}

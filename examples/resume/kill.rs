//! Kills the run repeatedly and compares the result with that of an uninterrupted run.

use super::training::{Saved, last};
use super::{Options, training};
use ramie::data::synthetic::RandomState;
use ramie_examples::Result;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Fraction of the kills that hit a run during its startup and restore.
const DURING_START: f64 = 0.2;
/// Maximum delay of a kill after an awaited step, as a multiple of a step's duration.
const STEPS_AFTER: f64 = 2.0;

/// Trains once without interruption and once with kills.
pub fn compare(options: &Options) -> Result {
    for folder in ["whole", "killed"] {
        let folder = options.out.join(folder);
        if folder.exists() {
            let folder = folder.display();
            let text = "contains the run of an earlier comparison";
            return Err(format!("{folder}: {text}\n  help: remove it, or set --out").into());
        }
    }
    println!("Training {} steps without interruption", options.steps);
    let whole = options.out.join("whole");
    training::train(&Options {
        out: whole.clone(),
        ..options.clone()
    })?;
    let killed = options.out.join("killed");
    kill_often(options, &killed)?;
    let (expected, got) = (last(&whole)?, last(&killed)?);
    let (Some(expected), Some(got)) = (expected, got) else {
        return Err("a run has no checkpoint: --steps must be at least 1".into());
    };
    same(&expected, &got)?;
    let arrays = got.arrays.iter().count();
    println!(
        "Step {}: {arrays} arrays, {} losses and the data position are equal, bit for bit",
        got.step,
        got.losses.len()
    );
    Ok(())
}

/// Returns an error if the two runs differ.
fn same(expected: &Saved, got: &Saved) -> Result {
    let bits = |losses: &[f32]| losses.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    if expected.step != got.step {
        return Err(format!("step {} instead of {}", got.step, expected.step).into());
    }
    if bits(&expected.losses) != bits(&got.losses) || expected.data != got.data {
        return Err("the losses or the data positions differ".into());
    }
    if expected.arrays.iter().count() != got.arrays.iter().count() {
        return Err("the states have different arrays".into());
    }
    for (path, array) in expected.arrays.iter() {
        let other = got.arrays.get(path);
        let other = other.ok_or_else(|| format!("the array `{path}` is missing"))?;
        if array.dtype() != other.dtype() || array.try_to_bytes()? != other.try_to_bytes()? {
            return Err(format!("the array `{path}` differs").into());
        }
    }
    Ok(())
}

/// Starts and kills the run `options.kills` times, then lets it finish.
///
/// A run that will be killed pauses after its share of the steps, so that it cannot finish first,
/// however fast the machine is. The moments of the kills follow the durations of earlier runs.
fn kill_often(options: &Options, folder: &Path) -> Result {
    let mut random = RandomState::new(options.seed as u32);
    let share = (options.steps / (options.kills + 1)).max(1);
    let (mut saves_hit, mut starts_hit, mut saved) = (0, 0, 0);
    let (mut start, mut step) = (Duration::ZERO, Duration::ZERO);
    for kill in 1..=options.kills {
        let mut run = Running::start(options, folder, Some(share))?;
        // The first run is not killed while it starts: it measures the duration of a start.
        if kill > 1 && random.random() < DURING_START {
            sleep(start.mul_f64(random.random()));
            starts_hit += 1;
        } else {
            let steps = random.randint(1, share as i64 + 1);
            let (first, others) = run.wait_for_steps(steps)?;
            start = first;
            if steps > 1 {
                step = others / (steps - 1) as u32;
            }
            sleep(step.mul_f64(STEPS_AFTER * random.random()));
        }
        run.kill()?;
        saves_hit += usize::from(is_half_written(folder)?);
        let now = last(folder)?.map_or(0, |saved| saved.step);
        if now < saved {
            return Err(format!("step {saved} was saved but is lost").into());
        }
        saved = now;
        println!("Kill {kill}: step {saved} is intact");
    }
    println!(
        "Killed {} times: {saves_hit} while saving, {starts_hit} while starting",
        options.kills
    );
    Running::start(options, folder, None)?.finish()
}

/// Returns whether there is an unfinished checkpoint.
fn is_half_written(folder: &Path) -> Result<bool> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(false);
    };
    for entry in entries {
        if entry?.file_name().to_string_lossy().contains("-tmp") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The run in a separate process.
struct Running {
    process: Child,
    started: Instant,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts the run. With `pause_after`, it waits after this many steps until it is killed.
    fn start(options: &Options, folder: &Path, pause_after: Option<u64>) -> Result<Running> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--train").arg("--out").arg(folder);
        for (name, value) in [
            ("--steps", options.steps),
            ("--save-every", options.save_every),
            ("--width", options.width as u64),
            ("--seed", options.seed),
        ]
        .into_iter()
        .chain(pause_after.map(|steps| ("--pause-after", steps)))
        {
            command.args([name, &value.to_string()]);
        }
        if let Some(platform) = options.platform {
            command.args(["--platform", &platform.to_string()]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = Instant::now();
        let mut process = command.spawn()?;
        let out = process.stdout.take().ok_or("the run has no output")?;
        Ok(Running {
            process,
            started,
            lines: BufReader::new(out).lines(),
        })
    }

    /// Waits until the run has made this many steps. Returns the time until the first one, and the
    /// time that the others took.
    fn wait_for_steps(&mut self, steps: i64) -> Result<(Duration, Duration)> {
        let mut first = None;
        for _ in 0..steps {
            loop {
                let line = self.lines.next().ok_or("the run failed")??;
                if line.starts_with("made") {
                    break;
                }
            }
            first.get_or_insert_with(|| self.started.elapsed());
        }
        let first = first.unwrap_or_default();
        Ok((first, self.started.elapsed() - first))
    }

    /// Kills the process by SIGKILL, which no program can catch.
    fn kill(mut self) -> Result {
        if let Some(status) = self.process.try_wait()? {
            return Err(format!("the run ended before it was killed: {status}").into());
        }
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Waits until the process exits.
    fn finish(mut self) -> Result {
        for line in self.lines {
            line?;
        }
        match self.process.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("the last run failed: {status}").into()),
        }
    }
}

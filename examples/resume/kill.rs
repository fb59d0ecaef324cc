//! Kills the run repeatedly and compares the result with that of an uninterrupted run.

use super::common::Result;
use super::training::{Saved, last};
use super::{Options, training};
use ramie::data::synthetic::RandomState;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Maximum delay of a kill after a step, in microseconds. A step or a save is shorter.
const DELAY_US: i64 = 20_000;
/// Maximum delay of a kill after the start of a run, in microseconds, to hit its startup and
/// restore.
const START_US: i64 = 1_500_000;
/// Number of steps that a run may make between the awaited step and the kill.
const SPARE: u64 = 3;

/// Trains once without interruption and once with kills.
pub fn compare(options: &Options) -> Result {
    for folder in ["whole", "killed"] {
        let folder = options.out.join(folder);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
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
        "Step {}: {arrays} arrays, {} losses and the place in the data are equal, bit for bit",
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

/// Starts the run and kills it, `options.kills` times, then lets it finish.
fn kill_often(options: &Options, folder: &Path) -> Result {
    let mut random = RandomState::new(options.seed as u32);
    // The run must not end before the last kill, whatever the delays are.
    let most = (options.steps / options.kills.max(1))
        .saturating_sub(SPARE)
        .max(1);
    let (mut saves_hit, mut starts_hit, mut saved) = (0, 0, 0);
    for kill in 1..=options.kills {
        let mut run = Running::start(options, folder)?;
        if random.random() < 0.2 {
            let moment = random.randint(0, START_US) as u64;
            sleep(Duration::from_micros(moment));
            starts_hit += 1;
        } else {
            run.wait_for_steps(random.randint(1, most as i64 + 1))?;
            sleep(Duration::from_micros(random.randint(0, DELAY_US) as u64));
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
    Running::start(options, folder)?.finish()
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
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(options: &Options, folder: &Path) -> Result<Running> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--train").arg("--out").arg(folder);
        for (name, value) in [
            ("--steps", options.steps),
            ("--save-every", options.save_every),
            ("--width", options.width as u64),
            ("--seed", options.seed),
        ] {
            command.args([name, &value.to_string()]);
        }
        if let Some(platform) = options.platform {
            command.args(["--platform", &platform.to_string()]);
        }
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let out = process.stdout.take().ok_or("the run has no output")?;
        Ok(Running {
            process,
            lines: BufReader::new(out).lines(),
        })
    }

    /// Waits until the run has made this many steps.
    fn wait_for_steps(&mut self, mut steps: i64) -> Result {
        while steps > 0 {
            let line = self.lines.next().ok_or("the run failed")??;
            steps -= i64::from(line.starts_with("made"));
        }
        Ok(())
    }

    /// Kills the run with SIGKILL, which the program cannot notice.
    fn kill(mut self) -> Result {
        if let Some(status) = self.process.try_wait()? {
            return Err(format!("the run ended before it was killed: {status}").into());
        }
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Waits until the run has finished.
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

//! A training run that is killed at random moments, while it saves too, ends as
//! one that was left alone.

use ramie::State;
use ramie::checkpoint::items::{Composite, IteratorRestore, JsonRestore};
use ramie::checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie::checkpoint::pytree::StandardRestore;
use ramie_testing::examples::example;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The variable for another number of kills: each costs the start of a process.
const KILLS: &str = "RAMIE_TEST_KILLS";

/// What was saved last: the step, the bytes of each array, where the data stood,
/// and the bits of the losses.
type Saved = (u64, Vec<(String, Vec<u8>)>, serde_json::Value, Vec<u32>);

fn last(folder: &Path) -> Saved {
    let options = CheckpointManagerOptions::new().read_only(true);
    let manager = CheckpointManager::new(folder, options).expect("a folder of steps");
    let step = manager.latest_step().expect("a step");
    let items = Composite::new()
        .item("state", StandardRestore::state())
        .item("data", IteratorRestore::new())
        .item("losses", JsonRestore::<Vec<f32>>::new());
    let (state, data, losses): (State, _, _) = manager.restore(step, items).expect("whole");
    let bytes = |(path, array): (&str, &ramie::Array)| {
        (path.to_owned(), array.try_to_bytes().expect("bytes"))
    };
    let arrays = state.iter().map(bytes).collect();
    let losses = losses.iter().map(|x| x.to_bits()).collect();
    (step, arrays, data, losses)
}

#[test]
fn a_killed_run_ends_as_one_that_was_not() {
    let kills: u64 = match std::env::var(KILLS) {
        Ok(kills) => kills.parse().expect("a number of kills"),
        Err(_) => 50,
    };
    let steps = 12 * kills;
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(example("resume"))
        .args(["--kills", &kills.to_string(), "--steps", &steps.to_string()])
        .arg("--out")
        .arg(folder.path())
        .env("RAMIE_COMPILATION_CACHE", folder.path().join("cache"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    let hit = text.lines().find(|line| line.starts_with("Killed "));
    println!("{}", hit.expect("how often it was killed"));

    let (whole, killed) = (
        last(&folder.path().join("whole")),
        last(&folder.path().join("killed")),
    );
    assert_eq!(whole.0, steps);
    // Parameters, moments and keys.
    assert!(whole.1.len() > 12 && whole.3.len() as u64 == steps);
    assert!(whole.3.first() > whole.3.last(), "it learned");
    assert!(whole == killed, "the runs differ");
}

/// A program that is asked to end saves, says so, and goes on where it was.
#[cfg(unix)]
#[test]
fn a_run_that_is_asked_to_end_saves_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let train = |resume: bool| {
        let mut command = Command::new(example("xor"));
        command.args(["--epochs", "100000000", "--no-plots", "--out", "run"]);
        if resume {
            command.arg("--resume");
        }
        command
            .current_dir(folder.path())
            .env("RAMIE_COMPILATION_CACHE", folder.path().join("cache"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // Metrics are written some steps after the first one.
        let metrics = folder.path().join("run/metrics.jsonl");
        let length = || std::fs::metadata(&metrics).map_or(0, |m| m.len());
        let (begun, before) = (Instant::now(), length());
        while length() <= before {
            assert!(begun.elapsed() < Duration::from_secs(120), "no steps");
            std::thread::sleep(Duration::from_millis(20));
        }
        let id = child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-INT", &id])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{text}{errors}");
        text
    };
    let stopped = |text: &str| -> u64 {
        let last = text.lines().last().expect("a line");
        let rest = last.strip_prefix("Stopped and saved after step ");
        let step = rest.and_then(|r| r.split(' ').next()?.parse().ok());
        step.unwrap_or_else(|| panic!("{text}"))
    };
    let first = stopped(&train(false));
    let text = train(true);
    let resumed = format!("Resumed after step {first}");
    assert!(text.lines().any(|line| line == resumed), "{text}");
    assert!(stopped(&text) > first);
}

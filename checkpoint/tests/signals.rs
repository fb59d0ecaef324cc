//! A program that gets a signal saves, and ends by itself.
#![cfg(unix)]

use ramie_checkpoint::items::{JsonRestore, JsonSave};
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::preemption;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FOLDER: &str = "RAMIE_TEST_ENDED_BY_SIGNAL";
const DEAF: &str = "RAMIE_TEST_DOES_NOT_END";

/// Makes steps until it is asked to end. It would save every millionth.
fn train(folder: &Path) {
    preemption::on_signals().unwrap();
    preemption::on_signals().unwrap();
    let options = CheckpointManagerOptions::new().save_interval_steps(1_000_000);
    let manager = CheckpointManager::new(folder, options).unwrap();
    println!("ready");
    for step in 1u64.. {
        std::thread::sleep(Duration::from_millis(1));
        manager.save(step, &JsonSave::new(&step)).unwrap();
        if manager.reached_preemption(step) && std::env::var_os(DEAF).is_none() {
            println!("ended at {step}");
            println!("by signal {}", preemption::signal().unwrap());
            break;
        }
    }
    manager.close().unwrap();
}

fn child(folder: &Path, test: &str, deaf: bool) -> (Child, impl BufRead) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command.env(FOLDER, folder).stdout(Stdio::piped());
    if deaf {
        command.env(DEAF, "1");
    }
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("ready") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the child ended");
    }
    (child, out)
}

fn send(child: &Child, signal: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_signal_saves_and_ends() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return train(Path::new(&folder));
    }
    for (signal, number) in [("-TERM", 15), ("-INT", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let (mut child, mut out) = child(folder.path(), "a_signal_saves_and_ends", false);
        send(&child, signal);
        assert!(child.wait().unwrap().success(), "{signal}: a clean end");
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        assert!(text.contains(&format!("by signal {number}\n")), "{text}");
        let end = text.split("ended at ").nth(1).expect("said where it ended");
        let end: u64 = end.lines().next().unwrap().parse().unwrap();
        let manager =
            CheckpointManager::new(folder.path(), CheckpointManagerOptions::new()).unwrap();
        assert_eq!(manager.latest_step(), Some(end));
        let saved: u64 = manager.restore(end, JsonRestore::new()).unwrap();
        assert_eq!(saved, end);
    }
}

#[test]
fn the_second_signal_ends_at_once() {
    use std::os::unix::process::ExitStatusExt;
    if let Some(folder) = std::env::var_os(FOLDER) {
        return train(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut child, _out) = child(folder.path(), "the_second_signal_ends_at_once", true);
    send(&child, "-INT");
    // Signals of one kind that arrive together are one.
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
        let _ = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
    }
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{status:?} {:?}", status.signal());
}

/// After its last checkpoint a program has nothing to save.
#[test]
fn a_signal_after_the_last_checkpoint_ends_at_once() {
    if std::env::var_os(FOLDER).is_some() {
        preemption::on_signals().unwrap();
        preemption::end_at_once();
        println!("ready");
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let test = "a_signal_after_the_last_checkpoint_ends_at_once";
    let (mut child, _out) = child(folder.path(), test, false);
    send(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

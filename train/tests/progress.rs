//! The progress bar of a loop: on a terminal, and silent elsewhere.
#![cfg(unix)]

use ramie_data::DataLoader;
use ramie_train::progress;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Set in a child process.
const CHILD: &str = "RAMIE_TEST_PROGRESS_CHILD";

/// The part of a child process: two loops, with and without a length.
fn loops() {
    let loader = DataLoader::new(0..40).batch_size(10);
    for batch in progress(&loader) {
        batch.unwrap();
        thread::sleep(Duration::from_millis(60));
    }
    for i in progress(0u64..).map_while(|i| (i < 3).then_some(i)) {
        thread::sleep(Duration::from_millis(60 + i));
    }
    for i in progress((0..).take_while(|_| true)) {
        thread::sleep(Duration::from_millis(60));
        if i == 2 {
            break;
        }
    }
}

fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command
        .env(CHILD, "1")
        .env("TERM", "xterm")
        .stdout(Stdio::null());
    command
}

#[test]
fn a_terminal_shows_rate_and_remaining_time() {
    if std::env::var_os(CHILD).is_some() {
        return loops();
    }
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let path = Path::new(OsStr::from_bytes(name.as_bytes()));
    let line = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut command = child("a_terminal_shows_rate_and_remaining_time");
    let mut process = command.stderr(line).spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    // Reading fails when the last process that has the terminal open has ended.
    let _ = File::from(master).read_to_end(&mut shown);
    assert!(process.wait().unwrap().success());
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("/4 "), "{shown}");
    assert!(shown.contains("/s ") && shown.contains("eta "), "{shown}");
    assert!(
        shown.contains("00:00:0"),
        "elapsed time of a loop without length: {shown}"
    );
}

#[test]
fn other_outputs_stay_empty() {
    if std::env::var_os(CHILD).is_some() {
        return loops();
    }
    let output = child("other_outputs_stay_empty").output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn loaders_know_the_length_of_an_epoch() {
    let loader = DataLoader::new(0..25).batch_size(10);
    let mut batches = progress(&loader);
    assert_eq!(batches.size_hint(), (3, Some(3)));
    batches.next().unwrap().unwrap();
    assert_eq!(batches.size_hint(), (2, Some(2)));
    assert_eq!(loader.epoch(7).size_hint(), (3, Some(3)));
    let dropped = DataLoader::new(0..25).batch_size(10).drop_last().workers(2);
    let mut batches = dropped.iter();
    for left in [2, 1, 0] {
        assert_eq!(batches.size_hint(), (left, Some(left)));
        batches.next();
    }
    let endless = DataLoader::new(0..25).batch_size(10).epochs(None);
    assert_eq!(endless.iter().size_hint().1, None);
}

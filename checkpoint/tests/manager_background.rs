//! What a manager does in the background, and what becomes of failures there.

use ramie_checkpoint::commit::{CheckpointerOptions, ItemReader, ItemWriter, Process};
use ramie_checkpoint::items::{JsonRestore, JsonSave, RestoreArgs, SaveArgs, Snapshot};
use ramie_checkpoint::manager::policies::ContinuousCheckpointingPolicy;
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::{Error, Result};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn open(root: &Path) -> CheckpointManager {
    CheckpointManager::new(root, CheckpointManagerOptions::new()).unwrap()
}

/// Items whose writing the test controls: it waits until it may go on, and then does
/// what it is told.
struct Gated {
    gate: Arc<Mutex<Receiver<Order>>>,
    finalize: bool,
}

enum Order {
    Write,
    Fail,
    Full,
    Panic,
}

fn gated() -> (Sender<Order>, Gated) {
    let (send, receive) = channel();
    let gate = Arc::new(Mutex::new(receive));
    (
        send,
        Gated {
            gate,
            finalize: false,
        },
    )
}

impl SaveArgs for Gated {
    fn handler(&self) -> &str {
        "tests.Gated"
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(Gated {
            gate: self.gate.clone(),
            finalize: self.finalize,
        }))
    }
}

impl Gated {
    fn obey(&self, writer: &ItemWriter) -> Result<()> {
        match self.gate.lock().unwrap().recv().unwrap_or(Order::Write) {
            Order::Write => writer.write("file", b"written"),
            Order::Fail => {
                let path = writer.folder().join("file");
                let source = std::io::ErrorKind::PermissionDenied.into();
                let action = "be written";
                Err(Error::Io {
                    path,
                    action,
                    source,
                })
            }
            Order::Full => {
                use std::io::Write;
                let path = Path::new("/dev/full");
                let full = std::fs::OpenOptions::new().write(true).open(path);
                let written = full.and_then(|mut file| file.write_all(&[0; 10]));
                written.map_err(|source| Error::Io {
                    path: path.into(),
                    action: "be written",
                    source,
                })
            }
            Order::Panic => panic!("a kind of item with a mistake"),
        }
    }
}

impl Snapshot for Gated {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        if self.finalize {
            Ok(())
        } else {
            self.obey(writer)
        }
    }

    fn finalize(&mut self, writer: &ItemWriter) -> Result<()> {
        if self.finalize {
            self.obey(writer)
        } else {
            Ok(())
        }
    }
}

struct GatedRestore;

impl RestoreArgs for GatedRestore {
    type Item = Vec<u8>;

    fn restore(self, reader: &ItemReader) -> Result<Vec<u8>> {
        // Past the reader: the files were compared before.
        Ok(std::fs::read(reader.folder().join("file")).unwrap())
    }
}

#[test]
fn a_save_returns_before_it_is_written() {
    let folder = folder();
    let manager = open(folder.path());
    let (orders, item) = gated();
    assert!(manager.save(7, &item).unwrap());
    assert!(manager.is_saving_in_progress());
    assert_eq!(manager.all_steps(), [7]);
    // Others do not see the step yet.
    assert!(open(folder.path()).all_steps().is_empty());
    assert!(manager.last_report().is_none());
    manager.check_for_errors().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    orders.send(Order::Write).unwrap();
    // A restore of the step waits for it.
    assert_eq!(manager.restore(7, GatedRestore).unwrap(), b"written");
    assert!(!manager.is_saving_in_progress());
    assert_eq!(open(folder.path()).all_steps(), [7]);
    let report = manager.last_report().unwrap();
    assert!(report.total >= Duration::from_millis(50));
    assert!(report.blocking < report.total && report.snapshot <= report.blocking);
    assert_eq!((report.files, report.path), (3, folder.path().join("7")));
    assert_eq!(report.bytes, total_size(folder.path(), &report_skips()));
}

/// The manifest and the marker are no part of what is saved.
fn report_skips() -> [&'static str; 2] {
    ["7/_RAMIE_MANIFEST", "7/commit_success.txt"]
}

fn total_size(folder: &Path, skip: &[&str]) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap();
    let size = |path: &Path| match path.is_dir() {
        true => total_size(path, skip),
        false if skip.iter().any(|s| path.ends_with(s)) => 0,
        false => path.metadata().unwrap().len(),
    };
    entries.map(|e| size(&e.unwrap().path())).sum()
}

#[test]
fn the_next_save_waits_for_the_last() {
    // On a busy machine the second save may begin after the first has finished.
    let waited = (0..20).any(|_| {
        let folder = folder();
        let manager = open(folder.path());
        let (orders, item) = gated();
        manager.save(0, &item).unwrap();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                orders.send(Order::Write).unwrap();
                orders.send(Order::Write).unwrap();
            });
            manager.save(1, &item).unwrap();
        });
        assert!(begun.elapsed() >= Duration::from_millis(100));
        manager.wait_until_finished().unwrap();
        assert_eq!(manager.all_steps(), [0, 1]);
        let report = manager.last_report().unwrap();
        report.waited >= Duration::from_millis(50)
    });
    assert!(waited);
}

#[test]
fn a_policy_does_not_wait_for_a_save() {
    let folder = folder();
    let policy = ContinuousCheckpointingPolicy::default();
    let options = CheckpointManagerOptions::new().save_decision_policy(policy);
    let manager = CheckpointManager::new(folder.path(), options).unwrap();
    let (orders, item) = gated();
    assert!(manager.save(0, &item).unwrap());
    for step in 1..5 {
        assert!(!manager.save(step, &item).unwrap());
    }
    orders.send(Order::Write).unwrap();
    manager.wait_until_finished().unwrap();
    orders.send(Order::Write).unwrap();
    assert!(manager.save(5, &item).unwrap());
    manager.wait_until_finished().unwrap();
    assert_eq!(manager.all_steps(), [0, 5]);
}

#[test]
fn a_failure_in_the_background_is_returned_by_the_next_call() {
    let folder = folder();
    let options = CheckpointManagerOptions::new().max_to_keep(1);
    let manager = CheckpointManager::new(folder.path(), options).unwrap();
    manager.save(0, &JsonSave::new("good")).unwrap();
    manager.wait_until_finished().unwrap();
    let calls: [fn(&CheckpointManager) -> Result<()>; 3] = [
        |manager| manager.wait_until_finished(),
        |manager| {
            while manager.is_saving_in_progress() {
                std::thread::yield_now();
            }
            manager.check_for_errors()
        },
        |manager| manager.save(50, &JsonSave::new("next")).map(drop),
    ];
    let orders_and_reasons = [
        ((|| Order::Fail) as fn() -> Order, "permission denied"),
        (|| Order::Full, "No space left on device"),
        (|| Order::Panic, "a kind of item with a mistake"),
    ];
    // In parallel with the caller, by each way of learning of it.
    for (i, call) in calls.into_iter().enumerate() {
        for (j, (order, reason)) in orders_and_reasons.iter().enumerate() {
            for finalize in [false, true] {
                let step = 1 + (i * 6 + j * 2) as u64 + u64::from(finalize);
                let (orders, mut item) = gated();
                item.finalize = finalize;
                assert!(manager.save(step, &item).unwrap());
                assert_eq!(manager.all_steps(), [step]);
                orders.send(order()).unwrap();
                let error = call(&manager).unwrap_err();
                assert!(matches!(error, Error::Save { .. }), "{error:?}");
                let text = error.to_string();
                let path = folder.path().join(step.to_string());
                assert!(text.starts_with(path.to_str().unwrap()), "{text}");
                assert!(text.contains(reason), "{text}");
                // Once, and what was there is still there, with nothing beside it.
                manager.check_for_errors().unwrap();
                assert_eq!(manager.all_steps(), [0]);
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
                let value = manager.restore_latest(JsonRestore::<String>::new());
                assert_eq!(value.unwrap(), "good");
            }
        }
    }
    manager.save(100, &JsonSave::new("next")).unwrap();
    manager.wait_until_finished().unwrap();
    assert_eq!(manager.all_steps(), [100]);
}

#[test]
fn without_a_background_a_failure_is_returned_at_once() {
    let folder = folder();
    let options = CheckpointManagerOptions::new()
        .checkpointer(CheckpointerOptions::new().asynchronous(false));
    let manager = CheckpointManager::new(folder.path(), options).unwrap();
    let (orders, item) = gated();
    orders.send(Order::Fail).unwrap();
    let error = manager.save(3, &item).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    assert!(manager.all_steps().is_empty());
    orders.send(Order::Write).unwrap();
    assert!(manager.save(3, &item).unwrap());
    assert!(!manager.is_saving_in_progress());
    let report = manager.last_report().unwrap();
    assert_eq!(report.blocking, report.total);
}

#[test]
fn a_folder_that_is_taken_away_is_named() {
    let folder = folder();
    let root = folder.path().join("run");
    let manager = open(&root);
    std::fs::remove_dir(&root).unwrap();
    // In its place a file: no folder can be made in it.
    std::fs::write(&root, b"").unwrap();
    manager.save(0, &JsonSave::new("x")).unwrap();
    let text = manager.wait_until_finished().unwrap_err().to_string();
    assert!(text.contains("run/0"), "{text}");
    std::fs::remove_file(&root).unwrap();
    manager.save(0, &JsonSave::new("x")).unwrap();
    manager.wait_until_finished().unwrap();
}

#[test]
fn dropped_and_closed_managers_wait() {
    let folder = folder();
    for step in 0..4 {
        let manager = open(folder.path());
        let (orders, item) = gated();
        manager.save(step, &item).unwrap();
        let late = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            orders.send(Order::Write).unwrap();
        });
        match step % 2 {
            0 => drop(manager),
            _ => manager.close().unwrap(),
        }
        assert!(folder.path().join(step.to_string()).is_dir());
        late.join().unwrap();
    }
    let manager = open(folder.path());
    let (orders, item) = gated();
    manager.save(9, &item).unwrap();
    orders.send(Order::Fail).unwrap();
    assert!(manager.close().is_err());
}

#[test]
fn threads_may_use_one_manager() {
    let folder = folder();
    let options = CheckpointManagerOptions::new().max_to_keep(3);
    let manager = CheckpointManager::new(folder.path(), options).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for step in 0..30 {
                // The other thread may have saved it.
                let _ = manager.save(step, &JsonSave::new(&step));
            }
        });
        scope.spawn(|| {
            // Steps that are there, or that are too old: never a mixture.
            for step in 0..30 {
                let _ = manager.save(step, &JsonSave::new(&step));
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let steps = manager.all_steps();
                    assert!(steps.len() <= 3 && steps.is_sorted());
                    let _ = (manager.latest_step(), manager.best_step());
                    manager.wait_until_finished().unwrap();
                }
            });
        }
    });
    manager.wait_until_finished().unwrap();
    assert_eq!(manager.all_steps(), [27, 28, 29]);
    for step in manager.all_steps() {
        assert_eq!(
            manager.restore(step, JsonRestore::<u64>::new()).unwrap(),
            step
        );
    }
}

/// Set in the processes that end while a step is being saved.
const ENDS: &str = "RAMIE_TEST_ENDS_WHILE_SAVING";

/// Saves slowly, or fails slowly.
struct Slow {
    fails: bool,
}

/// Set when the program has seen that a save is in progress; until then the save waits.
static IN_PROGRESS: AtomicBool = AtomicBool::new(false);

impl SaveArgs for Slow {
    fn handler(&self) -> &str {
        "tests.Slow"
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(Slow { fails: self.fails }))
    }
}

impl Snapshot for Slow {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        while !IN_PROGRESS.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(300));
        if !self.fails {
            writer.write("file", b"written")
        } else {
            Err(Error::Io {
                path: writer.folder().join("file"),
                action: "be written",
                source: std::io::ErrorKind::StorageFull.into(),
            })
        }
    }
}

fn end_while_saving(how: &str, root: &Path) {
    static KEPT: Mutex<Option<CheckpointManager>> = Mutex::new(None);
    let manager = open(root);
    let fails = how.contains("fails");
    manager.save(1, &Slow { fails }).unwrap();
    assert!(manager.is_saving_in_progress());
    IN_PROGRESS.store(true, Ordering::SeqCst);
    match how {
        "in a static" | "in a static, fails" => *KEPT.lock().unwrap() = Some(manager),
        "leaked" => std::mem::forget(manager),
        "dropped elsewhere" => drop(std::thread::spawn(move || drop(manager))),
        "exit" | "exit, fails" => {
            let _alive = manager;
            std::process::exit(3)
        }
        "exit elsewhere" => {
            let _alive = manager;
            let other = std::thread::spawn(|| std::process::exit(3));
            let _ = other.join();
        }
        "exit in the save" => {
            std::mem::forget(manager);
            let checkpointer =
                CheckpointerOptions::new().post_finalization_callback(|| std::process::exit(3));
            let options = CheckpointManagerOptions::new().checkpointer(checkpointer);
            let other = root.parent().unwrap().join("other");
            let manager = CheckpointManager::new(other, options).unwrap();
            manager.save(1, &Slow { fails }).unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
        "panic" => {
            std::mem::forget(manager);
            panic!("in the middle of a run");
        }
        other => unreachable!("{other}"),
    }
}

#[test]
fn the_end_of_the_process_waits_for_the_last_save() {
    if let Ok(how) = std::env::var(ENDS) {
        let (how, root) = how.split_once(": ").unwrap();
        return end_while_saving(how, Path::new(root));
    }
    for (how, code) in [
        ("in a static", 0),
        ("leaked", 0),
        ("dropped elsewhere", 0),
        ("exit", 3),
        ("exit elsewhere", 3),
        ("exit in the save", 3),
        ("panic", 101),
        ("in a static, fails", 0),
        ("exit, fails", 3),
    ] {
        let folder = folder();
        let root = folder.path().join("run");
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "the_end_of_the_process_waits_for_the_last_save",
                "--exact",
                "--nocapture",
            ])
            .env(ENDS, format!("{how}: {}", root.display()))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{how}: {errors}");
        let steps = open(&root).all_steps();
        if how.contains("fails") {
            assert_eq!(steps, [0u64; 0], "{how}");
            let reason = "the background save failed";
            assert!(errors.contains(reason), "{how}: {errors}");
        } else {
            assert_eq!(steps, [1], "{how}: {errors}");
        }
    }
}

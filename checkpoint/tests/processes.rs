//! Several processes that save together.
//!
//! Each test starts this program several times with the name of a part to play, and
//! looks at what the processes say.

use ramie_checkpoint::commit::{
    Atomicity, Checkpointer, CheckpointerOptions, ItemReader, ItemWriter, MultiprocessingOptions,
    Process, is_committed,
};
use ramie_checkpoint::items::{
    Composite, IteratorRestore, IteratorSave, JsonRestore, JsonSave, RestoreArgs, SaveArgs,
    Snapshot,
};
use ramie_checkpoint::manager::policies::{ContinuousCheckpointingPolicy, LatestDuration};
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions, StepOptions};
use ramie_checkpoint::{Error, Result, preemption};
use ramie_core::distributed::{self, DistributedOptions, FailureKind, PeerFailure};
use ramie_testing::processes::{Program, joining, number, say, variable};
use std::path::PathBuf;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// What the other processes of these tests run; alone it does nothing.
#[test]
fn child() {
    let Ok(part) = std::env::var("RAMIE_TEST_PART") else {
        return;
    };
    let (count, process) = (number("RAMIE_TEST_COUNT"), number("RAMIE_TEST_PROCESS"));
    distributed::initialize_with(&DistributedOptions {
        peer_failure: PeerFailure::Report,
        ..joining(20 * SECOND)
    })
    .expect("all join");
    let root = PathBuf::from(variable("RAMIE_TEST_FOLDER"));
    match &*part {
        "save" => save(root, count, process),
        "fail" => fail(root, process),
        "decide" => decide(root, process),
        "end" => end(root, process),
        "some" => some(root, process),
        "lost" => lost(root, process),
        other => panic!("no part {other}"),
    }
    distributed::shutdown().expect("all leave");
}

/// An array of which each process has a part.
struct Parts {
    process: usize,
    /// The process that cannot write, and whether it panics.
    fails: Option<(usize, bool)>,
}

impl SaveArgs for Parts {
    fn handler(&self) -> &str {
        "tests.Parts"
    }

    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        assert_eq!(process.index(), self.process);
        Ok(Box::new(Parts { ..*self }))
    }
}

impl Snapshot for Parts {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        match self.fails {
            Some((process, true)) if process == self.process => panic!("a mistake"),
            Some((process, false)) if process == self.process => {
                let path = writer.folder().join("part");
                let source = std::io::ErrorKind::StorageFull.into();
                let action = "be written";
                Err(Error::Io {
                    path,
                    action,
                    source,
                })
            }
            _ => writer.write(
                &format!("parts/{}", self.process),
                &[self.process as u8; 100],
            ),
        }
    }

    fn finalize(&mut self, writer: &ItemWriter) -> Result<()> {
        // Only the primary process is here, and the parts of all others are as well.
        assert!(writer.process().is_primary());
        let parts = std::fs::read_dir(writer.folder().join("parts"))
            .unwrap()
            .count();
        writer.write("count", parts.to_string().as_bytes())
    }
}

/// All parts.
struct PartsRestore;

impl RestoreArgs for PartsRestore {
    type Item = Vec<u8>;

    fn restore(self, reader: &ItemReader) -> Result<Vec<u8>> {
        let count: usize = String::from_utf8(reader.read("count")?)
            .unwrap()
            .parse()
            .unwrap();
        let parts = (0..count).map(|i| reader.read(&format!("parts/{i}")));
        Ok(parts.collect::<Result<Vec<_>>>()?.concat())
    }
}

/// Options of processes that wait for each other.
fn waiting() -> CheckpointerOptions {
    CheckpointerOptions::new().timeout(20 * SECOND)
}

fn save(root: PathBuf, count: usize, process: usize) {
    let options = CheckpointManagerOptions::new()
        .max_to_keep(2)
        .single_host_load_and_broadcast(true)
        .checkpointer(waiting());
    let manager = CheckpointManager::new(&root, options.clone()).unwrap();
    for step in 0..5u64 {
        let position = step * 10 + process as u64;
        let items = Composite::new()
            .item(
                "array",
                Parts {
                    process,
                    fails: None,
                },
            )
            .item("settings", JsonSave::new(&step))
            .item("data", IteratorSave::new(&position));
        let with = StepOptions::new().force(step == 3);
        assert!(manager.save_with(step, &items, with).unwrap());
    }
    manager.wait_until_finished().unwrap();
    manager.delete(3).unwrap();
    assert_eq!(manager.all_steps(), [4]);
    manager.close().unwrap();
    let manager = CheckpointManager::new(&root, options).unwrap();
    assert_eq!(manager.all_steps(), [4]);
    manager.verify(4).unwrap();
    let items = Composite::new()
        .item("array", PartsRestore)
        .item("settings", JsonRestore::<u64>::new())
        .item("data", IteratorRestore::<u64>::new());
    let (array, step, position) = manager.restore_latest(items).unwrap();
    let expected: Vec<u8> = (0..count).flat_map(|i| [i as u8; 100]).collect();
    assert_eq!(array, expected);
    assert_eq!((step, position), (4, 40 + process as u64));
    say("done");
}

#[test]
fn every_process_writes_its_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let program = Program::of("save", 3, &[("RAMIE_TEST_FOLDER", path)]);
    assert_eq!(program.says(), ["done"; 3]);
    // The lists of the processes became one.
    let names = std::fs::read_dir(folder.path().join("4")).unwrap();
    let mut names: Vec<_> = names
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "_CHECKPOINT_METADATA",
        "_RAMIE_MANIFEST",
        "array",
        "commit_success.txt",
    ];
    assert_eq!(names, [&expected[..], &["data", "settings"]].concat());
    let manifest = std::fs::read_to_string(folder.path().join("4/_RAMIE_MANIFEST")).unwrap();
    for name in ["array/parts/2", "array/count", "data/process_1-of-3.json"] {
        assert!(manifest.contains(name), "{manifest}");
    }
}

fn fail(root: PathBuf, process: usize) {
    let options = CheckpointManagerOptions::new().checkpointer(waiting());
    let manager = CheckpointManager::new(&root, options).unwrap();
    let parts = |fails| Parts { process, fails };
    manager.save(0, &parts(None)).unwrap();
    let mut said = Vec::new();
    for (step, failing, panics) in [(1, 0, false), (2, 1, false), (3, 2, true)] {
        // The failure of the save before is returned by this one, in all processes.
        assert!(manager.save(step, &parts(Some((failing, panics)))).unwrap());
        said.push(manager.wait_until_finished().unwrap_err().to_string());
        assert_eq!(manager.all_steps(), [0]);
    }
    assert!(manager.save(9, &parts(None)).unwrap());
    manager.wait_until_finished().unwrap();
    assert_eq!(manager.all_steps(), [0, 9]);
    manager.verify(9).unwrap();
    said.push("done".into());
    say(said.join(" | "));
}

#[test]
fn the_failure_of_one_process_reaches_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let said = Program::of("fail", 3, &[("RAMIE_TEST_FOLDER", path)]).says();
    for (process, line) in said.iter().enumerate() {
        let errors: Vec<&str> = line.split(" | ").collect();
        assert_eq!(errors.len(), 4, "{line}");
        for (i, error) in errors[..3].iter().enumerate() {
            let reason = [
                "no storage space",
                "no storage space",
                "panicked: a mistake",
            ][i];
            assert!(error.contains(reason), "{error}");
            // The others say which process it was.
            assert_eq!(
                error.contains(&format!("process {i}: ")),
                i != process,
                "{error}"
            );
        }
    }
    let names = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = names.map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["0", "9"]);
}

fn decide(root: PathBuf, process: usize) {
    // Decisions that depend on times, which differ between processes.
    let options = CheckpointManagerOptions::new()
        .save_decision_policy(ContinuousCheckpointingPolicy {
            minimum_interval: Some(Duration::from_millis(30)),
        })
        .preservation_policy(LatestDuration(Duration::from_millis(100)))
        .checkpointer(waiting());
    let manager = CheckpointManager::new(&root, options).unwrap();
    let mut saved = Vec::new();
    for step in 0..40 {
        std::thread::sleep(Duration::from_millis(2 + 5 * process as u64));
        if manager.save(step, &JsonSave::new(&step)).unwrap() {
            saved.push(step);
        }
    }
    manager.wait_until_finished().unwrap();
    say(format!("{saved:?} {:?}", manager.all_steps()));
}

#[test]
fn processes_decide_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let said = Program::of("decide", 3, &[("RAMIE_TEST_FOLDER", path)]).says();
    assert_eq!(said[0], said[1]);
    assert_eq!(said[0], said[2]);
    assert!(said[0].matches(',').count() > 2, "{}", said[0]);
}

fn end(root: PathBuf, process: usize) {
    let options = CheckpointManagerOptions::new()
        .save_interval_steps(1_000_000)
        .checkpointer(waiting());
    let manager = CheckpointManager::new(&root, options).unwrap();
    for step in 0..1_000_000 {
        std::thread::sleep(Duration::from_millis(1 + process as u64));
        if process == 2 && step == 20 {
            preemption::request();
        }
        let saved = manager.save(step, &JsonSave::new(&step)).unwrap();
        if manager.reached_preemption(step) {
            assert!(saved);
            manager.close().unwrap();
            return say(step);
        }
    }
}

#[test]
fn one_process_that_is_to_end_ends_all_at_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let said = Program::of("end", 3, &[("RAMIE_TEST_FOLDER", path)]).says();
    let step: u64 = said[0].parse().unwrap();
    assert!(step > 20);
    assert_eq!(said, [said[0].as_str(); 3]);
    assert!(folder.path().join(step.to_string()).is_dir());
}

fn some(root: PathBuf, process: usize) {
    // Processes 1 and 3 have a manager of their own, of which 3 is the primary one.
    if process % 2 == 1 {
        let options = CheckpointManagerOptions::new().checkpointer(waiting().multiprocessing(
            MultiprocessingOptions {
                primary_host: 3,
                active_processes: Some([1, 3].into()),
                barrier_sync_key_prefix: Some("odd".into()),
            },
        ));
        let manager = CheckpointManager::new(&root, options).unwrap();
        let items = Composite::new()
            .item("data", IteratorSave::new(&process))
            .item("settings", JsonSave::new(&process));
        assert!(manager.save(1, &items).unwrap());
        manager.wait_until_finished().unwrap();
        manager.verify(1).unwrap();
        let items = Composite::new()
            .item("data", IteratorRestore::<usize>::new())
            .item("settings", JsonRestore::<usize>::new());
        assert_eq!(manager.restore(1, items).unwrap(), (process, 3));
    }
    distributed::sync_global_devices("saved").unwrap();
    say("done");
}

#[test]
fn some_of_the_processes_can_save_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let said = Program::of("some", 4, &[("RAMIE_TEST_FOLDER", path)]).says();
    assert_eq!(said, ["done"; 4]);
}

/// An item whose second process ends while the first one commits.
#[derive(Clone)]
struct Ends {
    process: usize,
    /// File that the first process creates during its commit.
    commits: PathBuf,
}

impl SaveArgs for Ends {
    fn handler(&self) -> &str {
        "tests.Ends"
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.clone()))
    }
}

impl Snapshot for Ends {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        if self.process == 1 {
            let commits = self.commits.clone();
            std::thread::spawn(move || {
                while !commits.exists() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                std::process::abort();
            });
        }
        writer.write(&format!("part_{}", self.process), b"data")
    }

    fn finalize(&mut self, _: &ItemWriter) -> Result<()> {
        std::fs::write(&self.commits, b"").unwrap();
        let store = distributed::key_value_store()?;
        for _ in 0..2000 {
            if let Err(ramie_core::Error::Distributed {
                kind: FailureKind::PeerLost,
                ..
            }) = store.get("never", Duration::from_millis(10))
            {
                return Ok(());
            }
        }
        panic!("process 1 is still there");
    }
}

fn lost(root: PathBuf, process: usize) {
    if process == 1 {
        say("ends");
    }
    let path = root.join("state");
    let options = waiting().asynchronous(false);
    let checkpointer = Checkpointer::with_options(options.atomicity(Atomicity::CommitFile));
    let commits = root.join("commits");
    let item = Ends { process, commits };
    let error = checkpointer.save(&path, &item).unwrap_err();
    assert!(is_committed(&path).unwrap(), "{error}");
    ItemReader::open(&path).unwrap().verify_all().unwrap();
    say("committed");
}

#[test]
fn a_checkpoint_remains_if_a_process_is_lost_during_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let said = Program::of("lost", 2, &[("RAMIE_TEST_FOLDER", path)]).says();
    assert_eq!(said, ["committed", "ends"]);
}

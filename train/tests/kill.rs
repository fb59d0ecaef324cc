//! Runs in processes of their own, which are killed or get a signal, and end with the same bits as an uninterrupted
//! run.
#![cfg(unix)]

mod common;

use common::points;
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions};
use ramie_checkpoint::pytree::StandardRestore;
use ramie_checkpoint::{items::Composite, preemption};
use ramie_core::{Array, State};
use ramie_data::DataLoader;
use ramie_nn::{BatchNorm, Dropout, Linear, Module, Rngs};
use ramie_optim::adam;
use ramie_train::{EarlyStopping, Error, History, Monitor, Trainer, Training};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Set in a child process: the folder of its run.
const FOLDER: &str = "RAMIE_TEST_TRAINER_FOLDER";
/// Steps of the run: 6 epochs of 8 batches.
const STEPS: u64 = 48;

/// A network whose state contains keys of random numbers and running statistics.
#[derive(Module)]
struct Net {
    hidden: Linear,
    norm: BatchNorm,
    dropout: Dropout,
    out: Linear,
}

fn loss(model: &mut Net, x: Array, y: Array) -> (Array, Array) {
    let x = model.norm.forward(&model.hidden.forward(&x)).tanh();
    let error = model.out.forward(&model.dropout.forward(&x)).squeeze(&[-1]) - y;
    (error.square().mean(), error.abs().mean())
}

/// Trains in a folder and prints a line after each step. The width makes a checkpoint large enough to be killed in.
fn train(folder: &Path) -> Result<History, Error> {
    let rngs = &mut Rngs::new(1);
    let model = Net {
        hidden: Linear::new(2, 2048, rngs),
        norm: BatchNorm::new(2048, rngs),
        dropout: Dropout::new(0.1, rngs),
        out: Linear::new(2048, 1, rngs),
    };
    let mut state = Training::new(model, adam(1e-3));
    let trainer = Trainer::new(loss)
        .metrics(["loss", "error"])
        .epochs(6)
        .validate(DataLoader::new(points(20)).batch_size(8))
        .early_stopping(EarlyStopping::new(Monitor::min("val_loss")).patience(100))
        .keep_best(Monitor::max("val_loss"))
        .folder(folder)
        .checkpoint_every(3)
        .every(1, |context| {
            println!("made step {}", context.status.step);
            Ok(())
        })
        .quiet();
    let loader = DataLoader::new(points(64)).batch_size(8).shuffle(3);
    trainer.fit(&mut state, loader)
}

/// The part of a child process.
fn child(folder: &Path) {
    match train(folder) {
        Ok(_) => println!("finished"),
        Err(Error::Stopped(stopped)) => {
            println!("{stopped}");
            println!("signal {:?}", preemption::signal());
        }
        Err(e) => panic!("{e}"),
    }
}

struct Running {
    process: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn start(folder: &Path, test: &str) -> Running {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(FOLDER, folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        Running { process, out }
    }

    /// Waits for a number of steps. Returns the last step, or `None` if the run has ended.
    fn wait_for(&mut self, steps: usize) -> Option<u64> {
        let (mut made, mut line) = (None, String::new());
        for _ in 0..steps {
            loop {
                line.clear();
                if self.out.read_line(&mut line).unwrap() == 0 {
                    return None;
                }
                if let Some(step) = line
                    .trim()
                    .rsplit("made step ")
                    .next()
                    .filter(|s| *s != line.trim())
                {
                    made = Some(step.parse().unwrap());
                    break;
                }
            }
        }
        made
    }

    fn finish(mut self) -> String {
        let mut text = String::new();
        self.out.read_to_string(&mut text).unwrap();
        assert!(self.process.wait().unwrap().success(), "{text}");
        text
    }
}

/// Runs or continues a training until its regular end.
fn run_to_the_end(folder: &Path, test: &str) {
    let text = Running::start(folder, test).finish();
    assert!(text.contains("finished"), "{text}");
}

/// The bytes of the arrays of the last checkpoint in a folder, by path.
fn last(folder: &Path) -> (u64, Vec<(String, Vec<u8>)>) {
    let options = CheckpointManagerOptions::new().read_only(true);
    let manager = CheckpointManager::new(folder, options).unwrap();
    let step = manager.latest_step().expect("a checkpoint");
    let state: State = if folder.ends_with("best") {
        manager.restore(step, StandardRestore::state()).unwrap()
    } else {
        let items = Composite::new().item("state", StandardRestore::state());
        manager.restore(step, items).unwrap().0
    };
    let bytes = |(path, x): (&str, &Array)| (path.to_owned(), x.try_to_bytes().unwrap());
    (step, state.iter().map(bytes).collect())
}

/// Compares the results of two runs bit for bit.
fn assert_same(whole: &Path, parts: &Path) {
    for folder in ["checkpoints", "best"] {
        let (expected, got) = (last(&whole.join(folder)), last(&parts.join(folder)));
        assert!(expected.1.len() > 10 && expected == got, "{folder} differs");
    }
    let [whole, parts] = [whole, parts].map(|run| History::read(run).unwrap());
    assert_eq!(whole.get("loss").len() as u64, STEPS);
    assert_eq!(whole.get("val_loss").len(), 6);
    assert_eq!(whole, parts);
}

#[test]
fn a_killed_run_ends_with_the_same_bits() {
    const NAME: &str = "a_killed_run_ends_with_the_same_bits";
    if let Some(folder) = std::env::var_os(FOLDER) {
        return child(Path::new(&folder));
    }
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    run_to_the_end(whole.path(), NAME);
    assert_eq!(last(&whole.path().join("checkpoints")).0, STEPS);

    // Right after a step, and a little later, when a checkpoint is being written.
    for (steps, delay) in [(2, 0), (5, 0), (7, 1), (10, 2), (8, 4), (9, 7), (6, 0)] {
        let mut run = Running::start(parts.path(), NAME);
        if run.wait_for(steps).is_none() {
            break;
        }
        std::thread::sleep(Duration::from_millis(delay));
        run.process.kill().unwrap();
        run.process.wait().unwrap();
    }
    let finished = |folder: &Path| folder.exists() && last(folder).0 == STEPS;
    if !finished(&parts.path().join("checkpoints")) {
        run_to_the_end(parts.path(), NAME);
    }
    assert_same(whole.path(), parts.path());
}

#[test]
fn a_signal_saves_and_ends_the_run() {
    const NAME: &str = "a_signal_saves_and_ends_the_run";
    if let Some(folder) = std::env::var_os(FOLDER) {
        return child(Path::new(&folder));
    }
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    run_to_the_end(whole.path(), NAME);
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let mut run = Running::start(parts.path(), NAME);
        let step = run.wait_for(4).expect("a step");
        let id = run.process.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
        let text = run.finish();
        assert!(text.contains(&format!("signal Some({number})")), "{text}");
        // The step that is saved is the one that the program names.
        let (saved, _) = last(&parts.path().join("checkpoints"));
        assert!(saved >= step && saved < STEPS, "{saved} after {step}");
        let message = format!("Stopped and saved after step {saved}");
        assert!(text.contains(&message), "{text}");
    }
    run_to_the_end(parts.path(), NAME);
    assert_same(whole.path(), parts.path());
}

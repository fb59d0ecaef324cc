//! Runs that are interrupted.

use crate::{Net, loader, loss, net, points};
use ramie_checkpoint::preemption;
use ramie_core::{Array, State};
use ramie_data::DataLoader;
use ramie_train::{
    Callback, Context, EarlyStopping, Error, History, Monitor, PerCall, Resume, Trainer, Training,
};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A request to stop applies to the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn trainer(folder: &Path) -> Trainer<Training<Net>, (Array, Array), (Array, Array)> {
    Trainer::new(loss)
        .metrics(["loss", "error"])
        .epochs(4)
        .folder(folder)
        .checkpoint_every(5)
        .quiet()
}

fn bytes(state: &Training<Net>) -> Vec<Vec<u8>> {
    State::of(state)
        .iter()
        .map(|(_, x)| x.try_to_bytes().unwrap().to_vec())
        .collect()
}

/// Trains and stops after these steps, again and again; returns the state and the metrics.
fn interrupted(folder: &Path, stops: &[u64]) -> (Training<Net>, History) {
    for &stop in stops {
        let stopping = trainer(folder).every(1, move |context| {
            if context.status.step == stop {
                preemption::request();
            }
            Ok(())
        });
        let error = stopping.fit(&mut net(), loader()).unwrap_err();
        let Error::Stopped(stopped) = error else {
            panic!("{error}")
        };
        assert_eq!(stopped.step, stop);
        preemption::withdraw();
    }
    let mut state = net();
    let history = trainer(folder).fit(&mut state, loader()).unwrap();
    (state, history)
}

#[test]
fn an_interrupted_run_continues_with_the_same_bits() {
    let _alone = ALONE.lock();
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (expected, history) = interrupted(whole.path(), &[]);
    // In the middle of an epoch, at its end, at a checkpoint, and right after it.
    let (state, resumed) = interrupted(parts.path(), &[3, 6, 10, 11]);
    assert_eq!(bytes(&state), bytes(&expected));
    assert_eq!(resumed, history);
    assert_eq!(History::read(parts.path()).unwrap(), history);
    assert_eq!(history.get("loss").len(), 24);
}

/// The paths and contents of all files in a folder, sorted.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path))
        } else {
            files.push((path.clone(), std::fs::read(path).unwrap()))
        }
    }
    files.sort();
    files
}

#[test]
fn a_finished_run_is_extended_or_refused() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let (_, history) = interrupted(folder.path(), &[]);
    let before = files(folder.path());
    let mut state = net();
    let refused = trainer(folder.path()).fit(&mut state, loader());
    let text = refused.unwrap_err().to_string();
    let path = folder.path().display();
    let expected = format!(
        "{path}: the run in this folder finished after step 24\n  help: continue it with \
         `.resume(Resume::Always)`, for example with more epochs, or start a new run with \
         `.resume(Resume::Never)`, which moves this one to {path}.1"
    );
    assert_eq!(text, expected);
    assert_eq!(bytes(&state), bytes(&net()));
    assert!(files(folder.path()) == before, "the run is unchanged");

    let longer = trainer(folder.path()).epochs(5).resume(Resume::Always);
    let extended = longer.fit(&mut state, loader()).unwrap();
    assert_eq!(extended.get("loss").len(), 30);
    assert_eq!(extended.get("loss")[..24], history.get("loss")[..]);
    let mut whole = net();
    let _ = Trainer::new(loss)
        .epochs(5)
        .quiet()
        .fit(&mut whole, loader())
        .unwrap();
    assert_eq!(bytes(&state), bytes(&whole));
}

#[test]
fn a_new_run_moves_the_earlier_one_with_its_folder() {
    let _alone = ALONE.lock();
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let (first, history) = interrupted(&folder, &[]);
    std::fs::write(folder.join("model.safetensors"), "saved by the program").unwrap();
    let relative = |folder: &Path| {
        let files = files(folder).into_iter();
        let files =
            files.map(|(path, bytes)| (path.strip_prefix(folder).unwrap().to_owned(), bytes));
        files.collect::<Vec<_>>()
    };
    let before = relative(&folder);
    // The first attempts fail after their first step, without a checkpoint or a written metric.
    for _ in 0..2 {
        let never = trainer(&folder).resume(Resume::Never).every(1, failing(1));
        never.fit(&mut net(), loader()).unwrap_err();
        assert!(relative(&parent.path().join("run.1")) == before);
    }
    let never = trainer(&folder).resume(Resume::Never);
    let mut again = net();
    assert_eq!(never.fit(&mut again, loader()).unwrap(), history);
    assert_eq!(bytes(&again), bytes(&first));
    let never = trainer(&folder).resume(Resume::Never).epochs(1);
    never.fit(&mut net(), loader()).unwrap();
    assert_eq!(History::read(&folder).unwrap().get("loss").len(), 6);
    let n = |n| History::read(parent.path().join(format!("run.{n}")));
    assert_eq!([n(1).unwrap(), n(2).unwrap()], [history.clone(), history]);
    assert!(n(3).is_err());
}

#[test]
fn metrics_of_a_run_without_a_checkpoint_remain() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let monitor = || Monitor::min("epoch_loss");
    let run = |fails: u64| {
        let trainer = trainer(folder.path())
            .checkpoint_every(1000)
            .keep_best(monitor());
        trainer.every(1, failing(fails)).fit(&mut net(), loader())
    };
    run(15).unwrap_err();
    let [lines, best] = ["metrics.jsonl", "best"].map(|name| folder.path().join(name));
    let (lines, best) = (std::fs::read(lines).unwrap(), files(&best));
    assert!(!lines.is_empty() && !best.is_empty());
    assert_eq!(run(0).unwrap().get("loss").len(), 24);
    let moved = std::fs::read(folder.path().join("metrics.jsonl.1")).unwrap();
    assert_eq!(moved, lines);
    assert_eq!(files(&folder.path().join("best.1")).len(), best.len());
    assert!(folder.path().join("tensorboard.1").is_dir());
}

#[test]
fn a_folder_is_used_by_one_run_at_a_time() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let nested = trainer(folder.path()).every(7, move |context| {
        for resume in [Resume::Unfinished, Resume::Always, Resume::Never] {
            let second = trainer(&path).resume(resume);
            let error = second.fit(&mut net(), loader()).unwrap_err();
            assert!(matches!(error, Error::InUse { .. }), "{error}");
        }
        context.stop();
        Ok(())
    });
    let history = nested.fit(&mut net(), loader()).unwrap();
    assert_eq!(History::read(folder.path()).unwrap(), history);
    assert_eq!(history.get("loss").len(), 7);
}

/// A run that is killed after it was resumed, before it has a new best state, keeps the best one.
#[test]
fn the_best_state_remains_until_there_is_another() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let run = |fails: u64| {
        let trainer = trainer(folder.path()).checkpoint_every(8);
        let trainer = trainer.keep_best(Monitor::min("epoch_loss"));
        trainer.every(1, failing(fails)).fit(&mut net(), loader())
    };
    run(13).unwrap_err();
    let best = || files(&folder.path().join("best"));
    let before = best();
    assert!(folder.path().join("best/12").is_dir());
    run(10).unwrap_err();
    assert!(best() == before);
    run(0).unwrap();
    assert!(!folder.path().join("best/12").exists());
}

/// Counts steps; the count is saved with checkpoints.
struct Count(u64);

impl Callback<Training<Net>> for Count {
    fn on_step(&mut self, _: &mut Context<'_, Training<Net>>) -> ramie_train::Result {
        self.0 += 1;
        Ok(())
    }
    fn on_end(&mut self, context: &mut Context<'_, Training<Net>>) -> ramie_train::Result {
        context.record("counted", self.0 as f64);
        Ok(())
    }
    fn save(&self) -> serde_json::Value {
        self.0.into()
    }
    fn restore(&mut self, saved: &serde_json::Value) {
        self.0 = saved.as_u64().unwrap();
    }
}

/// Fails at a step, which leaves the run as a crash does.
fn failing(at: u64) -> impl FnMut(&mut Context<'_, Training<Net>>) -> ramie_train::Result {
    move |context| {
        if context.status.step == at {
            Err(Error::other("out of luck"))
        } else {
            Ok(())
        }
    }
}

#[test]
fn early_stopping_and_callbacks_continue_where_they_were() {
    let _alone = ALONE.lock();
    let run = |folder: &Path, fails: u64| {
        let monitor = Monitor::max("val_loss"); // it falls, so the first value is the best
        let mut state = net();
        let history = trainer(folder)
            .epochs(50)
            .validate(DataLoader::new(points(8)).batch_size(8))
            .early_stopping(EarlyStopping::new(monitor.clone()).patience(3))
            .keep_best(monitor)
            .callback(Count(0))
            .every(1, failing(fails))
            .fit(&mut state, loader());
        history.map(|history| (bytes(&state), history))
    };
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let expected = run(whole.path(), 0).unwrap();
    // The first value, and four that are not better.
    assert_eq!(expected.1.get("val_loss").len(), 5);
    assert_eq!(expected.1.last("counted"), Some(30.0));
    for fails in [8, 13, 24, 29] {
        let error = run(parts.path(), fails).unwrap_err();
        assert_eq!(error.to_string(), "out of luck");
    }
    assert!(run(parts.path(), 0).unwrap() == expected);
}

#[test]
fn a_run_with_infinite_metrics_resumes() {
    let _alone = ALONE.lock();
    let undefined = |model: &mut Net, x, y| {
        let (loss, error) = loss(model, x, y);
        (loss, error / 0.0)
    };
    let run = |folder: &Path, fails: u64| {
        let trainer = Trainer::new(undefined).metrics(["loss", "error"]).quiet();
        let trainer = trainer.folder(folder).checkpoint_every(4);
        trainer.every(1, failing(fails)).fit(&mut net(), loader())
    };
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let expected = run(whole.path(), 0).unwrap();
    assert_eq!(expected.last("epoch_error"), Some(f64::INFINITY));
    // The checkpoint after step 4 contains the sum of an epoch of six steps.
    run(parts.path(), 5).unwrap_err();
    let resumed = run(parts.path(), 0).unwrap();
    assert_eq!(resumed, expected);
    assert_eq!(expected.get("error").len(), 6);
    assert_eq!(History::read(parts.path()).unwrap(), expected);
}

#[test]
fn stacks_end_with_their_epoch_and_resume() {
    let _alone = ALONE.lock();
    let run = |folder: &Path, fails: u64| {
        // Five batches of equal shape per epoch, in stacks of three and two.
        let loader = DataLoader::new(points(40)).batch_size(8).shuffle(5);
        let mut state = net();
        let history = trainer(folder)
            .epochs(3)
            .checkpoint_every(1)
            .every(1, failing(fails))
            .fit(&mut state, PerCall::new(3, loader));
        history.map(|history| (bytes(&state), history))
    };
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let expected = run(whole.path(), 0).unwrap();
    let ends: Vec<u64> = expected.1.get("epoch_loss").iter().map(|e| e.0).collect();
    assert_eq!(ends, [5, 10, 15]);
    for fails in [5, 10, 13] {
        run(parts.path(), fails).unwrap_err();
    }
    assert!(run(parts.path(), 0).unwrap() == expected);
}

#[test]
fn a_batch_that_fails_loses_no_step() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let loader = |fails: bool| {
        DataLoader::with_collate(0..40usize, move |rows: Vec<usize>| match rows[0] {
            24 if fails => Err(ramie_data::Error::other("the disk is gone")),
            _ => {
                let x = rows.iter().flat_map(|r| [*r as f32 / 40.0, 0.5]).collect();
                let y: ndarray::Array1<f32> = rows.iter().map(|r| *r as f32 / 40.0).collect();
                let x = ndarray::Array2::from_shape_vec((rows.len(), 2), x);
                Ok((x.expect("two per row"), y))
            }
        })
        .batch_size(8)
    };
    let run = |fails| {
        let trainer = trainer(folder.path()).epochs(1).checkpoint_every(1);
        trainer.fit(&mut net(), loader(fails))
    };
    let error = run(true).unwrap_err().to_string();
    assert!(error.contains("the disk is gone"), "{error}");
    let saved = folder.path().join("checkpoints/3");
    assert!(saved.is_dir(), "the last step before the failure");
    assert_eq!(run(false).unwrap().get("loss").len(), 5);
}

#[test]
fn a_folder_of_another_run_is_an_error_with_a_remedy() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let crashed = trainer(folder.path()).every(1, failing(7));
    crashed.fit(&mut net(), loader()).unwrap_err();
    let is_refused = |error: Error, reason: &str| {
        let text = error.to_string();
        let start = format!("{}: the run in this folder", folder.path().display());
        assert!(text.starts_with(&start) && text.contains(reason), "{text}");
        let ways = "`.resume(Resume::Never)`, which moves this one to ";
        assert!(text.contains(ways), "{text}");
        assert_eq!(text.matches("help: ").count(), 1, "{text}");
    };

    // Another model.
    let step = |state: &mut (Array,), _: Array, y: Array| {
        state.0 = &state.0 + y.mean();
        state.0.clone()
    };
    let other = Trainer::from_step(step).folder(folder.path()).quiet();
    let error = other
        .fit(&mut (Array::from(0.0f32),), loader())
        .unwrap_err();
    is_refused(error, "`model.out.kernel`: the tree has nothing");

    // Other data.
    let error = trainer(folder.path()).fit(&mut net(), DataLoader::new(points(48)).batch_size(8));
    is_refused(error.unwrap_err(), "the epoch had 44 elements");

    let never = trainer(folder.path()).resume(Resume::Never);
    assert!(never.fit(&mut net(), loader()).is_ok());
}

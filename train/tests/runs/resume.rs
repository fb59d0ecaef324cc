//! Runs that are interrupted.

use crate::{Net, loader, loss, net};
use ramie_checkpoint::preemption;
use ramie_core::State;
use ramie_train::{Error, History, Resume, Trainer, Training};
use std::path::Path;
use std::sync::Mutex;

/// A request to stop applies to the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn trainer(
    folder: &Path,
) -> Trainer<
    Training<Net>,
    (ramie_core::Array, ramie_core::Array),
    (ramie_core::Array, ramie_core::Array),
> {
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

#[test]
fn a_finished_run_is_replaced_or_extended() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let (first, history) = interrupted(folder.path(), &[]);
    let (again, same) = interrupted(folder.path(), &[]);
    assert_eq!(bytes(&again), bytes(&first));
    assert_eq!(same, history);
    let mut state = net();
    let longer = trainer(folder.path()).epochs(5).resume(Resume::Always);
    let history = longer.fit(&mut state, loader()).unwrap();
    assert_eq!(history.get("loss").len(), 30);
    assert_eq!(history.get("loss")[..24], same.get("loss")[..]);
    let mut whole = net();
    let _ = Trainer::new(loss)
        .epochs(5)
        .quiet()
        .fit(&mut whole, loader())
        .unwrap();
    assert_eq!(bytes(&state), bytes(&whole));
}

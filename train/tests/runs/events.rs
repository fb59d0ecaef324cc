//! Callbacks, early stopping, and the best state.

use crate::{Net, loader, loss, net, points};
use ramie_data::DataLoader;
use ramie_train::{
    Callback, Context, EarlyStopping, Monitor, Progress, Result, Status, Trainer, Training,
};
use std::sync::{Arc, Mutex};

struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, event: &str, context: &Context<'_, Training<Net>>) -> Result {
        let mut log = self.0.lock().unwrap();
        log.push(format!("{event} {}", context.status.step));
        Ok(())
    }
}

impl Callback<Training<Net>> for Log {
    fn on_start(&mut self, context: &mut Context<'_, Training<Net>>) -> Result {
        self.add("start", context)
    }
    fn on_step(&mut self, context: &mut Context<'_, Training<Net>>) -> Result {
        match context.status.step % 6 {
            0 => self.add("step", context),
            _ => Ok(()),
        }
    }
    fn on_epoch(&mut self, context: &mut Context<'_, Training<Net>>) -> Result {
        context.record("twice", 2.0 * context.history.last("epoch_loss").unwrap());
        self.add("epoch", context)
    }
    fn on_validation(&mut self, context: &mut Context<'_, Training<Net>>) -> Result {
        self.add("validation", context)
    }
    fn on_checkpoint(&mut self, context: &mut Context<'_, Training<Net>>) -> Result {
        self.add("checkpoint", context)
    }
    fn on_end(&mut self, context: &mut Context<'_, Training<Net>>) -> Result {
        self.add("end", context)
    }
}

#[test]
fn callbacks_are_called_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let history = Trainer::new(loss)
        .epochs(2)
        .validate(DataLoader::new(points(8)).batch_size(8))
        .folder(folder.path())
        .callback(Log(log.clone()))
        .quiet()
        .fit(&mut net(), loader())
        .unwrap();
    let expected = [
        "start 0",
        "step 6",
        "epoch 6",
        "validation 6",
        "checkpoint 6",
        "step 12",
        "epoch 12",
        "validation 12",
        "checkpoint 12",
        "end 12",
    ];
    assert_eq!(*log.lock().unwrap(), expected);
    assert_eq!(
        history.last("twice").unwrap(),
        2.0 * history.last("epoch_loss").unwrap()
    );
    let read = ramie_train::History::read(folder.path()).unwrap();
    assert_eq!(read, history);
}

#[test]
fn a_function_is_called_at_multiples_of_its_interval_and_can_stop() {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = steps.clone();
    let history = Trainer::new(loss)
        .epochs(10)
        .every(5, move |context| {
            seen.lock().unwrap().push(context.status.step);
            if context.status.step == 15 {
                context.stop();
            }
            Ok(())
        })
        .quiet()
        .fit(&mut net(), loader())
        .unwrap();
    assert_eq!(*steps.lock().unwrap(), [5, 10, 15]);
    assert_eq!(history.get("loss").len(), 15);
}

#[test]
fn a_run_stops_early_and_returns_to_its_best_state() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = net();
    let mut best = None;
    let monitor = Monitor::max("val_loss"); // it falls, so the first value is the best
    let history = Trainer::new(loss)
        .epochs(50)
        .validate(DataLoader::new(points(8)).batch_size(8))
        .early_stopping(EarlyStopping::new(monitor.clone()).patience(1))
        .keep_best(monitor)
        .folder(folder.path())
        .quiet()
        .fit(&mut state, loader())
        .unwrap();
    assert_eq!(history.get("val_loss").len(), 3);
    let first = Trainer::new(loss)
        .epochs(1)
        .quiet()
        .fit(best.insert(net()), loader());
    first.unwrap();
    let (best, state) = (best.unwrap().model, state.model);
    assert_eq!(
        best.out.kernel.to_vec::<f32>(),
        state.out.kernel.to_vec::<f32>()
    );
}

#[test]
fn a_mean_over_an_epoch_is_observed_once() {
    let monitor = Monitor::max("epoch_loss"); // it falls, so the first value is the best
    let history = Trainer::new(loss)
        .epochs(50)
        .validate(DataLoader::new(points(8)).batch_size(8))
        .validate_every(2)
        .early_stopping(EarlyStopping::new(monitor).patience(1))
        .quiet()
        .fit(&mut net(), loader())
        .unwrap();
    assert_eq!(history.get("epoch_loss").len(), 3);
    assert_eq!(history.get("val_loss").len(), 9);
}

/// Notes its events.
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl Progress for Notes {
    fn start(&mut self, status: &Status) {
        let Status {
            step,
            total,
            steps_per_epoch,
            ..
        } = status;
        self.add(format!("start {step}/{total} by {steps_per_epoch}"));
    }
    fn step(&mut self, status: &Status) {
        assert!(status.rate.is_none_or(|rate| rate > 0.0));
        if status.step > 11 {
            // Metrics of the last ten calls are still being computed.
            let names: Vec<&str> = status.metrics.iter().map(|(n, _)| n.as_str()).collect();
            self.add(format!("step {} {}", status.step, names.join(" ")));
        }
    }
    fn checkpoint(&mut self, status: &Status) {
        self.add(format!("saved {:?}", status.saved));
    }
    fn evaluated(&mut self, status: &Status, metrics: &[(String, f64)]) {
        let names: Vec<&str> = metrics.iter().map(|(n, _)| n.as_str()).collect();
        self.add(format!("epoch {} {}", status.epoch, names.join(" ")));
    }
    fn message(&mut self, text: &str) {
        self.add(text.to_owned());
    }
    fn finish(&mut self) {
        self.add("end".to_owned());
    }
}

#[test]
fn a_display_receives_the_events() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Arc::new(Mutex::new(Vec::new()));
    Trainer::new(loss)
        .metrics(["loss", "error"])
        .epochs(2)
        .validate(DataLoader::new(points(8)).batch_size(8))
        .folder(folder.path())
        .every(8, |context| {
            context.message("eight");
            Ok(())
        })
        .progress(Notes(notes.clone()))
        .fit(&mut net(), loader())
        .unwrap();
    let evaluated = "epoch_loss epoch_error val_loss val_error";
    let expected = [
        "start 0/12 by 6",
        &format!("epoch 0 {evaluated}"),
        "saved Some(6)",
        "eight",
        "step 12 loss error",
        &format!("epoch 1 {evaluated}"),
        "saved Some(12)",
        "end",
    ];
    assert_eq!(*notes.lock().unwrap(), expected);
}

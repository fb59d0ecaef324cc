//! The loop of a run.

use crate::checkpoints::{Best, Checkpoints, Restored, Saved};
use crate::folder::{self, Lock};
use crate::number::Number;
use crate::progress::Rate;
use crate::recorder::Recorder;
use crate::trainer::{Interval, Length, Settings, Step};
use crate::validation::size;
use crate::{Batches, Callback, Context, Error, History, Result, Status, Stopped, Trainer};
use ramie_checkpoint::preemption;
use ramie_core::distributed::{process_count, process_index, sync_global_devices};
use ramie_core::files;
use ramie_core::stages::Jitted;
use ramie_core::{Tree, jit, train_steps};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// A run.
pub(crate) struct Fit<'a, S> {
    state: &'a mut S,
    settings: Settings<S>,
    recorder: Recorder,
    checkpoints: Option<Checkpoints>,
    best: Option<Best>,
    saved: Saved,
    status: Status,
    /// Steps before the last call.
    before: u64,
    /// Whether a callback or early stopping ends the run.
    stop: bool,
    rate: Rate,
    /// Keeps other runs out of the folder. Dropped last, after the files are written.
    _lock: Lock,
}

/// A compiled step.
type JittedStep<S, P, R> = Jitted<'static, S, (P,), R, dyn Fn(&mut S, P) -> R + Send + Sync>;

/// Compiles a step, or several steps per call.
pub(crate) fn compile<S, P, R>(step: &Step<S, P, R>, per_call: Option<usize>) -> JittedStep<S, P, R>
where
    S: Tree + 'static,
    P: Tree + 'static,
    R: Tree + 'static,
{
    let step = Arc::clone(step);
    let step = move |state: &mut S, batch: P| step(state, batch);
    match per_call {
        None => jit(step),
        Some(count) => jit(train_steps(..=count, step)),
    }
}

/// Returns the error for a folder whose last checkpoint cannot be restored.
fn not_continued(folder: &Path, error: Error) -> Error {
    Error::Restore {
        folder: folder.to_owned(),
        error: Box::new(error),
    }
}

/// The opened folder of a run.
struct Opened<Position> {
    lock: Lock,
    messages: Vec<String>,
    checkpoints: Checkpoints,
    best: Option<Best>,
    /// The last checkpoint, if there is one to continue.
    restored: Option<Restored<Position>>,
}

/// Opens the folder of a run and restores the last checkpoint, if there is one to continue.
fn open_folder<S: Tree, Position: serde::de::DeserializeOwned>(
    folder: &Path,
    settings: &Settings<S>,
    state: &mut S,
) -> Result<Opened<Position>> {
    preemption::on_signals()?;
    if !preemption::requested() {
        // An earlier run in this process has ended.
        preemption::withdraw();
    }
    // One process moves earlier runs, before the others read the folder.
    let (lock, messages) = match process_index() {
        0 => folder::prepare(folder, settings.resume)?,
        _ => (None, Vec::new()),
    };
    if process_count() > 1 {
        sync_global_devices("ramie_train: folder")?;
    }
    let checkpoints = Checkpoints::open(folder, settings.keep)?;
    let restored: Option<Restored<Position>> = checkpoints
        .restore(folder, state, settings.resume)
        .map_err(|error| match error {
            Error::Finished { .. } => error,
            error => not_continued(folder, error),
        })?;
    if process_index() == 0 {
        for (name, contents) in &settings.files {
            let path = folder.join(name);
            files::replace(&path, contents).map_err(|error| Error::File { path, error })?;
        }
    }
    let best = match settings.best {
        Some(_) => Some(Best::open(folder, restored.as_ref().map_or(0, |r| r.step))?),
        None => None,
    };
    Ok(Opened {
        lock,
        messages,
        checkpoints,
        best,
        restored,
    })
}

impl<'a, S: Tree + 'static> Fit<'a, S> {
    pub fn run<P, R, D>(trainer: Trainer<S, P, R>, state: &'a mut S, batches: D) -> Result<History>
    where
        P: Tree + 'static,
        R: Tree + 'static,
        D: Batches<P>,
    {
        let (per_epoch, per_call) = (batches.steps_per_epoch() as u64, batches.per_call());
        let (total, epochs) = match trainer.settings.length {
            Length::Epochs(epochs) => (per_epoch.saturating_mul(epochs as u64), Some(epochs)),
            Length::Steps(steps) => (steps, None),
        };
        // Fail before the folder is opened, which may move files of an earlier run.
        if per_epoch == 0 {
            return Err(Error::NoBatches {
                dropped: batches.dropped(),
            });
        }
        let step = compile(&trainer.step, per_call);
        let (mut fit, position) = Fit::open::<D::Position>(trainer.settings, state, total)?;
        fit.status.steps_per_epoch = per_epoch;
        let batches = batches.start(epochs, position.as_ref(), &fit.settings.place);
        let mut batches = batches.map_err(|e| match (&position, &fit.settings.folder) {
            (Some(_), Some(folder)) => not_continued(folder, e),
            _ => e,
        })?;
        fit.each(Callback::on_start)?;
        fit.settings.progress.start(&fit.status);
        let mut next = fit.next(&mut batches)?;
        while let Some(batch) = next.take() {
            // Reading the next batch, below, moves the position beyond this one.
            let position = D::position(&batches);
            fit.status.epoch = D::epoch(&position);
            // A batch is `[rows, …]`, or `[steps, rows, …]` with several steps per call.
            let rows = size(&batch, usize::from(per_call.is_some()));
            fit.status.examples_per_step = fit.status.examples_per_step.or(rows);
            let result = step(fit.state, batch);
            let steps = fit.recorder.call(
                fit.status.step,
                &result,
                per_call.is_some(),
                rows.unwrap_or(1),
            )?;
            fit.before = fit.status.step;
            fit.status.step += steps;
            // The next batch shows whether this one was the last of its epoch. If it is an error,
            // this call is completed first.
            let upcoming = fit.next(&mut batches);
            let last = matches!(upcoming, Ok(None));
            let epoch_ended = last || D::epoch(&D::position(&batches)) != fit.status.epoch;
            fit.after_call(epoch_ended, last)?;
            fit.checkpoint(&position, epoch_ended, last || fit.stop)?;
            if !fit.stop {
                next = upcoming?;
            }
        }
        fit.finish()
    }

    /// Opens the files of a run and restores its last checkpoint, if there is one to continue.
    fn open<Position: serde::de::DeserializeOwned>(
        settings: Settings<S>,
        state: &'a mut S,
        total: u64,
    ) -> Result<(Fit<'a, S>, Option<Position>)> {
        let opened = match &settings.folder {
            Some(folder) => Some(open_folder::<S, Position>(folder, &settings, state)?),
            None => None,
        };
        let (lock, messages, checkpoints, best, restored) = match opened {
            Some(o) => (o.lock, o.messages, Some(o.checkpoints), o.best, o.restored),
            None => (None, Vec::new(), None, None, None),
        };
        let step = restored.as_ref().map(|r| r.step);
        let (position, saved) = match restored {
            Some(restored) => (Some(restored.position), restored.saved),
            None => (None, Saved::default()),
        };
        let mut recorder = Recorder::open(
            settings.names.clone(),
            settings.allow_non_finite,
            settings.folder.as_deref(),
            step,
        )?;
        recorder.sums = saved.sums.iter().map(|sum| sum.0).collect();
        recorder.rows = saved.rows;
        let status = Status {
            step: step.unwrap_or(0),
            total,
            epoch: saved.epoch,
            saved: step,
            folder: settings.folder.clone(),
            ..Status::default()
        };
        let mut fit = Fit {
            before: status.step,
            rate: Rate::new(status.step),
            state,
            settings,
            recorder,
            checkpoints,
            best,
            saved,
            status,
            stop: false,
            _lock: lock,
        };
        fit.begin(step, &messages);
        Ok((fit, position))
    }

    /// Passes restored states on, and reports what happened in the folder.
    fn begin(&mut self, step: Option<u64>, messages: &[String]) {
        if let Some(stopping) = &mut self.settings.stopping {
            stopping.observed = self.saved.stopping.clone();
        }
        for (callback, saved) in self
            .settings
            .callbacks
            .iter_mut()
            .zip(&self.saved.callbacks)
        {
            callback.restore(saved);
        }
        for text in messages {
            self.settings.progress.message(text);
        }
        if let Some(step) = step {
            let text = format!("Resumed after step {step}");
            self.settings.progress.message(&text);
        }
    }

    /// Returns the next batch, unless the run has reached its last step.
    fn next<P>(
        &self,
        batches: &mut impl Iterator<Item = ramie_data::Result<P>>,
    ) -> Result<Option<P>> {
        if self.status.step < self.status.total {
            Ok(batches.next().transpose()?)
        } else {
            Ok(None)
        }
    }

    /// Calls a method of each callback.
    fn each(
        &mut self,
        method: impl Fn(&mut (dyn Callback<S> + 'static), &mut Context<'_, S>) -> Result,
    ) -> Result {
        let mut recorded = Vec::new();
        for callback in &mut self.settings.callbacks {
            let mut context = Context {
                state: self.state,
                status: &self.status,
                history: &self.recorder.history,
                recorded: &mut recorded,
                stop: &mut self.stop,
                progress: &mut *self.settings.progress,
            };
            method(&mut **callback, &mut context)?;
        }
        self.recorder.record(self.status.step, &recorded)
    }

    /// Returns whether the last call reached a multiple of the interval.
    fn is_due(&self, interval: Interval, epoch_ended: bool) -> bool {
        let n = match interval {
            Interval::Epoch if self.has_short_epochs() => (self.status.total / 10).max(1),
            Interval::Epoch => return epoch_ended,
            Interval::Steps(n) => n,
        };
        // A call of several steps may pass a multiple without ending at it.
        self.before / n < self.status.step / n
    }

    /// Returns whether an epoch is a single step, so that steps are counted instead.
    fn has_short_epochs(&self) -> bool {
        self.status.steps_per_epoch == 1
    }

    /// Does what follows a call of the step, except for checkpoints.
    fn after_call(&mut self, epoch_ended: bool, last: bool) -> Result {
        let mut callbacks = self.settings.callbacks.iter();
        // Reading waits for the device, which otherwise works while the host prepares batches.
        if callbacks.any(|callback| callback.needs_metrics(&self.status)) {
            self.recorder.read(0)?;
        }
        self.recorder.latest(&mut self.status.metrics);
        self.status.rate = self.rate.update(self.status.step).or(self.status.rate);
        self.settings.progress.step(&self.status);
        self.each(Callback::on_step)?;
        let mut evaluated = Vec::new();
        if epoch_ended {
            let means = self.recorder.means()?;
            self.recorder.record(self.status.step, &means)?;
            if !self.has_short_epochs() {
                evaluated = means;
            }
            self.each(Callback::on_epoch)?;
        }
        let last = last || self.stop;
        let is_validated = match &self.settings.validation {
            Some(validate) if last || self.is_due(self.settings.validate_every, epoch_ended) => {
                let names = &self.settings.names;
                let metrics = validate(self.state, names, &self.settings.place)?;
                if let Some((name, loss)) = metrics.first() {
                    self.recorder.check_loss(self.status.step, name, *loss)?;
                }
                self.recorder.record(self.status.step, &metrics)?;
                evaluated.extend(metrics);
                self.each(Callback::on_validation)?;
                true
            }
            Some(_) => false,
            None => epoch_ended,
        };
        if !evaluated.is_empty() {
            self.settings.progress.evaluated(&self.status, &evaluated);
        }
        if is_validated {
            self.observe()?;
        }
        Ok(())
    }

    /// Keeps the best state, and stops a run that no longer improves.
    fn observe(&mut self) -> Result {
        let history = &self.recorder.history;
        if let (Some(monitor), Some(best)) = (&self.settings.best, &mut self.best)
            && self.saved.best.update(monitor, history)?
        {
            best.save(self.status.step, self.state)?;
        }
        if let Some(stopping) = &mut self.settings.stopping
            && stopping.observe(history)?
        {
            let text = format!(
                "Stopped early: `{}` has not improved",
                stopping.monitor.name()
            );
            self.settings.progress.message(&text);
            self.stop = true;
        }
        Ok(())
    }

    /// Saves a checkpoint if one is due: at its interval, at the end, and on a request to stop.
    fn checkpoint(&mut self, position: &impl Serialize, epoch_ended: bool, over: bool) -> Result {
        let step = self.status.step;
        let Some(checkpoints) = &self.checkpoints else {
            return Ok(());
        };
        // A run at its end is finished, whether or not a signal has arrived.
        let interrupted = checkpoints.reached_preemption(step) && !over;
        let due = over || interrupted || self.is_due(self.settings.checkpoint_every, epoch_ended);
        if !due {
            return Ok(());
        }
        // The checkpoint contains the best value, so the state of that value must exist.
        if let Some(best) = &self.best {
            best.wait()?;
        }
        // The files of metrics are complete up to every checkpoint.
        self.recorder.flush()?;
        self.saved.finished = over;
        self.saved.epoch = self.status.epoch;
        self.saved.sums = self.recorder.sums.iter().copied().map(Number).collect();
        self.saved.rows = self.recorder.rows;
        if let Some(stopping) = &self.settings.stopping {
            self.saved.stopping = stopping.observed.clone();
        }
        self.saved.callbacks = self.settings.callbacks.iter().map(|c| c.save()).collect();
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.save(step, &*self.state, position, &self.saved)?;
        }
        self.status.saved = Some(step);
        self.settings.progress.checkpoint(&self.status);
        self.each(Callback::on_checkpoint)?;
        match (&self.checkpoints, &self.settings.folder) {
            (Some(checkpoints), Some(folder)) if interrupted => {
                checkpoints.wait()?;
                self.settings.progress.finish();
                let folder = folder.clone();
                Err(Stopped { step, folder }.into())
            }
            _ => Ok(()),
        }
    }

    /// Ends the run and returns its metrics.
    fn finish(mut self) -> Result<History> {
        // Callbacks of the end find the state that the caller gets.
        if let Some(best) = &mut self.best
            && let Some(step) = best.restore(self.state)?
        {
            let text = format!("Returned to the best state, of step {step}");
            self.settings.progress.message(&text);
        }
        self.each(Callback::on_end)?;
        self.recorder.flush()?;
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.wait()?;
            preemption::end_at_once();
        }
        self.settings.progress.finish();
        Ok(self.recorder.history)
    }
}

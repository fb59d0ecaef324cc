//! Functions that a run calls at its events.

use crate::{History, Progress, Result, Status};
use serde_json::Value;

/// The part of a run that a callback can read and change.
pub struct Context<'a, S> {
    /// The state after the last step.
    pub state: &'a mut S,
    /// The position of the run.
    pub status: &'a Status,
    /// All metrics so far. During [`on_step`](Callback::on_step), those of the last steps are
    /// missing unless [`needs_metrics`](Callback::needs_metrics) asks for them, because the device
    /// is still computing them.
    pub history: &'a History,
    pub(crate) recorded: &'a mut Vec<(String, f64)>,
    pub(crate) stop: &'a mut bool,
    pub(crate) progress: &'a mut dyn Progress,
}

impl<S> Context<'_, S> {
    /// Ends the run after this event. The state is saved as at its regular end.
    pub fn stop(&mut self) {
        *self.stop = true;
    }

    /// Records a metric of the current step, which is also written to the files of the run.
    pub fn record(&mut self, name: impl Into<String>, value: f64) {
        self.recorded.push((name.into(), value));
    }

    /// Prints a line without disturbing the progress bar.
    pub fn message(&mut self, text: impl AsRef<str>) {
        self.progress.message(text.as_ref());
    }
}

/// An extension of a run, called at its events (`keras.callbacks.Callback`, Lightning's
/// `Callback`). All methods do nothing by default.
///
/// A callback with a state of its own, such as a moving average, saves it with each checkpoint, so
/// that a resumed run continues it.
///
/// ```
/// use ramie_train::{Callback, Context, Result};
///
/// /// Stops when the training loss falls below a limit.
/// struct Below(f64);
///
/// impl<S> Callback<S> for Below {
///     fn on_epoch(&mut self, context: &mut Context<'_, S>) -> Result {
///         if context.history.last("epoch_loss").is_some_and(|loss| loss < self.0) {
///             context.stop();
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait Callback<S> {
    /// Called before the first step, after a checkpoint was restored.
    ///
    /// # Errors
    /// An error of any method ends the run.
    fn on_start(&mut self, context: &mut Context<'_, S>) -> Result {
        let _ = context;
        Ok(())
    }

    /// Called after each step, or after each call that runs several steps.
    ///
    /// # Errors
    /// See [`on_start`](Callback::on_start).
    fn on_step(&mut self, context: &mut Context<'_, S>) -> Result {
        let _ = context;
        Ok(())
    }

    /// Called after each epoch, when its means are known.
    ///
    /// # Errors
    /// See [`on_start`](Callback::on_start).
    fn on_epoch(&mut self, context: &mut Context<'_, S>) -> Result {
        let _ = context;
        Ok(())
    }

    /// Called after each validation.
    ///
    /// # Errors
    /// See [`on_start`](Callback::on_start).
    fn on_validation(&mut self, context: &mut Context<'_, S>) -> Result {
        let _ = context;
        Ok(())
    }

    /// Called when a checkpoint has been started; it is written in the background.
    ///
    /// # Errors
    /// See [`on_start`](Callback::on_start).
    fn on_checkpoint(&mut self, context: &mut Context<'_, S>) -> Result {
        let _ = context;
        Ok(())
    }

    /// Called at the end of the run.
    ///
    /// # Errors
    /// See [`on_start`](Callback::on_start).
    fn on_end(&mut self, context: &mut Context<'_, S>) -> Result {
        let _ = context;
        Ok(())
    }

    /// Returns whether [`on_step`](Callback::on_step) needs the metrics of this step. The run then
    /// waits for the device, so return `true` rarely. Defaults to `false`.
    fn needs_metrics(&self, status: &Status) -> bool {
        let _ = status;
        false
    }

    /// Returns the callback's own state, to be saved with a checkpoint.
    fn save(&self) -> Value {
        Value::Null
    }

    /// Restores the state that [`save`](Callback::save) returned.
    fn restore(&mut self, saved: &Value) {
        let _ = saved;
    }
}

/// Calls a function every `count` steps; see [`Trainer::every`](crate::Trainer::every).
pub(crate) struct Every<F> {
    pub count: u64,
    pub last: u64,
    pub function: F,
}

impl<S, F: FnMut(&mut Context<'_, S>) -> Result> Callback<S> for Every<F> {
    fn on_start(&mut self, context: &mut Context<'_, S>) -> Result {
        self.last = context.status.step;
        Ok(())
    }

    fn on_step(&mut self, context: &mut Context<'_, S>) -> Result {
        let is_due = Callback::<S>::needs_metrics(self, context.status);
        self.last = context.status.step;
        if is_due {
            (self.function)(context)
        } else {
            Ok(())
        }
    }

    fn needs_metrics(&self, status: &Status) -> bool {
        self.last / self.count < status.step / self.count
    }
}

//! The settings of a run.

use crate::callback::{Callback, Context, Every};
use crate::fit::{Fit, compile};
use crate::monitor::{EarlyStopping, Monitor};
use crate::progress::{Bar, Progress, Quiet};
use crate::validation::{Validate, rows, validation};
use crate::{Batches, History, Result, Resume, Training};
use ramie_core::stages::Lowered;
use ramie_core::typing::{ArgTuple, Objective, StepFunction};
use ramie_core::{Tree, tree};
use ramie_data::{DataLoader, Placement, ToDevice};
use ramie_nn::{Module, accumulate, value_and_grad};
use ramie_optim::microbatching::reshape_batch_axis;
use std::path::PathBuf;
use std::sync::Arc;

/// A step on a batch `P`, which changes the state and returns metrics.
pub(crate) type Step<S, P, R> = Arc<dyn Fn(&mut S, P) -> R + Send + Sync>;

/// A function of a state and a batch that changes nothing.
type Metrics<S, P, R> = Arc<dyn Fn(&S, P) -> R + Send + Sync>;

/// Makes a step for a number of microbatches.
type Accumulating<S, P, R> = Box<dyn Fn(usize) -> Step<S, P, R>>;

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Epochs(usize),
    Steps(u64),
}

/// A number of steps, or the end of each epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interval {
    Epoch,
    Steps(u64),
}

/// The loop that trains a model: batches, steps, validation, metrics, checkpoints and progress.
///
/// See the [crate's documentation](crate) for an example. A trainer is created from a loss
/// ([`new`](Trainer::new)) or from a train step ([`from_step`](Trainer::from_step)), and runs with
/// [`fit`](Trainer::fit).
pub struct Trainer<S, P, R> {
    pub(crate) step: Step<S, P, R>,
    evaluate: Option<Metrics<S, P, R>>,
    /// Makes a step that computes the gradient of a batch in parts.
    accumulating: Option<Accumulating<S, P, R>>,
    pub(crate) settings: Settings<S>,
}

/// The settings that do not depend on the types of batches and results.
pub(crate) struct Settings<S> {
    pub names: Vec<String>,
    pub length: Length,
    pub validation: Option<Validate<S>>,
    pub validate_every: Interval,
    pub stopping: Option<EarlyStopping>,
    pub best: Option<Monitor>,
    pub folder: Option<PathBuf>,
    /// Files that are written into the folder when the run starts.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    pub checkpoint_every: Interval,
    pub keep: usize,
    pub resume: Resume,
    pub place: Placement,
    pub callbacks: Vec<Box<dyn Callback<S>>>,
    pub progress: Box<dyn Progress>,
    pub allow_non_finite: bool,
}

impl<M, P, R> Trainer<Training<M>, P, R>
where
    M: Module + 'static,
    P: Tree + 'static,
    R: Objective + 'static,
{
    /// Creates a trainer that minimizes a loss.
    ///
    /// The loss is a function of the model and the arrays of a batch, `fn(&mut M, x, y) -> Array` or
    /// `-> (Array, metrics)`, which returns the mean over the batch. Each step computes its gradient
    /// with respect to the model's parameters and updates them
    /// ([`value_and_grad`], [`Optimizer::update`](ramie_nn::Optimizer::update)).
    pub fn new<F, A, K>(loss: F) -> Trainer<Training<M>, P, R>
    where
        F: StepFunction<K, State = M, Args = A, Output = R> + 'static,
        A: ArgTuple<Packed = P>,
    {
        let loss = Arc::new(loss);
        // Three closures share the loss: the step, the evaluation, and the step in parts.
        let (other, parts) = (Arc::clone(&loss), Arc::clone(&loss));
        let step = move |state: &mut Training<M>, batch: P| {
            let (result, grads) =
                value_and_grad(&mut state.model, |model| loss.call(model, A::unpack(batch)));
            state.optimizer.update(&mut state.model, grads);
            result
        };
        let evaluate = move |state: &Training<M>, batch: P| {
            // The loss takes the model by `&mut`, so give it a copy in evaluation mode.
            other.call(&mut state.model.evaluated(), A::unpack(batch))
        };
        Trainer {
            step: Arc::new(step),
            evaluate: Some(Arc::new(evaluate)),
            // `accumulate` does not know the argument types `A`, so a closure made here keeps them.
            accumulating: Some(Box::new(move |microbatches| {
                let loss = Arc::clone(&parts);
                let loss = move |model: &mut M, part: P| loss.call(model, A::unpack(part));
                accumulating(loss, microbatches)
            })),
            settings: Settings::new(),
        }
    }

    /// Computes the gradient of each batch in `microbatches` parts, which needs the memory of one
    /// part ([`accumulate`](ramie_nn::accumulate())). The optimizer is updated once per batch. The
    /// metrics are means over the parts.
    ///
    /// # Panics
    /// Panics if `microbatches` is 0, or if the trainer was created from a step.
    /// [`fit`](Trainer::fit) panics if the number does not divide the batch size.
    #[must_use]
    #[track_caller]
    pub fn accumulate(mut self, microbatches: usize) -> Self {
        assert!(
            microbatches > 0,
            "Trainer: the number of microbatches must be at least 1"
        );
        let accumulating = self.accumulating.as_ref().expect(
            "Trainer: a train step computes its own gradient, so `accumulate` cannot divide its batch\n  help: call \
             `nn::accumulate` in the step, or create the trainer from a loss",
        );
        self.step = accumulating(microbatches);
        self
    }
}

/// Returns a step that computes the gradient of a batch in parts.
fn accumulating<M, P, R>(
    loss: impl Fn(&mut M, P) -> R + Send + Sync + 'static,
    microbatches: usize,
) -> Step<Training<M>, P, R>
where
    M: Tree + 'static,
    P: Tree + 'static,
    R: Objective + 'static,
{
    Arc::new(move |state: &mut Training<M>, batch: P| {
        let rows = rows(&batch);
        assert!(
            rows.is_multiple_of(microbatches),
            "Trainer: {microbatches} microbatches do not divide a batch of {rows}\n  help: use a batch size that is \
             a multiple of {microbatches}, and `drop_last` for a smaller last batch"
        );
        // `[rows, …]` → `[microbatches, rows / microbatches, …]`.
        let parts = reshape_batch_axis(&batch, rows / microbatches, 0);
        let (result, grads) = accumulate(&mut state.model, parts, &loss);
        state.optimizer.update(&mut state.model, grads);
        // The other metrics have a value for each part.
        tree::map(&result, |x| match x.ndim() {
            1 => x.mean(),
            _ => x.clone(),
        })
    })
}

impl<S, P, R> Trainer<S, P, R>
where
    S: Tree + 'static,
    P: Tree + 'static,
    R: Tree + 'static,
{
    /// Creates a trainer that runs a train step: a function that `jit` accepts, of a state by `&mut`
    /// and the arrays of a batch, which returns metrics. The state is any tree, such as a
    /// [`TrainState`](ramie_nn::training::TrainState) or a tuple of an optimizer and a model.
    ///
    /// ```
    /// use ramie_core::{Array, DType};
    /// use ramie_train::{Same, Trainer};
    ///
    /// // Gradient descent on the square of a number.
    /// let step = |x: &mut Array, rate: Array| {
    ///     *x = &*x - rate * &*x * 2;
    ///     x.square()
    /// };
    /// let mut x = Array::from(1.0f32);
    /// let history = Trainer::from_step(step).steps(10).quiet().fit(&mut x, Same(Array::from(0.25f32)))?;
    /// assert_eq!(history.get("loss").len(), 10);
    /// assert_eq!(x.item::<f32>(), 0.5f32.powi(10));
    /// # Ok::<(), ramie_train::Error>(())
    /// ```
    pub fn from_step<F, A, K>(step: F) -> Trainer<S, P, R>
    where
        F: StepFunction<K, State = S, Args = A, Output = R> + 'static,
        A: ArgTuple<Packed = P>,
    {
        Trainer {
            step: Arc::new(move |state: &mut S, batch: P| step.call(state, A::unpack(batch))),
            evaluate: None,
            accumulating: None,
            settings: Settings::new(),
        }
    }

    /// Names the arrays that the function returns, the loss first. By default, the first array is
    /// `loss`, and others have the names of their fields.
    #[must_use]
    pub fn metrics<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.settings.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Trains for a number of epochs. Defaults to 1.
    ///
    /// # Panics
    /// Panics if it is 0.
    #[must_use]
    #[track_caller]
    pub fn epochs(mut self, epochs: usize) -> Self {
        assert!(
            epochs > 0,
            "Trainer: the number of epochs must be at least 1"
        );
        self.settings.length = Length::Epochs(epochs);
        self
    }

    /// Trains for a number of steps, over as many epochs as that takes. With several steps per call,
    /// the run ends after the call that reaches this number.
    ///
    /// # Panics
    /// Panics if it is 0.
    #[must_use]
    #[track_caller]
    pub fn steps(mut self, steps: u64) -> Self {
        assert!(steps > 0, "Trainer: the number of steps must be at least 1");
        self.settings.length = Length::Steps(steps);
        self
    }

    /// Validates after each epoch: computes the means of the loss and the other metrics over a
    /// loader's batches, weighted by their numbers of rows. The model is in evaluation mode. The
    /// names of these metrics start with `val_`.
    ///
    /// If the loader is [`masked`](DataLoader::masked), rows that the mask excludes do not count.
    /// The loss must then exclude them too.
    ///
    /// # Panics
    /// Panics if the trainer was created from a step: use
    /// [`validate_with`](Trainer::validate_with) then.
    #[must_use]
    #[track_caller]
    pub fn validate<B: ToDevice<Device = P>>(mut self, loader: DataLoader<B>) -> Self {
        let evaluate = self.evaluate.clone().expect(
            "Trainer: a train step changes its state, so `validate` cannot call it\n  help: pass a function of the \
             state to `validate_with`, or create the trainer from a loss",
        );
        self.settings.validation = Some(validation(
            move |state: &S, batch: P| evaluate(state, batch),
            loader,
        ));
        self
    }

    /// Validates like [`validate`](Trainer::validate), with the metrics that a function of the state
    /// and a batch returns. If it returns as many arrays as [`metrics`](Trainer::metrics) has names,
    /// they have these names. Otherwise their names are those without `metrics`.
    #[must_use]
    pub fn validate_with<B, V, F>(mut self, metrics: F, loader: DataLoader<B>) -> Self
    where
        B: ToDevice<Device: 'static>,
        V: Tree + 'static,
        F: Fn(&S, B::Device) -> V + Send + Sync + 'static,
    {
        self.settings.validation = Some(validation(metrics, loader));
        self
    }

    /// Validates every `steps` steps, and at the end of the run, instead of after each epoch.
    ///
    /// # Panics
    /// Panics if `steps` is 0.
    #[must_use]
    #[track_caller]
    pub fn validate_every(mut self, steps: u64) -> Self {
        assert!(
            steps > 0,
            "Trainer: the number of steps between validations must be at least 1"
        );
        self.settings.validate_every = Interval::Steps(steps);
        self
    }

    /// Stops when a metric no longer improves. It is examined after each validation, or after each
    /// epoch without validations. Each value counts once: a mean over an epoch is examined at the
    /// first validation after it.
    #[must_use]
    pub fn early_stopping(mut self, stopping: EarlyStopping) -> Self {
        self.settings.stopping = Some(stopping);
        self
    }

    /// Keeps the state with the best value of a metric, in the folder `best`, and returns to it at
    /// the end of the run. Needs [`folder`](Trainer::folder).
    #[must_use]
    pub fn keep_best(mut self, monitor: Monitor) -> Self {
        self.settings.best = Some(monitor);
        self
    }

    /// Writes checkpoints and metrics to a folder: `checkpoints`, `metrics.jsonl` and `tensorboard`.
    ///
    /// Ctrl-C and SIGTERM then save a checkpoint before the run ends with
    /// [`Stopped`](crate::Stopped). The next run in this folder continues after the last checkpoint
    /// and computes the same bits as an uninterrupted one; see [`resume`](Trainer::resume).
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings.folder = Some(folder.into());
        self
    }

    /// Writes a file into the [`folder`](Trainer::folder) when the run starts, such as its options. A
    /// resumed run replaces it. Without a folder, nothing is written.
    ///
    /// ```
    /// # use ramie_core::Array;
    /// # use ramie_nn::Linear;
    /// # use ramie_train::Trainer;
    /// # fn loss(model: &mut Linear, x: Array) -> Array { model.forward(&x).mean() }
    /// let options = "epochs = 20\nlearning_rate = 0.001\n";
    /// let trainer = Trainer::new(loss).folder("out").file("options.toml", options);
    /// ```
    #[must_use]
    pub fn file(mut self, name: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) -> Self {
        self.settings.files.push((name.into(), contents.into()));
        self
    }

    /// Saves a checkpoint every `steps` steps instead of after each epoch. The last step is always
    /// saved.
    ///
    /// # Panics
    /// Panics if `steps` is 0.
    #[must_use]
    #[track_caller]
    pub fn checkpoint_every(mut self, steps: u64) -> Self {
        assert!(
            steps > 0,
            "Trainer: the number of steps between checkpoints must be at least 1"
        );
        self.settings.checkpoint_every = Interval::Steps(steps);
        self
    }

    /// Sets the number of checkpoints to keep. Defaults to 2.
    ///
    /// # Panics
    /// Panics if it is 0.
    #[must_use]
    #[track_caller]
    pub fn max_to_keep(mut self, checkpoints: usize) -> Self {
        assert!(
            checkpoints > 0,
            "Trainer: at least 1 checkpoint must be kept"
        );
        self.settings.keep = checkpoints;
        self
    }

    /// Sets whether a run in the folder is continued. Defaults to [`Resume::Unfinished`].
    #[must_use]
    pub fn resume(mut self, resume: Resume) -> Self {
        self.settings.resume = resume;
        self
    }

    /// Places batches on a device, or shards them over a mesh.
    #[must_use]
    pub fn placement(mut self, place: impl Into<Placement>) -> Self {
        self.settings.place = place.into();
        self
    }

    /// Adds a callback.
    #[must_use]
    pub fn callback(mut self, callback: impl Callback<S> + 'static) -> Self {
        self.settings.callbacks.push(Box::new(callback));
        self
    }

    /// Calls a function every `steps` steps. It finds the metrics of all steps so far, so the run
    /// waits for the device before each call.
    ///
    /// # Panics
    /// Panics if `steps` is 0.
    #[must_use]
    #[track_caller]
    pub fn every<F>(self, steps: u64, function: F) -> Self
    where
        F: FnMut(&mut Context<'_, S>) -> Result + 'static,
    {
        assert!(
            steps > 0,
            "Trainer: the number of steps between calls must be at least 1"
        );
        self.callback(Every {
            count: steps,
            last: 0,
            function,
        })
    }

    /// Shows progress in another way than by a progress bar.
    #[must_use]
    pub fn progress(mut self, progress: impl Progress + 'static) -> Self {
        self.settings.progress = Box::new(progress);
        self
    }

    /// Shows the run in a dashboard that fills the terminal: loss curves, metrics, steps and
    /// examples per second, remaining time, memory and messages. Without a terminal, the run has the
    /// progress bar.
    ///
    /// `q` and Ctrl-C save a checkpoint and stop the run, as the signal of Ctrl-C does. Without a
    /// [`folder`](Trainer::folder), they end the process. The terminal is restored at the end of the
    /// run and when the program panics. A second signal from outside ends the process at once; the
    /// command `reset` restores the terminal then.
    #[cfg(feature = "dashboard")]
    #[must_use]
    pub fn dashboard(self) -> Self {
        match crate::dashboard::Dashboard::new() {
            Some(dashboard) => self.progress(dashboard),
            None => self,
        }
    }

    /// Shows no progress.
    #[must_use]
    pub fn quiet(self) -> Self {
        self.progress(Quiet)
    }

    /// Trains on when the loss becomes NaN or infinite. By default this is an error.
    #[must_use]
    pub fn allow_non_finite(mut self) -> Self {
        self.settings.allow_non_finite = true;
        self
    }

    /// Traces and lowers the step for the first batch, without training: to inspect its program, or
    /// to compile it for other hardware.
    ///
    /// # Errors
    /// Returns an error if there is no batch.
    pub fn lower<D: Batches<P>>(&self, state: &S, batches: D) -> Result<Lowered<S, (P,), R>> {
        let per_call = batches.per_call();
        if batches.steps_per_epoch() == 0 {
            return Err(crate::Error::NoBatches {
                dropped: batches.dropped(),
            });
        }
        // The first batch stands for all: a step is compiled for shapes, not values.
        let mut iter = batches.start(Some(1), None, &self.settings.place)?;
        let none = crate::Error::NoBatches { dropped: None };
        let batch = iter.next().ok_or(none)??;
        Ok(compile(&self.step, per_call).lower_with(state, (batch,))?)
    }

    /// Trains a state on batches and returns the metrics of the run.
    ///
    /// # Errors
    /// Returns an error if a batch, a checkpoint or a file of metrics fails, if the folder contains a
    /// finished run that [`resume`](Trainer::resume) does not allow to continue, if another run
    /// writes to the folder, if a metric is not finite, if an observed metric does not exist, or if a callback fails; and
    /// [`Error::Stopped`](crate::Error::Stopped) if the run was interrupted.
    ///
    /// # Panics
    /// Panics if the function panics, if the number of [`metrics`](Trainer::metrics) differs from
    /// that of the arrays that the function returns, or if [`keep_best`](Trainer::keep_best) is set
    /// without a folder.
    #[track_caller]
    pub fn fit<D: Batches<P>>(self, state: &mut S, batches: D) -> Result<History> {
        assert!(
            self.settings.best.is_none() || self.settings.folder.is_some(),
            "Trainer: `keep_best` needs a folder for the best state\n  help: add `.folder(\"out/run\")`"
        );
        Fit::run(self, state, batches)
    }
}

impl<S> Settings<S> {
    fn new() -> Settings<S> {
        Settings {
            names: Vec::new(),
            length: Length::Epochs(1),
            validation: None,
            validate_every: Interval::Epoch,
            stopping: None,
            best: None,
            folder: None,
            files: Vec::new(),
            checkpoint_every: Interval::Epoch,
            keep: 2,
            resume: Resume::default(),
            place: Placement::default(),
            callbacks: Vec::new(),
            progress: Box::new(Bar::new()),
            allow_non_finite: false,
        }
    }
}

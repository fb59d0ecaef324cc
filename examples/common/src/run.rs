//! A training run: its options, its directory and its pictures. `ramie::train::Trainer` does the
//! rest.

use super::{Result, ahead, create_folder, start_with};
use clap::Args;
use ramie::options::RuntimeOptions;
use ramie::train::{Batches, History, Resume, Trainer, is_finished};
use ramie::{Platform, Tree};
use ramie_plot::Plot;
use std::path::{Path, PathBuf};

/// Options of every training program.
#[derive(Args, Clone)]
pub struct RunOptions {
    /// Directory for checkpoints, metrics and pictures; defaults to out/ and the name of the
    /// example.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Run in that directory to continue: `unfinished`, `always` (a finished one too) or `never`.
    /// A run that is not continued moves to another directory.
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true)]
    #[arg(default_value_t, default_missing_value = "always")]
    pub resume: Resume,
    /// Steps between checkpoints; defaults to a tenth of the run. The last step is
    /// always saved.
    #[arg(long)]
    pub checkpoint_every: Option<u64>,
    /// Platform: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the best one available.
    #[arg(long)]
    pub platform: Option<Platform>,
    /// Write no pictures.
    #[arg(long)]
    pub no_plots: bool,
    /// Show the run in a dashboard; needs Cargo's option --features dashboard.
    #[arg(long)]
    pub dashboard: bool,
}

/// A training run.
pub struct Run {
    /// Output directory.
    pub folder: PathBuf,
    steps: u64,
    every: u64,
    resume: Resume,
    plots: bool,
    dashboard: bool,
}

impl Run {
    /// Starts the client and a run of `steps` steps.
    pub fn new(example: &str, options: &RunOptions, steps: u64) -> Result<Run> {
        Run::on(example, options, steps, RuntimeOptions::default())
    }

    /// Starts a run like [`new`](Run::new), with other client options such as the number of
    /// devices.
    pub fn on(
        example: &str,
        options: &RunOptions,
        steps: u64,
        runtime: RuntimeOptions,
    ) -> Result<Run> {
        let folder = options.out.clone();
        let folder = folder.unwrap_or_else(|| Path::new("out").join(example));
        if options.dashboard && cfg!(not(feature = "dashboard")) {
            return Err(format!(
                "--dashboard needs a feature\n  help: cargo run --release --features dashboard \
                 --example {example} -- --dashboard"
            )
            .into());
        }
        // Fail now rather than after the training.
        create_folder(&folder)?;
        start_with(RuntimeOptions {
            platform: options.platform,
            ..runtime
        })?;
        Ok(Run {
            folder,
            steps,
            every: options.checkpoint_every.unwrap_or(steps / 10).max(1),
            resume: options.resume,
            plots: !options.no_plots,
            dashboard: options.dashboard,
        })
    }

    /// Trains for the steps of the run in its directory, and draws the loss curve. With `--aot`,
    /// only compiles the step.
    pub fn fit<S, P, R>(
        &self,
        trainer: Trainer<S, P, R>,
        state: &mut S,
        batches: impl Batches<P>,
    ) -> Result<History>
    where
        S: Tree + 'static,
        P: Tree + 'static,
        R: Tree + 'static,
    {
        if self.steps == 0 {
            return Ok(History::default());
        }
        if ahead::is_requested() {
            ahead::ahead(|| trainer.lower(state, batches))?;
            unreachable!("`ahead` ends the program");
        }
        let trainer = match self.dashboard {
            #[cfg(feature = "dashboard")]
            true => trainer.dashboard(),
            _ => trainer,
        };
        // A finished run moves to another folder, so that examples can be run again.
        let resume = match self.resume {
            Resume::Unfinished if is_finished(&self.folder)? => Resume::Never,
            other => other,
        };
        let history = trainer
            .steps(self.steps)
            .folder(&self.folder)
            .checkpoint_every(self.every)
            .resume(resume)
            .fit(state, batches)?;
        let plot = Plot::new().x_label("step").y_label("loss").log_y();
        let mut plot = plot.smooth_line("training loss", history.get("loss"), 0.95);
        for (metric, name) in [("val_loss", "validation loss"), ("test_loss", "test loss")] {
            if !history.get(metric).is_empty() {
                plot = plot.dots(name, history.get(metric));
            }
        }
        self.draw("loss.png", |path| plot.save(path))?;
        println!("Checkpoints and metrics are in {}", self.folder.display());
        Ok(history)
    }

    /// Saves a picture in the output directory, unless disabled.
    pub fn draw(&self, name: &str, save: impl FnOnce(&Path) -> ramie_plot::Result) -> Result {
        if self.plots {
            let path = self.folder.join(name);
            save(&path)?;
            println!("Wrote {}", path.display());
        }
        Ok(())
    }
}

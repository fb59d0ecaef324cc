//! A training run: its directory with checkpoints, metrics and pictures, and its progress bar.

use super::saved::Checkpoints;
use super::{Result, create_folder, history, start_with};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use ramie::checkpoint::preemption;
use ramie::nn::training::writers::{JsonLinesWriter, MetricWriter, MultiWriter, TensorBoardWriter};
use ramie::{Array, Platform, RuntimeOptions, Tree};
use ramie_plot::Plot;
use serde::{Serialize, de::DeserializeOwned};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Options of every training program.
#[derive(Args)]
pub struct RunOptions {
    /// Directory for checkpoints, metrics and pictures; defaults to out/ and the name of the
    /// example.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Resume from the last checkpoint in that directory, if there is one.
    #[arg(long)]
    pub resume: bool,
    /// Steps between checkpoints; defaults to a tenth of the run. The last step is
    /// always saved.
    #[arg(long)]
    pub checkpoint_every: Option<u64>,
    /// Platform: cpu, cuda or tpu; defaults to the best one available.
    #[arg(long)]
    pub platform: Option<Platform>,
    /// Write no pictures.
    #[arg(long)]
    pub no_plots: bool,
}

/// Delay, in steps, before a metric is read. The metric is computed by then, so reading it does
/// not block the program, which runs ahead of the device.
const LATER: usize = 10;

/// The program was interrupted and has saved a checkpoint; `--resume` continues it.
#[derive(Debug, thiserror::Error)]
#[error("Stopped and saved after step {0}: --resume continues from there")]
pub struct Stopped(u64);

/// A training run.
pub struct Run {
    /// Output directory.
    pub folder: PathBuf,
    /// Completed steps.
    pub step: u64,
    /// Completed steps before the last call of [`stepped`](Run::stepped).
    before: u64,
    total: u64,
    every: u64,
    resume: bool,
    checkpoints: Checkpoints,
    plots: bool,
    resumed: bool,
    last_saved: Option<u64>,
    bar: ProgressBar,
    metrics: Option<MultiWriter>,
    /// Metrics that are still being computed, with the last step that they belong to.
    coming: VecDeque<(u64, Vec<(&'static str, Array)>)>,
}

impl Run {
    /// Starts the client and a run of `total` steps.
    pub fn new(example: &str, options: &RunOptions, total: u64) -> Result<Run> {
        Run::on(example, options, total, RuntimeOptions::default())
    }

    /// Starts a run like [`new`](Run::new), with other client options such as the number of
    /// devices.
    pub fn on(
        example: &str,
        options: &RunOptions,
        total: u64,
        runtime: RuntimeOptions,
    ) -> Result<Run> {
        let folder = options.out.clone();
        let folder = folder.unwrap_or_else(|| Path::new("out").join(example));
        // Fail now rather than after the training.
        create_folder(&folder)?;
        start_with(RuntimeOptions {
            platform: options.platform,
            ..runtime
        })?;
        preemption::on_signals()?;
        let checkpoints = Checkpoints::open(&folder.join("checkpoints"), options.resume)?;
        let style = "{bar:30} step {pos}/{len}  {per_sec}  eta {eta}  {msg}";
        let style = ProgressStyle::with_template(style).expect("the template is well-formed");
        Ok(Run {
            folder,
            step: 0,
            before: 0,
            total,
            every: options.checkpoint_every.unwrap_or(total / 10).max(1),
            resume: options.resume,
            checkpoints,
            plots: !options.no_plots,
            resumed: false,
            last_saved: None,
            bar: ProgressBar::new(total).with_style(style),
            metrics: None,
            coming: VecDeque::new(),
        })
    }

    fn metrics_file(&self) -> PathBuf {
        self.folder.join("metrics.jsonl")
    }

    /// Replaces the state with that of the last checkpoint if the run is resumed. Returns
    /// the data position.
    pub fn restore<D: DeserializeOwned>(&mut self, state: &mut impl Tree) -> Result<Option<D>> {
        if !self.resume {
            return Ok(None);
        }
        let Some((step, data)) = self.checkpoints.restore(state)? else {
            println!(
                "There is no checkpoint in {} yet: starting from scratch",
                self.folder.display()
            );
            return Ok(None);
        };
        println!("Resumed after step {step}");
        self.step = step;
        self.before = step;
        self.resumed = true;
        self.last_saved = Some(step);
        self.bar.set_position(step);
        self.bar.reset_eta();
        history::cut_after(&self.metrics_file(), step)?;
        Ok(Some(data))
    }

    /// Returns whether there are steps left.
    pub fn goes_on(&self) -> bool {
        self.step < self.total
    }

    /// Counts a step and records its metrics. If each metric has several values, counts as many
    /// steps.
    pub fn stepped(&mut self, metrics: &[(&'static str, &Array)]) -> Result {
        self.before = self.step;
        self.step += metrics
            .first()
            .map_or(1, |(_, values)| values.size() as u64);
        self.bar.set_position(self.step);
        let metrics = metrics.iter().map(|(name, x)| (*name, (*x).clone()));
        self.coming.push_back((self.step, metrics.collect()));
        self.write_metrics(LATER)
    }

    /// Writes metrics that are known on the host, such as an accuracy. A finished run that is
    /// resumed has them already.
    pub fn record(&mut self, metrics: &[(&str, f64)]) -> Result {
        self.write_metrics(0)?;
        let step = self.step;
        let mut new = Vec::new();
        for metric in metrics {
            if !self.resumed || !history::has(&self.metrics_file(), step, metric.0)? {
                new.push(*metric);
            }
        }
        match new.is_empty() {
            true => Ok(()),
            false => Ok(self.writer()?.scalars(step, &new)?),
        }
    }

    /// Prints a line above the progress bar.
    pub fn say(&self, line: impl std::fmt::Display) {
        self.bar.suspend(|| println!("{line}"));
    }

    fn writer(&mut self) -> Result<&mut MultiWriter> {
        if self.metrics.is_none() {
            let path = self.metrics_file();
            let events = self.folder.join("tensorboard");
            let lines = if self.resumed {
                JsonLinesWriter::append(path)?
            } else {
                // A directory of events contains a single run, so remove those of an earlier run.
                let _ = std::fs::remove_dir_all(&events);
                JsonLinesWriter::create(path)?
            };
            let events = TensorBoardWriter::create(events)?;
            self.metrics = Some(MultiWriter::new().with(lines).with(events));
        }
        Ok(self.metrics.as_mut().expect("just made"))
    }

    /// Writes all metrics except those of the last `left` calls.
    fn write_metrics(&mut self, left: usize) -> Result {
        while self.coming.len() > left {
            let (last, metrics) = self.coming.pop_front().expect("more than `left`");
            let values = metrics.iter().map(|(name, x)| (*name, x.to_vec::<f32>()));
            let values: Vec<(&str, Vec<f32>)> = values.collect();
            let count = values.first().map_or(0, |(_, values)| values.len());
            let mut shown = String::new();
            for i in 0..count {
                let step = last + 1 + i as u64 - count as u64;
                shown.clear();
                for (name, values) in &values {
                    shown += &format!("{name} {:.4}  ", values[i]);
                    self.writer()?.scalar(step, name, values[i].into())?;
                }
            }
            self.bar.set_message(shown);
        }
        Ok(())
    }

    /// Saves a checkpoint if one is due: at regular intervals, at the end, and on a preemption
    /// request or Ctrl-C.
    ///
    /// # Errors
    /// Returns an error if saving fails, or [`Stopped`] if the program should exit.
    pub fn checkpoint(&mut self, state: &impl Tree, data: &impl Serialize) -> Result {
        let stop = preemption::requested();
        let passed = self.step / self.every > self.before / self.every;
        let due = passed || self.step == self.total || stop;
        if due && self.last_saved != Some(self.step) {
            // Write the metrics first, so that they are complete up to every checkpoint.
            self.write_metrics(0)?;
            self.writer()?.flush()?;
            self.checkpoints.save(self.step, state, data)?;
            self.last_saved = Some(self.step);
        }
        if stop {
            self.checkpoints.finish()?;
            self.bar.abandon();
            return Err(Stopped(self.step).into());
        }
        Ok(())
    }

    /// Ends the run: draws the loss curve, and prints the output directory.
    pub fn finish(&mut self) -> Result {
        self.write_metrics(0)?;
        self.bar.finish();
        if let Some(metrics) = &mut self.metrics {
            metrics.flush()?;
        }
        self.checkpoints.finish()?;
        if preemption::requested() {
            return Err(Stopped(self.step).into());
        }
        preemption::end_at_once();
        // The curve of a resumed run starts where the first run started.
        if self.step > 0 {
            let losses = history::of(&self.metrics_file(), "loss")?;
            let plot = Plot::new().x_label("step").y_label("loss").log_y();
            let plot = plot.smooth_line("training loss", &losses, 0.95);
            self.draw("loss.png", |path| plot.save(path))?;
        }
        println!("Checkpoints and metrics are in {}", self.folder.display());
        Ok(())
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

//! The command line.

use clap::Parser;
use ramie::train::Resume;
use std::path::PathBuf;

/// Train a classifier of handwritten digits.
#[derive(Parser)]
pub struct Options {
    /// Number of epochs.
    #[arg(long, default_value_t = 40)]
    pub epochs: usize,
    /// Images per step; a multiple of the number of devices.
    #[arg(long, default_value_t = 64)]
    pub batch_size: usize,
    /// Learning rate of Adam.
    #[arg(long, default_value_t = 1e-3)]
    pub learning_rate: f64,
    /// Seed of the initial parameters and of the data order.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Folder for checkpoints, metrics and the trained model.
    #[arg(long, default_value = "out")]
    pub out: PathBuf,
    /// Run in that folder to continue: `unfinished`, `always` (a finished one too) or `never`, which
    /// moves it to another folder.
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true)]
    #[arg(default_value_t, default_missing_value = "always")]
    pub resume: Resume,
}

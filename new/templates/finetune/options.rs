//! The command line.

use clap::Parser;
use ramie::train::Resume;
use std::path::PathBuf;

/// Fine-tune a classifier with low-rank adapters.
#[derive(Parser)]
pub struct Options {
    /// Safetensors file of the pretrained model; by default, one is trained and written to
    /// base.safetensors in the current folder.
    #[arg(long)]
    pub base: Option<PathBuf>,
    /// Number of epochs.
    #[arg(long, default_value_t = 20)]
    pub epochs: usize,
    /// Images per step; a multiple of the number of devices.
    #[arg(long, default_value_t = 64)]
    pub batch_size: usize,
    /// Rank of the adapters.
    #[arg(long, default_value_t = 8)]
    pub rank: usize,
    /// Learning rate of Adam.
    #[arg(long, default_value_t = 0.003)]
    pub learning_rate: f64,
    /// Seed of the adapters and of the data order.
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

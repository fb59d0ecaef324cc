//! The command line.

use clap::Parser;
use ramie::train::Resume;
use std::path::PathBuf;

/// Train a character-level language model.
#[derive(Parser)]
pub struct Options {
    /// Text file to learn; defaults to the source of this program.
    pub text: Option<PathBuf>,
    /// Number of steps.
    #[arg(long, default_value_t = 150)]
    pub steps: u64,
    /// Windows per step; a multiple of the number of devices.
    #[arg(long, default_value_t = 16)]
    pub batch_size: usize,
    /// Window length in characters.
    #[arg(long, default_value_t = 64)]
    pub length: usize,
    /// Learning rate of AdamW.
    #[arg(long, default_value_t = 0.002)]
    pub learning_rate: f64,
    /// Number of characters to generate at the end.
    #[arg(long, default_value_t = 200)]
    pub sample: usize,
    /// Seed of the initial parameters, of the data order and of the sample.
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

//! The command line.

use clap::Parser;
use ramie::train::Resume;
use std::path::PathBuf;

/// Train a convolutional network on images of digits.
#[derive(Parser)]
pub struct Options {
    /// Number of epochs.
    #[arg(long, default_value_t = 10)]
    pub epochs: usize,
    /// Images per step; a multiple of the number of devices.
    #[arg(long, default_value_t = 64)]
    pub batch_size: usize,
    /// Initial learning rate of AdamW, which decays to 0.
    #[arg(long, default_value_t = 0.003)]
    pub learning_rate: f64,
    /// Number of features of the first convolution.
    #[arg(long, default_value_t = 16)]
    pub width: usize,
    /// Folder of files in MNIST's format; defaults to built-in images of 8×8 pixels.
    #[arg(long)]
    pub mnist: Option<PathBuf>,
    /// Seed of the initial parameters, of the data order and of the augmentation.
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

//! A training run that is killed again and again, and loses nothing.
//!
//! The program trains a classifier of digits without being disturbed. Then it
//! starts itself as another process that trains the same, kills that at random
//! moments, in the middle of saving too, and starts it again; in the end it
//! compares the two runs bit for bit.
//!
//! `cargo run --release --example resume`
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
mod kill;
mod training;

use clap::Parser;
use common::Result;
use ramie::Platform;
use std::path::PathBuf;
use std::process::ExitCode;

/// Kill a training run again and again, and compare it with one that was not.
#[derive(Clone, Parser)]
pub struct Options {
    /// Steps of training.
    #[arg(long, default_value_t = 240)]
    pub steps: u64,
    /// How often the run is killed.
    #[arg(long, default_value_t = 20)]
    pub kills: u64,
    /// Save a checkpoint every so many steps.
    #[arg(long, default_value_t = 3)]
    pub save_every: u64,
    /// Features of the hidden layers.
    #[arg(long, default_value_t = 256)]
    pub width: usize,
    /// The seed of all that is random, the moments of the kills too.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The folder of the two runs.
    #[arg(long, default_value = "out/resume")]
    pub out: PathBuf,
    /// Where to train: cpu, cuda or tpu; by default the best that there is.
    #[arg(long)]
    pub platform: Option<Platform>,
    /// Only train, in the folder --out, from the last checkpoint there; Ctrl-C
    /// saves and ends it.
    #[arg(long)]
    pub train: bool,
}

fn main() -> ExitCode {
    common::main(run)
}

fn run(options: &Options) -> Result {
    if options.save_every == 0 || options.width == 0 {
        return Err("--save-every and --width are 1 or more".into());
    }
    match options.train {
        true => training::train(options),
        false => kill::compare(options),
    }
}

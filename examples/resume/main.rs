//! Kills a training run again and again, without losing any state.
//!
//! The program trains a classifier of digits without interruption. It then starts itself as
//! another process with the same training run, kills that process at random times, also during
//! saves, and restarts it. At the end it compares both runs bit for bit.
//!
//! `cargo run --release --example resume`
#![forbid(unsafe_code)]

mod kill;
mod training;

use clap::Parser;
use ramie::Platform;
use ramie_examples::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Kill a training run repeatedly, and compare it with an uninterrupted one.
#[derive(Clone, Parser)]
pub struct Options {
    /// Training steps.
    #[arg(long, default_value_t = 240)]
    pub steps: u64,
    /// Number of kills.
    #[arg(long, default_value_t = 20)]
    pub kills: u64,
    /// Steps between checkpoints.
    #[arg(long, default_value_t = 3)]
    pub save_every: u64,
    /// Features of the hidden layers.
    #[arg(long, default_value_t = 256)]
    pub width: usize,
    /// Seed of all random numbers, including the moments of the kills.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Directory of both runs.
    #[arg(long, default_value = "out/resume")]
    pub out: PathBuf,
    /// Platform: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the best one available.
    #[arg(long)]
    pub platform: Option<Platform>,
    /// Only train, in the directory --out, from its last checkpoint; Ctrl-C saves a checkpoint and
    /// exits.
    #[arg(long)]
    pub train: bool,
    /// With --train: wait after this many steps until the process is killed, or
    /// until its standard input is closed.
    #[arg(long, hide = true)]
    pub pause_after: Option<u64>,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    if options.save_every == 0 || options.width == 0 {
        return Err("--save-every and --width must be at least 1".into());
    }
    if options.kills > 0 && options.steps <= options.kills && !options.train {
        return Err("--steps must be greater than --kills".into());
    }
    if options.train {
        training::train(options)
    } else {
        kill::compare(options)
    }
}

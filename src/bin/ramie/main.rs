//! The command-line tool: installs XLA plugins, tells whether everything works, compiles
//! programs ahead of time, and looks into checkpoints.
#![forbid(unsafe_code)]

mod aot;
mod ckpt;
mod doctor;
mod pipe;
mod plugin;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ramie::aot::Target;
use ramie_pjrt::discover::Platform;

/// Installs the XLA plugins that Ramie runs on, tells whether they work, compiles programs
/// for hardware that is not here, and looks into checkpoints.
#[derive(Parser)]
#[command(name = "ramie", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the platform, its plugin and devices, and run a small compiled program.
    Doctor {
        /// Look at this platform (cpu, cuda or tpu) instead of the one that programs would use.
        #[arg(long)]
        platform: Option<Platform>,
    },
    /// Install and list plugins.
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Compile programs for hardware that is not here: tell what memory they take on it, how
    /// much they compute, and what its devices send each other.
    Aot {
        /// A TPU topology such as tpu:v5e:2x4, or GPUs: cuda:h200, cuda:h200:4.
        #[arg(long, required = true)]
        target: Vec<Target>,
        /// Files of StableHLO, as text or in its binary form, or of exported functions.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// List, show, compare, convert and verify checkpoints: folders of a CheckpointManager, steps
    /// and items in Orbax's layout, msgpack files of Flax and folders of them, safetensors files
    /// and their index.
    #[command(subcommand)]
    Ckpt(ckpt::Command),
    /// Tell what a checkpoint holds: parameters, memory by type, the largest arrays.
    Inspect {
        #[command(flatten)]
        one: ckpt::One,
        /// How many arrays are listed.
        #[arg(long, default_value_t = 10)]
        largest: usize,
    },
}

#[derive(Subcommand)]
enum PluginCommand {
    /// Install a platform's plugin into the user cache, unless it is there.
    Install {
        /// cpu, cuda or tpu.
        platform: Platform,
        /// Install it anew even if it is there.
        #[arg(long)]
        force: bool,
    },
    /// List the plugins that are installed, and where.
    List,
}

fn main() -> ExitCode {
    pipe::end_when_closed();
    let arguments = Arguments::parse();
    ramie::init_logging();
    ramie_pjrt::fail_writes_beyond_limit();
    let done: Result<ExitCode, Box<dyn Error>> = match arguments.command {
        Command::Doctor { platform } => doctor::run(platform).map(success),
        Command::Plugin(PluginCommand::Install { platform, force }) => {
            plugin::install(platform, force).map(success)
        }
        Command::Plugin(PluginCommand::List) => plugin::list().map(success),
        Command::Aot { target, files } => aot::run(&target, &files).map(success),
        Command::Ckpt(command) => ckpt::run(command),
        Command::Inspect { one, largest } => ckpt::inspect(&one, largest).map(success),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn success(_: ()) -> ExitCode {
    ExitCode::SUCCESS
}

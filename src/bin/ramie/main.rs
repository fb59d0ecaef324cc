//! The command-line tool: creates projects, installs and checks XLA plugins, compiles programs
//! ahead of time, and inspects checkpoints.
#![forbid(unsafe_code)]

mod aot;
mod ckpt;
mod doctor;
mod fix;
mod onnx;
mod plugin;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ramie::aot::Target;
use ramie_plugins::Platform;

/// Creates projects, installs and checks the XLA plugins that Ramie runs on, compiles programs for
/// hardware you don't have, and inspects checkpoints.
#[derive(Parser)]
#[command(name = "ramie", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Create a project that builds and trains at once.
    New(ramie_new::Options),
    /// Show the platform, its plugin and devices, and run a small compiled program.
    Doctor {
        /// Platform to check: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the one that programs would use.
        #[arg(long)]
        platform: Option<Platform>,
    },
    /// Install and list plugins.
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Compile programs for hardware you don't have, and report their memory, FLOPs and
    /// communication between devices.
    Aot {
        /// TPU topology such as tpu:v5e:2x4, or GPUs such as cuda:h200 or cuda:h200:4.
        #[arg(long, required = true)]
        target: Vec<Target>,
        /// Files of StableHLO (text or bytecode) or of exported functions.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// List, show, compare, convert and verify checkpoints: CheckpointManager directories, steps
    /// and items in Orbax's format, Flax msgpack files and directories of them, safetensors files
    /// and their indices, GGUF and PyTorch files.
    #[command(subcommand)]
    Ckpt(ckpt::Command),
    /// Report the number of parameters, the memory by dtype and the largest arrays of a
    /// checkpoint, the metadata of a GGUF file, and the inputs, outputs and operators of an ONNX
    /// file (feature `onnx`).
    Inspect {
        #[command(flatten)]
        one: ckpt::One,
        /// Number of largest arrays to list.
        #[arg(long, default_value_t = 10)]
        largest: usize,
    },
}

#[derive(Subcommand)]
enum PluginCommand {
    /// Install a platform's plugin into the user cache, unless it is already installed.
    Install {
        /// Platform: cpu, cuda, tpu, rocm, oneapi or metal.
        platform: Platform,
        /// Reinstall the plugin even if it is already installed.
        #[arg(long)]
        force: bool,
    },
    /// List the installed plugins and their paths.
    List,
}

fn main() -> ExitCode {
    ramie_pjrt::end_when_pipe_closes();
    let arguments = Arguments::parse();
    ramie::init_logging();
    ramie_pjrt::fail_writes_beyond_limit();
    let done: Result<ExitCode, Box<dyn Error>> = match arguments.command {
        Command::New(options) => ramie_new::run(&options).map(success),
        Command::Doctor { platform } => doctor::run(platform).map(success),
        Command::Plugin(PluginCommand::Install { platform, force }) => {
            plugin::install(platform, force).map(success)
        }
        Command::Plugin(PluginCommand::List) => plugin::list().map(success),
        Command::Aot { target, files } => aot::run(&target, &files).map(success),
        Command::Ckpt(command) => ckpt::run(command),
        Command::Inspect { one, largest } if onnx::is_model(one.path()) => {
            onnx::inspect(one.path(), largest).map(success)
        }
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

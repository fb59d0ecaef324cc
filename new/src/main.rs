//! The command `ramie new` as a program of its own, which builds in seconds.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use ramie_new::Options;

/// Creates a project that builds and trains at once.
#[derive(Parser)]
#[command(name = "ramie-new", version)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    match ramie_new::run(&Arguments::parse().options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

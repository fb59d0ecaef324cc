//! What every example's program begins with. An example has it as
//! `#[path = "../common/mod.rs"] mod common;`.

use clap::Parser;
use std::error::Error;
use std::process::ExitCode;

/// Reads the command line and runs the example; an error is a line and the exit
/// code 1.
///
/// Used as `fn main() -> ExitCode { common::main(run) }`.
pub fn main<O: Parser>(run: impl FnOnce(&O) -> Result<(), Box<dyn Error>>) -> ExitCode {
    match run(&O::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

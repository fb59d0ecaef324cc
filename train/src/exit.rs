//! The end of a training program.

use crate::Error;
use ramie_checkpoint::preemption;
use std::process::ExitCode;

/// Prints why a training program ends and returns its exit code.
///
/// | outcome | text | exit code |
/// |---|---|---|
/// | `Ok` | none | 0 |
/// | [`Error::Stopped`], because of a signal | step and folder, on stdout | 128 plus the number of the signal: 130 for Ctrl-C |
/// | [`Error::Stopped`], because of [`preemption::request`] | same | 0 |
/// | another error | `error: ` and the message, on stderr | 1 |
///
/// ```
/// use std::process::ExitCode;
///
/// fn train() -> ramie_train::Result {
///     Ok(())
/// }
///
/// fn main() -> ExitCode {
///     ramie_train::exit_code(train())
/// }
/// ```
pub fn exit_code<E>(outcome: Result<(), E>) -> ExitCode
where
    E: Into<Box<dyn std::error::Error>>,
{
    let error = match outcome {
        Ok(()) => return ExitCode::SUCCESS,
        Err(error) => error.into(),
    };
    if let Some(Error::Stopped(stopped)) = error.downcast_ref() {
        println!("{stopped}");
        let signal = preemption::signal().and_then(|number| u8::try_from(number).ok());
        return signal.map_or(ExitCode::SUCCESS, |number| ExitCode::from(128 + number));
    }
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

//! Errors of checkpoints with published names.

use std::path::PathBuf;

/// An error of loading or saving a checkpoint with published names.
///
/// Its `Debug` form is the message, so that `unwrap` and `main` print a readable error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PretrainedError {
    /// A file cannot be read, or is not in a supported format.
    #[error(transparent)]
    Checkpoint(#[from] ramie_checkpoint::Error),
    /// A configuration cannot be read.
    #[error("{}: {message}", path.display())]
    Config {
        /// The path of the file.
        path: PathBuf,
        /// The problem and its remedy.
        message: String,
    },
    /// A tensor is missing.
    #[error(
        "{}: the tensor `{tensor}` is missing; existing tensors: {near}\n  help: use a \
         checkpoint of this model, with the number of layers in its configuration",
        path.display()
    )]
    Missing {
        /// The path of the file, or of the index of several files.
        path: PathBuf,
        /// The name of the missing tensor.
        tensor: String,
        /// Some names of existing tensors.
        near: String,
    },
    /// A tensor has another shape than the model's parameter.
    #[error(
        "{}: the tensor `{tensor}` has shape {got:?}, expected {expected:?}\n  help: use the \
         checkpoint's own configuration: its config.json",
        path.display()
    )]
    Shape {
        /// The path of the file, or of the index of several files.
        path: PathBuf,
        /// The name of the tensor.
        tensor: String,
        /// The shape of the tensor.
        got: Vec<usize>,
        /// The shape of the model's parameter.
        expected: Vec<usize>,
    },
    /// The checkpoint contains tensors that are not in the model.
    #[error(
        "{}: the model has no parameters for {tensors}\n  help: use a checkpoint of this model, \
         with the number of layers in its configuration",
        path.display()
    )]
    Unexpected {
        /// The path of the file, or of the index of several files.
        path: PathBuf,
        /// The names of these tensors.
        tensors: String,
    },
}

ramie_core::debug_is_message!(PretrainedError);

/// A `Result` of loading or saving a checkpoint.
pub(crate) type Result<T, E = PretrainedError> = std::result::Result<T, E>;

//! Loading of weights by their published names.

use crate::nnx::{self, Not, of_type};
use crate::{Linear, LinearGeneral, Param};
use ramie_core::{Array, Tree, eval_shape, make_jaxpr, tree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An error of loading a published checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PretrainedError {
    /// A file cannot be read, or is not in the safetensors format.
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

/// A `Result` of loading a checkpoint.
pub(super) type Result<T> = std::result::Result<T, PretrainedError>;

/// The tensors of a checkpoint that have not been taken yet.
pub(super) struct Weights {
    path: PathBuf,
    arrays: BTreeMap<String, Array>,
    prefix: String,
}

/// Formats the first names of a list, quoted.
fn some<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&String> = names.collect();
    let shown: Vec<String> = names.iter().take(6).map(|n| format!("`{n}`")).collect();
    let more = names.len() - shown.len();
    match (shown.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

impl Weights {
    /// Reads a file, or the files of an index.
    pub(super) fn open(path: &Path) -> Result<Weights> {
        let state = ramie_checkpoint::load_state(path)?;
        let arrays = state.iter().map(|(n, a)| (n.to_owned(), a.clone()));
        Ok(Weights {
            path: path.into(),
            arrays: arrays.collect(),
            prefix: String::new(),
        })
    }

    /// Sets a prefix of the names that follow, if any name has it: bare models are published
    /// without the prefix of models with a head.
    pub(super) fn below(&mut self, prefix: &str) {
        if self.arrays.keys().any(|name| name.starts_with(prefix)) {
            self.prefix = prefix.to_owned();
        }
    }

    /// Takes a tensor of this shape, by its name below the prefix.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Array> {
        let name = format!("{}{name}", self.prefix);
        self.take_whole(&name, shape)
    }

    /// Takes a tensor of this shape, by its full name.
    pub(super) fn take_whole(&mut self, name: &str, shape: &[usize]) -> Result<Array> {
        let Some(array) = self.arrays.remove(name) else {
            // Similar names: those that contain the last two components, or else any.
            let last = name.rsplit('.').take(2).last().unwrap_or(name);
            let near: Vec<&String> = self.arrays.keys().filter(|n| n.contains(last)).collect();
            let near = match near.is_empty() {
                true => some(self.arrays.keys()),
                false => some(near.into_iter()),
            };
            return Err(PretrainedError::Missing {
                path: self.path.clone(),
                tensor: name.to_owned(),
                near,
            });
        };
        if array.shape() != shape {
            return Err(PretrainedError::Shape {
                path: self.path.clone(),
                tensor: name.to_owned(),
                got: array.shape().to_vec(),
                expected: shape.to_vec(),
            });
        }
        Ok(array)
    }

    /// Sets a parameter to a tensor of its shape.
    pub(super) fn set(&mut self, name: &str, param: &mut Param) -> Result<()> {
        let array = self.take(name, param.shape())?;
        put(param, array);
        Ok(())
    }

    /// Sets a parameter if the model has it.
    pub(super) fn set_some(&mut self, name: &str, param: &mut Option<Param>) -> Result<()> {
        match param {
            Some(param) => self.set(name, param),
            None => Ok(()),
        }
    }

    /// Sets a layer to `weight` and `bias`. The weight is `[outputs, inputs]`, as in PyTorch,
    /// if `transposed` is true.
    pub(super) fn set_linear(
        &mut self,
        name: &str,
        layer: &mut Linear,
        transposed: bool,
    ) -> Result<()> {
        let (i, o) = (layer.kernel.shape()[0], layer.kernel.shape()[1]);
        let kernel = self.matrix(&format!("{name}.weight"), (i, o), transposed)?;
        put(&mut layer.kernel, kernel);
        self.set_some(&format!("{name}.bias"), &mut layer.bias)
    }

    /// Sets a layer with several axes to `weight` and `bias`, in which the input axes are
    /// merged into one, and so are the output axes.
    pub(super) fn set_general(
        &mut self,
        name: &str,
        layer: &mut LinearGeneral,
        transposed: bool,
    ) -> Result<()> {
        let shape = layer.kernel.shape().to_vec();
        let (inputs, outputs) = shape.split_at(layer.axis.len());
        let size = (inputs.iter().product(), outputs.iter().product());
        let kernel = self.matrix(&format!("{name}.weight"), size, transposed)?;
        put(&mut layer.kernel, kernel.reshape(&shape));
        if let Some(bias) = &mut layer.bias {
            let array = self.take(&format!("{name}.bias"), &[size.1])?;
            let shape = bias.shape().to_vec();
            put(bias, array.reshape(&shape));
        }
        Ok(())
    }

    /// Takes a matrix of inputs by outputs.
    pub(super) fn matrix(
        &mut self,
        name: &str,
        (inputs, outputs): (usize, usize),
        transposed: bool,
    ) -> Result<Array> {
        Ok(match transposed {
            true => self.take(name, &[outputs, inputs])?.transpose(&[1, 0]),
            false => self.take(name, &[inputs, outputs])?,
        })
    }

    /// Returns an error if tensors are left that were not taken. `ignored` accepts constants
    /// that some programs also saved.
    pub(super) fn finish(self, ignored: impl Fn(&str) -> bool) -> Result<()> {
        let left: Vec<&String> = self.arrays.keys().filter(|n| !ignored(n)).collect();
        match left.is_empty() {
            true => Ok(()),
            false => Err(PretrainedError::Unexpected {
                path: self.path.clone(),
                tensors: some(left.into_iter()),
            }),
        }
    }
}

/// Creates a model with abstract parameters, which must then be set. This avoids drawing random
/// weights that would be discarded.
pub(super) fn without_parameters<M: Tree>(make: impl Fn() -> M + Send + Sync) -> M {
    let others = Not(of_type::<Param>());
    let mut model = eval_shape(|()| make(), ());
    let program = make_jaxpr(|()| nnx::state(&make(), others))(());
    let known = program
        .known()
        .into_iter()
        .map(|a| a.expect("there are no arguments"));
    let others = tree::with_leaves(&nnx::state(&model, others), known);
    nnx::update(&mut model, others);
    model
}

/// Sets a parameter and keeps its dtype.
pub(super) fn put(param: &mut Param, array: Array) {
    let dtype = param.dtype();
    param.set(array.astype(dtype));
}

/// Returns the path of the weights in a directory: one file, or the index of several files.
pub(super) fn weights_in(folder: &Path) -> PathBuf {
    let index = folder.join("model.safetensors.index.json");
    match index.exists() {
        true => index,
        false => folder.join("model.safetensors"),
    }
}

/// Reads a configuration in JSON.
pub(super) fn read_config<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let wrong = |message: String| PretrainedError::Config {
        path: path.into(),
        message,
    };
    let text = ramie_core::files::read(path).map_err(|e| {
        wrong(format!(
            "cannot be read: {e}\n  help: pass the directory of a checkpoint, with config.json \
             and model.safetensors or its index"
        ))
    })?;
    serde_json::from_slice(&text).map_err(|e| {
        wrong(format!(
            "is not a configuration of this model: {e}\n  help: use the field names of published \
             checkpoints"
        ))
    })
}

/// Returns the error for an option that the model does not support.
pub(super) fn unsupported(path: &Path, name: &str, value: impl std::fmt::Debug) -> PretrainedError {
    PretrainedError::Config {
        path: path.into(),
        message: format!(
            "`{name}` is {value:?}, which this model does not support\n  help: use another \
             checkpoint, or build the model from layers"
        ),
    }
}

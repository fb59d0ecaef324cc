//! Loading and saving of weights by their published names.

use crate::adapters::{Adapters, Slot};
use ramie_core::files::{self, WithHelp};
use ramie_core::text::listed;
use ramie_core::{Array, DType, State, Tree, concatenate, eval_shape, make_jaxpr, tree};
use ramie_nn::nnx::{self, Not, of_type};
use ramie_nn::{
    BatchNorm, Conv, LayerNorm, Linear, LinearGeneral, LoraParam, Module, Param, Variable,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
pub(super) type Result<T> = std::result::Result<T, PretrainedError>;

/// The tensors of a checkpoint: those of a file that a model has not taken yet, or those that a
/// model has written. A model lists its tensors in one function, for both directions, and for its
/// parameters as well as its adapters.
pub(super) struct Weights {
    path: PathBuf,
    pub(super) arrays: BTreeMap<String, Array>,
    pub(super) prefix: String,
    pub(super) writes: bool,
    /// If present, layers exchange their adapters, and no parameters.
    pub(super) adapters: Option<Adapters>,
}

/// Lists names, quoted.
fn quoted<'a>(names: impl Iterator<Item = &'a String>) -> String {
    listed(names.map(|name| format!("`{name}`")))
}

impl Weights {
    /// Reads a file, or the files of an index.
    pub(super) fn open(path: &Path) -> Result<Weights> {
        let state = ramie_checkpoint::load_state(path)?;
        let arrays = state.iter().map(|(n, a)| (n.to_owned(), a.clone()));
        Ok(Weights::of_file(path, arrays.collect()))
    }

    /// Creates the tensors of a file that were read under published names.
    pub(super) fn of_file(path: &Path, arrays: BTreeMap<String, Array>) -> Weights {
        Weights {
            path: path.into(),
            arrays,
            prefix: String::new(),
            writes: false,
            adapters: None,
        }
    }

    /// Creates an empty set of tensors, to which the parameters of a model are added.
    pub(super) fn of_model() -> Weights {
        Weights {
            path: PathBuf::new(),
            arrays: BTreeMap::new(),
            prefix: String::new(),
            writes: true,
            adapters: None,
        }
    }

    /// Sets a prefix of the names that follow. A file that has no such name is read without it:
    /// bare models are published without the prefix of models with a head.
    pub(super) fn below(&mut self, prefix: &str) {
        if self.writes || self.arrays.keys().any(|name| name.starts_with(prefix)) {
            self.prefix = prefix.to_owned();
        }
    }

    /// Returns whether a file has a tensor, by its name below the prefix.
    pub(super) fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(&format!("{}{name}", self.prefix))
    }

    /// Takes a tensor of this shape, by its name below the prefix.
    fn take(&mut self, name: &str, shape: &[usize]) -> Result<Array> {
        let name = format!("{}{name}", self.prefix);
        self.take_whole(&name, shape)
    }

    /// Takes a tensor of this shape, by its full name.
    pub(super) fn take_whole(&mut self, name: &str, shape: &[usize]) -> Result<Array> {
        let Some(array) = self.arrays.remove(name) else {
            // Similar names: those that contain the last two components, or else any.
            let last = name.rsplit('.').take(2).last().unwrap_or(name);
            let near: Vec<&String> = self.arrays.keys().filter(|n| n.contains(last)).collect();
            let near = if near.is_empty() {
                quoted(self.arrays.keys())
            } else {
                quoted(near.into_iter())
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

    /// Exchanges a variable with the tensor of this name and shape below the prefix: sets it if
    /// the tensors are read, and adds it to those that are written. `read` and `write` convert
    /// between both shapes.
    fn exchange(
        &mut self,
        name: &str,
        shape: &[usize],
        variable: &mut impl Variable,
        read: impl FnOnce(Array) -> Array,
        write: impl FnOnce(&Array) -> Array,
    ) -> Result<()> {
        if self.adapters.is_some() {
            return Ok(());
        }
        let name = format!("{}{name}", self.prefix);
        if self.writes {
            drop(self.arrays.insert(name, write(variable)))
        } else {
            put(variable, read(self.take_whole(&name, shape)?))
        }
        Ok(())
    }

    /// Exchanges a variable with a tensor of its shape.
    pub(super) fn variable(&mut self, name: &str, variable: &mut impl Variable) -> Result<()> {
        let shape = variable.shape().to_vec();
        self.exchange(name, &shape, variable, |x| x, Array::clone)
    }

    /// Exchanges a parameter if the model has it.
    pub(super) fn optional(&mut self, name: &str, param: &mut Option<Param>) -> Result<()> {
        match param {
            Some(param) => self.variable(name, param),
            None => Ok(()),
        }
    }

    /// Exchanges a layer with `weight` and `bias`. The weight is `[outputs, inputs]`, as in
    /// PyTorch, if `transposed` is true.
    pub(super) fn linear(
        &mut self,
        name: &str,
        layer: &mut Linear,
        transposed: bool,
    ) -> Result<()> {
        let slot = Slot::new(&layer.kernel, 1, &mut layer.lora);
        self.adapter(name, vec![slot], transposed)?;
        self.matrix(&format!("{name}.weight"), &mut layer.kernel, 1, transposed)?;
        self.optional(&format!("{name}.bias"), &mut layer.bias)
    }

    /// Exchanges a layer normalization with `weight` and `bias`. Files that were converted from
    /// TensorFlow can name them `gamma` and `beta`.
    pub(super) fn layer_norm(&mut self, name: &str, norm: &mut LayerNorm) -> Result<()> {
        let [scale, bias] = if self.has(&format!("{name}.gamma")) {
            ["gamma", "beta"]
        } else {
            ["weight", "bias"]
        };
        self.optional(&format!("{name}.{scale}"), &mut norm.scale)?;
        self.optional(&format!("{name}.{bias}"), &mut norm.bias)
    }

    /// Exchanges a batch normalization with `weight`, `bias`, `running_mean` and `running_var`.
    pub(super) fn batch_norm(&mut self, name: &str, norm: &mut BatchNorm) -> Result<()> {
        self.optional(&format!("{name}.weight"), &mut norm.scale)?;
        self.optional(&format!("{name}.bias"), &mut norm.bias)?;
        self.variable(&format!("{name}.running_mean"), &mut norm.mean)?;
        self.variable(&format!("{name}.running_var"), &mut norm.var)
    }

    /// Exchanges a convolution with `weight`, `[outputs, inputs, window..]` as in PyTorch, and `bias`.
    pub(super) fn conv(&mut self, name: &str, layer: &mut Conv) -> Result<()> {
        let axes = layer.kernel.ndim() as isize;
        let published: Vec<isize> = [axes - 1, axes - 2]
            .into_iter()
            .chain(0..axes - 2)
            .collect();
        let own: Vec<isize> = (2..axes).chain([1, 0]).collect();
        let size = |axis: &isize| layer.kernel.shape()[*axis as usize];
        let shape: Vec<usize> = published.iter().map(size).collect();
        self.exchange(
            &format!("{name}.weight"),
            &shape,
            &mut layer.kernel,
            |x| x.transpose(&own),
            |x| x.transpose(&published),
        )?;
        self.optional(&format!("{name}.bias"), &mut layer.bias)
    }

    /// Exchanges a layer with several axes with `weight` and `bias`, in which the input axes
    /// are merged into one, and so are the output axes.
    pub(super) fn general(
        &mut self,
        name: &str,
        layer: &mut LinearGeneral,
        transposed: bool,
    ) -> Result<()> {
        let inputs = layer.config.axis.len();
        let slot = Slot::new(&layer.kernel, inputs, &mut layer.lora);
        self.adapter(name, vec![slot], transposed)?;
        self.matrix(
            &format!("{name}.weight"),
            &mut layer.kernel,
            inputs,
            transposed,
        )?;
        let Some(bias) = &mut layer.bias else {
            return Ok(());
        };
        let (own, flat) = (bias.shape().to_vec(), [bias.size()]);
        let name = format!("{name}.bias");
        self.exchange(
            &name,
            &flat,
            bias,
            |x| x.reshape(&own),
            |x| x.reshape(&flat),
        )
    }

    /// Exchanges a kernel, whose first axes are those of the inputs, with a matrix.
    pub(super) fn matrix(
        &mut self,
        name: &str,
        kernel: &mut Param,
        inputs: usize,
        transposed: bool,
    ) -> Result<()> {
        let own = kernel.shape().to_vec();
        let size = |axes: &[usize]| axes.iter().product::<usize>();
        let flat = [size(&own[..inputs]), size(&own[inputs..])];
        let turned = |x: &Array| {
            if transposed {
                x.transpose(&[1, 0])
            } else {
                x.clone()
            }
        };
        let shape = if transposed { [flat[1], flat[0]] } else { flat };
        let read = |x: Array| turned(&x).reshape(&own);
        self.exchange(name, &shape, kernel, read, |x| turned(&x.reshape(&flat)))
    }

    /// Exchanges several layers of the same shape with one `weight` and one `bias`, side by
    /// side along the outputs.
    pub(super) fn side_by_side(
        &mut self,
        name: &str,
        mut layers: Vec<&mut LinearGeneral>,
    ) -> Result<()> {
        if self.adapters.is_some() {
            let slots = layers.iter_mut();
            let slots = slots.map(|layer| Slot::new(&layer.kernel, 1, &mut layer.lora));
            return self.adapter(name, slots.collect(), false);
        }
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        let (count, inputs) = (layers.len(), layers[0].kernel.shape()[0]);
        let outputs = layers[0].kernel.size() / inputs;
        if self.writes {
            let flat = layers.iter().map(|l| l.kernel.reshape(&[inputs, outputs]));
            let kernel = concatenate(&flat.collect::<Vec<_>>(), 1);
            self.arrays
                .insert(format!("{}{weight}", self.prefix), kernel);
            let biases = layers.iter().filter_map(|l| l.bias.as_ref());
            let biases: Vec<Array> = biases.map(|b| b.reshape(&[outputs])).collect();
            if !biases.is_empty() {
                let whole = concatenate(&biases, 0);
                self.arrays.insert(format!("{}{bias}", self.prefix), whole);
            }
            return Ok(());
        }
        let weight = self
            .take(&weight, &[inputs, count * outputs])?
            .split(count, 1);
        let bias = self.take(&bias, &[count * outputs])?.split(count, 0);
        for (layer, (weight, bias)) in layers.iter_mut().zip(weight.into_iter().zip(bias)) {
            let shape = layer.kernel.shape().to_vec();
            put(&mut layer.kernel, weight.reshape(&shape));
            if let Some(param) = &mut layer.bias {
                put(param, bias.reshape(&shape[1..]));
            }
        }
        Ok(())
    }

    /// Calls a function without a prefix of names.
    pub(super) fn whole(&mut self, f: impl FnOnce(&mut Weights) -> Result<()>) -> Result<()> {
        let prefix = std::mem::take(&mut self.prefix);
        let result = f(self);
        self.prefix = prefix;
        result
    }

    /// Returns an error if tensors are left that were not taken. `ignored` accepts constants
    /// that some programs also saved.
    pub(super) fn finish(self, ignored: impl Fn(&str) -> bool) -> Result<()> {
        let left: Vec<&String> = self.arrays.keys().filter(|n| !ignored(n)).collect();
        if left.is_empty() {
            Ok(())
        } else {
            Err(PretrainedError::Unexpected {
                path: self.path.clone(),
                tensors: quoted(left.into_iter()),
            })
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

/// Returns a model whose parameters `load` sets, in evaluation mode.
pub(super) fn loaded<M: Module + Tree>(
    new: impl Fn() -> M + Send + Sync,
    load: impl FnOnce(&mut M) -> Result<()>,
) -> Result<M> {
    let mut model = without_parameters(new);
    load(&mut model)?;
    model.eval();
    Ok(model)
}

/// Writes a model as a checkpoint in a directory: its configuration, and its tensors, which
/// `list` exchanges.
pub(super) fn save(
    folder: &Path,
    config: &serde_json::Value,
    list: impl FnOnce(&mut Weights) -> Result<()>,
) -> Result<()> {
    let mut weights = Weights::of_model();
    list(&mut weights)?;
    write(folder, WEIGHTS, weights.arrays, "config.json", config)?;
    // The index of an older checkpoint in several files would take precedence.
    let index = folder.join(INDEX);
    match std::fs::remove_file(&index) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(wrong(
            &index,
            format!("cannot be removed: {}", WithHelp(&e)),
        )),
        _ => Ok(()),
    }
}

fn wrong(path: &Path, message: String) -> PretrainedError {
    PretrainedError::Config {
        path: path.into(),
        message,
    }
}

/// Writes tensors and a configuration to files in a directory.
pub(super) fn write(
    folder: &Path,
    file: &str,
    arrays: BTreeMap<String, Array>,
    config_file: &str,
    config: &serde_json::Value,
) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|e| wrong(folder, format!("cannot be created: {}", WithHelp(&e))))?;
    write_arrays(&folder.join(file), arrays)?;
    let path = folder.join(config_file);
    let text = serde_json::to_string_pretty(config).expect("numbers and strings");
    files::replace(&path, (text + "\n").as_bytes())
        .map_err(|e| wrong(&path, format!("cannot be written: {}", WithHelp(&e))))
}

/// Writes the tensors of a model, which `list` exchanges, to a file.
pub(super) fn save_weights(
    file: &Path,
    list: impl FnOnce(&mut Weights) -> Result<()>,
) -> Result<()> {
    let mut weights = Weights::of_model();
    list(&mut weights)?;
    write_arrays(file, weights.arrays)
}

fn write_arrays(file: &Path, arrays: BTreeMap<String, Array>) -> Result<()> {
    let arrays: State = arrays.into_iter().collect();
    // Libraries that read these files require the entry.
    let metadata = [("format".to_owned(), "pt".to_owned())].into();
    Ok(ramie_checkpoint::save_with_metadata(
        file, &arrays, &metadata,
    )?)
}

/// Returns a configuration in JSON with the entries that select the class of the model and the
/// dtype of the weights.
pub(super) fn described(
    config: &impl serde::Serialize,
    model_type: &str,
    architecture: &str,
    dtype: DType,
) -> serde_json::Value {
    let mut config = serde_json::to_value(config).expect("numbers and strings");
    config["model_type"] = model_type.into();
    config["architectures"] = [architecture].as_slice().into();
    let name = match dtype {
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
        DType::F64 => "float64",
        _ => "float32",
    };
    config["dtype"] = name.into();
    // The name of `dtype` in older versions.
    config["torch_dtype"] = name.into();
    config
}

/// Checks that a model can be saved with a configuration: it has no adapters, and the parameters
/// of a model with this configuration, `other`.
#[track_caller]
pub(super) fn expect_saveable<M: Tree>(class: &str, model: &M, other: M) {
    let adapters = nnx::state(model, of_type::<LoraParam>());
    if let Some(path) = adapters.paths().next() {
        panic!(
            "{class}::save_pretrained: the model has LoRA adapters, such as `{path}`, which \
             published checkpoints do not contain\n  help: merge them into the kernels first: \
             merge_lora(&mut model)"
        );
    }
    let types = |model: &M| -> BTreeMap<String, String> {
        let params = nnx::state(model, of_type::<Param>());
        let all = params.iter();
        all.map(|(path, a)| (path.to_owned(), a.aval().to_string()))
            .collect()
    };
    let (own, other) = (types(model), types(&other));
    let differs = own
        .iter()
        .find(|(path, aval)| other.get(*path) != Some(aval));
    let missing = other.keys().find(|path| !own.contains_key(*path));
    let Some(path) = differs.map(|(path, _)| path).or(missing) else {
        return;
    };
    let shown = |of: &BTreeMap<String, String>| of.get(path).map_or("none", |a| a).to_owned();
    panic!(
        "{class}::save_pretrained: the parameter `{path}` is {} in the model, but {} in a model of \
         the configuration\n  help: pass the configuration that the model was created with",
        shown(&own),
        shown(&other)
    );
}

/// Sets a variable and keeps its dtype.
fn put(variable: &mut impl Variable, array: Array) {
    let dtype = variable.dtype();
    **variable = array.astype(dtype);
}

/// The file with the tensors of a checkpoint.
const WEIGHTS: &str = "model.safetensors";

/// The file that lists the files of a checkpoint.
const INDEX: &str = "model.safetensors.index.json";

/// Returns the path of the weights in a directory: the index of several files, one file, or the
/// same of PyTorch files.
pub(super) fn weights_in(folder: &Path) -> PathBuf {
    let names = [
        INDEX,
        WEIGHTS,
        "pytorch_model.bin.index.json",
        "pytorch_model.bin",
    ];
    first_in(folder, &names, WEIGHTS)
}

/// Returns the path of the first of these files that exists in a directory, or of the default one.
pub(super) fn first_in(folder: &Path, names: &[&str], default: &str) -> PathBuf {
    let mut paths = names.iter().map(|name| folder.join(name));
    let found = paths.find(|path| path.exists());
    found.unwrap_or_else(|| folder.join(default))
}

/// Returns the default dtype of parameters, which configurations in JSON omit.
pub(super) fn f32() -> DType {
    DType::F32
}

/// Reads a configuration in JSON.
pub(super) fn read_config<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = ramie_core::files::read(path).map_err(|e| {
        let message = format!(
            "cannot be read: {e}\n  help: pass the directory of a checkpoint, with this file and \
             the weights"
        );
        wrong(path, message)
    })?;
    serde_json::from_slice(&text).map_err(|e| {
        let message = format!(
            "is not a configuration of this model: {e}\n  help: use the field names of published \
             checkpoints"
        );
        wrong(path, message)
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

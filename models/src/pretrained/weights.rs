//! `Weights`: the tensors of a checkpoint, by their published names.

use super::PretrainedError;
use super::adapters::{Adapters, Slot};
use super::error::Result;
use ramie_core::text::listed;
use ramie_core::{Array, concatenate};
use ramie_nn::{BatchNorm, Conv, LayerNorm, Linear, LinearGeneral, Param, RMSNorm, Variable};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The tensors of a checkpoint by their published names, which a model reads or writes.
///
/// [`Pretrained::exchange`](super::Pretrained::exchange) calls one method for each layer. The method
/// sets the layer's parameters when a file is read, and adds them to the tensors when a file is
/// written. The same calls exchange the LoRA adapters of these layers.
///
/// Kernels are `[outputs, inputs]` in files, as in PyTorch, unless
/// [`inputs_first`](Weights::inputs_first) was called.
///
/// # Errors
/// Methods that exchange a tensor return an error if a file that is read lacks it, or if it has
/// another shape there.
pub struct Weights {
    path: PathBuf,
    /// The names of all tensors of a file that is read.
    names: Vec<String>,
    /// The tensors that the model has not taken yet, or those that it has written.
    pub(super) arrays: BTreeMap<String, Array>,
    pub(super) prefix: String,
    pub(super) inputs_first: bool,
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
    pub(crate) fn of_file(path: &Path, arrays: BTreeMap<String, Array>) -> Weights {
        Weights {
            path: path.into(),
            names: arrays.keys().cloned().collect(),
            arrays,
            prefix: String::new(),
            inputs_first: false,
            writes: false,
            adapters: None,
        }
    }

    /// Creates an empty set of tensors, to which the parameters of a model are added.
    pub(super) fn of_model() -> Weights {
        Weights {
            writes: true,
            ..Weights::of_file(Path::new(""), BTreeMap::new())
        }
    }

    /// Sets the prefix of all names that follow. A file without such names is read without the
    /// prefix: bare models are published without the prefix of models with a head.
    pub fn below(&mut self, prefix: &str) {
        self.read_below(prefix);
        if self.writes {
            self.prefix = prefix.to_owned();
        }
    }

    /// Sets the prefix of all names that follow if a file is read that contains such names. Names are
    /// written without it.
    pub fn read_below(&mut self, prefix: &str) {
        if self.arrays.keys().any(|name| name.starts_with(prefix)) {
            self.prefix = prefix.to_owned();
        }
    }

    /// Reads and writes all kernels that follow as `[inputs, outputs]`.
    pub fn inputs_first(&mut self) {
        self.inputs_first = true;
    }

    /// Returns the shape of a tensor, if it exists, by its name below the prefix.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        let array = self.arrays.get(&format!("{}{name}", self.prefix));
        array.map(Array::shape)
    }

    /// Returns whether a tensor of this name exists, with the prefix or without.
    pub(crate) fn has(&self, prefix: &str, name: &str) -> bool {
        let names = [name, &format!("{prefix}{name}")];
        names.iter().any(|name| self.shape(name).is_some())
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
            let near: Vec<&String> = self.names.iter().filter(|n| n.contains(last)).collect();
            let near = if near.is_empty() {
                quoted(self.names.iter())
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
    pub fn variable(&mut self, name: &str, variable: &mut impl Variable) -> Result<()> {
        let shape = variable.shape().to_vec();
        self.exchange(name, &shape, variable, |x| x, Array::clone)
    }

    /// Exchanges a parameter if the model has it.
    pub fn optional(&mut self, name: &str, param: &mut Option<Param>) -> Result<()> {
        match param {
            Some(param) => self.variable(name, param),
            None => Ok(()),
        }
    }

    /// Exchanges a layer with `weight` and `bias`.
    pub fn linear(&mut self, name: &str, layer: &mut Linear) -> Result<()> {
        let slot = Slot::new(&layer.kernel, 1, &mut layer.lora);
        self.adapter(name, vec![slot])?;
        self.matrix(&format!("{name}.weight"), &mut layer.kernel, 1)?;
        self.optional(&format!("{name}.bias"), &mut layer.bias)
    }

    /// Exchanges a layer normalization with `weight` and `bias`. Files that were converted from
    /// TensorFlow can name them `gamma` and `beta`.
    pub fn layer_norm(&mut self, name: &str, norm: &mut LayerNorm) -> Result<()> {
        let [scale, bias] = if self.shape(&format!("{name}.gamma")).is_some() {
            ["gamma", "beta"]
        } else {
            ["weight", "bias"]
        };
        self.optional(&format!("{name}.{scale}"), &mut norm.scale)?;
        self.optional(&format!("{name}.{bias}"), &mut norm.bias)
    }

    /// Exchanges a normalization by the mean square with `weight`.
    pub fn rms_norm(&mut self, name: &str, norm: &mut RMSNorm) -> Result<()> {
        self.optional(&format!("{name}.weight"), &mut norm.scale)
    }

    /// Exchanges a batch normalization with `weight`, `bias`, `running_mean` and `running_var`.
    pub fn batch_norm(&mut self, name: &str, norm: &mut BatchNorm) -> Result<()> {
        self.optional(&format!("{name}.weight"), &mut norm.scale)?;
        self.optional(&format!("{name}.bias"), &mut norm.bias)?;
        self.variable(&format!("{name}.running_mean"), &mut norm.mean)?;
        self.variable(&format!("{name}.running_var"), &mut norm.var)
    }

    /// Exchanges a convolution with `weight`, `[outputs, inputs, window..]` as in PyTorch, and `bias`.
    pub fn conv(&mut self, name: &str, layer: &mut Conv) -> Result<()> {
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
    pub fn general(&mut self, name: &str, layer: &mut LinearGeneral) -> Result<()> {
        let inputs = layer.config.axis.len();
        let slot = Slot::new(&layer.kernel, inputs, &mut layer.lora);
        self.adapter(name, vec![slot])?;
        self.matrix(&format!("{name}.weight"), &mut layer.kernel, inputs)?;
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

    /// Exchanges a kernel, whose first `inputs` axes are those of the inputs, with a matrix.
    pub fn matrix(&mut self, name: &str, kernel: &mut Param, inputs: usize) -> Result<()> {
        let own = kernel.shape().to_vec();
        let size = |axes: &[usize]| axes.iter().product::<usize>();
        let flat = [size(&own[..inputs]), size(&own[inputs..])];
        let inputs_first = self.inputs_first;
        let turned = |x: &Array| in_order(x, inputs_first);
        let shape = shape_in_order(flat, inputs_first);
        let read = |x: Array| turned(&x).reshape(&own);
        self.exchange(name, &shape, kernel, read, |x| turned(&x.reshape(&flat)))
    }

    /// Exchanges several layers of the same shape with one `weight` and one `bias`, side by
    /// side along the outputs.
    ///
    /// # Panics
    /// Panics if some of the layers have a bias and others have none.
    #[track_caller]
    pub fn side_by_side(&mut self, name: &str, mut layers: Vec<&mut LinearGeneral>) -> Result<()> {
        let Some(first) = layers.first() else {
            return Ok(());
        };
        let own = first.kernel.shape().to_vec();
        let (count, with_bias) = (
            layers.len(),
            layers.iter().filter(|l| l.bias.is_some()).count(),
        );
        assert!(
            with_bias == 0 || with_bias == count,
            "Weights::side_by_side: {with_bias} of the {count} layers of `{name}` have a bias, \
             expected all or none\n  help: build all of them with a bias, or without_bias()"
        );
        let has_bias = with_bias > 0;
        if self.adapters.is_some() {
            let slots = layers.iter_mut();
            let slots = slots.map(|layer| Slot::new(&layer.kernel, 1, &mut layer.lora));
            return self.adapter(name, slots.collect());
        }
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        let (inputs, outputs) = (own[0], own[1..].iter().product());
        let inputs_first = self.inputs_first;
        if self.writes {
            let kernels = layers.iter().map(|l| l.kernel.reshape(&[inputs, outputs]));
            let kernel = concatenate(&kernels.collect::<Vec<_>>(), 1);
            let kernel = in_order(&kernel, inputs_first);
            self.arrays
                .insert(format!("{}{weight}", self.prefix), kernel);
            if has_bias {
                let biases = layers.iter().filter_map(|l| l.bias.as_ref());
                let biases = biases.map(|b| b.reshape(&[outputs]));
                let whole = concatenate(&biases.collect::<Vec<_>>(), 0);
                self.arrays.insert(format!("{}{bias}", self.prefix), whole);
            }
            return Ok(());
        }
        let all = count * outputs;
        let shape = shape_in_order([inputs, all], inputs_first);
        let kernels = in_order(&self.take(&weight, &shape)?, inputs_first).split(count, 1);
        for (layer, kernel) in layers.iter_mut().zip(kernels) {
            put(&mut layer.kernel, kernel.reshape(&own));
        }
        if has_bias {
            let biases = self.take(&bias, &[all])?.split(count, 0);
            let params = layers.iter_mut().filter_map(|layer| layer.bias.as_mut());
            for (param, bias) in params.zip(biases) {
                put(param, bias.reshape(&own[1..]));
            }
        }
        Ok(())
    }

    /// Calls a function without a prefix of names.
    pub fn whole(&mut self, f: impl FnOnce(&mut Weights) -> Result<()>) -> Result<()> {
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

/// Returns a kernel `[inputs, outputs]` as files have it, or the reverse.
fn in_order(kernel: &Array, inputs_first: bool) -> Array {
    if inputs_first {
        kernel.clone()
    } else {
        kernel.t()
    }
}

/// Returns the shape that files have for a kernel of this shape.
fn shape_in_order([inputs, outputs]: [usize; 2], inputs_first: bool) -> [usize; 2] {
    if inputs_first {
        [inputs, outputs]
    } else {
        [outputs, inputs]
    }
}

/// Sets a variable and keeps its dtype.
fn put(variable: &mut impl Variable, array: Array) {
    let dtype = variable.dtype();
    **variable = array.astype(dtype);
}

//! `Pretrained`: models whose weights are published.

mod adapters;
mod error;
mod files;
mod weights;

pub use error::PretrainedError;
pub(crate) use error::Result;
pub(crate) use files::{described, f32, read_config, unsupported};
pub use weights::Weights;

use ramie_core::text::type_name;
use ramie_core::{Array, Tree, eval_shape, make_jaxpr, tree};
use ramie_nn::nnx::{self, Not, of_type};
use ramie_nn::{LoraParam, Module, Param, Rngs};
use std::collections::BTreeMap;
use std::path::Path;

/// A model that loads and saves weights by their published names.
///
/// A model implements [`exchange`](Pretrained::exchange), which names the tensor of each parameter
/// for both directions. The other methods follow from it.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_models::{Pretrained, PretrainedError, Weights};
/// use ramie_nn::{Linear, Module, Rngs};
///
/// #[derive(Clone, Module)]
/// struct Classifier {
///     hidden: Linear,
///     out: Linear,
/// }
///
/// impl Pretrained for Classifier {
///     type Config = [usize; 3];
///
///     fn new([inputs, hidden, classes]: &[usize; 3], rngs: &mut Rngs) -> Classifier {
///         Classifier {
///             hidden: Linear::new(*inputs, *hidden, rngs),
///             out: Linear::new(*hidden, *classes, rngs),
///         }
///     }
///
///     fn exchange(&mut self, weights: &mut Weights) -> Result<(), PretrainedError> {
///         weights.linear("fc1", &mut self.hidden)?;
///         weights.linear("fc2", &mut self.out)
///     }
/// }
///
/// # let folder = tempfile::tempdir().expect("a directory");
/// # let file = folder.path().join("model.safetensors");
/// let sizes = [4, 8, 2];
/// let model = Classifier::new(&sizes, &mut Rngs::new(0));
/// model.save_weights(&file)?; // fc1.weight, fc1.bias, fc2.weight, fc2.bias
/// let loaded = Classifier::from_weights(&file, &sizes)?;
/// let x = Array::ones(&[1, 4], DType::F32);
/// assert_eq!(
///     loaded.hidden.forward(&x).to_vec::<f32>(),
///     model.hidden.forward(&x).to_vec::<f32>()
/// );
/// # Ok::<(), PretrainedError>(())
/// ```
pub trait Pretrained: Module + Tree + Clone {
    /// The options of the model.
    type Config: Sync;

    /// Creates a model with random weights, in training mode.
    #[track_caller]
    fn new(config: &Self::Config, rngs: &mut Rngs) -> Self;

    /// Exchanges all parameters with tensors of their published names.
    ///
    /// # Errors
    /// Returns the errors of the methods of [`Weights`].
    fn exchange(&mut self, weights: &mut Weights) -> Result<(), PretrainedError>;

    /// Returns whether a tensor of a file is ignored although the model has no parameter for it, such
    /// as a constant that some programs also save. By default none is.
    fn ignores(&self, _name: &str) -> bool {
        false
    }

    /// Changes optional layers to those that the tensors contain. Called before the model reads them.
    /// By default a model has no optional layers.
    fn fit(&mut self, _weights: &Weights) {}

    /// Loads a model from a file, in evaluation mode.
    ///
    /// # Errors
    /// Returns an error as [`load_pretrained`](Pretrained::load_pretrained) does.
    fn from_weights(
        file: impl AsRef<Path>,
        config: &Self::Config,
    ) -> Result<Self, PretrainedError> {
        created(config, Weights::open(file.as_ref())?)
    }

    /// Loads a published checkpoint, in evaluation mode, from a directory with `config.json`
    /// and `model.safetensors` or `pytorch_model.bin`, or the index of several and the files that it
    /// lists.
    ///
    /// # Errors
    /// Returns an error as [`from_json`](PretrainedConfig::from_json) and
    /// [`load_pretrained`](Pretrained::load_pretrained) do.
    fn from_pretrained(folder: impl AsRef<Path>) -> Result<Self, PretrainedError>
    where
        Self::Config: PretrainedConfig<Self>,
    {
        let folder = folder.as_ref();
        let config = Self::Config::from_json(folder.join("config.json"))?;
        Self::from_weights(files::weights_in(folder), &config)
    }

    /// Replaces all weights by those of a safetensors or PyTorch file, or of the files that an
    /// index lists. The tensors have the names of [`exchange`](Pretrained::exchange). They are
    /// converted to the dtypes of the model's parameters.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, lacks a tensor, or contains a tensor that is
    /// not in the model or has another shape. Some weights may already have been replaced.
    fn load_pretrained(&mut self, file: impl AsRef<Path>) -> Result<(), PretrainedError> {
        read(self, Weights::open(file.as_ref())?)
    }

    /// Saves the weights in a safetensors file, which [`from_weights`](Pretrained::from_weights) and
    /// other libraries load. Weights keep their dtype.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    ///
    /// # Panics
    /// Panics if a layer has a LoRA adapter that [`merge_lora`](ramie_nn::merge_lora) has not merged.
    #[track_caller]
    fn save_weights(&self, file: impl AsRef<Path>) -> Result<(), PretrainedError> {
        expect_no_adapters("save_weights", self);
        files::write_arrays(file.as_ref(), written(self)?.arrays)
    }

    /// Saves the model in a directory as a checkpoint with published names, `config.json` and
    /// `model.safetensors`, which [`from_pretrained`](Pretrained::from_pretrained) and other
    /// libraries load. Weights keep their dtype. An older checkpoint in the directory is replaced.
    ///
    /// ```no_run
    /// use ramie_models::{Gpt2, Gpt2Config, Pretrained, PretrainedConfig};
    /// let config = Gpt2Config::from_json("checkpoints/gpt2/config.json")?;
    /// let model = Gpt2::from_pretrained("checkpoints/gpt2")?;
    /// model.save_pretrained("checkpoints/tuned", &config)?;
    /// # Ok::<(), ramie_models::PretrainedError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    ///
    /// # Panics
    /// Panics if the configuration is that of another model, or if a layer has a LoRA adapter
    /// that [`merge_lora`](ramie_nn::merge_lora) has not merged.
    #[track_caller]
    fn save_pretrained(
        &self,
        folder: impl AsRef<Path>,
        config: &Self::Config,
    ) -> Result<(), PretrainedError>
    where
        Self::Config: PretrainedConfig<Self>,
    {
        expect_no_adapters("save_pretrained", self);
        let weights = written(self)?;
        expect_config(self, config, &weights);
        files::save(folder.as_ref(), &config.to_json(self), weights.arrays)
    }

    /// Replaces the LoRA adapters of the model by those in a directory with
    /// `adapter_config.json` and `adapter_model.safetensors` or `adapter_model.bin`, as the
    /// Python library `peft` saves them. Layers without an adapter in the files have none
    /// afterwards. The adapters keep their dtype.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or if it contains tensors that are not
    /// matrices of an adapter of this model. Some adapters may already have been replaced.
    fn load_adapter(&mut self, folder: impl AsRef<Path>) -> Result<(), PretrainedError> {
        adapters::load(self, folder.as_ref())
    }

    /// Saves the LoRA adapters of the model in a directory, as
    /// `adapter_config.json` and `adapter_model.safetensors`, which
    /// [`load_adapter`](Pretrained::load_adapter) and the Python library `peft` load. Layers
    /// that are one module there, such as the queries, keys and values of GPT-2, have one
    /// adapter there, whose rank is the sum of theirs.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    ///
    /// # Panics
    /// Panics if no layer has an adapter; [`apply_lora`](ramie_nn::apply_lora) adds them.
    #[track_caller]
    fn save_adapter(&self, folder: impl AsRef<Path>) -> Result<(), PretrainedError> {
        adapters::save(self, folder.as_ref())
    }
}

/// The options of a model `M` whose checkpoints contain them as `config.json`.
pub trait PretrainedConfig<M>: Sized {
    /// Reads a `config.json`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if it describes a variant that the model does
    /// not support.
    fn from_json(path: impl AsRef<Path>) -> Result<Self, PretrainedError>;

    /// Returns the contents of the `config.json` that is saved with the model.
    ///
    /// # Panics
    /// Panics if the options are those of another model.
    #[track_caller]
    fn to_json(&self, model: &M) -> serde_json::Value;
}

/// Replaces all weights of a model by tensors.
fn read<M: Pretrained>(model: &mut M, mut weights: Weights) -> Result<()> {
    model.fit(&weights);
    model.exchange(&mut weights)?;
    weights.finish(|name| model.ignores(name))
}

/// Returns the tensors of a model.
fn written<M: Pretrained>(model: &M) -> Result<Weights> {
    let mut weights = Weights::of_model();
    model.clone().exchange(&mut weights)?;
    // As for a file, no prefix is set yet.
    weights.prefix.clear();
    Ok(weights)
}

/// Creates a model from tensors, in evaluation mode.
pub(crate) fn created<M: Pretrained>(config: &M::Config, weights: Weights) -> Result<M> {
    let mut model = without_parameters(|| M::new(config, &mut Rngs::new(0)));
    read(&mut model, weights)?;
    model.eval();
    Ok(model)
}

/// Creates a model with abstract parameters, which must then be set. This avoids drawing random
/// weights that would be discarded.
fn without_parameters<M: Tree>(make: impl Fn() -> M + Send + Sync) -> M {
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

/// Checks that a model has no adapters.
#[track_caller]
fn expect_no_adapters<M: Tree>(method: &str, model: &M) {
    let adapters = nnx::state(model, of_type::<LoraParam>());
    if let Some(path) = adapters.paths().next() {
        panic!(
            "{}::{method}: the model has LoRA adapters, such as `{path}`, which \
             published checkpoints do not contain\n  help: merge them into the kernels first: \
             merge_lora(&mut model)",
            type_name::<M>()
        );
    }
}

/// Checks that a model, which wrote these tensors, has the parameters of a model with this
/// configuration.
#[track_caller]
fn expect_config<M: Pretrained>(model: &M, config: &M::Config, weights: &Weights) {
    let mut other = without_parameters(|| M::new(config, &mut Rngs::new(0)));
    other.fit(weights);
    let params = |model: &M| -> BTreeMap<String, Array> {
        let params = nnx::state(model, of_type::<Param>());
        let all = params.iter();
        all.map(|(path, a)| (path.to_owned(), a.clone())).collect()
    };
    let (own, other) = (params(model), params(&other));
    let shape = |of: &BTreeMap<String, Array>, path: &str| of.get(path).map(|a| a.shape().to_vec());
    let mut paths = own.keys().chain(other.keys());
    let Some(path) = paths.find(|path| shape(&own, path) != shape(&other, path)) else {
        return;
    };
    let shown =
        |of: &BTreeMap<String, Array>| of.get(path).map_or("none".into(), |a| a.aval().to_string());
    panic!(
        "{}::save_pretrained: the parameter `{path}` is {} in the model, but {} in a model of \
         the configuration\n  help: pass the configuration that the model was created with",
        type_name::<M>(),
        shown(&own),
        shown(&other)
    );
}

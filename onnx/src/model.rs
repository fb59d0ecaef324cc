//! `Model`: a graph as a function of weights and inputs.

use crate::call::Value;
use crate::description::Description;
use crate::file::{Dim, Store};
use crate::graph::Graph;
use crate::known::HostTensor;
use crate::onnx_file::OnnxFile;
use crate::run::Scope;
use crate::{Error, Result};
use ramie_core::{Array, State};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A model of an ONNX file: a function of weights and inputs.
///
/// The weights are a [`State`], so that the function is differentiated and compiled, and its
/// weights are trained, sharded and saved, like any other:
///
/// ```no_run
/// use ramie_core::{Array, DType, State, jit};
/// use ramie_onnx::Model;
/// # fn main() -> ramie_onnx::Result<()> {
/// let model = Model::open("model.onnx")?;
/// let weights = model.weights()?;
/// let run = jit(move |weights: State, x: Array| model.apply(&weights, &[x]).remove(0));
/// let scores = run(weights, Array::zeros(&[1, 3, 224, 224], DType::F32));
/// # Ok(())
/// # }
/// ```
///
/// A clone shares the graph.
#[derive(Clone)]
pub struct Model(Arc<Inner>);

struct Inner {
    description: Description,
    graph: Graph,
    store: Store,
}

impl Model {
    /// Reads a model from a file, without its weights. This needs no plugin.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not an ONNX model, or is damaged or
    /// truncated, or if a node is not supported. The last error lists all such nodes.
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        OnnxFile::open(path)?.into_model()
    }

    /// Reads a model from the bytes of a file.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`open`](Model::open), or if tensors of the model are
    /// in other files.
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Model> {
        OnnxFile::from_bytes(bytes)?.into_model()
    }

    pub(crate) fn new(description: Description, graph: Graph, store: Store) -> Model {
        Model(Arc::new(Inner {
            description,
            graph,
            store,
        }))
    }

    /// Returns the inputs, outputs, operators and metadata of the model.
    pub fn description(&self) -> &Description {
        &self.0.description
    }

    /// Reads the weights onto the default device: the tensors of the model by name. Constants are
    /// not among them: scalars, integers, and tensors that determine shapes. The weights of a
    /// branch of `If` have the name of the node before their own.
    ///
    /// # Errors
    /// Returns an error if a tensor cannot be read, or if there is no working plugin.
    pub fn weights(&self) -> Result<State> {
        let mut state = State::new();
        self.each_weight(&self.0.graph, &mut |path, tensor| {
            let array = tensor.array(&self.0.store);
            let array = array.map_err(|e| Error::of(self.0.store.path(), e))?;
            state.insert(path, array);
            Ok(())
        })?;
        Ok(state)
    }

    /// Returns the shapes and dtypes of the weights, without their elements. This needs no plugin.
    pub fn abstract_weights(&self) -> State {
        let mut state = State::new();
        let _ = self.each_weight(&self.0.graph, &mut |path, tensor| {
            let dtype = tensor.dtype().map_err(|e| Error::of(None, e))?;
            state.insert(path, Array::shape_dtype_struct(&tensor.shape, dtype));
            Ok(())
        });
        state
    }

    fn each_weight(
        &self,
        graph: &Graph,
        f: &mut dyn FnMut(&str, &crate::file::Tensor) -> Result<()>,
    ) -> Result<()> {
        for weight in &graph.weights {
            f(&weight.path, &weight.tensor)?;
        }
        let mut nested = graph.ops.iter().flat_map(|op| op.graphs.values());
        nested.try_for_each(|graph| self.each_weight(graph, f))
    }

    /// Computes the outputs from the weights and the inputs, both in the order of the graph.
    ///
    /// Under a transformation, the shapes of all values must follow from the shapes of the inputs.
    /// An input that determines shapes or a branch, such as a sampling rate, must then be an array
    /// that is not traced, such as [`Array::scalar`] in the traced function.
    ///
    /// # Panics
    /// Panics if the number, the dtypes or the shapes of the inputs do not match the model, if a
    /// weight is missing or has another type, or if a shape depends on elements of a traced input.
    #[track_caller]
    pub fn apply(&self, weights: &State, inputs: &[Array]) -> Vec<Array> {
        self.check(inputs);
        let Inner {
            description, graph, ..
        } = &*self.0;
        let values = inputs.iter().map(value_of);
        let outputs = Scope::evaluate(graph, values, weights, description.opset());
        outputs.iter().map(Value::to_array).collect()
    }

    /// Computes the outputs by name from inputs by name.
    ///
    /// # Panics
    /// Panics in the same cases as [`apply`](Model::apply), or if the names differ from those of
    /// the model's inputs.
    #[track_caller]
    pub fn apply_named(&self, weights: &State, inputs: &State) -> State {
        let names = self
            .0
            .description
            .inputs
            .iter()
            .map(|input| input.name.as_str());
        let found: Option<Vec<Array>> = names.clone().map(|n| inputs.get(n).cloned()).collect();
        let Some(found) = found.filter(|found| found.len() == inputs.len()) else {
            panic!(
                "Model::apply_named: got inputs {:?}, expected {:?}\n  help: pass one array for \
                 each input of the model",
                inputs.paths().collect::<Vec<_>>(),
                names.collect::<Vec<_>>()
            );
        };
        let outputs = self.apply(weights, &found);
        let names = self
            .0
            .description
            .outputs
            .iter()
            .map(|output| output.name.as_str());
        names.zip(outputs).collect()
    }

    #[track_caller]
    fn check(&self, inputs: &[Array]) {
        let expected = &self.0.description.inputs;
        let list = || {
            let all: Vec<String> = expected.iter().map(ToString::to_string).collect();
            all.join(", ")
        };
        assert!(
            inputs.len() == expected.len(),
            "Model::apply: got {} inputs, expected {}: {}\n  help: pass one array for each input of \
             the model, in this order",
            inputs.len(),
            expected.len(),
            list()
        );
        let mut named: HashMap<String, usize> = HashMap::new();
        for (array, info) in inputs.iter().zip(expected) {
            let fits = |dims: &Vec<Dim>| {
                let mut pairs = dims.iter().zip(array.shape());
                dims.len() == array.ndim()
                    && pairs.all(|(dim, &size)| match dim {
                        Dim::Size(expected) => *expected == size,
                        Dim::Name(name) => *named.entry(name.clone()).or_insert(size) == size,
                        Dim::Unknown => true,
                    })
            };
            assert!(
                info.dtype.is_none_or(|dtype| dtype == array.dtype())
                    && info.shape.as_ref().is_none_or(fits),
                "Model::apply: the input `{}` is {}, expected {info}\n  help: the inputs are {}; \
                 convert dtypes with astype, and add axes with expand_dims",
                info.name,
                array.aval(),
                list()
            );
        }
    }
}

/// Number of elements up to which inputs can determine shapes and branches.
const FEW: usize = 64;

/// Returns an input as a value: a few integers or booleans are known unless they are traced.
fn value_of(array: &Array) -> Value {
    let few = !array.dtype().is_inexact() && array.size() <= FEW;
    let known = few.then(|| HostTensor::of_array(array)).flatten();
    known.map_or_else(|| array.clone().into(), Value::Known)
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Model").field(&self.0.description).finish()
    }
}

//! `OnnxFile`: an open file.

use crate::check;
use crate::description::Description;
use crate::file::{self, Attribute, Store};
use crate::graph;
use crate::model::Model;
use crate::{Error, Result, UnsupportedNodes};
use ramie_core::files::{self, Message, Problem};
use ramie_core::{Array, DType};
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

/// An ONNX file whose graph has been read. Tensors are read on request.
///
/// In contrast to [`Model::open`], a file with operators that Ramie does not support can be opened.
///
/// ```no_run
/// use ramie_onnx::OnnxFile;
/// # fn main() -> ramie_onnx::Result<()> {
/// let file = OnnxFile::open("model.onnx")?;
/// for input in &file.description().inputs {
///     println!("{}: {input}", input.name);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OnnxFile {
    description: Description,
    graph: file::Graph,
    store: Store,
}

/// Reads a tensor from the bytes of a `.pb` file, the format of ONNX's test data, onto the default
/// device.
///
/// # Errors
/// Returns an error if the bytes are not a tensor of numbers, or if there is no working plugin.
pub fn tensor_from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Array> {
    let bytes = bytes.into();
    let tensor = file::Tensor::of_bytes(&bytes);
    let array = tensor.and_then(|tensor| tensor.array(&Store::Bytes(bytes)));
    array.map_err(|e| Error::of(None, e))
}

impl OnnxFile {
    /// Opens a file and reads its graph. This needs no plugin.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not an ONNX model, or is damaged or
    /// truncated.
    pub fn open(path: impl AsRef<Path>) -> Result<OnnxFile> {
        let path = path.as_ref();
        let failed = |e| Error::of(Some(path), Problem::Io(e));
        let file = files::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let model = file::Model::read(&file, length).map_err(|e| Error::of(Some(path), e))?;
        let path = path.to_path_buf();
        OnnxFile::new(model, Store::File { file, path })
    }

    /// Reads the graph from the bytes of a file.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an ONNX model.
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<OnnxFile> {
        let bytes = bytes.into();
        let model = file::Model::read(Cursor::new(&bytes), bytes.len() as u64);
        OnnxFile::new(model.map_err(|e| Error::of(None, e))?, Store::Bytes(bytes))
    }

    fn new(mut model: file::Model, store: Store) -> Result<OnnxFile> {
        let Some(graph) = model.graph.take() else {
            let what =
                Message::new("has no graph").help("this is not an ONNX model; export it again");
            return Err(Error::of(store.path(), Problem::file(what)));
        };
        let needed = graph::needed_while_tracing(&graph);
        Ok(OnnxFile {
            description: Description::of(&model, &graph, &needed),
            graph,
            store,
        })
    }

    /// Returns the inputs, outputs, operators and metadata of the model.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the tensors of the main graph: name, shape and dtype. The dtype is `None` if Ramie
    /// does not have the type of the elements.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &[usize], Option<DType>)> {
        let constants = self
            .graph
            .nodes
            .iter()
            .filter_map(|node| match &node.attributes[..] {
                [(_, Attribute::Tensor(tensor))] if node.is_constant() => {
                    Some((node.outputs.first()?.as_str(), &**tensor))
                }
                _ => None,
            });
        let initializers = self.graph.initializers.iter().map(|t| (t.name.as_str(), t));
        let all = initializers.chain(constants);
        all.map(|(name, tensor)| (name, &tensor.shape[..], file::dtype_of(tensor.data_type)))
    }

    /// Returns the nodes that Ramie does not support, by operator.
    pub fn unsupported(&self) -> Vec<UnsupportedNodes> {
        check::unsupported(&self.graph, self.description.opset())
    }

    /// Reads the constants of the model, and returns it as a function.
    ///
    /// # Errors
    /// Returns an error if a node is not supported, if nodes use values that no earlier node
    /// computes, or if a constant cannot be read.
    pub fn into_model(self) -> Result<Model> {
        let path = self.store.path();
        let opset = self.description.opset();
        let nodes = self.unsupported();
        if !nodes.is_empty() {
            let path = path.map(Path::to_path_buf);
            return Err(Error::Unsupported { path, nodes });
        }
        let checked = check::order(&self.graph)
            .and_then(|()| check::opset(opset))
            .and_then(|()| check::types(&self.description));
        checked.map_err(|e| Error::of(path, Problem::file(e)))?;
        let graph = graph::prepare(self.graph, "", &self.store);
        let graph = graph.map_err(|e| Error::of(self.store.path(), e))?;
        Ok(Model::new(self.description, graph, self.store))
    }
}

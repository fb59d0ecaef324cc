//! `Description`: what a model has, without the elements of its tensors.

use crate::file::{self, Attribute, Dim, ValueInfo, data_type_name, dtype_of};
use ramie_core::DType;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// The inputs, outputs, operators and metadata of a model.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Description {
    /// Version of the file format.
    pub ir_version: i64,
    /// Versions of the operator sets by domain. ONNX's own domain is the empty string.
    pub opsets: Vec<(String, i64)>,
    /// Name and version of the program that wrote the file.
    pub producer: String,
    /// Description of the model.
    pub text: String,
    /// Other entries by key.
    pub metadata: Vec<(String, String)>,
    /// Inputs, without those that have a tensor of the file.
    pub inputs: Vec<TensorInfo>,
    /// Outputs.
    pub outputs: Vec<TensorInfo>,
    /// Number of nodes for each operator, also of nested graphs. Operators of other domains than
    /// ONNX's begin with theirs.
    pub operators: BTreeMap<String, usize>,
}

/// Name and type of an input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Name of the value in the graph.
    pub name: String,
    /// Dtype, or `None` if the value is not a tensor or has elements that Ramie does not have.
    pub dtype: Option<DType>,
    /// Sizes of the axes, or `None` if their number is unknown.
    pub shape: Option<Vec<Dim>>,
    /// Whether the elements must be known when the model is traced, because shapes or axes depend
    /// on them. Under a transformation, such an input must be an array that is not traced.
    pub is_static: bool,
    /// Type of the elements as text.
    type_name: String,
}

impl Description {
    /// Describes a model. The values with the names `needed` must be known when it is traced.
    pub(crate) fn of(
        model: &file::Model,
        graph: &file::Graph,
        needed: &HashSet<String>,
    ) -> Description {
        let names: HashSet<&str> = graph.initializers.iter().map(|t| t.name.as_str()).collect();
        let inputs = graph.inputs.iter();
        let inputs = inputs.filter(|input| !names.contains(input.name.as_str()));
        let mut operators = BTreeMap::new();
        count(graph, &mut operators);
        Description {
            ir_version: model.ir_version,
            opsets: model.opsets.clone(),
            producer: format!("{} {}", model.producer, model.producer_version)
                .trim()
                .into(),
            text: model.description.clone(),
            metadata: model.metadata.clone(),
            inputs: inputs.map(|input| TensorInfo::of(input, needed)).collect(),
            outputs: graph
                .outputs
                .iter()
                .map(|output| TensorInfo::of(output, needed))
                .collect(),
            operators,
        }
    }

    /// Returns the version of ONNX's own operator set, or 0 if the file has none.
    pub fn opset(&self) -> i64 {
        let mut own = self
            .opsets
            .iter()
            .filter(|(domain, _)| file::is_own(domain));
        own.next().map_or(0, |(_, version)| *version)
    }
}

fn count(graph: &file::Graph, operators: &mut BTreeMap<String, usize>) {
    for node in &graph.nodes {
        *operators.entry(node.operator_name()).or_default() += 1;
        for (_, attribute) in &node.attributes {
            if let Attribute::Graph(nested) = attribute {
                count(nested, operators);
            }
        }
    }
}

impl TensorInfo {
    fn of(info: &ValueInfo, needed: &HashSet<String>) -> TensorInfo {
        TensorInfo {
            name: info.name.clone(),
            dtype: info.data_type.and_then(dtype_of),
            shape: info.dims.clone(),
            is_static: needed.contains(&info.name),
            type_name: match info.data_type {
                Some(number) => data_type_name(number).into(),
                None => "not a tensor".into(),
            },
        }
    }
}

/// Formats the type: `f32[batch,3,224,224]`.
impl fmt::Display for TensorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.type_name)?;
        match &self.shape {
            Some(dims) => {
                let dims: Vec<String> = dims.iter().map(Dim::to_string).collect();
                write!(f, "[{}]", dims.join(","))
            }
            None => Ok(()),
        }
    }
}

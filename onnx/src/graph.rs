//! Graphs whose tensors are divided into constants and weights.

use crate::file::{self, Attribute, Store, Tensor, ValueInfo};
use crate::known::HostTensor;
use crate::node::Op;
use crate::operators;
use ramie_core::DType;
use ramie_core::files::{Message, Problem};
use std::collections::{HashMap, HashSet};

/// A graph, of the model or of an attribute.
#[derive(Debug)]
pub(crate) struct Graph {
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
    pub ops: Vec<Op>,
    /// Tensors that are part of every program: 0-d ones, integers, and those that operators need
    /// while they are traced.
    pub constants: HashMap<String, HostTensor>,
    /// All other tensors.
    pub weights: Vec<Weight>,
}

/// A tensor that the caller passes with the weights.
#[derive(Debug)]
pub(crate) struct Weight {
    /// Name of the value in the graph.
    pub name: String,
    /// Name among the weights of the model.
    pub path: String,
    pub tensor: Tensor,
}

/// Reads the constants of a graph. `prefix` begins the paths of weights of a nested graph.
pub(crate) fn prepare(graph: file::Graph, prefix: &str, store: &Store) -> Result<Graph, Problem> {
    let needed = needed_while_tracing(&graph);
    let mut out = Graph {
        inputs: graph.inputs,
        outputs: graph.outputs,
        ops: Vec::with_capacity(graph.nodes.len()),
        constants: HashMap::new(),
        weights: Vec::new(),
    };
    let mut tensors: Vec<Tensor> = graph.initializers;
    for mut node in graph.nodes {
        if node.is_constant() {
            match constant(&mut node)? {
                Value::Known(known) => drop(out.constants.insert(output(&node), known)),
                Value::Tensor(mut tensor) => {
                    tensor.name = output(&node);
                    tensors.push(*tensor);
                }
            }
            continue;
        }
        out.ops.push(operation(node, prefix, store)?);
    }
    // Older files list initializers among the inputs, too.
    let names: HashSet<&str> = tensors.iter().map(|t| t.name.as_str()).collect();
    out.inputs
        .retain(|input| !names.contains(input.name.as_str()));
    let mut seen = HashSet::new();
    for tensor in tensors {
        if !seen.insert(tensor.name.clone()) {
            let what =
                Message::new("occurs twice").help("the file is damaged; copy or export it again");
            return Err(Problem::tensor(tensor.name, what));
        }
        let dtype = tensor.dtype()?;
        if is_weight(&tensor, dtype)
            && !(needed.contains(&tensor.name) && HostTensor::supports(dtype))
        {
            let path = format!("{prefix}{}", tensor.name);
            out.weights.push(Weight {
                name: tensor.name.clone(),
                path,
                tensor,
            });
        } else {
            out.constants
                .insert(tensor.name.clone(), HostTensor::read(&tensor, store)?);
        }
    }
    Ok(out)
}

/// Reads the graphs and the tensors in the attributes of a node.
fn operation(mut node: file::Node, prefix: &str, store: &Store) -> Result<Op, Problem> {
    let (mut graphs, mut tensors) = (HashMap::new(), HashMap::new());
    let label = node.label().to_owned();
    for (name, attribute) in &mut node.attributes {
        match attribute {
            Attribute::Graph(nested) => {
                let below = format!("{prefix}{label}.{name}.");
                let nested = std::mem::take(&mut **nested);
                graphs.insert(name.clone(), prepare(nested, &below, store)?);
            }
            Attribute::Tensor(tensor) => {
                let dtype = tensor.dtype()?;
                if !HostTensor::supports(dtype) {
                    return Err(Problem::tensor(
                        format!("{label}.{name}"),
                        Message::new(format!("has elements of {dtype}, which Ramie does not support in attributes")).help(format!("export the model with an attribute of another dtype, and cast the output of \
                the node `{label}`")),
                    ));
                }
                tensors.insert(name.clone(), HostTensor::read(tensor, store)?);
            }
            _ => {}
        }
    }
    Ok(Op {
        node,
        graphs,
        tensors,
    })
}

/// Whether a tensor is a weight unless an operator needs it while it is traced.
fn is_weight(tensor: &Tensor, dtype: DType) -> bool {
    !HostTensor::supports(dtype)
        || !tensor.shape.is_empty()
            && (dtype.is_float() || dtype.bits() == 8 && dtype != DType::Bool)
}

fn output(node: &file::Node) -> String {
    node.outputs.first().cloned().unwrap_or_default()
}

/// Value of a node `Constant`.
enum Value {
    Known(HostTensor),
    Tensor(Box<Tensor>),
}

fn constant(node: &mut file::Node) -> Result<Value, Problem> {
    let label = node.label().to_owned();
    let [(name, value)] = &mut node.attributes[..] else {
        let what = format!("the node `{label}` (Constant) has no value, or several");
        return Err(Problem::file(what));
    };
    Ok(Value::Known(match value {
        Attribute::Tensor(tensor) => return Ok(Value::Tensor(std::mem::take(tensor))),
        Attribute::Int(value) => HostTensor::number(*value),
        Attribute::Ints(values) => HostTensor::list(values.iter().copied()),
        Attribute::Float(value) => HostTensor::floats(DType::F32, &[], vec![f64::from(*value)]),
        Attribute::Floats(values) => {
            let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
            HostTensor::floats(DType::F32, &[values.len()], values)
        }
        _ => {
            return Err(Problem::file(
                Message::new(format!(
                    "the node `{label}` (Constant) has the attribute `{name}`, which is not \
                supported"
                ))
                .help("export the model with dense tensors of numbers"),
            ));
        }
    }))
}

/// Returns the names of the values from which operators derive shapes and axes while they are
/// traced.
pub(crate) fn needed_while_tracing(graph: &file::Graph) -> HashSet<String> {
    let mut needed = HashSet::new();
    for node in graph.nodes.iter().rev() {
        collect(node, &mut needed);
    }
    needed
}

/// Adds the inputs of a node that are needed while it is traced, given the needed outputs.
fn collect(node: &file::Node, needed: &mut HashSet<String>) {
    let whole = node.outputs.iter().any(|name| needed.contains(name));
    let operator = operators::find(node);
    let only_shape = operator.is_some_and(|o| o.known_from_shape);
    let listed = operator.map_or(&[][..], |o| o.host);
    for (i, name) in node.inputs.iter().enumerate() {
        if listed.contains(&i) || whole && !only_shape {
            needed.insert(name.clone());
        }
    }
    // Nested graphs use values of this one.
    for (_, attribute) in &node.attributes {
        if let Attribute::Graph(nested) = attribute {
            if whole {
                needed.extend(nested.outputs.iter().map(|output| output.name.clone()));
            }
            for node in nested.nodes.iter().rev() {
                collect(node, needed);
            }
        }
    }
}

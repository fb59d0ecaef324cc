//! The messages of `onnx.proto`. Fields that inference does not need are skipped.

use super::tensor::Tensor;
use super::wire::{Reader, Result, Value};
use ramie_core::files::{Message, Problem};
use std::fmt;
use std::io::{Read, Seek};

/// Maximum depth of graphs in graphs.
const DEEPEST: usize = 32;

/// `ModelProto`.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub ir_version: i64,
    pub producer: String,
    pub producer_version: String,
    pub domain: String,
    pub model_version: i64,
    pub description: String,
    /// Versions of operator sets by domain.
    pub opsets: Vec<(String, i64)>,
    pub metadata: Vec<(String, String)>,
    pub graph: Option<Graph>,
}

/// `GraphProto`.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    pub initializers: Vec<Tensor>,
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
}

/// `NodeProto`.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub name: String,
    pub operator: String,
    pub domain: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub attributes: Vec<(String, Attribute)>,
}

/// Value of an `AttributeProto`.
#[derive(Debug)]
pub(crate) enum Attribute {
    Float(f32),
    Int(i64),
    Text(Vec<u8>),
    Tensor(Box<Tensor>),
    Graph(Box<Graph>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Texts(Vec<Vec<u8>>),
    /// A kind of attribute that no supported operator has.
    Other,
}

/// `ValueInfoProto`: name and type of an input or output.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueInfo {
    pub name: String,
    /// Number of the elements' type, or `None` unless the value is a tensor.
    pub data_type: Option<i64>,
    /// Axes, unless the rank is unknown.
    pub dims: Option<Vec<Dim>>,
}

/// Size of an axis of an input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    /// A fixed size.
    Size(usize),
    /// A size that equal names share.
    Name(String),
    /// Any size.
    Unknown,
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Size(n) => write!(f, "{n}"),
            Dim::Name(name) => f.write_str(name),
            Dim::Unknown => f.write_str("?"),
        }
    }
}

impl Model {
    /// Reads a model from the start of a file of `length` bytes.
    pub fn read(file: impl Read + Seek, length: u64) -> Result<Model> {
        let mut model = Model::default();
        Reader::new(file).message(length, |r, field, value| {
            match (field, value) {
                (1, Value::Number(version)) => model.ir_version = version.cast_signed(),
                (2, Value::Bytes(end)) => model.producer = r.text(end)?,
                (3, Value::Bytes(end)) => model.producer_version = r.text(end)?,
                (4, Value::Bytes(end)) => model.domain = r.text(end)?,
                (5, Value::Number(version)) => model.model_version = version.cast_signed(),
                (6, Value::Bytes(end)) => model.description = r.text(end)?,
                (7, Value::Bytes(end)) => model.graph = Some(graph(r, end, 0)?),
                (8, Value::Bytes(end)) => model.opsets.push(opset(r, end)?),
                (14, Value::Bytes(end)) => model.metadata.push(entry(r, end)?),
                _ => {}
            }
            Ok(())
        })?;
        Ok(model)
    }
}

/// Reads an `OperatorSetIdProto`.
fn opset<R: Read + Seek>(r: &mut Reader<R>, end: u64) -> Result<(String, i64)> {
    let (mut domain, mut version) = (String::new(), 0);
    r.message(end, |r, field, value| {
        match (field, value) {
            (1, Value::Bytes(end)) => domain = r.text(end)?,
            (2, Value::Number(number)) => version = number.cast_signed(),
            _ => {}
        }
        Ok(())
    })?;
    Ok((domain, version))
}

/// Reads a `StringStringEntryProto`.
pub(super) fn entry<R: Read + Seek>(r: &mut Reader<R>, end: u64) -> Result<(String, String)> {
    let (mut key, mut text) = (String::new(), String::new());
    r.message(end, |r, field, value| {
        match (field, value) {
            (1, Value::Bytes(end)) => key = r.text(end)?,
            (2, Value::Bytes(end)) => text = r.text(end)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((key, text))
}

fn graph<R: Read + Seek>(r: &mut Reader<R>, end: u64, depth: usize) -> Result<Graph> {
    if depth == DEEPEST {
        return Err(Problem::file(
            Message::new(format!(
                "has graphs within graphs, more than {DEEPEST} levels"
            ))
            .help("the file is damaged; copy or export it again"),
        ));
    }
    let mut graph = Graph::default();
    r.message(end, |r, field, value| {
        match (field, value) {
            (1, Value::Bytes(end)) => graph.nodes.push(node(r, end, depth)?),
            (5, Value::Bytes(end)) => graph.initializers.push(Tensor::message(r, end)?),
            (11, Value::Bytes(end)) => graph.inputs.push(value_info(r, end)?),
            (12, Value::Bytes(end)) => graph.outputs.push(value_info(r, end)?),
            (15, Value::Bytes(_)) => {
                return Err(Problem::file(
                    Message::new("has sparse tensors, which are not supported")
                        .help("export the model with dense tensors"),
                ));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(graph)
}

fn node<R: Read + Seek>(r: &mut Reader<R>, end: u64, depth: usize) -> Result<Node> {
    let mut node = Node::default();
    r.message(end, |r, field, value| {
        match (field, value) {
            (1, Value::Bytes(end)) => node.inputs.push(r.text(end)?),
            (2, Value::Bytes(end)) => node.outputs.push(r.text(end)?),
            (3, Value::Bytes(end)) => node.name = r.text(end)?,
            (4, Value::Bytes(end)) => node.operator = r.text(end)?,
            (5, Value::Bytes(end)) => node.attributes.push(attribute(r, end, depth)?),
            (7, Value::Bytes(end)) => node.domain = r.text(end)?,
            _ => {}
        }
        Ok(())
    })?;
    if node.operator.is_empty() {
        Err(Problem::file(
            Message::new(format!("the node before byte {end} has no operator"))
                .help("the file is damaged; copy or export it again"),
        ))
    } else {
        Ok(node)
    }
}

/// Reads an `AttributeProto`: its name and value.
fn attribute<R: Read + Seek>(
    r: &mut Reader<R>,
    end: u64,
    depth: usize,
) -> Result<(String, Attribute)> {
    let (mut name, mut kind) = (String::new(), None);
    // Lists without elements have only their kind. Numbers of 0 may be omitted.
    let (mut float, mut int, mut text, mut single) = (0.0, 0, Vec::new(), None);
    let (mut floats, mut ints, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    r.message(end, |r, field, value| {
        match (field, value) {
            (1, Value::Bytes(end)) => name = r.text(end)?,
            (2, Value::Number(bits)) => float = f32::from_bits(bits as u32),
            (3, Value::Number(number)) => int = number.cast_signed(),
            (4, Value::Bytes(end)) => text = r.bytes(end)?,
            (5, Value::Bytes(end)) => {
                single = Some(Attribute::Tensor(Tensor::message(r, end)?.into()));
            }
            (6, Value::Bytes(end)) => {
                single = Some(Attribute::Graph(graph(r, end, depth + 1)?.into()));
            }
            (7, value) => r.floats(value, &mut floats)?,
            (8, value) => r.numbers(value, &mut ints)?,
            (9, Value::Bytes(end)) => texts.push(r.bytes(end)?),
            (20, Value::Number(number)) => kind = Some(number),
            _ => {}
        }
        Ok(())
    })?;
    let value = match kind {
        Some(1) => Attribute::Float(float),
        Some(2) => Attribute::Int(int),
        Some(3) => Attribute::Text(text),
        Some(4 | 5) => single.unwrap_or(Attribute::Other),
        Some(6) => Attribute::Floats(floats),
        Some(7) => Attribute::Ints(ints.into_iter().map(u64::cast_signed).collect()),
        Some(8) => Attribute::Texts(texts),
        _ => Attribute::Other,
    };
    Ok((name, value))
}

fn value_info<R: Read + Seek>(r: &mut Reader<R>, end: u64) -> Result<ValueInfo> {
    let mut info = ValueInfo::default();
    r.message(end, |r, field, value| {
        match (field, value) {
            (1, Value::Bytes(end)) => info.name = r.text(end)?,
            // A `TypeProto`, which has a tensor type or another one.
            (2, Value::Bytes(end)) => r.message(end, |r, field, value| match (field, value) {
                (1, Value::Bytes(end)) => tensor_type(r, end, &mut info),
                _ => Ok(()),
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(info)
}

/// Reads a `TypeProto.Tensor`.
fn tensor_type<R: Read + Seek>(r: &mut Reader<R>, end: u64, info: &mut ValueInfo) -> Result<()> {
    r.message(end, |r, field, value| {
        match (field, value) {
            (1, Value::Number(number)) => info.data_type = Some(number.cast_signed()),
            (2, Value::Bytes(end)) => {
                let mut dims = Vec::new();
                r.message(end, |r, field, value| match (field, value) {
                    (1, Value::Bytes(end)) => {
                        dims.push(dim(r, end)?);
                        Ok(())
                    }
                    _ => Ok(()),
                })?;
                info.dims = Some(dims);
            }
            _ => {}
        }
        Ok(())
    })
}

fn dim<R: Read + Seek>(r: &mut Reader<R>, end: u64) -> Result<Dim> {
    let mut dim = Dim::Unknown;
    r.message(end, |r, field, value| {
        match (field, value) {
            (1, Value::Number(number)) => {
                dim = usize::try_from(number.cast_signed()).map_or(Dim::Unknown, Dim::Size);
            }
            (2, Value::Bytes(end)) => dim = Dim::Name(r.text(end)?),
            _ => {}
        }
        Ok(())
    })?;
    // Exporters write empty names for unknown sizes.
    Ok(if dim == Dim::Name(String::new()) {
        Dim::Unknown
    } else {
        dim
    })
}

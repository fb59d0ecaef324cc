//! Parts of a checkpoint, without the elements of arrays.

use ramie::checkpoint::gguf::{GgufFile, Tensor, Value};
use ramie::checkpoint::pytree::{PartMetadata, TreeMetadata, ValueKind};
use ramie::checkpoint::serialization::StateDict;
use ramie::dtypes::Scalar;
use ramie::{Array, DType, State};

use super::text;

/// Part of a checkpoint.
pub(crate) struct Part {
    /// Dotted path of the part.
    pub path: String,
    pub what: What,
    /// Saved sharding of the array, if any.
    pub sharding: Option<String>,
}

/// Value of a part.
#[derive(Clone, PartialEq)]
pub(crate) enum What {
    Array(Vec<usize>, DType),
    /// A tensor of a GGUF file, in its stored form.
    Tensor(Tensor),
    /// A metadata entry of a GGUF file.
    Metadata(Value),
    Text(String),
    /// A number without a dtype.
    Number(Scalar),
    /// Byte string of this length.
    Bytes(usize),
    /// An empty node: `None`, or an empty dictionary, list or tuple.
    Empty(&'static str),
    /// A JSON file.
    Json(String),
    /// Any other value, as a description.
    Other(String),
}

impl What {
    fn of(array: &Array) -> What {
        What::Array(array.shape().to_vec(), array.dtype())
    }

    /// Returns the number of elements.
    pub(crate) fn count(&self) -> u64 {
        match self {
            What::Array(shape, _) => shape.iter().fold(1, |n, d| n.saturating_mul(*d as u64)),
            What::Tensor(tensor) => tensor.size() as u64,
            _ => 0,
        }
    }

    /// Returns the number of bytes of the elements on a device, or in the file for a tensor of a
    /// GGUF file.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            What::Array(_, dtype) => self.count().saturating_mul(dtype.size() as u64),
            What::Tensor(tensor) => tensor.nbytes() as u64,
            _ => 0,
        }
    }

    /// Returns the name of the elements' type, for arrays.
    pub(crate) fn type_name(&self) -> Option<&'static str> {
        match self {
            What::Array(_, dtype) => Some(dtype.name()),
            What::Tensor(tensor) => Some(tensor.tensor_type.name()),
            _ => None,
        }
    }

    /// Describes the value briefly: `f32[2,3]`, or the start of a string.
    pub(crate) fn describe(&self) -> String {
        match self {
            What::Array(shape, dtype) => typed(dtype.name(), shape),
            What::Tensor(tensor) => typed(tensor.tensor_type.name(), &tensor.shape),
            What::Text(text) | What::Metadata(Value::String(text)) => text::shortened(text),
            What::Metadata(value) => text::abbreviated(&value.to_string()),
            What::Number(number) => text::number(*number),
            What::Bytes(count) => format!("{count} bytes"),
            What::Empty(kind) => (*kind).to_owned(),
            What::Json(text) => format!("JSON {}", text::abbreviated(text)),
            What::Other(kind) => kind.clone(),
        }
    }

    /// Returns the whole value, except for arrays.
    pub(crate) fn value(&self) -> String {
        match self {
            What::Text(text) | What::Json(text) => text.trim_end().to_owned(),
            What::Metadata(Value::String(text)) => text.clone(),
            other => other.describe(),
        }
    }
}

impl Part {
    fn new(path: impl Into<String>, what: What) -> Part {
        Part {
            path: path.into(),
            what,
            sharding: None,
        }
    }

    pub(crate) fn is_array(&self) -> bool {
        self.what.type_name().is_some()
    }
}

/// Formats a type with a shape: `f32[2,3]`.
fn typed(name: &str, shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("{name}[{}]", sizes.join(","))
}

/// Sums a quantity over parts.
pub(crate) fn sum<'a>(parts: impl IntoIterator<Item = &'a Part>, of: fn(&What) -> u64) -> u64 {
    let each = parts.into_iter().map(|part| of(&part.what));
    each.fold(0, u64::saturating_add)
}

/// Returns the parts of a state whose arrays may have no elements.
pub(crate) fn of_state(state: &State) -> Vec<Part> {
    let part = |(path, array): (&str, &Array)| Part::new(path, What::of(array));
    state.iter().map(part).collect()
}

/// Returns the metadata and the tensors of a GGUF file.
pub(crate) fn of_gguf(file: &GgufFile) -> Vec<Part> {
    let entry = |(key, value): &(String, Value)| Part::new(key, What::Metadata(value.clone()));
    let tensor = |t: &Tensor| Part::new(&t.name, What::Tensor(t.clone()));
    let metadata = file.metadata().iter().map(entry);
    metadata.chain(file.tensors().iter().map(tensor)).collect()
}

/// Returns the parts of a state dict.
pub(crate) fn of_dict(dict: &StateDict) -> Vec<Part> {
    let mut parts = Vec::new();
    collect(dict, String::new(), &mut parts);
    parts
}

fn collect(dict: &StateDict, path: String, parts: &mut Vec<Part>) {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    let what = match dict {
        StateDict::Dict(entries) if !entries.is_empty() => {
            for (name, part) in entries {
                collect(part, below(name), parts);
            }
            return;
        }
        StateDict::List(items) if !items.is_empty() => {
            for (i, part) in items.iter().enumerate() {
                collect(part, below(&i.to_string()), parts);
            }
            return;
        }
        StateDict::Array(array) | StateDict::NumpyScalar(array) => What::of(array),
        StateDict::Number(number) => What::Number(*number),
        StateDict::Str(text) => What::Text(text.clone()),
        StateDict::Bytes(bytes) => What::Bytes(bytes.len()),
        StateDict::None => What::Empty("none"),
        StateDict::Dict(_) => What::Empty("empty dictionary"),
        StateDict::List(_) => What::Empty("empty list"),
    };
    parts.push(Part::new(path, what));
}

/// Returns the parts of a tree in Orbax's format.
pub(crate) fn of_tree(tree: TreeMetadata) -> Vec<Part> {
    let part = |part: PartMetadata| {
        let what = match (part.array.as_ref(), part.text) {
            (Some(array), _) => What::Array(array.shape.clone(), array.dtype),
            (None, Some(text)) => What::Text(text),
            (None, None) => match part.kind {
                ValueKind::None => What::Empty("none"),
                ValueKind::Dict => What::Empty("empty dictionary"),
                ValueKind::List => What::Empty("empty list"),
                ValueKind::Tuple | ValueKind::NamedTuple => What::Empty("empty tuple"),
                kind => What::Other(format!("of kind {}", kind.name())),
            },
        };
        let sharding = part.array.and_then(|array| array.sharding);
        Part {
            path: part.path.to_string(),
            what,
            sharding: sharding.map(|value| text::sharding(&value)),
        }
    };
    tree.parts.into_iter().map(part).collect()
}

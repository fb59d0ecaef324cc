//! Conversion of a pickle's objects to nested dictionaries and named tensors.

use super::global::Global;
use super::input::damaged;
use super::object::{Id, Object, Pickle, Rebuilt};
use super::tensor::Tensor;
use crate::serialization::StateDict;
use crate::size::check_shape;
use ramie_core::dtypes::Scalar;
use ramie_core::files::{Message, Problem};
use std::collections::HashSet;

/// Maximum number of containers inside of each other.
const DEEPEST: usize = 64;
/// Number of bytes that paths and strings can take in every file.
const LEAST_ROOM: usize = 1 << 16;

/// Returns all values, with the indices of the tensors as arrays, and the tensors. `starts` are the
/// offsets of the storages in the file. The pickle was read from `bytes` bytes.
pub(super) fn tree(
    pickle: &Pickle,
    starts: &[u64],
    bytes: u64,
) -> Result<(StateDict<usize>, Vec<Tensor>), Problem> {
    let mut tree = Tree {
        pickle,
        starts,
        tensors: Vec::new(),
        path: String::new(),
        room: LEAST_ROOM + 64 * bytes as usize,
    };
    let root = tree.part(pickle.root, 0)?;
    Ok((root, tree.tensors))
}

struct Tree<'a> {
    pickle: &'a Pickle,
    starts: &'a [u64],
    tensors: Vec<Tensor>,
    /// Dotted path of the current object.
    path: String,
    /// Number of bytes that paths and strings may still take. Shared objects are copied, so that a
    /// small file could expand to a huge tree.
    room: usize,
}

impl Tree<'_> {
    fn part(&mut self, id: Id, depth: usize) -> Result<StateDict<usize>, Problem> {
        if depth > DEEPEST {
            return Err(damaged(format_args!(
                "has more than {DEEPEST} nested containers, or one that contains itself"
            )));
        }
        self.take(self.path.len())?;
        Ok(match self.pickle.get(id) {
            Object::Tensor(rebuilt) => {
                let tensor = self
                    .tensor(rebuilt)
                    .map_err(|what| Problem::tensor(self.path.clone(), what))?;
                self.tensors.push(tensor);
                StateDict::Array(self.tensors.len() - 1)
            }
            Object::Dict(entries) => self.dict(entries, depth)?,
            Object::List(items) | Object::Tuple(items) => {
                let mut parts = Vec::new();
                for (i, &item) in items.iter().enumerate() {
                    parts.push(self.below(&i.to_string(), item, depth)?);
                }
                StateDict::List(parts)
            }
            Object::Bool(value) => StateDict::Number(Scalar::Bool(*value)),
            Object::Int(value) => StateDict::Number(Scalar::Int(*value)),
            Object::Long(bytes) => unsigned(bytes).map_or(StateDict::None, StateDict::Number),
            Object::Float(value) => StateDict::Number(Scalar::Float(*value)),
            Object::Complex(re, im) => StateDict::Number(Scalar::Complex(*re, *im)),
            Object::Str(text) => {
                self.take(text.len())?;
                StateDict::Str(text.clone())
            }
            Object::Bytes(bytes) => {
                self.take(bytes.len())?;
                StateDict::Bytes(bytes.clone())
            }
            Object::Global(Global::DType(dtype)) => {
                StateDict::Str(format!("torch.{}", dtype.numpy_name()))
            }
            Object::None | Object::Global(_) | Object::Storage(_) => StateDict::None,
        })
    }

    fn dict(&mut self, entries: &[(Id, Id)], depth: usize) -> Result<StateDict<usize>, Problem> {
        let mut parts = Vec::new();
        let mut names = HashSet::new();
        for &(key, value) in entries {
            let name = match self.pickle.get(key) {
                Object::Str(name) => name.clone(),
                Object::Int(n) => n.to_string(),
                _ => continue,
            };
            let part = self.below(&name, value, depth)?;
            if !names.insert(name.clone()) {
                return Err(damaged(format_args!(
                    "has two entries `{name}` in the dictionary `{}`",
                    self.path
                )));
            }
            parts.push((name, part));
        }
        Ok(StateDict::Dict(parts))
    }

    /// Converts an object inside of the current one.
    fn below(&mut self, name: &str, id: Id, depth: usize) -> Result<StateDict<usize>, Problem> {
        let length = self.path.len();
        if depth > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let part = self.part(id, depth + 1)?;
        self.path.truncate(length);
        Ok(part)
    }

    /// Counts the memory of a part.
    fn take(&mut self, bytes: usize) -> Result<(), Problem> {
        let left = self.room.checked_sub(bytes + 1);
        self.room = left.ok_or_else(|| {
            damaged("has values that refer to each other so often that they take too much memory")
        })?;
        Ok(())
    }

    /// Returns a tensor if its view is inside of its storage.
    fn tensor(&self, tensor: &Rebuilt) -> Result<Tensor, Message> {
        if tensor.is_lazy {
            return Err(Message::new(
                "is the conjugate or the negative of the stored elements, which is not \
                supported",
            )
            .help("in Python, save `tensor.resolve_conj().resolve_neg()`"));
        }
        let width = tensor.dtype.size();
        let (shape, strides) = (&tensor.shape, &tensor.strides);
        let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let bytes = count.and_then(|n| n.checked_mul(width));
        let (Some(count), Some(_)) = (count, bytes) else {
            return Err(format!("has the sizes {shape:?}, which are too large").into());
        };
        check_shape(shape)?;
        let storage = &self.pickle.storages[tensor.storage as usize];
        let available = (storage.bytes / width as u64) as usize;
        let last = || {
            let mut axes = shape.iter().zip(strides);
            axes.try_fold(tensor.start, |at, (d, stride)| {
                at.checked_add((d - 1).checked_mul(*stride)?)
            })
        };
        if count > 0 && last().is_none_or(|last| last >= available) {
            return Err(format!(
                "has the shape {shape:?}, strides {strides:?} and offset {}, but its storage has only \
                 {available} elements; the file is damaged",
                tensor.start
            )
            .into());
        }
        if count > available {
            return Err(Message::new(format!(
                "has {count} elements in a storage of {available} because it repeats \
                elements, which is not supported"
            ))
            .help("in Python, save `tensor.contiguous()`"));
        }
        let start = if count == 0 { 0 } else { tensor.start };
        Ok(Tensor {
            name: self.path.clone(),
            dtype: tensor.dtype,
            shape: shape.clone(),
            strides: strides.clone(),
            file: 0,
            start: self.starts[tensor.storage as usize] + (start * width) as u64,
        })
    }
}

/// Returns an integer of 64 bits without a sign.
fn unsigned(bytes: &[u8]) -> Option<Scalar> {
    match bytes {
        [low @ .., 0] => Some(Scalar::Uint(u64::from_le_bytes(low.try_into().ok()?))),
        _ => None,
    }
}

//! The functions that a pickle calls, and its references to storages.

use super::global::Global;
use super::input::{damaged, unsupported};
use super::object::{Id, Object, Pickle, Rebuilt, Storage};
use half::f16;
use ramie_core::DType;
use ramie_core::files::Problem;

/// Maximum number of axes of a tensor.
const MOST_AXES: usize = 16;
/// Maximum number of arguments of a function.
const MOST_ARGUMENTS: usize = 8;

/// Description of calls that `torch.save` does not write.
const WRONG: &str = "calls a function with wrong arguments";

/// Returns the result of a function, or a description of the problem.
///
/// A pickle can call a function many times with the same argument, in a few bytes each. Functions
/// therefore change and return large arguments instead of copying them.
pub(super) fn call(pickle: &mut Pickle, function: Id, arguments: Id) -> Result<Id, &'static str> {
    let (Object::Global(function), Object::Tuple(arguments)) =
        (pickle.get(function), pickle.get(arguments))
    else {
        return Err("calls a value that is not a function");
    };
    let function = *function;
    if arguments.len() > MOST_ARGUMENTS {
        return Err(WRONG);
    }
    // A copy of a few ids ends the borrow of the pickle, which gets the result.
    let arguments = arguments.clone();
    match (function, arguments.as_slice()) {
        (Global::RebuildTensor | Global::RebuildTensorV3, arguments) => {
            let tensor = tensor(pickle, function, arguments).ok_or(WRONG)?;
            Ok(pickle.push(Object::Tensor(Box::new(tensor))))
        }
        // A parameter is its tensor; `requires_grad` and hooks have no meaning here.
        (Global::RebuildParameter, [tensor, ..]) => match pickle.get(*tensor) {
            Object::Tensor(_) => Ok(*tensor),
            _ => Err(WRONG),
        },
        (Global::RebuildFromType, [function, _, arguments, ..]) => match pickle.get(*function) {
            // Only these functions, so that a damaged pickle cannot cause endless recursion.
            Object::Global(Global::RebuildTensor | Global::RebuildTensorV3) => {
                call(pickle, *function, *arguments)
            }
            _ => Err(WRONG),
        },
        (Global::NumPyDType, [name, ..]) => match pickle.get(*name) {
            Object::Str(name) => {
                let dtype = dtype_of_numpy(name).ok_or(WRONG)?;
                Ok(pickle.push(Object::Global(Global::DType(dtype))))
            }
            _ => Err(WRONG),
        },
        (Global::NumPyScalar, [dtype, bytes]) => match (pickle.get(*dtype), pickle.get(*bytes)) {
            (Object::Global(Global::DType(dtype)), Object::Bytes(bytes)) => {
                let number = scalar(*dtype, bytes).ok_or(WRONG)?;
                Ok(pickle.push(number))
            }
            _ => Err(WRONG),
        },
        (Global::Dict, []) => Ok(pickle.push(Object::Dict(Vec::new()))),
        (Global::Set, []) => Ok(pickle.push(Object::List(Vec::new()))),
        (_, [argument, rest @ ..]) => convert(pickle, function, *argument, rest),
        _ => Err(WRONG),
    }
}

/// Converts the first argument of a class or of `_codecs.encode`.
fn convert(
    pickle: &mut Pickle,
    function: Global,
    argument: Id,
    rest: &[Id],
) -> Result<Id, &'static str> {
    let converted = match (function, pickle.get(argument)) {
        (Global::Dict, Object::Dict(_))
        | (Global::Set | Global::Size, Object::List(_) | Object::Tuple(_))
        | (Global::Encode, Object::Bytes(_))
        | (Global::Device, Object::Str(_)) => return Ok(argument),
        (Global::Complex, Object::Float(re)) => match rest {
            [im] => match pickle.get(*im) {
                Object::Float(im) => return Ok(pickle.push(Object::Complex(*re, *im))),
                _ => None,
            },
            _ => None,
        },
        // Python 2 wrote dictionaries as lists of pairs.
        (Global::Dict, Object::List(pairs)) => {
            let pair = |&id: &Id| match pickle.get(id) {
                Object::List(pair) | Object::Tuple(pair) => {
                    <[Id; 2]>::try_from(pair.as_slice()).ok().map(Into::into)
                }
                _ => None,
            };
            pairs
                .iter()
                .map(pair)
                .collect::<Option<_>>()
                .map(Object::Dict)
        }
        // Protocol 2 writes bytes as text in the encoding `latin1`.
        (Global::Encode, Object::Str(text)) => {
            let bytes = text.chars().map(|c| u8::try_from(c).ok());
            bytes.collect::<Option<_>>().map(Object::Bytes)
        }
        _ => None,
    };
    *pickle.get_mut(argument) = converted.ok_or(WRONG)?;
    Ok(argument)
}

/// Returns the dtype with a name in NumPy's array interface: the kind and the number of bytes.
fn dtype_of_numpy(name: &str) -> Option<DType> {
    Some(match name {
        "b1" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C64,
        "c16" => DType::C128,
        _ => return None,
    })
}

/// Returns whether the state of a NumPy dtype names big-endian byte order.
pub(super) fn is_big_endian(pickle: &Pickle, dtype: Id, state: Id) -> bool {
    let Object::Tuple(state) = pickle.get(state) else {
        return false;
    };
    let order = state.get(1).map(|&order| pickle.get(order));
    matches!(pickle.get(dtype), Object::Global(Global::DType(_)))
        && matches!(order, Some(Object::Str(order)) if order == ">")
}

/// Returns the number with these bytes.
fn scalar(dtype: DType, bytes: &[u8]) -> Option<Object> {
    let float = |bytes: &[u8]| match bytes.len() {
        2 => Some(f16::from_le_bytes(bytes.try_into().ok()?).into()),
        4 => Some(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        _ => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
    };
    if bytes.len() != dtype.size() {
        return None;
    }
    Some(match dtype {
        DType::Bool => Object::Bool(bytes != [0]),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => Object::integer(bytes.to_vec()),
        // `integer` reads two's complement; a zero byte above makes the number positive.
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => Object::integer([bytes, &[0]].concat()),
        DType::C64 | DType::C128 => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            Object::Complex(float(re)?, float(im)?)
        }
        DType::F16 | DType::F32 | DType::F64 => Object::Float(float(bytes)?),
        _ => return None,
    })
}

/// Returns a tensor from the arguments: storage, offset, shape, strides, and optionally
/// `requires_grad`, hooks, a dtype in version 3, and metadata.
fn tensor(pickle: &Pickle, function: Global, arguments: &[Id]) -> Option<Rebuilt> {
    let [storage, start, shape, strides, rest @ ..] = arguments else {
        return None;
    };
    let Object::Storage(storage) = *pickle.get(*storage) else {
        return None;
    };
    let dtype: DType = match (function, rest) {
        (Global::RebuildTensorV3, [_, _, dtype, ..]) => match pickle.get(*dtype) {
            Object::Global(Global::DType(dtype)) => *dtype,
            _ => return None,
        },
        (Global::RebuildTensorV3, _) => return None,
        _ => pickle.storages[storage as usize].dtype,
    };
    // Version 3 has the dtype before the metadata.
    let metadata = match function {
        Global::RebuildTensorV3 => rest.get(3),
        _ => rest.get(2),
    };
    let is_lazy = match metadata {
        Some(metadata) => is_lazy(pickle, *metadata)?,
        None => false,
    };
    let (shape, strides) = (numbers(pickle, *shape)?, numbers(pickle, *strides)?);
    if shape.len() != strides.len() {
        return None;
    }
    Some(Rebuilt {
        storage,
        dtype,
        is_lazy,
        start: number(pickle, *start)?,
        shape,
        strides,
    })
}

/// Returns whether the metadata of a tensor, such as `{"conj": True}`, names an operation that is
/// not yet applied to the stored elements.
fn is_lazy(pickle: &Pickle, metadata: Id) -> Option<bool> {
    let entries = match pickle.get(metadata) {
        Object::None => return Some(false),
        Object::Dict(entries) if entries.len() <= MOST_ARGUMENTS => entries,
        _ => return None,
    };
    let is_set = |&(key, value): &(Id, Id)| {
        matches!(pickle.get(key), Object::Str(key) if key == "conj" || key == "neg")
            && matches!(pickle.get(value), Object::Bool(true))
    };
    Some(entries.iter().any(is_set))
}

fn number(pickle: &Pickle, id: Id) -> Option<usize> {
    match *pickle.get(id) {
        Object::Int(n) => n.try_into().ok(),
        _ => None,
    }
}

fn numbers(pickle: &Pickle, id: Id) -> Option<Vec<usize>> {
    match pickle.get(id) {
        Object::Tuple(items) | Object::List(items) if items.len() <= MOST_AXES => {
            items.iter().map(|&item| number(pickle, item)).collect()
        }
        _ => None,
    }
}

/// Returns the storage that a persistent id refers to: `("storage", class, key, device, number of
/// elements)`, and `None` in the legacy form.
pub(super) fn storage(pickle: &Pickle, id: Id) -> Result<Storage, Problem> {
    let Object::Tuple(parts) = pickle.get(id) else {
        return Err(damaged("is damaged: a persistent id is not a tuple"));
    };
    let objects = parts.iter().take(MOST_ARGUMENTS);
    let objects: Vec<&Object> = objects.map(|&part| pickle.get(part)).collect();
    match objects.as_slice() {
        [
            Object::Str(kind),
            Object::Global(Global::Storage(dtype)),
            Object::Str(key),
            Object::Str(_),
            Object::Int(count),
            rest @ ..,
        ] if kind == "storage" => {
            // In old files this entry describes a storage that is a view of another one.
            if !matches!(rest, [] | [Object::None]) {
                return Err(unsupported(format_args!(
                    "has the storage `{key}`, which is a part of another storage"
                )));
            }
            let bytes = u64::try_from(*count).ok();
            let bytes = bytes.and_then(|n| n.checked_mul(dtype.size() as u64));
            let bytes = bytes.ok_or_else(|| {
                damaged(format_args!(
                    "is damaged: the storage `{key}` has {count} elements"
                ))
            })?;
            Ok(Storage {
                key: parts[2],
                dtype: *dtype,
                bytes,
            })
        }
        [Object::Str(kind), ..] if kind == "module" => {
            Err(unsupported("contains the source code of a module"))
        }
        _ => Err(damaged(
            "is damaged: a persistent id is not that of a storage",
        )),
    }
}

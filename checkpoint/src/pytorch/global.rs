//! The Python names that a pickle can refer to.

use super::input::unsupported;
use ramie_core::DType;
use ramie_core::files::Problem;

/// A function or class that this reader knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Global {
    /// `collections.OrderedDict` and similar dictionaries.
    Dict,
    /// `set` and `frozenset`.
    Set,
    /// `torch.Size`, a tuple of integers.
    Size,
    Complex,
    /// `_codecs.encode`, with which protocol 2 writes bytes.
    Encode,
    /// `torch.device`, a string.
    Device,
    /// `_rebuild_tensor` and `_rebuild_tensor_v2`: the dtype is that of the storage.
    RebuildTensor,
    /// `_rebuild_tensor_v3`, with a dtype.
    RebuildTensorV3,
    /// Functions whose first argument is the tensor.
    RebuildParameter,
    /// `_rebuild_from_type_v2`: a function to call, a class, the function's arguments.
    RebuildFromType,
    /// The class of tensors or of parameters.
    TensorClass,
    /// `numpy.dtype`, a class of dtypes.
    NumPyDType,
    /// `numpy.core.multiarray.scalar`: a dtype and the bytes of a number.
    NumPyScalar,
    DType(DType),
    /// A class of storages, by the dtype of the elements.
    Storage(DType),
}

/// Names of the classes of storages in the module `torch`.
const STORAGES: [(&str, DType); 14] = [
    ("FloatStorage", DType::F32),
    ("DoubleStorage", DType::F64),
    ("HalfStorage", DType::F16),
    ("BFloat16Storage", DType::BF16),
    ("LongStorage", DType::I64),
    ("IntStorage", DType::I32),
    ("ShortStorage", DType::I16),
    ("CharStorage", DType::I8),
    ("ByteStorage", DType::U8),
    ("BoolStorage", DType::Bool),
    ("ComplexFloatStorage", DType::C64),
    ("ComplexDoubleStorage", DType::C128),
    ("UntypedStorage", DType::U8),
    ("_UntypedStorage", DType::U8),
];

/// Returns the dtype with a name in PyTorch. NumPy's names are the same.
fn dtype(name: &str) -> Option<DType> {
    let whole = |d: &DType| d.bits() == 8 * d.size();
    DType::ALL
        .into_iter()
        .filter(whole)
        .find(|d| d.numpy_name() == name)
}

impl Global {
    /// Returns the function or class with a name.
    pub fn find(module: &str, name: &str) -> Result<Global, Problem> {
        let storage = || STORAGES.iter().find(|(class, _)| *class == name);
        let found = match (module, name) {
            ("collections", "OrderedDict" | "Counter") => Some(Global::Dict),
            ("builtins" | "__builtin__", "set" | "frozenset") => Some(Global::Set),
            ("builtins" | "__builtin__", "complex") => Some(Global::Complex),
            ("_codecs", "encode") => Some(Global::Encode),
            ("numpy", "dtype") => Some(Global::NumPyDType),
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => {
                Some(Global::NumPyScalar)
            }
            ("torch", "Size") => Some(Global::Size),
            ("torch", "device") => Some(Global::Device),
            ("torch", "Tensor") | ("torch._tensor", "Tensor") => Some(Global::TensorClass),
            ("torch.nn.parameter", "Parameter" | "Buffer") => Some(Global::TensorClass),
            ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2") => {
                Some(Global::RebuildTensor)
            }
            ("torch._utils", "_rebuild_tensor_v3") => Some(Global::RebuildTensorV3),
            ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state") => {
                Some(Global::RebuildParameter)
            }
            ("torch._tensor", "_rebuild_from_type_v2") => Some(Global::RebuildFromType),
            ("torch" | "torch.storage", _) if storage().is_some() => {
                storage().map(|(_, dtype)| Global::Storage(*dtype))
            }
            ("torch", _) => dtype(name).map(Global::DType),
            _ => None,
        };
        found.ok_or_else(|| {
            unsupported(format_args!(
                "refers to `{module}.{name}`, which is neither a tensor nor a plain value; Ramie \
                 executes no code of a file"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_have_the_names_of_pytorch() {
        for (name, expected) in [
            ("float32", Some(DType::F32)),
            ("bfloat16", Some(DType::BF16)),
            ("uint8", Some(DType::U8)),
            ("bool", Some(DType::Bool)),
            ("complex64", Some(DType::C64)),
            ("float8_e4m3fn", Some(DType::F8E4M3Fn)),
            ("float8_e8m0fnu", Some(DType::F8E8M0Fnu)),
            // Elements of less than a byte have another representation.
            ("int4", None),
            ("qint8", None),
        ] {
            assert_eq!(dtype(name), expected, "{name}");
        }
    }
}

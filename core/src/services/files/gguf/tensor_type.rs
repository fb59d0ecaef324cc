//! The types of tensors: how their elements are stored.

use crate::DType;
use std::fmt;

/// Storage of a tensor's elements: a dtype, or blocks of quantized numbers.
///
/// ```
/// use ramie_core::DType;
/// use ramie_core::files::gguf::TensorType;
/// let q4_0 = TensorType::from_id(2).unwrap();
/// assert_eq!((q4_0.name(), q4_0.block_len(), q4_0.block_bytes()), ("Q4_0", 32, 18));
/// assert_eq!(q4_0.dtype(), Some(DType::F32));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorType {
    id: u32,
    name: &'static str,
    block_len: usize,
    block_bytes: usize,
    dtype: Option<DType>,
}

impl TensorType {
    /// Returns the type with a number in files, or `None` if the format has no such type.
    pub fn from_id(id: u32) -> Option<TensorType> {
        TYPES.iter().copied().find(|t| t.id == id)
    }

    /// Returns the name in the format, such as `Q4_K`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the number of elements in a block: 1 for plain numbers.
    pub fn block_len(self) -> usize {
        self.block_len
    }

    /// Returns the number of bytes of a block.
    pub fn block_bytes(self) -> usize {
        self.block_bytes
    }

    /// Returns the dtype of the array that a tensor is read as: quantized numbers become `f32`.
    /// Returns `None` if Ramie does not read this type.
    pub fn dtype(self) -> Option<DType> {
        self.dtype
    }
}

/// Formats the name.
impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// A plain type.
const fn plain(id: u32, name: &'static str, dtype: DType, bytes: usize) -> TensorType {
    TensorType {
        id,
        name,
        block_len: 1,
        block_bytes: bytes,
        dtype: Some(dtype),
    }
}

/// A quantized type that is converted to `f32`.
const fn quantized(id: u32, name: &'static str, block_len: usize, bytes: usize) -> TensorType {
    TensorType {
        id,
        name,
        block_len,
        block_bytes: bytes,
        dtype: Some(DType::F32),
    }
}

/// A quantized type that is not converted.
const fn unread(id: u32, name: &'static str, block_len: usize, bytes: usize) -> TensorType {
    TensorType {
        dtype: None,
        ..quantized(id, name, block_len, bytes)
    }
}

static TYPES: [TensorType; 34] = [
    plain(0, "F32", DType::F32, 4),
    plain(1, "F16", DType::F16, 2),
    quantized(2, "Q4_0", 32, 18),
    quantized(3, "Q4_1", 32, 20),
    quantized(6, "Q5_0", 32, 22),
    quantized(7, "Q5_1", 32, 24),
    quantized(8, "Q8_0", 32, 34),
    unread(9, "Q8_1", 32, 40),
    unread(10, "Q2_K", 256, 84),
    unread(11, "Q3_K", 256, 110),
    quantized(12, "Q4_K", 256, 144),
    quantized(13, "Q5_K", 256, 176),
    quantized(14, "Q6_K", 256, 210),
    unread(15, "Q8_K", 256, 292),
    unread(16, "IQ2_XXS", 256, 66),
    unread(17, "IQ2_XS", 256, 74),
    unread(18, "IQ3_XXS", 256, 98),
    unread(19, "IQ1_S", 256, 50),
    unread(20, "IQ4_NL", 32, 18),
    unread(21, "IQ3_S", 256, 110),
    unread(22, "IQ2_S", 256, 82),
    unread(23, "IQ4_XS", 256, 136),
    plain(24, "I8", DType::I8, 1),
    plain(25, "I16", DType::I16, 2),
    plain(26, "I32", DType::I32, 4),
    plain(27, "I64", DType::I64, 8),
    plain(28, "F64", DType::F64, 8),
    unread(29, "IQ1_M", 256, 56),
    plain(30, "BF16", DType::BF16, 2),
    unread(34, "TQ1_0", 256, 54),
    unread(35, "TQ2_0", 256, 66),
    unread(39, "MXFP4", 32, 17),
    unread(40, "NVFP4", 64, 36),
    unread(41, "Q1_0", 128, 18),
];

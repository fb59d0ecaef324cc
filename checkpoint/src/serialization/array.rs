//! Arrays in the msgpack format: shape, NumPy's name of the dtype, and the bytes of the elements.

use ramie_core::typing::AlignedBytes;
use ramie_core::{Array, Aval, DType};

/// Codes of the format's extension types.
pub mod code {
    /// Array.
    pub const NDARRAY: i8 = 1;
    /// Python complex number.
    pub const NATIVE_COMPLEX: i8 = 2;
    /// NumPy scalar.
    pub const NPSCALAR: i8 = 3;
}

/// Key that marks a dictionary as a chunked array.
pub const CHUNKED: &str = "__msgpack_chunked_array__";

/// Maximum size of an array's bytes; larger arrays are split into chunks of at most this size.
pub const MAX_CHUNK_SIZE: usize = 1 << 30;

/// Maximum number of axes of a NumPy array.
pub const MAX_AXES: usize = 64;

/// Returns the dtype with this NumPy name.
pub fn dtype(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|d| d.numpy_name() == name)
}

/// An array in memory, or one that can be loaded.
pub trait Stored {
    /// Returns the shape and dtype.
    fn aval(&self) -> Aval;
    /// Loads the array onto the default device.
    fn load(&self) -> Result<Array, String>;
}

impl Stored for Array {
    fn aval(&self) -> Aval {
        Array::aval(self)
    }
    fn load(&self) -> Result<Array, String> {
        Ok(self.clone())
    }
}

/// An array as encoded bytes, in one piece or in chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded<'a> {
    pub shape: Vec<usize>,
    pub dtype: DType,
    /// Pieces whose total length is that of the elements.
    pub pieces: Vec<&'a [u8]>,
}

impl Stored for Encoded<'_> {
    fn aval(&self) -> Aval {
        Aval::new(&self.shape, self.dtype)
    }
    fn load(&self) -> Result<Array, String> {
        let length = self.pieces.iter().map(|p| p.len()).sum();
        let mut bytes = AlignedBytes::zeroed(length);
        let mut rest: &mut [u8] = &mut bytes;
        for piece in &self.pieces {
            let (start, end) = rest.split_at_mut(piece.len());
            start.copy_from_slice(piece);
            rest = end;
        }
        extend_signs(self.dtype, &mut bytes);
        Array::try_from_aligned(bytes, &self.shape, self.dtype).map_err(|e| e.to_string())
    }
}

impl<S: Stored> Stored for Box<S> {
    fn aval(&self) -> Aval {
        (**self).aval()
    }
    fn load(&self) -> Result<Array, String> {
        (**self).load()
    }
}

/// Returns the number of unused bits in the byte of a narrow integer.
fn unused_bits(dtype: DType) -> u32 {
    match dtype {
        DType::I4 | DType::U4 | DType::I2 | DType::U2 => 8 - dtype.bits() as u32,
        _ => 0,
    }
}

/// Converts narrow integers from NumPy's to Ramie's representation, in which the byte has their
/// value.
fn extend_signs(dtype: DType, bytes: &mut [u8]) {
    let unused = unused_bits(dtype);
    if unused > 0 {
        for byte in bytes {
            *byte <<= unused;
            *byte = match dtype {
                DType::I4 | DType::I2 => (*byte as i8 >> unused) as u8,
                _ => *byte >> unused,
            };
        }
    }
}

/// Converts narrow integers to NumPy's representation, in which the unused bits are zero.
pub fn clear_signs(dtype: DType, bytes: &mut [u8]) {
    let unused = unused_bits(dtype);
    if unused > 0 {
        for byte in bytes {
            *byte &= 0xFF >> unused;
        }
    }
}

//! Arrays as the format keeps them: shape, NumPy's name of the element type, and
//! the elements' bytes.

use ramie_core::{AlignedBytes, Array, Aval, DType};

/// The codes of the format's extension types.
pub mod code {
    /// An array.
    pub const NDARRAY: i8 = 1;
    /// A complex number of Python.
    pub const NATIVE_COMPLEX: i8 = 2;
    /// A scalar of NumPy.
    pub const NPSCALAR: i8 = 3;
}

/// The entry that tells a dictionary of chunks from others.
pub const CHUNKED: &str = "__msgpack_chunked_array__";

/// Arrays of more bytes are kept in chunks of at most so many.
pub const MAX_CHUNK_SIZE: usize = 1 << 30;

/// The most axes that NumPy's arrays have.
pub const MAX_AXES: usize = 64;

/// The element type of a name of NumPy's.
pub fn dtype(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|d| d.numpy_name() == name)
}

/// An array that is there, or that can be had.
pub trait Stored {
    /// Its type.
    fn aval(&self) -> Aval;
    /// The array on the default device; else why there is none.
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

/// An array in bytes that have been read: in one piece, or in chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded<'a> {
    pub shape: Vec<usize>,
    pub dtype: DType,
    /// Together as many bytes as the elements have.
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

/// How many bits of its byte a small integer leaves unused.
fn unused_bits(dtype: DType) -> u32 {
    match dtype {
        DType::I4 | DType::U4 | DType::I2 | DType::U2 => 8 - dtype.bits() as u32,
        _ => 0,
    }
}

/// Integers of less than a byte as Ramie keeps them: the byte has their value.
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

/// Integers of less than a byte as NumPy keeps them: the unused bits are zero.
pub fn clear_signs(dtype: DType, bytes: &mut [u8]) {
    let unused = unused_bits(dtype);
    if unused > 0 {
        for byte in bytes {
            *byte &= 0xFF >> unused;
        }
    }
}

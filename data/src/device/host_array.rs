//! Arrays on the host whose dtype is read from a file.

use super::{Placement, ToDevice};
use crate::{Error, Result, Sample};
use ndarray::ArrayD;
use ramie_core::{Array, DType, Element};

/// An array on the host whose dtype is only known at run time, such as an array read from a file.
///
/// ```
/// use ramie_core::DType;
/// use ramie_data::HostArray;
/// let x = HostArray::from(ndarray::array![[1.0f32, 2.0]].into_dyn());
/// assert_eq!((x.dtype(), x.shape()), (DType::F32, &[1, 2][..]));
/// assert_eq!(x.to_ndarray::<f32>()?[[0, 1]], 2.0);
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostArray {
    dtype: DType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Returns the size of an array in bytes, or `None` if it overflows a `usize`.
pub(crate) fn nbytes(dtype: DType, shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(dtype.size(), |n, d| n.checked_mul(*d))
}

/// Evaluates `$body` with `$t` as the Rust type of a dtype, or `$other` if there is none.
macro_rules! with_element {
    ($dtype:expr, $t:ident => $body:expr, $other:expr) => {
        match $dtype {
            DType::Bool => {
                type $t = bool;
                $body
            }
            DType::I8 => {
                type $t = i8;
                $body
            }
            DType::I16 => {
                type $t = i16;
                $body
            }
            DType::I32 => {
                type $t = i32;
                $body
            }
            DType::I64 => {
                type $t = i64;
                $body
            }
            DType::U8 => {
                type $t = u8;
                $body
            }
            DType::U16 => {
                type $t = u16;
                $body
            }
            DType::U32 => {
                type $t = u32;
                $body
            }
            DType::U64 => {
                type $t = u64;
                $body
            }
            DType::F32 => {
                type $t = f32;
                $body
            }
            DType::F64 => {
                type $t = f64;
                $body
            }
            DType::F16 => {
                type $t = half::f16;
                $body
            }
            DType::BF16 => {
                type $t = half::bf16;
                $body
            }
            DType::C64 => {
                type $t = num_complex::Complex<f32>;
                $body
            }
            DType::C128 => {
                type $t = num_complex::Complex<f64>;
                $body
            }
            _ => $other,
        }
    };
}

impl HostArray {
    /// Creates an array from the bytes of its elements, row-major and little-endian.
    ///
    /// # Errors
    /// Returns an error if the number of bytes does not match the shape, or if a boolean is
    /// neither 0 nor 1.
    pub fn new(dtype: DType, shape: &[usize], bytes: Vec<u8>) -> Result<HostArray> {
        if nbytes(dtype, shape) != Some(bytes.len()) {
            return Err(Error::Other(format!(
                "{} bytes do not match a {dtype} array of shape {shape:?}",
                bytes.len()
            )));
        }
        if dtype == DType::Bool
            && let Some(i) = bytes.iter().position(|b| *b > 1)
        {
            return Err(Error::Other(format!(
                "boolean {i} is {}, expected 0 or 1",
                bytes[i]
            )));
        }
        Ok(HostArray {
            dtype,
            shape: shape.to_vec(),
            bytes,
        })
    }

    /// Returns the dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the sizes of the dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the bytes of the elements, row-major and little-endian.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the elements, if they have this type.
    ///
    /// # Errors
    /// Returns an error if the elements have another type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if T::DTYPE != self.dtype {
            return Err(Error::Other(format!(
                "the array contains {}, not {}; read it with its own dtype and convert the result",
                self.dtype,
                T::DTYPE
            )));
        }
        T::read_with(self.bytes.len() / self.dtype.size(), |bytes| {
            bytes.copy_from_slice(&self.bytes);
            Ok(())
        })
    }

    /// Returns an array of the `ndarray` crate, if the elements have this type.
    ///
    /// # Errors
    /// Returns an error if the elements have another type.
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let array = ArrayD::from_shape_vec(self.shape.clone(), self.to_vec()?);
        Ok(array.expect("as many elements as the shape says"))
    }
}

impl<T: Element> From<ArrayD<T>> for HostArray {
    fn from(array: ArrayD<T>) -> HostArray {
        let shape = array.shape().to_vec();
        let bytes = match array.as_slice() {
            Some(elements) => bytemuck::cast_slice(elements).to_vec(),
            None => bytemuck::cast_slice(&array.iter().copied().collect::<Vec<T>>()).to_vec(),
        };
        HostArray {
            dtype: T::DTYPE,
            shape,
            bytes,
        }
    }
}

/// Copies an array to the default device.
///
/// # Panics
/// Panics if there is no working plugin, or if the device is out of memory.
///
/// ```
/// use ramie_core::Array;
/// let x = ramie_data::HostArray::from(ndarray::array![1.0f32, 2.0].into_dyn());
/// assert_eq!(Array::from(&x).to_vec::<f32>(), [1.0, 2.0]);
/// ```
impl From<&HostArray> for Array {
    #[track_caller]
    fn from(host: &HostArray) -> Array {
        match Array::try_from_bytes(&host.bytes, &host.shape, host.dtype) {
            Ok(array) => array,
            Err(e) => panic!("Array::from: {e}"),
        }
    }
}

impl Sample for HostArray {
    type Batch = HostArray;
    fn is_like(&self, other: &HostArray) -> bool {
        self.dtype == other.dtype && self.shape == other.shape
    }
    fn collate(items: Vec<HostArray>) -> Result<HostArray> {
        let Some(first) = items.first() else {
            return Err(Error::Collate(
                "cannot collate zero arrays, because the dtype is unknown; skip empty batches"
                    .into(),
            ));
        };
        let (dtype, shape) = (first.dtype, first.shape.clone());
        let mut bytes = Vec::with_capacity(items.len() * first.bytes.len());
        for (i, item) in items.iter().enumerate() {
            if item.dtype != dtype || item.shape != shape {
                return Err(Error::Collate(format!(
                    "item {i} of the batch is {}{:?}, but item 0 is {dtype}{shape:?}; convert the \
                     items to the same dtype and shape",
                    item.dtype, item.shape
                )));
            }
            bytes.extend_from_slice(&item.bytes);
        }
        let shape = [&[items.len()], &shape[..]].concat();
        Ok(HostArray {
            dtype,
            shape,
            bytes,
        })
    }
}

impl ToDevice for HostArray {
    type Device = Array;
    fn to_device(self, place: &Placement) -> Result<Array> {
        with_element!(
            self.dtype,
            T => place.put(self.to_vec::<T>()?, &self.shape),
            Err(Error::Device(format!("the dtype {} is not supported", self.dtype)))
        )
    }
}

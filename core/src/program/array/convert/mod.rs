//! Copies of elements from and to the host.

mod nested;
mod of_ndarray;

use super::{Array, Repr};
use crate::base::error;
use crate::program::backend::{HostElements, backend};
use crate::types::dtype::Element;
use crate::{Aval, DType, Error, Result};
use ramie_pjrt::{AlignedBytes, Device};

pub use nested::{ArrayLike, Number, array};

impl Array {
    /// Creates an array of `shape` from elements in row-major order, on the default device.
    ///
    /// # Errors
    /// Returns an error if there is no working plugin, or if the device is out of memory.
    ///
    /// # Panics
    /// Panics if the number of elements is not the product of the shape.
    #[track_caller]
    pub fn try_from_slice<T: Element>(elements: &[T], shape: &[usize]) -> Result<Array> {
        check_size("from_slice", elements.len(), shape);
        let bytes = bytemuck::cast_slice(elements);
        backend().put(HostElements::Borrowed(bytes), Aval::new(shape, T::DTYPE))
    }

    /// Creates an array like [`try_from_slice`](Array::try_from_slice), but panics instead of
    /// returning an error.
    ///
    /// # Panics
    /// Panics also if there is no working plugin, or if the device is out of memory.
    #[track_caller]
    pub fn from_slice<T: Element>(elements: &[T], shape: &[usize]) -> Array {
        match Array::try_from_slice(elements, shape) {
            Ok(array) => array,
            Err(e) => panic!("from_slice: {e}"),
        }
    }

    /// Creates an array like [`try_from_slice`](Array::try_from_slice), but takes ownership of
    /// the elements: the device copies them asynchronously, or uses their memory if possible.
    ///
    /// # Errors
    /// Returns an error if there is no working plugin, or if the device is out of memory.
    ///
    /// # Panics
    /// Panics if the number of elements is not the product of the shape.
    #[track_caller]
    pub fn try_from_vec<T: Element>(elements: Vec<T>, shape: &[usize]) -> Result<Array> {
        check_size("from_vec", elements.len(), shape);
        let elements = HostElements::Owned(Box::new(elements));
        backend().put(elements, Aval::new(shape, T::DTYPE))
    }

    /// Creates an array like [`try_from_vec`](Array::try_from_vec), but panics instead of
    /// returning an error.
    ///
    /// # Panics
    /// Panics also if there is no working plugin, or if the device is out of memory.
    #[track_caller]
    pub fn from_vec<T: Element>(elements: Vec<T>, shape: &[usize]) -> Array {
        match Array::try_from_vec(elements, shape) {
            Ok(array) => array,
            Err(e) => panic!("from_vec: {e}"),
        }
    }

    /// Creates an array of `shape` and `dtype` from the bytes of its elements, as returned by
    /// [`try_to_bytes`](Array::try_to_bytes).
    ///
    /// # Errors
    /// Returns an error if the number of bytes does not match the shape, if a boolean is neither
    /// 0 nor 1, if there is no working plugin, or if the device is out of memory.
    pub fn try_from_bytes(bytes: &[u8], shape: &[usize], dtype: DType) -> Result<Array> {
        let aval = checked_bytes(bytes, shape, dtype)?;
        backend().put(HostElements::Borrowed(bytes), aval)
    }

    /// Creates an array like [`try_from_bytes`](Array::try_from_bytes), but takes ownership of
    /// the memory, which a CPU device uses without copying.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`try_from_bytes`](Array::try_from_bytes).
    pub fn try_from_aligned(bytes: AlignedBytes, shape: &[usize], dtype: DType) -> Result<Array> {
        let aval = checked_bytes(&bytes, shape, dtype)?;
        backend().put(HostElements::Owned(Box::new(bytes)), aval)
    }

    /// Returns the bytes of the elements, row-major and little-endian.
    ///
    /// # Errors
    /// Returns an error if the array is traced, or if its computation failed.
    #[doc(alias = "tobytes")]
    pub fn try_to_bytes(&self) -> Result<Vec<u8>> {
        self.check_memory()?;
        u8::read_with(self.nbytes(), |bytes| self.copy_to(bytes))
    }

    /// Returns an error if the host lacks the memory for a copy of the elements.
    fn check_memory(&self) -> Result<()> {
        let operation = format_args!("reading {}", self.aval());
        Ok(ramie_pjrt::check_host_memory(operation, self.nbytes())?)
    }

    /// Copies the bytes of the elements to `bytes`.
    fn copy_to(&self, bytes: &mut [u8]) -> Result<()> {
        if let Some(l) = self.as_literal() {
            bytes.copy_from_slice(&l.value().to_bytes(self.dtype()));
            return Ok(());
        }
        match &self.0 {
            Repr::Device(held) => held.copy_to_host(bytes),
            _ => Err(Error::Configuration(self.no_value("reading"))),
        }
    }

    /// Waits for the elements and returns them in row-major order.
    ///
    /// # Errors
    /// Returns an error if the computation failed.
    ///
    /// # Panics
    /// Panics if the array is traced, or if its dtype is not that of `T`.
    #[track_caller]
    pub fn try_to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.read("to_vec")
    }

    /// Copies the elements to the host on behalf of `operation`.
    #[track_caller]
    fn read<T: Element>(&self, operation: &str) -> Result<Vec<T>> {
        assert!(
            self.dtype() == T::DTYPE,
            "{operation}: the array's dtype is {}, not {}\n  help: {}",
            self.dtype(),
            T::DTYPE,
            remedy(self.dtype(), T::DTYPE)
        );
        self.expect_value(operation);
        self.check_memory()?;
        T::read_with(self.size(), |bytes| self.copy_to(bytes))
    }

    /// Returns the elements like [`try_to_vec`](Array::try_to_vec), but panics instead of
    /// returning an error.
    ///
    /// # Panics
    /// Panics also if the computation failed.
    #[doc(alias = "tolist")]
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        match self.try_to_vec() {
            Ok(v) => v,
            Err(e) => panic!("to_vec: {e}"),
        }
    }

    /// Returns the single element of an array of size 1.
    ///
    /// # Panics
    /// Panics if the array has another size or dtype, if it is traced, or if its computation
    /// failed.
    #[track_caller]
    pub fn item<T: Element>(&self) -> T {
        self.expect_value("item");
        assert!(
            self.size() == 1,
            "item: {} has {} elements, not one\n  help: reduce or index the array first",
            self.aval(),
            self.size()
        );
        match self.read::<T>("item") {
            Ok(v) => v[0],
            Err(e) => panic!("item: {e}"),
        }
    }

    /// Returns the devices that store the elements. Traced arrays, and scalars that have not been
    /// used yet, have none.
    pub fn devices(&self) -> Vec<Device> {
        match &self.0 {
            Repr::Device(d) => d.sharding.devices().to_vec(),
            _ => Vec::new(),
        }
    }

    /// Returns the device that stores the elements. A scalar that has not been used yet is copied
    /// to the default device first.
    ///
    /// ```
    /// use ramie_core::{Array, devices};
    /// assert_eq!(Array::from([1.0f32, 2.0]).device(), devices()[0]);
    /// ```
    ///
    /// # Panics
    /// Panics if several devices store the array, or if it is traced or has no elements.
    #[track_caller]
    pub fn device(&self) -> Device {
        self.expect_value("device");
        let held = match self.device_array() {
            Ok(held) => held,
            Err(e) => panic!("device: {e}"),
        };
        match held.sharding.devices() {
            [device] => *device,
            many => panic!(
                "device: {} is on {} devices\n  help: use `x.devices()` for the devices, or \
                 `x.sharding()` for the sharding",
                self.aval(),
                many.len()
            ),
        }
    }
}

/// Returns the `help:` text for reading elements as another dtype.
fn remedy(from: DType, to: DType) -> String {
    if from.is_complex() && !to.is_complex() {
        error::TAKE_A_PART.into()
    } else {
        format!("convert first: x.astype(DType::{to:?})")
    }
}

#[track_caller]
fn check_size(operation: &str, count: usize, shape: &[usize]) {
    let size = crate::types::aval::element_count(shape);
    assert!(
        count == size,
        "{operation}: {count} elements do not fill the shape {shape:?}, which has {size}\n  \
         help: pass a shape whose product is the number of elements"
    );
}

fn checked_bytes(bytes: &[u8], shape: &[usize], dtype: DType) -> Result<Aval> {
    let aval = Aval::new(shape, dtype);
    // An array without elements can have an axis that is too large.
    aval.check_size()
        .map_err(|e| Error::Configuration(e.to_string()))?;
    if bytes.len() != aval.size_bytes() {
        return Err(Error::Configuration(format!(
            "got {} bytes for {aval}, which has {}\n  help: pass the bytes of all elements in \
             row-major order",
            bytes.len(),
            aval.size_bytes()
        )));
    }
    if dtype == DType::Bool
        && let Some(i) = bytes.iter().position(|&b| b > 1)
    {
        return Err(Error::Configuration(format!(
            "byte {i} of {aval} is {}, but a boolean must be 0 or 1\n  help: read the bytes as \
             U8 and compare: x.ne(0)",
            bytes[i]
        )));
    }
    Ok(aval)
}

impl<T: Element> From<Vec<T>> for Array {
    #[track_caller]
    fn from(elements: Vec<T>) -> Array {
        let n = elements.len();
        Array::from_vec(elements, &[n])
    }
}
impl<T: Element, const N: usize> From<Vec<[T; N]>> for Array {
    #[track_caller]
    fn from(rows: Vec<[T; N]>) -> Array {
        Array::from(rows.as_slice())
    }
}
impl<T: Element, const N: usize> From<&[[T; N]]> for Array {
    #[track_caller]
    fn from(rows: &[[T; N]]) -> Array {
        Array::from_slice(rows.as_flattened(), &[rows.len(), N])
    }
}
impl<T: Element> From<&[T]> for Array {
    #[track_caller]
    fn from(elements: &[T]) -> Array {
        Array::from_slice(elements, &[elements.len()])
    }
}
impl<T: Element, const N: usize> From<[T; N]> for Array {
    #[track_caller]
    fn from(elements: [T; N]) -> Array {
        Array::from_slice(&elements, &[N])
    }
}
impl<T: Element, const N: usize, const M: usize> From<[[T; M]; N]> for Array {
    #[track_caller]
    fn from(elements: [[T; M]; N]) -> Array {
        Array::from_slice(elements.as_flattened(), &[N, M])
    }
}
impl<T: Element, const N: usize, const M: usize, const K: usize> From<[[[T; K]; M]; N]> for Array {
    #[track_caller]
    fn from(elements: [[[T; K]; M]; N]) -> Array {
        Array::from_slice(elements.as_flattened().as_flattened(), &[N, M, K])
    }
}
impl<T: Element, const N: usize, const M: usize, const K: usize, const L: usize>
    From<[[[[T; L]; K]; M]; N]> for Array
{
    #[track_caller]
    fn from(elements: [[[[T; L]; K]; M]; N]) -> Array {
        let rows = elements.as_flattened().as_flattened();
        Array::from_slice(rows.as_flattened(), &[N, M, K, L])
    }
}
macro_rules! from_scalar {
    ($($t:ty),*) => { $(
        /// Creates a 0-d array of exactly this dtype.
        impl From<$t> for Array {
            fn from(v: $t) -> Array { Array::scalar(v.to_scalar(), <$t as Element>::DTYPE) }
        }
    )* };
}
from_scalar!(
    bool,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    f32,
    f64,
    half::f16,
    half::bf16
);

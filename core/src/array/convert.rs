//! Elements from and to the host.

use super::{Array, Repr};
use crate::dtype::Element;
use crate::{Aval, Error, Result, runtime};
use ramie_pjrt::Device;

impl Array {
    /// An array of `shape` from elements in row-major order, on the default
    /// device.
    ///
    /// # Errors
    /// If there is no working plugin, or the device is out of memory.
    ///
    /// # Panics
    /// If the number of elements is not the product of the shape.
    #[track_caller]
    pub fn try_from_slice<T: Element>(elements: &[T], shape: &[usize]) -> Result<Array> {
        let size: usize = shape.iter().product();
        assert_eq!(
            elements.len(),
            size,
            "from_slice: {} elements do not fill the shape {shape:?}, which has {size}\n  help: the \
             product of the shape must be the number of elements",
            elements.len()
        );
        let device = runtime::runtime()?.default_device();
        let mut bytes = Vec::new();
        T::write_bytes(elements, &mut bytes);
        runtime::put(&bytes, Aval::new(shape, T::DTYPE), device)
    }

    /// [`try_from_slice`](Array::try_from_slice), for programs that need a
    /// device to go on.
    ///
    /// # Panics
    /// Also if there is no working plugin, or the device is out of memory.
    #[track_caller]
    pub fn from_slice<T: Element>(elements: &[T], shape: &[usize]) -> Array {
        match Array::try_from_slice(elements, shape) {
            Ok(array) => array,
            Err(e) => panic!("from_slice: {e}"),
        }
    }

    /// The bytes of the elements, row-major, little-endian.
    ///
    /// # Errors
    /// If the array is traced, or its computation failed.
    pub fn try_to_bytes(&self) -> Result<Vec<u8>> {
        if let Some(l) = self.as_literal() {
            return Ok(l.value().to_bytes(self.dtype()));
        }
        let held = match &self.0 {
            Repr::Device(held) => held,
            _ => return Err(Error::Configuration(self.no_value("reading"))),
        };
        let mut bytes = vec![0; self.nbytes()];
        held.buffers[0].copy_to_host(&mut bytes)?;
        Ok(bytes)
    }

    /// The elements in row-major order, once they are computed.
    ///
    /// # Errors
    /// If the computation failed.
    ///
    /// # Panics
    /// If the array is traced, or holds another type than `T`.
    #[track_caller]
    pub fn try_to_vec<T: Element>(&self) -> Result<Vec<T>> {
        assert!(
            self.dtype() == T::DTYPE,
            "to_vec: the array holds {}, not {}\n  help: convert first: x.astype(DType::{:?})",
            self.dtype(),
            T::DTYPE,
            T::DTYPE
        );
        if self.is_tracer() || matches!(self.0, Repr::Abstract(_)) {
            panic!("{}", self.no_value("to_vec"));
        }
        Ok(T::read_bytes(&self.try_to_bytes()?))
    }

    /// [`try_to_vec`](Array::try_to_vec), for programs that need the values to
    /// go on.
    ///
    /// # Panics
    /// Also if the computation failed.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        match self.try_to_vec() {
            Ok(v) => v,
            Err(e) => panic!("to_vec: {e}"),
        }
    }

    /// The one element of an array of size 1.
    ///
    /// # Panics
    /// If the array has another size or type, is traced, or its computation
    /// failed.
    #[track_caller]
    pub fn item<T: Element>(&self) -> T {
        assert_eq!(
            self.size(),
            1,
            "item: {} has {} elements, not one\n  help: reduce or index the array first",
            self.aval(),
            self.size()
        );
        self.to_vec()[0]
    }

    /// The devices that hold the elements; none for traced arrays and scalars
    /// that have not been used.
    pub fn devices(&self) -> Vec<Device> {
        match &self.0 {
            Repr::Device(d) => d.sharding.devices().to_vec(),
            _ => Vec::new(),
        }
    }
}

/// A copy of the array on another device.
///
/// # Panics
/// If the array is traced, or the copy fails.
#[track_caller]
pub fn device_put(array: &Array, device: Device) -> Array {
    let copy = || -> Result<Array> {
        if let Some(l) = array.as_literal() {
            return Ok(Array(Repr::Device(runtime::put_scalar_on(l, device)?)));
        }
        let held = array.device_array()?;
        if held.sharding.single() == device {
            return Ok(array.clone());
        }
        let buffer = held.buffers[0].copy_to_device(device)?;
        Ok(Array::from_device(
            array.aval(),
            buffer,
            crate::Sharding::SingleDevice(device),
        ))
    };
    match copy() {
        Ok(a) => a,
        Err(e) => panic!("device_put: {e}"),
    }
}

impl<T: Element> From<Vec<T>> for Array {
    #[track_caller]
    fn from(elements: Vec<T>) -> Array {
        Array::from_slice(&elements, &[elements.len()])
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
macro_rules! from_scalar {
    ($($t:ty),*) => { $(
        /// A 0-d array of exactly this element type.
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

//! Conversions from and to arrays of the `ndarray` crate.

use super::{Array, Element};
use crate::{Error, Result};
use ndarray::{ArrayBase, ArrayD, ArrayView, Data, Dimension, IxDyn};

impl Array {
    /// Returns the elements as an array of the `ndarray` crate, in row-major order.
    ///
    /// # Errors
    /// Returns an error if the array is traced, if its dtype is not that of `T`, or if its
    /// computation failed.
    pub fn try_to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        if self.dtype() != T::DTYPE {
            return Err(Error::Configuration(format!(
                "to_ndarray: the array's dtype is {}, not {}\n  help: {}",
                self.dtype(),
                T::DTYPE,
                super::remedy(self.dtype(), T::DTYPE)
            )));
        }
        let elements = T::read_with(self.size(), |bytes| self.copy_to(bytes))?;
        let array = ArrayD::from_shape_vec(IxDyn(self.shape()), elements);
        Ok(array.expect("as many elements as the shape has"))
    }

    /// Returns the elements like [`try_to_ndarray`](Array::try_to_ndarray), but panics instead of
    /// returning an error.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from(ndarray::array![[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.t().to_ndarray::<f32>()[[0, 1]], 3.0);
    /// ```
    ///
    /// # Panics
    /// Panics if the array is traced, if its dtype is not that of `T`, or if its computation
    /// failed.
    #[track_caller]
    pub fn to_ndarray<T: Element>(&self) -> ArrayD<T> {
        match self.try_to_ndarray() {
            Ok(array) => array,
            Err(e) => panic!("{e}"),
        }
    }
}

/// Copies the elements of any array in row-major order.
#[track_caller]
fn copied<T: Element, S: Data<Elem = T>, D: Dimension>(array: &ArrayBase<S, D>) -> Array {
    match array.as_slice() {
        Some(elements) => Array::from_slice(elements, array.shape()),
        None => Array::from_vec(array.iter().copied().collect(), array.shape()),
    }
}

/// Reuses the memory if the elements are in row-major order.
impl<T: Element, D: Dimension> From<ndarray::Array<T, D>> for Array {
    #[track_caller]
    fn from(array: ndarray::Array<T, D>) -> Array {
        if !array.is_standard_layout() {
            return copied(&array);
        }
        let shape = array.shape().to_vec();
        match array.into_raw_vec_and_offset() {
            (elements, None | Some(0)) if elements.len() == shape.iter().product::<usize>() => {
                Array::from_vec(elements, &shape)
            }
            (elements, offset) => {
                let rest = &elements[offset.unwrap_or(0)..];
                Array::from_slice(&rest[..shape.iter().product()], &shape)
            }
        }
    }
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> From<&ArrayBase<S, D>> for Array {
    #[track_caller]
    fn from(array: &ArrayBase<S, D>) -> Array {
        copied(array)
    }
}

/// Converts an array on the host to an operand by copying it to the device.
#[diagnostic::do_not_recommend]
impl<T: Element, S: Data<Elem = T>, D: Dimension> crate::IntoArray for &ArrayBase<S, D> {
    #[track_caller]
    fn into_array(self) -> Array {
        copied(self)
    }
}

impl<T: Element, D: Dimension> From<ArrayView<'_, T, D>> for Array {
    #[track_caller]
    fn from(array: ArrayView<'_, T, D>) -> Array {
        copied(&array)
    }
}

impl<T: Element> TryFrom<&Array> for ArrayD<T> {
    type Error = Error;
    fn try_from(array: &Array) -> Result<ArrayD<T>> {
        array.try_to_ndarray()
    }
}

impl<T: Element> TryFrom<Array> for ArrayD<T> {
    type Error = Error;
    fn try_from(array: Array) -> Result<ArrayD<T>> {
        array.try_to_ndarray()
    }
}

//! New arrays.

use crate::prim::shape::Iota;
use crate::trace::bind1;
use crate::{Array, Aval, DType, Scalar, Sharding};

/// The array, placed on a mesh as the type says.
#[track_caller]
fn placed_as(array: Array, aval: Aval) -> Array {
    if !aval.is_placed() {
        return array;
    }
    let array = match aval.sharding() {
        Some(sharding) => super::sharding::resharded(&array, sharding.mesh(), sharding.spec()),
        None => array,
    };
    crate::prim::collective::vary(&array, aval.varying())
}

impl Array {
    /// An array with every element `value`.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// assert_eq!(Array::full(&[2], 7, DType::I32).to_vec::<i32>(), [7, 7]);
    /// ```
    #[track_caller]
    pub fn full(shape: &[usize], value: impl Into<Scalar>, dtype: DType) -> Array {
        Array::scalar(value, dtype).broadcast_in_dim(shape, &[])
    }

    /// An array of zeros.
    #[track_caller]
    pub fn zeros(shape: &[usize], dtype: DType) -> Array {
        Array::full(shape, 0, dtype)
    }

    /// An array of ones.
    #[track_caller]
    pub fn ones(shape: &[usize], dtype: DType) -> Array {
        Array::full(shape, 1, dtype)
    }

    /// Zeros in the shape and type of this array.
    #[track_caller]
    pub fn zeros_like(&self) -> Array {
        self.beside(Array::zeros(self.shape(), self.dtype()))
    }

    /// Ones in the shape and type of this array.
    #[track_caller]
    pub fn ones_like(&self) -> Array {
        self.beside(Array::ones(self.shape(), self.dtype()))
    }

    /// `value` in the shape and type of this array.
    #[track_caller]
    pub fn full_like(&self, value: impl Into<Scalar>) -> Array {
        self.beside(Array::full(self.shape(), value, self.dtype()))
    }

    /// An array of this shape where this one is on a mesh: sharded as it is, and
    /// varying over the same axes.
    #[track_caller]
    fn beside(&self, array: Array) -> Array {
        let aval = self.aval();
        if let (Some(Sharding::Named(here)), false) = (self.sharding(), array.is_tracer()) {
            return crate::device_put(&array, here);
        }
        placed_as(array, aval)
    }

    /// Zeros of a type: sharded as it says, and varying over the same axes.
    #[track_caller]
    pub(crate) fn zeros_of(aval: Aval) -> Array {
        placed_as(Array::zeros(aval.shape(), aval.dtype()), aval)
    }

    /// `0, 1, …, n - 1` as `i32`.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::arange(3).to_vec::<i32>(), [0, 1, 2]);
    /// ```
    #[track_caller]
    pub fn arange(n: usize) -> Array {
        Array::iota(&[n], 0, DType::I32)
    }

    /// Each element's own position along `axis`.
    ///
    /// # Panics
    /// If the axis is out of range or `dtype` is `Bool`.
    #[track_caller]
    pub fn iota(shape: &[usize], axis: usize, dtype: DType) -> Array {
        let shape = shape.into();
        bind1(
            Iota {
                shape,
                dimension: axis,
                dtype,
            },
            &[],
        )
    }

    /// A matrix with ones on its diagonal.
    #[track_caller]
    pub fn eye(n: usize, dtype: DType) -> Array {
        let (rows, columns) = (
            Array::iota(&[n, n], 0, DType::I32),
            Array::iota(&[n, n], 1, DType::I32),
        );
        rows.eq(&columns).astype(dtype)
    }
}

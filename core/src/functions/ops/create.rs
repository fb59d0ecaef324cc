//! Functions that create arrays.

use super::sharding::constrain;
use crate::base::location::fail;
use crate::dtypes::{Literal, Scalar};
use crate::prim::shape::Iota;
use crate::program::backend::backend;
use crate::program::trace::{bind1, is_tracing};
use crate::sharding::{OutSharding, Placed, Sharding};
use crate::typing::Dims;
use crate::{Array, Aval, DType, PartitionSpec};

/// Dtype and shape of [`Array::full_like_with`], where they differ from the array's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Like {
    dtype: Option<DType>,
    shape: Option<Dims>,
    sharding: Option<Placed>,
}

impl Like {
    /// Creates the default options: the dtype and the shape of the array.
    pub fn new() -> Like {
        Like::default()
    }

    /// Sets the dtype.
    pub fn dtype(mut self, dtype: DType) -> Like {
        self.dtype = Some(dtype);
        self
    }

    /// Sets the device or sharding, as in [`Array::full_with`] (`sharding=` of `lax.full_like`).
    /// Defaults to that of the array, if the shape is the same.
    pub fn sharding(mut self, to: impl Into<Placed>) -> Like {
        self.sharding = Some(to.into());
        self
    }

    /// Sets the shape.
    pub fn shape(mut self, shape: &[usize]) -> Like {
        self.shape = Some(shape.into());
        self
    }
}

impl Array {
    /// Creates an array filled with `value`.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// assert_eq!(Array::full(&[2], 7, DType::I32).to_vec::<i32>(), [7, 7]);
    /// ```
    #[track_caller]
    pub fn full(shape: &[usize], value: impl Into<Scalar>, dtype: DType) -> Array {
        Array::scalar(value, dtype).broadcast_in_dim(shape, &[])
    }

    /// Creates an array of zeros.
    #[track_caller]
    pub fn zeros(shape: &[usize], dtype: DType) -> Array {
        Array::full(shape, 0, dtype)
    }

    /// Creates an array of ones.
    #[track_caller]
    pub fn ones(shape: &[usize], dtype: DType) -> Array {
        Array::full(shape, 1, dtype)
    }

    /// Creates a [`full`](Array::full) array on a device, sharded over a mesh, or sharded by a spec
    /// over explicit axes of the current mesh (`jnp.full`, `jnp.zeros` and `jnp.ones` with `device=`
    /// or `out_sharding=`). Each device creates its own shard.
    ///
    /// ```no_run
    /// use ramie_core::sharding::{make_mesh_with, AxisType};
    /// use ramie_core::{set_mesh, Array, DType, P};
    /// let _current = set_mesh(make_mesh_with(&[4, 2], &["X", "Y"], AxisType::Explicit)?);
    /// let x = Array::full_with(&[8, 16], 0, DType::F32, P!["X", "Y"]);
    /// assert_eq!(x.aval().to_string(), "f32[8@X,16@Y]");
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    ///
    /// In a traced function a sharding constrains the value, and a device has no effect, as in
    /// [`device_put`](crate::device_put).
    ///
    /// # Panics
    /// Panics if a spec is passed and no mesh is current, or if `out_sharding` does not fit the mesh
    /// or the shape.
    #[track_caller]
    pub fn full_with(
        shape: &[usize],
        value: impl Into<Scalar>,
        dtype: DType,
        out_sharding: impl Into<Placed>,
    ) -> Array {
        let value = Literal::new(value, dtype);
        match out_sharding.into().spec_or_sharding() {
            Ok(spec) => {
                let sharding = OutSharding::new("full", &[], spec, shape.len());
                Array::literal(value).repeated(shape, &[], Some(sharding))
            }
            Err(to) => full_on(value, shape, to),
        }
    }

    /// Creates zeros with the shape and dtype of this array.
    #[track_caller]
    pub fn zeros_like(&self) -> Array {
        self.filled(0, self.aval())
    }

    /// Creates ones with the shape and dtype of this array.
    #[track_caller]
    pub fn ones_like(&self) -> Array {
        self.filled(1, self.aval())
    }

    /// Creates an array filled with `value`, with the shape and dtype of this array.
    #[track_caller]
    pub fn full_like(&self, value: impl Into<Scalar>) -> Array {
        self.filled(value, self.aval())
    }

    /// Creates an array filled with `value` that has the dtype and the shape of this array, except
    /// for those that `how` sets (`jnp.full_like`, `jnp.zeros_like`, `jnp.ones_like` and
    /// `jnp.empty_like` with `dtype=` and `shape=`).
    ///
    /// ```no_run
    /// use ramie_core::typing::Like;
    /// use ramie_core::{Array, DType};
    /// let x = Array::from([[1.5f32, 2.5]]);
    /// let mask = x.full_like_with(1, Like::new().dtype(DType::Bool));
    /// assert_eq!((mask.dtype(), mask.shape()), (DType::Bool, x.shape()));
    /// let row = x.full_like_with(0, Like::new().shape(&[3]));
    /// assert_eq!(row.to_vec::<f32>(), [0.0, 0.0, 0.0]);
    /// ```
    #[doc(alias = "empty_like")]
    #[track_caller]
    pub fn full_like_with(&self, value: impl Into<Scalar>, how: Like) -> Array {
        let aval = match how.dtype {
            Some(dtype) => self.aval().with_dtype(dtype),
            None => self.aval(),
        };
        if let Some(to) = how.sharding {
            let shape = how.shape.as_deref().unwrap_or(self.shape());
            return Array::full_with(shape, value, aval.dtype(), to);
        }
        match how.shape {
            Some(shape) if *shape != *self.shape() => Array::full(&shape, value, aval.dtype()),
            _ => self.filled(value, aval),
        }
    }

    /// Creates an array of type `aval`, which has this array's shape, filled with `value`: with the
    /// same sharding and the same varying axes.
    #[track_caller]
    fn filled(&self, value: impl Into<Scalar>, aval: Aval) -> Array {
        match self.sharding() {
            Some(Sharding::Named(here)) if !is_tracing() && aval.sharding().is_none() => {
                full_on(Literal::new(value, aval.dtype()), aval.shape(), here.into())
            }
            _ => Array::filled_as(aval, value),
        }
    }

    /// Creates an array of type `aval` filled with `value`. The type includes the placement on a
    /// mesh.
    #[track_caller]
    fn filled_as(aval: Aval, value: impl Into<Scalar>) -> Array {
        let scalar = Array::scalar(value, aval.dtype());
        let array = scalar.repeated(aval.shape(), &[], OutSharding::of(aval));
        match aval.varying() {
            [] => array,
            axes => crate::prim::collective::vary(&array, axes),
        }
    }

    /// Creates zeros of the type `aval`.
    #[track_caller]
    pub(crate) fn zeros_of(aval: Aval) -> Array {
        Array::filled_as(aval, 0)
    }

    /// Creates the numbers `0, 1, …, n - 1` as `i32`. Use [`iota`](Array::iota) for another dtype,
    /// and [`arange_with`](Array::arange_with) for a start, a step and a dtype.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// assert_eq!(Array::arange(3).to_vec::<i32>(), [0, 1, 2]);
    /// assert_eq!(Array::iota(&[3], 0, DType::F32).to_vec::<f32>(), [0.0, 1.0, 2.0]);
    /// ```
    #[track_caller]
    pub fn arange(n: usize) -> Array {
        Array::iota(&[n], 0, DType::I32)
    }

    /// Creates an array in which each element is its own index along `axis`.
    ///
    /// # Panics
    /// Panics if the axis is out of range or `dtype` is `Bool`.
    #[doc(alias = "broadcasted_iota")]
    #[track_caller]
    pub fn iota(shape: &[usize], axis: usize, dtype: DType) -> Array {
        let shape = shape.into();
        bind1(
            Iota {
                shape,
                dimension: axis,
                dtype,
                sharding: None,
            },
            &[],
        )
    }

    /// Creates an [`iota`](Array::iota) that is sharded by `out_sharding` over explicit axes of the
    /// current mesh (`jnp.arange` and `lax.broadcasted_iota` with `out_sharding=`).
    ///
    /// # Panics
    /// Panics in the same cases as `iota`, if no mesh is current, or if `out_sharding` does not
    /// fit the mesh or the shape.
    #[track_caller]
    pub fn iota_with(
        shape: &[usize],
        axis: usize,
        dtype: DType,
        out_sharding: impl Into<PartitionSpec>,
    ) -> Array {
        let spec = out_sharding.into();
        let iota = Iota {
            shape: shape.into(),
            dimension: axis,
            dtype,
            sharding: Some(OutSharding::new("iota", &[], &spec, shape.len())),
        };
        bind1(iota, &[])
    }

    /// Creates a square matrix with ones on its diagonal. Use [`eye_with`](Array::eye_with) for
    /// other shapes and diagonals.
    #[doc(alias = "identity")]
    #[track_caller]
    pub fn eye(n: usize, dtype: DType) -> Array {
        Array::eye_with(n, n, 0, dtype)
    }

    /// Creates a matrix with ones on the `k`-th diagonal, which starts at column `k` of the first
    /// row, or for a negative `k` at row `-k` of the first column (`jnp.eye(n, m, k)`).
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::eye_with(2, 3, 1, DType::I32);
    /// assert_eq!(x.to_vec::<i32>(), [0, 1, 0, 0, 0, 1]);
    /// ```
    #[track_caller]
    pub fn eye_with(n: usize, m: usize, k: isize, dtype: DType) -> Array {
        // Diagonals beyond the matrix have no elements, whatever their number.
        let size = |n: usize| isize::try_from(n).unwrap_or(isize::MAX);
        let k = k.clamp(-size(n), size(m));
        let (rows, columns) = (
            Array::iota(&[n, m], 0, DType::I32),
            Array::iota(&[n, m], 1, DType::I32),
        );
        let rows = if k == 0 { rows } else { rows + k as i64 };
        rows.eq(&columns).astype(dtype)
    }
}

/// Creates an array filled with `value` on a device or a mesh.
#[track_caller]
fn full_on(value: Literal, shape: &[usize], to: Sharding) -> Array {
    if let Sharding::Named(sharding) = to
        && let Err(e) = sharding.try_shard_shape(shape)
    {
        fail(&e.render("full", &[]));
    }
    if is_tracing() {
        let array = Array::literal(value).broadcast_in_dim(shape, &[]);
        return match to {
            Sharding::Named(sharding) => constrain(&array, sharding),
            Sharding::SingleDevice(_) => array,
        };
    }
    match backend().full(value, shape, to) {
        Ok(array) => array,
        Err(e) => fail(&format!("full: {e}")),
    }
}

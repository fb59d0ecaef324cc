//! Products of vectors and matrices other than `matmul`.

use crate::options::Contraction;
use crate::prim::operands::{lead, promote_all};
use crate::typing::Dims;
use crate::{Array, IntoArray, stack};

/// Returns the three components of vectors along an axis for [`Array::cross`].
#[track_caller]
fn components(x: &Array, axis: isize) -> Vec<Array> {
    let n = x.shape()[x.axis("cross", axis)];
    assert!(
        n == 3,
        "cross: axis {axis} of {} has size {n}, expected 3\n  help: pass the axis of the vector \
         components, or pad vectors of a plane with a third component 0",
        x.aval()
    );
    x.unstack(axis)
}

impl Array {
    /// Computes the sum of products of the conjugates of `self` and `other` along the last axis
    /// of both arrays. The other axes broadcast (`jnp.vecdot`).
    ///
    /// # Panics
    /// Panics if an array is 0-d, if the last axes differ, or if the other axes do not broadcast.
    #[track_caller]
    pub fn vecdot(&self, other: impl IntoArray) -> Array {
        self.vecdot_with(other, -1, Contraction::new())
    }

    /// Computes [`vecdot`](Array::vecdot) along the given axis of both arrays
    /// (`jnp.vecdot(…, axis=…)`), with options for the precision and the dtype of the result.
    ///
    /// ```no_run
    /// use ramie_core::options::Contraction;
    /// use ramie_core::Array;
    /// let x = Array::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.vecdot_with(&x, 0, Contraction::new()).to_vec::<i32>(), [10, 20]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range, if the arrays have different sizes along it, if the
    /// other axes do not broadcast, and in the same cases as [`matmul_with`](Array::matmul_with).
    #[track_caller]
    pub fn vecdot_with(
        &self,
        other: impl IntoArray,
        axis: isize,
        how: impl Into<Contraction>,
    ) -> Array {
        let other = other.into_array();
        require_vectors("vecdot", &[self, &other]);
        let last = |x: &Array| {
            x.axis("vecdot", axis);
            x.move_axis(axis, -1)
        };
        let row = last(self).conj().expand_dims(&[-2]);
        let column = last(&other).expand_dims(&[-1]);
        row.matmul_with(column, how).squeeze(&[-2, -1])
    }

    /// Multiplies matrices, along the last two axes, by vectors, along the last axis of `vector`.
    /// The other axes broadcast (`jnp.matvec`).
    ///
    /// # Panics
    /// Panics if the sizes do not fit, or the other axes do not broadcast.
    #[track_caller]
    pub fn matvec(&self, vector: impl IntoArray) -> Array {
        let vector = vector.into_array();
        require_vectors("matvec", &[&vector]);
        self.matmul(vector.expand_dims(&[-1])).squeeze(&[-1])
    }

    /// Multiplies the conjugates of vectors, along the last axis, by matrices, along the last two
    /// axes of `matrix`. The other axes broadcast (`jnp.vecmat`).
    ///
    /// # Panics
    /// Panics if the sizes do not fit, or the other axes do not broadcast.
    #[track_caller]
    pub fn vecmat(&self, matrix: impl IntoArray) -> Array {
        require_vectors("vecmat", &[self]);
        let row = self.conj().expand_dims(&[-2]);
        row.matmul(matrix).squeeze(&[-2])
    }

    /// Computes the cross product along an axis of size 3. The other axes broadcast (`jnp.cross`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let (x, y) = (Array::from([1, 0, 0]), Array::from([0, 1, 0]));
    /// assert_eq!(x.cross(&y, -1).to_vec::<i32>(), [0, 0, 1]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range or has another size, or the other axes do not
    /// broadcast.
    #[track_caller]
    pub fn cross(&self, other: &Array, axis: isize) -> Array {
        let both = promote_all("cross", &[self, other]);
        let (a, b) = (components(&both[0], axis), components(&both[1], axis));
        let product = [
            &a[1] * &b[2] - &a[2] * &b[1],
            &a[2] * &b[0] - &a[0] * &b[2],
            &a[0] * &b[1] - &a[1] * &b[0],
        ];
        stack(&product, axis)
    }

    /// Computes the Kronecker product: each element of `self` is replaced by a block, that
    /// element times `other`.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1, 10]).kron(&Array::from([1, 2]));
    /// assert_eq!(x.to_vec::<i32>(), [1, 2, 10, 20]);
    /// ```
    #[track_caller]
    pub fn kron(&self, other: &Array) -> Array {
        let rank = self.ndim().max(other.ndim());
        let both = promote_all("kron", &[self, other]);
        let (a, b) = (lead(&both[0], rank), lead(&both[1], rank));
        let mut shape = Dims::new();
        let (mut shape_a, mut shape_b) = (Dims::new(), Dims::new());
        for (&n, &m) in a.shape().iter().zip(b.shape()) {
            shape.push(n.saturating_mul(m));
            shape_a.extend([n, 1]);
            shape_b.extend([1, m]);
        }
        (a.reshape(&shape_a) * b.reshape(&shape_b)).reshape(&shape)
    }
}

#[track_caller]
fn require_vectors(operation: &str, arrays: &[&Array]) {
    for x in arrays {
        assert!(
            x.ndim() > 0,
            "{operation}: {} is not a vector\n  help: multiply by a scalar with `*`",
            x.aval()
        );
    }
}

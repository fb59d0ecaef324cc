//! `matmul`, `dot`, `tensordot`, `inner`, `vdot` and `outer`, implemented with `dot_general`.

use super::Contraction;
use crate::base::location;
use crate::prim::dot::DotDimensionNumbers;
use crate::{Array, DType, Dims, IntoArray, PartitionSpec, ShapeError};

/// Promotes both operands to a common dtype and keeps their shapes.
#[track_caller]
fn promote_types(a: &Array, b: &Array) -> (Array, Array, DType) {
    let (x, y) = (a.aval(), b.aval());
    let (dtype, _) = DType::promote((x.dtype(), x.weak_type()), (y.dtype(), y.weak_type()));
    (a.astype(dtype), b.astype(dtype), dtype)
}

/// Multiplies operands of the same dtype, on behalf of `operation`.
#[track_caller]
fn product(
    operation: &str,
    a: &Array,
    b: &Array,
    contracting: [&[usize]; 2],
    batch: [&[usize]; 2],
    how: &Contraction,
) -> Array {
    let numbers = DotDimensionNumbers::new(contracting, batch);
    if let Err(error) = numbers.check(a.aval(), b.aval()) {
        refuse(operation, &error, a, b);
    }
    let dtype = how.preferred_element_type.unwrap_or(a.dtype());
    let out_sharding = how.out_sharding.clone();
    a.general_product(b, numbers, how.precision, Some(dtype), out_sharding)
}

#[track_caller]
fn refuse(operation: &str, error: &ShapeError, a: &Array, b: &Array) -> ! {
    let operands = [
        format!("lhs {}", a.describe()),
        format!("rhs {}", b.describe()),
    ];
    location::fail(&error.render(operation, &operands))
}

impl Array {
    /// Computes the matrix product, like NumPy's `matmul`. A vector is a row on the left and a
    /// column on the right. Leading axes are batch axes and broadcast together.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::ones(&[4, 2, 3], DType::F32);
    /// let w = Array::ones(&[3, 5], DType::F32);
    /// assert_eq!(x.matmul(&w).shape(), [4, 2, 5]);
    /// ```
    ///
    /// # Panics
    /// Panics if an operand is 0-d, if the contracted sizes differ, or if the batch axes do not
    /// broadcast.
    #[track_caller]
    pub fn matmul(&self, rhs: impl IntoArray) -> Array {
        self.matmul_with(rhs, &Contraction::new())
    }

    /// Computes [`matmul`](Array::matmul) with the result sharded by `out_sharding` over
    /// explicit axes of a mesh (`jnp.matmul(.., out_sharding=..)`). If the contracted axis of
    /// both operands is sharded, a result sharded along the same mesh axis needs a
    /// reduce-scatter, and a result replicated along it an all-reduce.
    ///
    /// ```no_run
    /// use ramie_core::{Array, AxisType, DType, P, make_mesh_with, set_mesh};
    /// let _current = set_mesh(make_mesh_with(&[4, 2], &["X", "Y"], AxisType::Explicit)?);
    /// let x = Array::full_with(&[8, 16], 0, DType::F32, P!["X", "Y"]);
    /// let w = Array::full_with(&[16, 8], 0, DType::F32, P!["Y", None]);
    /// let out = x.matmul_sharded(&w, P!["X", "Y"]);
    /// assert_eq!(out.aval().to_string(), "f32[8@X,8@Y]");
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as `matmul`, or if `out_sharding` does not fit the mesh or the
    /// shape.
    #[track_caller]
    pub fn matmul_sharded(
        &self,
        rhs: impl IntoArray,
        out_sharding: impl Into<PartitionSpec>,
    ) -> Array {
        self.matmul_with(rhs, &Contraction::new().out_sharding(out_sharding))
    }

    /// Computes [`matmul`](Array::matmul) with options for the precision, the dtype and the
    /// sharding of the result.
    ///
    /// # Panics
    /// Panics in the same cases as `matmul`, if integers would be accumulated as floats or floats as
    /// integers, or if the sharding does not fit the mesh or the shape.
    #[doc(alias = "precision")]
    #[doc(alias = "preferred_element_type")]
    #[track_caller]
    pub fn matmul_with(&self, rhs: impl IntoArray, how: &Contraction) -> Array {
        let (a, b, _) = promote_types(self, &rhs.into_array());
        if a.ndim() == 0 || b.ndim() == 0 {
            let error = ShapeError::new("operands must have at least one axis")
                .help("multiply by a scalar with `*`");
            refuse("matmul", &error, &a, &b);
        }
        let (own_a, own_b) = (a.ndim().min(2), b.ndim().min(2));
        let (lead_a, lead_b) = (a.ndim() - own_a, b.ndim() - own_b);
        let (sizes_a, sizes_b) = (&a.shape()[..lead_a], &b.shape()[..lead_b]);
        if crate::broadcast_shapes(&[sizes_a, sizes_b]).is_none() {
            let error = ShapeError::new("batch axes do not broadcast together")
                .help("all axes except the last two are batch axes, which must agree or be 1");
            refuse("matmul", &error, &a, &b);
        }
        // A batch axis with the same size in both operands is paired. An axis that only one
        // operand has, or in which the other has size 1, is a free axis of that operand.
        let rank = lead_a.max(lead_b);
        let at = |lead: usize, axis: usize| (axis + lead).checked_sub(rank);
        let (mut squeeze_a, mut squeeze_b) = (Dims::new(), Dims::new());
        let (mut both, mut only_a, mut only_b) = (Vec::new(), Vec::new(), Vec::new());
        for axis in 0..rank {
            match (at(lead_a, axis), at(lead_b, axis)) {
                (None, _) => only_b.push(axis),
                (_, None) => only_a.push(axis),
                (Some(i), Some(_)) if a.shape()[i] == 1 => {
                    squeeze_a.push(i);
                    only_b.push(axis);
                }
                (Some(_), Some(j)) if b.shape()[j] == 1 => {
                    squeeze_b.push(j);
                    only_a.push(axis);
                }
                (Some(i), Some(j)) => both.push((axis, i, j)),
            }
        }
        // Maps an axis of the operand to its index after squeezing.
        let after = |squeezed: &Dims, i: usize| i - squeezed.iter().filter(|&&s| s < i).count();
        let squeezed = |x: &Array, axes: &Dims| {
            let axes: Vec<isize> = axes.iter().map(|&d| d as isize).collect();
            if axes.is_empty() {
                x.clone()
            } else {
                x.squeeze(&axes)
            }
        };
        let (x, y) = (squeezed(&a, &squeeze_a), squeezed(&b, &squeeze_b));
        let batch_a: Dims = both.iter().map(|&(_, i, _)| after(&squeeze_a, i)).collect();
        let batch_b: Dims = both.iter().map(|&(_, _, j)| after(&squeeze_b, j)).collect();
        let contract_b = y.ndim() - own_b;
        // The product has the paired axes first, then the free axes of each operand.
        let mut axes: Vec<usize> = both.iter().map(|&(axis, ..)| axis).collect();
        axes.extend(&only_a);
        axes.extend((own_a == 2).then_some(rank));
        axes.extend(&only_b);
        axes.extend((own_b == 2).then_some(rank + own_a - 1));
        let mut permutation = vec![0isize; axes.len()];
        for (from, &to) in axes.iter().enumerate() {
            permutation[to] = from as isize;
        }
        let how = Contraction {
            out_sharding: how.out_sharding.as_ref().map(|s| s.clone().gathered(&axes)),
            ..how.clone()
        };
        let out = product(
            "matmul",
            &x,
            &y,
            [&[x.ndim() - 1], &[contract_b]],
            [&batch_a, &batch_b],
            &how,
        );
        if permutation.is_sorted() {
            out
        } else {
            out.transpose(&permutation)
        }
    }

    /// Computes NumPy's `dot`: the sum of products over the last axis of `self` and the second to
    /// last axis of `rhs` (the only axis of a vector). A scalar operand multiplies elementwise.
    ///
    /// # Panics
    /// Panics if the contracted sizes differ.
    #[track_caller]
    pub fn dot(&self, rhs: impl IntoArray) -> Array {
        self.dot_with(rhs, &Contraction::new())
    }

    /// Computes [`dot`](Array::dot) with the result sharded by `out_sharding` over explicit
    /// axes of a mesh.
    ///
    /// # Panics
    /// Panics in the same cases as `dot`, or if `out_sharding` does not fit the mesh or the
    /// shape.
    #[track_caller]
    pub fn dot_sharded(
        &self,
        rhs: impl IntoArray,
        out_sharding: impl Into<PartitionSpec>,
    ) -> Array {
        self.dot_with(rhs, &Contraction::new().out_sharding(out_sharding))
    }

    /// Computes [`dot`](Array::dot) with options for the precision, the dtype and the sharding of
    /// the result.
    ///
    /// # Panics
    /// Panics in the same cases as `dot`, if integers would be accumulated as floats or floats as
    /// integers, or if the sharding does not fit the mesh or the shape.
    #[track_caller]
    pub fn dot_with(&self, rhs: impl IntoArray, how: &Contraction) -> Array {
        let (a, b, common) = promote_types(self, &rhs.into_array());
        if a.ndim() == 0 || b.ndim() == 0 {
            return scaled(&a, &b, common, how);
        }
        let summed = [&[a.ndim() - 1][..], &[b.ndim().saturating_sub(2)]];
        product("dot", &a, &b, summed, [&[], &[]], how)
    }

    /// Computes the sum of products over the last `n` axes of `self` and the first `n` axes of
    /// `rhs`.
    ///
    /// # Panics
    /// Panics if an operand has fewer than `n` axes, or if paired axes have different sizes.
    #[track_caller]
    pub fn tensordot(&self, rhs: impl IntoArray, n: usize) -> Array {
        self.tensordot_with(rhs, n, &Contraction::new())
    }

    /// Computes [`tensordot`](Array::tensordot) with options for the precision, the dtype and the
    /// sharding of the result.
    ///
    /// # Panics
    /// Panics in the same cases as `tensordot` and [`matmul_with`](Array::matmul_with).
    #[track_caller]
    pub fn tensordot_with(&self, rhs: impl IntoArray, n: usize, how: &Contraction) -> Array {
        let (a, b, _) = promote_types(self, &rhs.into_array());
        if a.ndim() < n || b.ndim() < n {
            let error = ShapeError::new(format!(
                "operands must have at least {n} axes to sum \
             over"
            ))
            .help("use tensordot_axes to choose the axes");
            refuse("tensordot", &error, &a, &b);
        }
        let left: Dims = (a.ndim() - n..a.ndim()).collect();
        let right: Dims = (0..n).collect();
        product("tensordot", &a, &b, [&left, &right], [&[], &[]], how)
    }

    /// Computes the sum of products over `lhs_axes` of `self`, each paired with the corresponding
    /// axis of `rhs_axes` of `rhs`.
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice, if the lists differ in length, or if
    /// paired axes have different sizes.
    #[track_caller]
    pub fn tensordot_axes(
        &self,
        rhs: impl IntoArray,
        lhs_axes: &[isize],
        rhs_axes: &[isize],
    ) -> Array {
        self.tensordot_axes_with(rhs, lhs_axes, rhs_axes, &Contraction::new())
    }

    /// Computes [`tensordot_axes`](Array::tensordot_axes) with options for the precision, the dtype
    /// and the sharding of the result.
    ///
    /// # Panics
    /// Panics in the same cases as `tensordot_axes` and [`matmul_with`](Array::matmul_with).
    #[track_caller]
    pub fn tensordot_axes_with(
        &self,
        rhs: impl IntoArray,
        lhs_axes: &[isize],
        rhs_axes: &[isize],
        how: &Contraction,
    ) -> Array {
        let (a, b, _) = promote_types(self, &rhs.into_array());
        let left = a.axes("tensordot", lhs_axes);
        let right = b.axes("tensordot", rhs_axes);
        product("tensordot_axes", &a, &b, [&left, &right], [&[], &[]], how)
    }

    /// Computes the sum of products over the last axes of both arrays. A scalar operand
    /// multiplies elementwise.
    ///
    /// # Panics
    /// Panics if the last axes have different sizes.
    #[track_caller]
    pub fn inner(&self, rhs: impl IntoArray) -> Array {
        self.inner_with(rhs, &Contraction::new())
    }

    /// Computes [`inner`](Array::inner) with options for the precision, the dtype and the sharding
    /// of the result.
    ///
    /// # Panics
    /// Panics in the same cases as `inner` and [`matmul_with`](Array::matmul_with).
    #[track_caller]
    pub fn inner_with(&self, rhs: impl IntoArray, how: &Contraction) -> Array {
        let (a, b, common) = promote_types(self, &rhs.into_array());
        if a.ndim() == 0 || b.ndim() == 0 {
            return scaled(&a, &b, common, how);
        }
        let summed = [&[a.ndim() - 1][..], &[b.ndim() - 1]];
        product("inner", &a, &b, summed, [&[], &[]], how)
    }

    /// Computes the sum of products of the conjugated elements and those of `rhs`, both flattened
    /// in row-major order.
    ///
    /// # Panics
    /// Panics if the arrays have different numbers of elements.
    #[track_caller]
    pub fn vdot(&self, rhs: impl IntoArray) -> Array {
        self.vdot_with(rhs, &Contraction::new())
    }

    /// Computes [`vdot`](Array::vdot) with options for the precision and the dtype of the result.
    ///
    /// ```no_run
    /// use ramie_core::{Array, Contraction, DType};
    /// let x = Array::ones(&[1000], DType::BF16);
    /// let how = Contraction::new().preferred_element_type(DType::F32);
    /// assert_eq!(x.vdot_with(&x, &how).item::<f32>(), 1000.0);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as `vdot` and [`matmul_with`](Array::matmul_with).
    #[track_caller]
    pub fn vdot_with(&self, rhs: impl IntoArray, how: &Contraction) -> Array {
        let rhs = rhs.into_array();
        let (a, b, _) = promote_types(&self.conj().flatten(..), &rhs.flatten(..));
        product("vdot", &a, &b, [&[0], &[0]], [&[], &[]], how)
    }

    /// Computes the products of each element of `self` with each element of `rhs`, both flattened
    /// in row-major order: `[n]` and `[m]` give `[n, m]`.
    #[track_caller]
    pub fn outer(&self, rhs: impl IntoArray) -> Array {
        let rhs = rhs.into_array();
        let column = self.flatten(..).expand_dims(&[1]);
        column.mul(rhs.flatten(..).expand_dims(&[0]))
    }
}

/// Multiplies elementwise, where an operand is a scalar.
#[track_caller]
fn scaled(a: &Array, b: &Array, common: DType, how: &Contraction) -> Array {
    let dtype = how.preferred_element_type.unwrap_or(common);
    let scaled = a.mul(b).astype(dtype);
    match how.out_sharding.clone() {
        Some(spec) => crate::reshard(&scaled, spec),
        None => scaled,
    }
}

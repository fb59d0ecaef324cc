//! `matmul`, `dot`, `tensordot`, `inner`, `vdot` and `outer`, implemented with `dot_general`.

use crate::base::location;
use crate::options::Contraction;
use crate::prim::dot::DotDimensionNumbers;
use crate::typing::Dims;
use crate::{Array, DType, IntoArray, ShapeError};

/// The axes that [`Array::tensordot`] sums over. A number, and a pair of lists of axes convert into
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensordotAxes {
    /// The last axes of the left operand and the first axes of the right one, this many of each.
    Last(usize),
    /// Axes of the left operand, each paired with the corresponding axis of the right one.
    Pairs(Vec<isize>, Vec<isize>),
}

impl From<usize> for TensordotAxes {
    fn from(n: usize) -> TensordotAxes {
        TensordotAxes::Last(n)
    }
}

impl<L: AsRef<[isize]>, R: AsRef<[isize]>> From<(L, R)> for TensordotAxes {
    fn from((left, right): (L, R)) -> TensordotAxes {
        TensordotAxes::Pairs(left.as_ref().to_vec(), right.as_ref().to_vec())
    }
}

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
    a.dot_general_with(b, numbers, how.clone().preferred_element_type(dtype))
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
        self.matmul_with(rhs, Contraction::new())
    }

    /// Computes [`matmul`](Array::matmul) with options for the precision, the dtype and the
    /// sharding of the result. If the contracted axis of both operands is sharded, a result sharded
    /// along the same mesh axis needs a reduce-scatter, and a result replicated along it an
    /// all-reduce.
    ///
    /// ```no_run
    /// use ramie_core::sharding::{make_mesh_with, AxisType};
    /// use ramie_core::{set_mesh, Array, DType, P};
    /// let _current = set_mesh(make_mesh_with(&[4, 2], &["X", "Y"], AxisType::Explicit)?);
    /// let x = Array::full_with(&[8, 16], 0, DType::F32, P!["X", "Y"]);
    /// let w = Array::full_with(&[16, 8], 0, DType::F32, P!["Y", None]);
    /// let out = x.matmul_with(&w, P!["X", "Y"]);
    /// assert_eq!(out.aval().to_string(), "f32[8@X,8@Y]");
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as `matmul`, if integers would be accumulated as floats or floats as
    /// integers, or if the sharding does not fit the mesh or the shape.
    #[doc(alias = "precision")]
    #[doc(alias = "preferred_element_type")]
    #[track_caller]
    pub fn matmul_with(&self, rhs: impl IntoArray, how: impl Into<Contraction>) -> Array {
        let how = how.into();
        let (a, b, _) = promote_types(self, &rhs.into_array());
        if a.ndim() == 0 || b.ndim() == 0 {
            let error = ShapeError::new("operands must have at least one axis")
                .help("multiply by a scalar with `*`");
            refuse("matmul", &error, &a, &b);
        }
        let (own_a, own_b) = (a.ndim().min(2), b.ndim().min(2));
        let (lead_a, lead_b) = (a.ndim() - own_a, b.ndim() - own_b);
        let (sizes_a, sizes_b) = (&a.shape()[..lead_a], &b.shape()[..lead_b]);
        if crate::numpy::broadcast_shapes(&[sizes_a, sizes_b]).is_none() {
            let error = ShapeError::new("batch axes do not broadcast together")
                .help("all axes except the last two are batch axes, which must agree or be 1");
            refuse("matmul", &error, &a, &b);
        }
        let batch = Batch::of(sizes_a, sizes_b);
        let [squeeze_a, squeeze_b] = &batch.squeezed;
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
        let (x, y) = (squeezed(&a, squeeze_a), squeezed(&b, squeeze_b));
        let both = batch.both.iter();
        let batch_a: Dims = both.clone().map(|&(_, i, _)| after(squeeze_a, i)).collect();
        let batch_b: Dims = both.map(|&(_, _, j)| after(squeeze_b, j)).collect();
        let contract_b = y.ndim() - own_b;
        let axes = batch.axes([own_a, own_b]);
        let mut permutation = vec![0isize; axes.len()];
        for (from, &to) in axes.iter().enumerate() {
            permutation[to] = from as isize;
        }
        let how = Contraction {
            out_sharding: how.out_sharding.map(|s| s.gathered(&axes)),
            ..how
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
        self.dot_with(rhs, Contraction::new())
    }

    /// Computes [`dot`](Array::dot) with options for the precision, the dtype and the sharding of
    /// the result.
    ///
    /// # Panics
    /// Panics in the same cases as `dot`, if integers would be accumulated as floats or floats as
    /// integers, or if the sharding does not fit the mesh or the shape.
    #[track_caller]
    pub fn dot_with(&self, rhs: impl IntoArray, how: impl Into<Contraction>) -> Array {
        let how = how.into();
        let (a, b, common) = promote_types(self, &rhs.into_array());
        if a.ndim() == 0 || b.ndim() == 0 {
            return scaled(&a, &b, common, &how);
        }
        let summed = [&[a.ndim() - 1][..], &[b.ndim().saturating_sub(2)]];
        product("dot", &a, &b, summed, [&[], &[]], &how)
    }

    /// Computes the sum of products over the last `n` axes of `self` and the first `n` axes of
    /// `rhs`, or over a list of axes of `self` and the corresponding axes of `rhs`.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let (x, y) = (Array::ones(&[2, 3, 4], DType::F32), Array::ones(&[4, 3, 5], DType::F32));
    /// assert_eq!(x.tensordot(&y, 1).shape(), [2, 3, 3, 5]);
    /// assert_eq!(x.tensordot(&y, ([1, 2], [1, 0])).shape(), [2, 5]);
    /// ```
    ///
    /// # Panics
    /// Panics if an operand has fewer than `n` axes, if an axis is out of range or given twice, if
    /// the lists differ in length, or if paired axes have different sizes.
    #[track_caller]
    pub fn tensordot(&self, rhs: impl IntoArray, axes: impl Into<TensordotAxes>) -> Array {
        self.tensordot_with(rhs, axes, Contraction::new())
    }

    /// Computes [`tensordot`](Array::tensordot) with options for the precision, the dtype and the
    /// sharding of the result.
    ///
    /// # Panics
    /// Panics in the same cases as `tensordot` and [`matmul_with`](Array::matmul_with).
    #[track_caller]
    pub fn tensordot_with(
        &self,
        rhs: impl IntoArray,
        axes: impl Into<TensordotAxes>,
        how: impl Into<Contraction>,
    ) -> Array {
        let (a, b, _) = promote_types(self, &rhs.into_array());
        let (left, right): (Dims, Dims) = match axes.into() {
            TensordotAxes::Last(n) if a.ndim() < n || b.ndim() < n => {
                let error =
                    ShapeError::new(format!("operands must have at least {n} axes to sum over"))
                        .help("pass the axes of both operands: x.tensordot(&y, ([1], [0]))");
                refuse("tensordot", &error, &a, &b)
            }
            TensordotAxes::Last(n) => ((a.ndim() - n..a.ndim()).collect(), (0..n).collect()),
            TensordotAxes::Pairs(left, right) => {
                (a.axes("tensordot", &left), b.axes("tensordot", &right))
            }
        };
        product(
            "tensordot",
            &a,
            &b,
            [&left, &right],
            [&[], &[]],
            &how.into(),
        )
    }

    /// Computes the sum of products over the last axes of both arrays. A scalar operand
    /// multiplies elementwise.
    ///
    /// # Panics
    /// Panics if the last axes have different sizes.
    #[track_caller]
    pub fn inner(&self, rhs: impl IntoArray) -> Array {
        self.inner_with(rhs, Contraction::new())
    }

    /// Computes [`inner`](Array::inner) with options for the precision, the dtype and the sharding
    /// of the result.
    ///
    /// # Panics
    /// Panics in the same cases as `inner` and [`matmul_with`](Array::matmul_with).
    #[track_caller]
    pub fn inner_with(&self, rhs: impl IntoArray, how: impl Into<Contraction>) -> Array {
        let how = how.into();
        let (a, b, common) = promote_types(self, &rhs.into_array());
        if a.ndim() == 0 || b.ndim() == 0 {
            return scaled(&a, &b, common, &how);
        }
        let summed = [&[a.ndim() - 1][..], &[b.ndim() - 1]];
        product("inner", &a, &b, summed, [&[], &[]], &how)
    }

    /// Computes the sum of products of the conjugated elements and those of `rhs`, both flattened
    /// in row-major order.
    ///
    /// # Panics
    /// Panics if the arrays have different numbers of elements.
    #[track_caller]
    pub fn vdot(&self, rhs: impl IntoArray) -> Array {
        self.vdot_with(rhs, Contraction::new())
    }

    /// Computes [`vdot`](Array::vdot) with options for the precision and the dtype of the result.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::ones(&[1000], DType::BF16);
    /// assert_eq!(x.vdot_with(&x, DType::F32).item::<f32>(), 1000.0);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as `vdot` and [`matmul_with`](Array::matmul_with).
    #[track_caller]
    pub fn vdot_with(&self, rhs: impl IntoArray, how: impl Into<Contraction>) -> Array {
        let rhs = rhs.into_array();
        let (a, b, _) = promote_types(&self.conj().flatten(..), &rhs.flatten(..));
        product("vdot", &a, &b, [&[0], &[0]], [&[], &[]], &how.into())
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
        Some(spec) => crate::sharding::reshard(&scaled, spec),
        None => scaled,
    }
}

/// The batch axes of a product. An axis with the same size in both operands is paired. An axis that
/// only one operand has, or in which the other has size 1, is a free axis of that operand.
#[derive(Default)]
struct Batch {
    /// Axes of the result, with the axes of both operands.
    both: Vec<(usize, usize, usize)>,
    /// Axes of the result that belong to one operand.
    only: [Vec<usize>; 2],
    /// Axes of size 1 to squeeze from each operand.
    squeezed: [Dims; 2],
}

impl Batch {
    /// Returns the batch axes of operands with these sizes, which broadcast together.
    fn of(a: &[usize], b: &[usize]) -> Batch {
        let mut batch = Batch::default();
        let rank = a.len().max(b.len());
        let at = |lead: usize, axis: usize| (axis + lead).checked_sub(rank);
        for axis in 0..rank {
            match (at(a.len(), axis), at(b.len(), axis)) {
                (None, _) => batch.only[1].push(axis),
                (_, None) => batch.only[0].push(axis),
                (Some(i), Some(_)) if a[i] == 1 => {
                    batch.squeezed[0].push(i);
                    batch.only[1].push(axis);
                }
                (Some(_), Some(j)) if b[j] == 1 => {
                    batch.squeezed[1].push(j);
                    batch.only[0].push(axis);
                }
                (Some(i), Some(j)) => batch.both.push((axis, i, j)),
            }
        }
        batch
    }

    /// Returns the axes of the result in the order of the product: the paired axes, then the free axes
    /// of each operand, which has `own` axes besides.
    fn axes(&self, own: [usize; 2]) -> Vec<usize> {
        let rank = self.both.len() + self.only[0].len() + self.only[1].len();
        let mut axes: Vec<usize> = self.both.iter().map(|&(axis, ..)| axis).collect();
        axes.extend(&self.only[0]);
        axes.extend((own[0] == 2).then_some(rank));
        axes.extend(&self.only[1]);
        axes.extend((own[1] == 2).then_some(rank + own[0] - 1));
        axes
    }
}

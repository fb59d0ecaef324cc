//! `dynamic_slice`: a slice of fixed size at a computed position.

use super::{
    Gather, GatherDimensionNumbers, GatherScatterMode, NonNegative, check_starts, stack_starts,
};
use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, PositionRule, Positions, Primitive,
    batched, one,
};
use crate::program::lower::{Lowering, Value, dims_array};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, IntoArray, ShapeError};

/// Returns a slice of `slice_sizes` of the first operand. The other operands are its start index
/// along each axis, clamped so that the slice is within the array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DynamicSlice {
    /// Size of the slice along each axis.
    pub slice_sizes: Dims,
}

impl Primitive for DynamicSlice {
    fn name(&self) -> &'static str {
        "dynamic_slice"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            positions: Some(self),
            ..Facts::strong()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("slice_sizes", Param::tuple(&self.slice_sizes))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        check_starts(args, 1)?;
        let (shape, sizes) = (args[0].shape(), &self.slice_sizes);
        if sizes.len() != shape.len() || sizes.iter().zip(shape).any(|(s, n)| s > n) {
            return Err(ShapeError::new(format!(
                "a slice of {:?} does not fit into {}",
                sizes.as_slice(),
                args[0]
            ))
            .help("pass one size for each axis, no larger than the axis"));
        }
        one(args[0].with_shape(sizes))
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |p, t, _| {
                vec![t[0].as_ref().map(|t| {
                    let args: Vec<&Array> = std::iter::once(t).chain(&p[1..]).collect();
                    bind1(self.clone(), &args)
                })]
            },
            |cts, operands| {
                let mut out = vec![None; operands.len()];
                if let (Some(ct), true) = (&cts[0], operands[0].is_linear()) {
                    let zeros = Array::zeros_of(operands[0].aval().with_dtype(ct.dtype()));
                    let starts = operands[1..].iter().filter_map(|o| o.known());
                    let args: Vec<&Array> = [&zeros, ct].into_iter().chain(starts).collect();
                    out[0] = Some(bind1(super::DynamicUpdateSlice, &args));
                }
                out
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let size = axis.size;
        if let (Some(axis), true) = (axes[0], axes[1..].iter().all(Option::is_none)) {
            let mut slice_sizes = self.slice_sizes.clone();
            slice_sizes.insert(axis, size);
            let dtype = args.get(1).map_or(crate::DType::I32, Array::dtype);
            let zero = Array::scalar(0, dtype);
            let mut refs: Vec<&Array> = args.iter().collect();
            refs.insert(1 + axis, &zero);
            return batched(bind1(DynamicSlice { slice_sizes }, &refs), Some(axis));
        }
        let (indices, index_axis) = stack_starts(&args[1..], &axes[1..], size);
        let dims: Dims = (0..self.slice_sizes.len()).collect();
        let numbers = GatherDimensionNumbers::new(&dims, &[], &dims);
        let gather = Gather::new(numbers, &self.slice_sizes)
            .mode(GatherScatterMode::Clip)
            .indices_are_sorted(true)
            .unique_indices(true);
        gather.batch(&[args[0].clone(), indices], &[axes[0], index_axis], axis)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let attributes = format!("slice_sizes = {}", dims_array(&self.slice_sizes));
        let args = ctx.starts_into(1, args);
        vec![ctx.op1("dynamic_slice", &args, outs[0], &attributes)]
    }
}

impl PositionRule for DynamicSlice {
    fn positions(&self, args: &[Array]) -> Option<Positions> {
        super::one_position(&args[1..], &self.slice_sizes)
    }
}

impl Array {
    /// Returns a slice of `slice_sizes` that starts at `starts`, one scalar integer for each
    /// axis. Negative starts count from the end; the slice is moved to lie within the array
    /// (`jax.lax.dynamic_slice`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let start = Array::from(3);
    /// assert_eq!(Array::arange(6).dynamic_slice(&[start], &[2]).to_vec::<i32>(), [3, 4]);
    /// ```
    ///
    /// # Panics
    /// Panics unless there is one scalar integer start and one size per axis, and the slice fits
    /// into the array.
    #[track_caller]
    pub fn dynamic_slice<S: IntoArray + Clone>(
        &self,
        starts: &[S],
        slice_sizes: &[usize],
    ) -> Array {
        self.dynamic_slice_with(starts, slice_sizes, NonNegative::along(&[]))
    }

    /// Same as [`dynamic_slice`](Array::dynamic_slice), for starts that are not negative
    /// (`allow_negative_indices=False`).
    ///
    /// ```no_run
    /// use ramie_core::options::NonNegative;
    /// use ramie_core::Array;
    /// let (x, start) = (Array::arange(6), Array::from(3));
    /// let part = x.dynamic_slice_with(&[start], &[2], NonNegative::all());
    /// assert_eq!(part.to_vec::<i32>(), [3, 4]);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as `dynamic_slice`.
    #[track_caller]
    pub fn dynamic_slice_with<S: IntoArray + Clone>(
        &self,
        starts: &[S],
        slice_sizes: &[usize],
        positive: NonNegative,
    ) -> Array {
        let starts: Vec<Array> = starts.iter().map(|s| s.clone().into_array()).collect();
        let starts = super::start_indices("dynamic_slice", self, &starts, &positive);
        let slice_sizes = slice_sizes.into();
        let args: Vec<&Array> = std::iter::once(self).chain(&starts).collect();
        bind1(DynamicSlice { slice_sizes }, &args)
    }

    /// Returns `size` elements along one axis from `start` on; see
    /// [`dynamic_slice`](Array::dynamic_slice).
    ///
    /// # Panics
    /// Panics if the axis is out of range or shorter than `size`, or if `start` is not a scalar
    /// integer.
    #[track_caller]
    pub fn dynamic_slice_in_dim(&self, start: impl IntoArray, size: usize, axis: isize) -> Array {
        self.dynamic_slice_in_dim_with(start, size, axis, NonNegative::along(&[]))
    }

    /// Same as [`dynamic_slice_in_dim`](Array::dynamic_slice_in_dim), for a start that is not
    /// negative (`allow_negative_indices=False`).
    ///
    /// # Panics
    /// Panics in the same cases as `dynamic_slice_in_dim`.
    #[track_caller]
    pub fn dynamic_slice_in_dim_with(
        &self,
        start: impl IntoArray,
        size: usize,
        axis: isize,
        positive: NonNegative,
    ) -> Array {
        let axis = self.axis("dynamic_slice_in_dim", axis);
        let start = start.into_array();
        let mut starts = vec![Array::scalar(0, start.dtype()); self.ndim()];
        let mut sizes: Dims = self.shape().into();
        starts[axis] = start;
        sizes[axis] = size;
        self.dynamic_slice_with(&starts, &sizes, positive)
    }
}

//! `dynamic_update_slice`: writes a slice at a computed position.

use super::{
    GatherScatterMode, NonNegative, Scatter, ScatterDimensionNumbers, ScatterMethod, check_starts,
    stack_starts,
};
use crate::extend::ShardingRule;
use crate::prim::operands;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, PositionRule, Positions, Primitive, batched,
    move_batch_axis, one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, IntoArray, ShapeError};

/// Returns the first operand with the slice at a computed position replaced by the second
/// operand. The other operands are its start index along each axis, clamped so that the slice is
/// within the array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DynamicUpdateSlice;

impl Primitive for DynamicUpdateSlice {
    fn name(&self) -> &'static str {
        "dynamic_update_slice"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            positions: Some(self),
            ..Facts::strong()
        }
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() >= 2, "expects an array and an update");
        let (operand, update) = (args[0], args[1]);
        check_starts(args, 2)?;
        if operand.dtype() != update.dtype() {
            return Err(ShapeError::new(format!(
                "the update has dtype {}, but the array has {}",
                update.dtype(),
                operand.dtype()
            ))
            .help("convert the update with astype"));
        }
        let fits = update.ndim() == operand.ndim()
            && update
                .shape()
                .iter()
                .zip(operand.shape())
                .all(|(u, n)| u <= n);
        if !fits {
            return Err(
                ShapeError::new(format!("an update {update} does not fit into {operand}"))
                    .help("the update must have the array's rank, and no axis may be larger"),
            );
        }
        one(operand)
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |p, t, _| {
                if t[0].is_none() && t[1].is_none() {
                    return vec![None];
                }
                let full = |i: usize| t[i].clone().unwrap_or_else(|| p[i].zeros_like());
                let (operand, update) = (full(0), full(1));
                let args: Vec<&Array> = [&operand, &update].into_iter().chain(&p[2..]).collect();
                vec![Some(bind1(DynamicUpdateSlice, &args))]
            },
            |cts, operands| {
                let mut out = vec![None; operands.len()];
                let Some(ct) = &cts[0] else { return out };
                let update = operands[1].aval();
                let starts: Vec<&Array> = operands[2..].iter().filter_map(|o| o.known()).collect();
                if operands[0].is_linear() {
                    let zeros = Array::zeros_of(update.with_dtype(ct.dtype()));
                    let args: Vec<&Array> = [ct, &zeros]
                        .into_iter()
                        .chain(starts.iter().copied())
                        .collect();
                    out[0] = Some(bind1(DynamicUpdateSlice, &args));
                }
                if operands[1].is_linear() {
                    let slice_sizes = update.shape().into();
                    let args: Vec<&Array> =
                        std::iter::once(ct).chain(starts.iter().copied()).collect();
                    out[1] = Some(bind1(super::DynamicSlice { slice_sizes }, &args));
                }
                out
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        if axes[2..].iter().all(Option::is_none) {
            let operand = move_batch_axis(&args[0], axes[0], 0, axis);
            let update = move_batch_axis(&args[1], axes[1], 0, axis);
            let zero = Array::scalar(0, args.get(2).map_or(crate::DType::I32, Array::dtype));
            let refs: Vec<&Array> = [&operand, &update, &zero]
                .into_iter()
                .chain(&args[2..])
                .collect();
            return batched(bind1(DynamicUpdateSlice, &refs), Some(0));
        }
        let (indices, index_axis) = stack_starts(&args[2..], &axes[2..], axis.size);
        let rank = args[0].ndim() - usize::from(axes[0].is_some());
        let dims: Dims = (0..rank).collect();
        let numbers = ScatterDimensionNumbers::new(&dims, &[], &dims);
        let scatter = Scatter::new(ScatterMethod::Set, numbers)
            .mode(GatherScatterMode::Clip)
            .indices_are_sorted(true)
            .unique_indices(true);
        let args = [args[0].clone(), indices, args[1].clone()];
        scatter.batch(&args, &[axes[0], index_axis, axes[1]], axis)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let args = ctx.starts_into(2, args);
        vec![ctx.op1("dynamic_update_slice", &args, outs[0], "")]
    }
}

impl PositionRule for DynamicUpdateSlice {
    fn positions(&self, args: &[Array]) -> Option<Positions> {
        super::one_position(&args[2..], args[1].shape())
    }
}

impl Array {
    /// Returns the array with the slice that starts at `starts`, one scalar integer for each
    /// axis, replaced by `update`. Negative starts count from the end; the slice is moved to lie
    /// within the array (`jax.lax.dynamic_update_slice`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::zeros(&[4], ramie_core::DType::I32);
    /// let y = x.dynamic_update_slice(&Array::from([1, 2]), &[Array::from(1)]);
    /// assert_eq!(y.to_vec::<i32>(), [0, 1, 2, 0]);
    /// ```
    ///
    /// # Panics
    /// Panics unless there is one scalar integer start per axis, `update` fits into the array,
    /// and its dtype can be converted to the array's.
    #[track_caller]
    pub fn dynamic_update_slice<S: IntoArray + Clone>(
        &self,
        update: &Array,
        starts: &[S],
    ) -> Array {
        self.dynamic_update_slice_with(update, starts, NonNegative::along(&[]))
    }

    /// Same as [`dynamic_update_slice`](Array::dynamic_update_slice), for starts that are not
    /// negative (`allow_negative_indices=False`).
    ///
    /// # Panics
    /// Panics in the same cases as `dynamic_update_slice`.
    #[track_caller]
    pub fn dynamic_update_slice_with<S: IntoArray + Clone>(
        &self,
        update: &Array,
        starts: &[S],
        positive: NonNegative,
    ) -> Array {
        let starts: Vec<Array> = starts.iter().map(|s| s.clone().into_array()).collect();
        let starts = super::start_indices("dynamic_update_slice", self, &starts, &positive);
        let update = operands::as_dtype_of("dynamic_update_slice", self, update);
        let args: Vec<&Array> = [self, &update].into_iter().chain(&starts).collect();
        bind1(DynamicUpdateSlice, &args)
    }

    /// Returns the array with the elements along one axis from `start` on replaced by `update`;
    /// see [`dynamic_update_slice`](Array::dynamic_update_slice).
    ///
    /// # Panics
    /// Panics if the axis is out of range, if `start` is not a scalar integer, or if `update`
    /// does not fit.
    #[track_caller]
    pub fn dynamic_update_slice_in_dim(
        &self,
        update: &Array,
        start: impl IntoArray,
        axis: isize,
    ) -> Array {
        let positive = NonNegative::along(&[]);
        self.dynamic_update_slice_in_dim_with(update, start, axis, positive)
    }

    /// Same as [`dynamic_update_slice_in_dim`](Array::dynamic_update_slice_in_dim), for a start
    /// that is not negative (`allow_negative_indices=False`).
    ///
    /// # Panics
    /// Panics in the same cases as `dynamic_update_slice_in_dim`.
    #[track_caller]
    pub fn dynamic_update_slice_in_dim_with(
        &self,
        update: &Array,
        start: impl IntoArray,
        axis: isize,
        positive: NonNegative,
    ) -> Array {
        let axis = self.axis("dynamic_update_slice_in_dim", axis);
        let start = start.into_array();
        let mut starts = vec![Array::scalar(0, start.dtype()); self.ndim()];
        starts[axis] = start;
        self.dynamic_update_slice_with(update, &starts, positive)
    }
}

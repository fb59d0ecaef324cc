//! `top_k`.

use super::along;
use crate::extend::ShardingRule;
use crate::prim::index::positions;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};
use smallvec::SmallVec;

/// Returns the `k` largest elements along an axis, in decreasing order, and their indices in
/// `i32`; equal elements keep their order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TopK {
    /// Number of elements to return.
    pub k: usize,
    /// Axis along which elements are selected.
    pub axis: usize,
}

impl Primitive for TopK {
    fn name(&self) -> &'static str {
        "top_k"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("axis", Param::new(self.axis)),
            ("is_stable", Param::flag(true)),
            ("k", Param::new(self.k)),
        ]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::strong()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        Class::Ordered.check(args[0].dtype())?;
        crate::ensure_shape!(
            self.axis < args[0].ndim(),
            "axis {} is out of range for {}",
            self.axis,
            args[0]
        );
        let mut shape: Dims = args[0].shape().into();
        if self.k > shape[self.axis] {
            return Err(ShapeError::new(format!(
                "axis {} has {} elements, fewer than k = {}",
                self.axis, shape[self.axis], self.k
            ))
            .help("k must be at most the size of the axis"));
        }
        let what = format!("the last position along axis {} is", self.axis);
        positions::check_count(&what, shape[self.axis].saturating_sub(1), DType::I32)?;
        shape[self.axis] = self.k;
        let values = args[0].with_shape(&shape);
        let positions = Aval::new(&shape, DType::I32);
        Ok(Avals::from_iter([values, positions]))
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::along(args, outs, &[self.axis]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|_, tangents, outs| {
            let values = tangents[0].as_ref().map(|t| along(t, &outs[1], self.axis));
            vec![values, None]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        let at = axes[0].expect("the operand is batched");
        let axis = self.axis + usize::from(self.axis >= at);
        let outs = bind(TopK { k: self.k, axis }, &[&args[0]]);
        (outs, SmallVec::from_elem(Some(at), 2))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        // XLA's operation only supports the last axis.
        let rank = args[0].ndim();
        let mut order: Dims = (0..rank).collect();
        order.swap(self.axis, rank - 1);
        let turn = |ctx: &mut Lowering<'_>, x: Value| {
            if self.axis + 1 == rank {
                x
            } else {
                ctx.transpose(x, &order)
            }
        };
        // XLA's indices have the dtype's width if elements have less than a byte.
        let x = ctx.convert(args[0], args[0].dtype().whole_bytes());
        let x = turn(ctx, x);
        let mut shape = x.shape().to_vec();
        shape[rank - 1] = self.k;
        let values = x.aval().with_shape(&shape);
        let types = [values, values.with_dtype(outs[1].dtype())];
        let attributes = format!("k = {} : i64", self.k);
        let found = ctx.op("chlo.top_k", &[x], &types, &attributes, &[]);
        let largest = turn(ctx, found[0]);
        let positions = turn(ctx, found[1]);
        vec![ctx.convert(largest, outs[0].dtype()), positions]
    }
}

impl Array {
    /// Returns the `k` largest elements along the last axis in decreasing order, NaN first, and
    /// their indices in `i32`. Equal elements keep their order, as with JAX's default
    /// `is_stable=True`.
    ///
    /// # Panics
    /// Panics if the array is 0-d or complex, or if the last axis has fewer than `k` elements.
    #[track_caller]
    pub fn top_k(&self, k: usize) -> (Array, Array) {
        self.top_k_with(k, -1)
    }

    /// Same as [`top_k`](Array::top_k), along the given axis (`jax.lax.top_k` with `axis=`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let (largest, rows) = Array::from([[1, 8], [4, 2], [9, 5]]).top_k_with(2, 0);
    /// assert_eq!(largest.to_vec::<i32>(), [9, 8, 4, 5]);
    /// assert_eq!(rows.to_vec::<i32>(), [2, 0, 1, 2]);
    /// ```
    ///
    /// # Panics
    /// Panics if the array is complex, if the axis is out of range, or if it has fewer than `k`
    /// elements.
    #[track_caller]
    pub fn top_k_with(&self, k: usize, axis: isize) -> (Array, Array) {
        let axis = self.axis("top_k", axis);
        let mut outs = bind(TopK { k, axis }, &[self]);
        let positions = outs.pop().expect("positions");
        (outs.pop().expect("values"), positions)
    }
}

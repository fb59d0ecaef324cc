//! `slice`: a contiguous or strided range of elements along each axis.

use crate::extend::ShardingRule;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, one};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};

/// Returns the elements from `start_indices` (inclusive) to `limit_indices` (exclusive), with
/// `strides`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Index of the first element along each axis.
    pub start_indices: Dims,
    /// Exclusive end index along each axis.
    pub limit_indices: Dims,
    /// Stride along each axis; `None` is 1 for all axes.
    pub strides: Option<Dims>,
}

impl Slice {
    fn stride(&self, axis: usize) -> usize {
        self.strides.as_ref().map_or(1, |s| s[axis])
    }
}

impl Primitive for Slice {
    fn name(&self) -> &'static str {
        "slice"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("limit_indices", Param::tuple(&self.limit_indices)),
            ("start_indices", Param::tuple(&self.start_indices)),
            (
                "strides",
                match &self.strides {
                    Some(strides) => Param::tuple(strides),
                    None => Param::new("None"),
                },
            ),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let operand = args[0];
        let rank = operand.ndim();
        let (start, limit) = (&self.start_indices, &self.limit_indices);
        if start.len() != rank
            || limit.len() != rank
            || self.strides.as_ref().is_some_and(|s| s.len() != rank)
        {
            return Err(ShapeError::new(format!(
                "{operand} has {rank} axes, got {} starts, {} limits and {} strides",
                start.len(),
                limit.len(),
                self.strides.as_ref().map_or(rank, |s| s.len())
            ))
            .help("pass one number for each axis"));
        }
        let mut shape = Dims::new();
        for d in 0..rank {
            let stride = self.stride(d);
            if start[d] > limit[d] || limit[d] > operand.shape()[d] || stride == 0 {
                return Err(ShapeError::new(format!(
                    "axis {d} of size {} does not contain the range {}..{} in steps of {stride}",
                    operand.shape()[d],
                    start[d],
                    limit[d]
                ))
                .help("start ≤ limit ≤ size, and strides must be positive"));
            }
            shape.push((limit[d] - start[d]).div_ceil(stride));
        }
        one(operand.with_shape(&shape))
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, operand| {
            let config: Vec<(isize, isize, usize)> = (0..operand.ndim())
                .map(|d| {
                    let (start, stride, n) = (self.start_indices[d], self.stride(d), ct.shape()[d]);
                    let end = if n == 0 {
                        start
                    } else {
                        start + (n - 1) * stride + 1
                    };
                    let after = operand.shape()[d] - end;
                    (start as isize, after as isize, stride - 1)
                })
                .collect();
            ct.lax_pad(&config, Array::scalar(0, ct.dtype()))
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let size = axis.size;
        let axis = axes[0].expect("the operand is batched");
        let mut slice = self.clone();
        slice.start_indices.insert(axis, 0);
        slice.limit_indices.insert(axis, size);
        if let Some(strides) = &mut slice.strides {
            strides.insert(axis, 1);
        }
        batched(bind1(slice, &[&args[0]]), Some(axis))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let strides: Dims = (0..args[0].ndim()).map(|d| self.stride(d)).collect();
        vec![ctx.slice(args[0], &self.start_indices, &self.limit_indices, &strides)]
    }
}

impl Array {
    /// Returns the elements from `start_indices` (inclusive) to `limit_indices` (exclusive)
    /// (`jax.lax.slice`). [`index`](Array::index) is more convenient.
    ///
    /// # Panics
    /// Panics unless there is one number per axis, and `start ≤ limit ≤ size`.
    #[track_caller]
    pub fn slice(&self, start_indices: &[usize], limit_indices: &[usize]) -> Array {
        self.strided(start_indices, limit_indices, None)
    }

    /// Same as [`slice`](Array::slice), but returns every `strides[i]`-th element along axis `i`.
    ///
    /// # Panics
    /// Panics unless there is one number per axis, `start ≤ limit ≤ size`, and strides are
    /// positive.
    #[track_caller]
    pub fn slice_with(
        &self,
        start_indices: &[usize],
        limit_indices: &[usize],
        strides: &[usize],
    ) -> Array {
        self.strided(start_indices, limit_indices, Some(strides))
    }

    #[track_caller]
    fn strided(
        &self,
        start_indices: &[usize],
        limit_indices: &[usize],
        strides: Option<&[usize]>,
    ) -> Array {
        let strides = strides.filter(|s| s.iter().any(|&s| s != 1));
        let whole = strides.is_none()
            && start_indices.len() == self.ndim()
            && start_indices.iter().all(|&s| s == 0)
            && limit_indices == self.shape();
        if whole {
            return self.clone();
        }
        let slice = Slice {
            start_indices: start_indices.into(),
            limit_indices: limit_indices.into(),
            strides: strides.map(Dims::from),
        };
        bind1(slice, &[self])
    }

    /// Returns the elements `start..limit` along one axis.
    ///
    /// # Panics
    /// Panics if the range is out of bounds.
    #[track_caller]
    pub(crate) fn slice_axis(&self, axis: usize, start: usize, limit: usize) -> Array {
        let mut starts = Dims::from_elem(0, self.ndim());
        let mut limits: Dims = self.shape().into();
        (starts[axis], limits[axis]) = (start, limit);
        self.slice(&starts, &limits)
    }

    /// Returns every `stride`-th of the elements `start..limit` along one axis
    /// (`jax.lax.slice_in_dim`).
    ///
    /// # Panics
    /// Panics if the axis is out of range, or if the range is out of bounds.
    #[track_caller]
    pub fn slice_in_dim(&self, start: usize, limit: usize, stride: usize, axis: isize) -> Array {
        let axis = self.axis("slice_in_dim", axis);
        let mut starts = Dims::from_elem(0, self.ndim());
        let mut limits: Dims = self.shape().into();
        let mut strides = Dims::from_elem(1, self.ndim());
        (starts[axis], limits[axis], strides[axis]) = (start, limit, stride);
        self.slice_with(&starts, &limits, &strides)
    }
}

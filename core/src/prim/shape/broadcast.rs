//! `broadcast_in_dim`, and other ways of broadcasting.

use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::sharding::OutSharding;
use crate::typing::Dims;
use crate::{Array, Aval, PartitionSpec, ShapeError};

/// Broadcasts the operand to `shape`: its axis `i` becomes axis `broadcast_dimensions[i]`,
/// repeated if its size is 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BroadcastInDim {
    /// Shape of the result.
    pub shape: Dims,
    /// Axes of the result to which the operand's axes correspond, in increasing order.
    pub broadcast_dimensions: Dims,
    /// Sharding of the result. Defaults to the operand's, with new axes unsharded.
    pub sharding: Option<OutSharding>,
}

impl Primitive for BroadcastInDim {
    fn name(&self) -> &'static str {
        "broadcast_in_dim"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            out_sharding: self.sharding,
            ..Facts::elementwise()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        // The shape is part of the result's type, which is already printed.
        match self.broadcast_dimensions.as_slice() {
            [] => Vec::new(),
            dims => vec![("broadcast_dimensions", Param::tuple(dims))],
        }
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let (from, dims) = (args[0].shape(), &self.broadcast_dimensions);
        let fits = dims.len() == from.len()
            && dims.is_sorted_by(|a, b| a < b)
            && dims
                .iter()
                .zip(from)
                .all(|(&d, &n)| self.shape.get(d).is_some_and(|&m| m == n || n == 1));
        if !fits {
            return Err(ShapeError::new(format!(
                "{:?} does not broadcast to {:?} with its axes at {:?}",
                from,
                self.shape.as_slice(),
                dims.as_slice()
            ))
            .help("each axis must keep its size or have size 1, and axes must keep their order"));
        }
        one(args[0].with_shape(&self.shape))
    }
    fn sharding(&self, _: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        if let Some(sharding) = self.sharding {
            return Ok(ShardingRule::Specs(vec![sharding.spec().clone()]));
        }
        let to = self.broadcast_dimensions.iter().map(|&d| Some(d));
        Ok(ShardingRule::moved(to, outs[0].ndim()))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, operand| {
            let from = operand.shape();
            let axes: Vec<isize> = (0..self.shape.len())
                .filter(
                    |d| match self.broadcast_dimensions.iter().position(|b| b == d) {
                        None => true,
                        Some(i) => from[i] == 1 && self.shape[*d] != 1,
                    },
                )
                .map(|d| d as isize)
                .collect();
            ct.reduce_sum(&axes).reshape(from)
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let x = crate::prim::move_batch_axis(&args[0], axes[0], 0, axis);
        let sharding = self.sharding.map(|s| s.batched(0, x.aval(), 0));
        let mut shape = self.shape.clone();
        shape.insert(0, axis.size);
        let dims: Dims = std::iter::once(0)
            .chain(self.broadcast_dimensions.iter().map(|d| d + 1))
            .collect();
        batched(x.repeated(&shape, &dims, sharding), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        vec![ctx.broadcast_in_dim(args[0], outs[0].shape(), &self.broadcast_dimensions)]
    }
}

impl Array {
    /// Broadcasts the array to `shape`: its axis `i` becomes axis `dims[i]`.
    ///
    /// # Panics
    /// Panics if the size of an axis changes from a value other than 1, or if axes change order.
    #[track_caller]
    pub fn broadcast_in_dim(&self, shape: &[usize], dims: &[usize]) -> Array {
        self.repeated(shape, dims, None)
    }

    /// Same as [`broadcast_in_dim`](Array::broadcast_in_dim), with the result sharded by
    /// `out_sharding` over explicit mesh axes.
    ///
    /// # Panics
    /// Panics in the same cases as `broadcast_in_dim`, and if `out_sharding` does not fit the
    /// mesh or the shape.
    #[track_caller]
    pub fn broadcast_in_dim_with(
        &self,
        shape: &[usize],
        dims: &[usize],
        out_sharding: impl Into<PartitionSpec>,
    ) -> Array {
        let spec = out_sharding.into();
        let sharding = OutSharding::new("broadcast_in_dim", &[self.aval()], &spec, shape.len());
        self.repeated(shape, dims, Some(sharding))
    }

    #[track_caller]
    pub(crate) fn repeated(
        &self,
        shape: &[usize],
        dims: &[usize],
        sharding: Option<OutSharding>,
    ) -> Array {
        let same = self.shape() == shape && dims.iter().enumerate().all(|(i, &d)| i == d);
        if same && sharding.is_none_or(|s| *s.spec() == self.aval().spec()) {
            return self.clone();
        }
        let (shape, broadcast_dimensions) = (shape.into(), dims.into());
        bind1(
            BroadcastInDim {
                shape,
                broadcast_dimensions,
                sharding,
            },
            &[self],
        )
    }

    /// Broadcasts the array to `shape` by NumPy's rules.
    ///
    /// # Panics
    /// Panics if the array does not broadcast to `shape`.
    #[track_caller]
    pub fn broadcast_to(&self, shape: &[usize]) -> Array {
        let dims = self.dims_in(shape);
        self.broadcast_in_dim(shape, &dims)
    }

    /// Same as [`broadcast_to`](Array::broadcast_to), with the result sharded by `out_sharding`
    /// over explicit mesh axes.
    ///
    /// # Panics
    /// Panics in the same cases as `broadcast_to`, and if `out_sharding` does not fit the mesh or
    /// the shape.
    #[track_caller]
    pub fn broadcast_to_with(
        &self,
        shape: &[usize],
        out_sharding: impl Into<PartitionSpec>,
    ) -> Array {
        let dims = self.dims_in(shape);
        self.broadcast_in_dim_with(shape, &dims, out_sharding)
    }

    /// Returns the dimensions of `shape` that the axes broadcast to by NumPy's rules.
    #[track_caller]
    fn dims_in(&self, shape: &[usize]) -> Dims {
        assert!(
            crate::numpy::broadcast_shapes(&[self.shape(), shape])
                .is_some_and(|s| s.as_slice() == shape),
            "broadcast_to: {} does not broadcast to {shape:?}\n  help: shapes are aligned at their \
             last axes; each axis must keep its size or have size 1",
            self.aval()
        );
        (shape.len() - self.ndim()..shape.len()).collect()
    }

    /// Inserts axes of size 1, such that they have these indices in the result.
    ///
    /// # Panics
    /// Panics if an index is out of range or occurs twice.
    #[track_caller]
    pub fn expand_dims(&self, axes: &[isize]) -> Array {
        let inserted = self.new_axes("expand_dims", axes);
        let rank = self.ndim() + inserted.len();
        let dims: Dims = (0..rank).filter(|d| !inserted.contains(d)).collect();
        let mut shape: Dims = Dims::from_elem(1, rank);
        for (&d, &n) in dims.iter().zip(self.shape()) {
            shape[d] = n;
        }
        self.broadcast_in_dim(&shape, &dims)
    }

    /// Normalizes the indices of new axes, counted in the result.
    #[track_caller]
    pub(crate) fn new_axes(&self, operation: &str, axes: &[isize]) -> Dims {
        let rank = self.ndim() + axes.len();
        let mut inserted = Dims::new();
        for &axis in axes {
            let normal = if axis < 0 { axis + rank as isize } else { axis };
            assert!(
                (0..rank as isize).contains(&normal),
                "{operation}: axis {axis} is out of range for a result of {rank} axes, from {}\n  \
                 help: pass an axis from {} to {}",
                self.aval(),
                -(rank as isize),
                rank as isize - 1
            );
            assert!(
                !inserted.contains(&(normal as usize)),
                "{operation}: axis {axis} appears twice in {axes:?}\n  help: pass every axis once; \
                 negative axes count from the end of the result"
            );
            inserted.push(normal as usize);
        }
        inserted
    }
}

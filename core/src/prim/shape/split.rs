//! `split`: divides an array along an axis.

use super::Concatenate;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{bind, bind1};
use crate::{Array, Aval, Dims, ShapeError, ShardingRule};

/// Splits an array into parts of given sizes along an axis, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Split {
    /// Size of each part.
    pub sizes: Dims,
    /// Axis that is split.
    pub axis: usize,
}

impl Primitive for Split {
    fn name(&self) -> &'static str {
        "split"
    }
    fn params(&self) -> Vec<(&'static str, Param)> {
        vec![
            ("axis", Param::new(self.axis)),
            ("sizes", Param::tuple(&self.sizes)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let (operand, axis) = (args[0], self.axis);
        crate::ensure_shape!(
            axis < operand.ndim(),
            "axis {axis} is out of range for {operand}"
        );
        let total = (self.sizes.iter()).fold(0usize, |sum, &n| sum.saturating_add(n));
        if total != operand.shape()[axis] {
            return Err(ShapeError::new(format!(
                "parts of sizes {:?} have {total} elements, but axis {axis} has {}",
                self.sizes.as_slice(),
                operand.shape()[axis]
            ))
            .help("the sum of the sizes must be the size of the axis"));
        }
        let part = |&n: &usize| {
            let mut shape: Dims = operand.shape().into();
            shape[axis] = n;
            operand.with_shape(&shape)
        };
        Ok(self.sizes.iter().map(part).collect())
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Linear(Box::new(|cts, operands| {
            let aval = operands[0].aval();
            let parts: Vec<Array> = cts
                .iter()
                .zip(&self.sizes)
                .map(|(ct, &n)| {
                    ct.clone().unwrap_or_else(|| {
                        let mut shape: Dims = aval.shape().into();
                        shape[self.axis] = n;
                        Array::zeros(&shape, aval.dtype())
                    })
                })
                .collect();
            let refs: Vec<&Array> = parts.iter().collect();
            let dimension = self.axis;
            vec![Some(bind1(Concatenate { dimension }, &refs))]
        }))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        let batch = axes[0].expect("the operand is batched");
        let split = Split {
            sizes: self.sizes.clone(),
            axis: self.axis + usize::from(self.axis >= batch),
        };
        let outs = bind(split, &[&args[0]]);
        let axes = outs.iter().map(|_| Some(batch)).collect();
        (outs, axes)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let mut start = 0;
        let part = |n: &usize| {
            let range = start..start + n;
            start = range.end;
            ctx.slice_in_dim(args[0], self.axis, range)
        };
        self.sizes.iter().map(part).collect()
    }
}

/// Maximum number of equal parts. A longer list of arrays would exhaust memory before
/// compilation.
pub(crate) const MOST_PARTS: usize = 1 << 20;

impl Array {
    /// Splits the array into parts of the given sizes along an axis (`jax.lax.split`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let parts = Array::arange(5).split_sizes(&[2, 3], 0);
    /// assert_eq!(parts[1].to_vec::<i32>(), [2, 3, 4]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range, or if the sum of the sizes is not the axis's size.
    #[track_caller]
    pub fn split_sizes(&self, sizes: &[usize], axis: isize) -> Vec<Array> {
        let axis = self.axis("split", axis);
        let sizes = sizes.into();
        bind(Split { sizes, axis }, &[self]).into_vec()
    }

    /// Splits the array into `sections` equal parts along an axis.
    ///
    /// # Panics
    /// Panics if the axis is out of range, if `sections` does not divide its size, or if there
    /// are more than 2²⁰ sections.
    #[track_caller]
    pub fn split(&self, sections: usize, axis: isize) -> Vec<Array> {
        let at = self.axis("split", axis);
        let size = self.shape()[at];
        assert!(
            sections <= MOST_PARTS,
            "split: {} along axis {at} into {sections} arrays\n  help: at most {MOST_PARTS} arrays \
             can be created; keep the axis, or map a function over it with `map` or `vmap`",
            self.aval()
        );
        assert!(
            sections > 0 && size.is_multiple_of(sections),
            "split: axis {at} of {} does not divide into {sections} equal parts\n  help: use \
             `split_sizes` for parts of different sizes",
            self.aval()
        );
        self.split_sizes(&vec![size / sections; sections], axis)
    }

    /// Splits the array before each of `indices` along an axis (`jnp.split(x, indices)`); indices
    /// past the end yield empty parts.
    ///
    /// # Panics
    /// Panics if the axis is out of range, or if the indices are not increasing.
    #[track_caller]
    pub fn split_at(&self, indices: &[usize], axis: isize) -> Vec<Array> {
        let at = self.axis("split_at", axis);
        assert!(
            indices.is_sorted(),
            "split_at: the indices {indices:?} are not in increasing order"
        );
        let size = self.shape()[at];
        let mut sizes = Vec::with_capacity(indices.len() + 1);
        let mut start = 0;
        for &i in indices.iter().chain([&size]) {
            let end = i.min(size);
            sizes.push(end - start);
            start = end;
        }
        self.split_sizes(&sizes, axis)
    }
}

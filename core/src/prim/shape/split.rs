//! `split`: divides an array along an axis.

use super::Concatenate;
use crate::extend::ShardingRule;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{bind, bind1};
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};

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
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
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

/// A number, or a list of numbers: the parts of [`Array::split`] or the counts of [`Array::repeat`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OneOrMany {
    /// A number.
    One(usize),
    /// A list.
    Many(Dims),
}

impl From<usize> for OneOrMany {
    fn from(one: usize) -> OneOrMany {
        OneOrMany::One(one)
    }
}

impl<A: AsRef<[usize]> + ?Sized> From<&A> for OneOrMany {
    fn from(many: &A) -> OneOrMany {
        OneOrMany::Many(many.as_ref().into())
    }
}

impl<const N: usize> From<[usize; N]> for OneOrMany {
    fn from(many: [usize; N]) -> OneOrMany {
        OneOrMany::from(&many)
    }
}

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

    /// Splits the array along an axis into a number of equal parts, or before each of several
    /// indices (`jnp.split`). Indices past the end yield empty parts.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::arange(6).split(3, 0)[1].to_vec::<i32>(), [2, 3]);
    /// assert_eq!(Array::arange(6).split([1, 4], 0)[1].to_vec::<i32>(), [1, 2, 3]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range, if the number does not divide its size or is larger than
    /// 2²⁰, or if the indices are not increasing.
    #[track_caller]
    pub fn split(&self, parts: impl Into<OneOrMany>, axis: isize) -> Vec<Array> {
        let at = self.axis("split", axis);
        let size = self.shape()[at];
        let sections = match parts.into() {
            OneOrMany::One(sections) => sections,
            OneOrMany::Many(indices) => return self.split_before(&indices, axis, size),
        };
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

    #[track_caller]
    fn split_before(&self, indices: &[usize], axis: isize, size: usize) -> Vec<Array> {
        assert!(
            indices.is_sorted(),
            "split: the indices {indices:?} are not in increasing order"
        );
        let mut start = 0;
        let ends = indices.iter().chain([&size]).map(|&i| i.min(size));
        let sizes = ends.map(|end| end - std::mem::replace(&mut start, end));
        self.split_sizes(&sizes.collect::<Vec<_>>(), axis)
    }
}

//! `reshape` and `squeeze`.

use super::into_shape::{Order, ReshapeOption};
use super::reshape_sharding::reshaped_spec;
use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::sharding::OutSharding;
use crate::types::aval::element_count;
use crate::typing::{Dims, IntoShape};
use crate::{Array, Aval, ShapeError};

/// Reshapes the operand; elements keep their row-major order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reshape {
    /// Shape of the result.
    pub new_sizes: Dims,
    /// Sharding of the result. Defaults to the operand's, if it is unambiguous.
    pub sharding: Option<OutSharding>,
}

impl Primitive for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            out_sharding: self.sharding,
            ..Facts::elementwise()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("dimensions", Param::new("None")),
            ("new_sizes", Param::tuple(&self.new_sizes)),
            ("sharding", Param::optional(self.sharding)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let size = element_count(&self.new_sizes);
        if size != args[0].size() {
            return Err(ShapeError::new(format!(
                "{} elements cannot take the shape {:?}, which has {size}",
                args[0].size(),
                self.new_sizes.as_slice()
            ))
            .help("the product of the new dimensions must be the number of elements"));
        }
        one(args[0].with_shape(&self.new_sizes))
    }
    fn sharding(&self, args: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        let spec = match self.sharding {
            Some(sharding) => sharding.spec().clone(),
            None => reshaped_spec(args[0], &self.new_sizes)?,
        };
        Ok(ShardingRule::Specs(vec![spec]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, operand| ct.reshaped_as(operand))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let x = crate::prim::move_batch_axis(&args[0], axes[0], 0, axis);
        let sharding = self.sharding.map(|s| s.batched(0, x.aval(), 0));
        let mut shape = self.new_sizes.clone();
        shape.insert(0, axis.size);
        batched(x.reshaped(&shape, sharding), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        vec![ctx.reshape(args[0], outs[0].shape())]
    }
}

/// Removes dimensions of size 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Squeeze {
    /// Dimensions to remove, in increasing order.
    pub dimensions: Dims,
}

impl Primitive for Squeeze {
    fn name(&self) -> &'static str {
        "squeeze"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::elementwise()
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("dimensions", Param::tuple(&self.dimensions))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let shape = args[0].shape();
        if let Some(&d) = self.dimensions.iter().find(|&&d| shape[d] != 1) {
            return Err(ShapeError::new(format!(
                "axis {d} has size {}, but only axes of size 1 can be removed",
                shape[d]
            ))
            .help("use reshape to join axes, or index the axis to pick one element"));
        }
        let kept: Dims = (0..shape.len())
            .filter(|d| !self.dimensions.contains(d))
            .map(|d| shape[d])
            .collect();
        one(args[0].with_shape(&kept))
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        let kept = (0..args[0].ndim()).map(|d| !self.dimensions.contains(&d));
        let mut next = 0;
        let to = kept.map(|kept| {
            next += usize::from(kept);
            kept.then(|| next - 1)
        });
        Ok(ShardingRule::moved(to.collect::<Vec<_>>(), outs[0].ndim()))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, operand| ct.reshaped_as(operand))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let x = crate::prim::move_batch_axis(&args[0], axes[0], 0, axis);
        let dimensions = self.dimensions.iter().map(|d| d + 1).collect();
        batched(bind1(Squeeze { dimensions }, &[&x]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        vec![ctx.reshape(args[0], outs[0].shape())]
    }
}

impl Array {
    /// Reshapes the array; elements keep their row-major order.
    ///
    /// The shape is an integer, a tuple of integers, or a reference to an array, a slice or a `Vec`.
    /// A size of -1 is inferred from the number of elements. In a tuple, `usize` sizes and -1 can be
    /// mixed. `()` is the shape of a 0-d array.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::arange(12).reshape(&[3, 4]);
    /// assert_eq!(x.reshape(&[2, -1]).shape(), [2, 6]);
    /// assert_eq!(x.reshape((x.shape()[0], 2, -1)).shape(), [3, 2, 2]);
    /// assert_eq!(x.reshape(-1).shape(), [12]);
    /// ```
    ///
    /// # Panics
    /// Panics if the shapes have different numbers of elements, or if more than one size is -1.
    #[doc(alias = "view")]
    #[track_caller]
    pub fn reshape(&self, shape: impl IntoShape) -> Array {
        self.reshaped(&shape.into_shape().of("reshape", self), None)
    }

    /// Same as [`reshape`](Array::reshape), with an [`Order`] in which elements are read and
    /// written, with the order of the axes in which they are read
    /// ([`Dimensions`](crate::lax::Dimensions)), or with the sharding of the result over explicit
    /// mesh axes (`jnp.reshape` with `order=` or `out_sharding=`, `lax.reshape` with `dimensions=`).
    ///
    /// ```no_run
    /// use ramie_core::numpy::Order;
    /// use ramie_core::Array;
    /// let x = Array::arange(6).reshape_with((2, -1), Order::F);
    /// assert_eq!(x.to_vec::<i32>(), [0, 2, 4, 1, 3, 5]);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as `reshape`, and if the sharding does not fit the mesh or the
    /// shape.
    #[track_caller]
    pub fn reshape_with(&self, shape: impl IntoShape, option: impl Into<ReshapeOption>) -> Array {
        let mut shape = shape.into_shape().of("reshape", self);
        match option.into() {
            ReshapeOption::Order(Order::C) => self.reshape(&shape),
            ReshapeOption::Order(Order::F) => {
                shape.reverse();
                self.t().reshape(&shape).t()
            }
            ReshapeOption::Dimensions(axes) => self.transpose(&axes.0).reshape(&shape),
            ReshapeOption::OutSharding(spec) => {
                let sharding = OutSharding::new("reshape", &[self.aval()], &spec, shape.len());
                self.reshaped(&shape, Some(sharding))
            }
        }
    }

    #[track_caller]
    fn reshaped(&self, shape: &[usize], sharding: Option<OutSharding>) -> Array {
        let placed = sharding.is_none_or(|s| *s.spec() == self.aval().spec());
        if self.shape() == shape && placed {
            return self.clone();
        }
        let new_sizes = shape.into();
        let reshape = Reshape {
            new_sizes,
            sharding,
        };
        bind1(reshape, &[self])
    }

    /// Reshapes a cotangent to the shape of its operand, with the operand's sharding.
    #[track_caller]
    pub(crate) fn reshaped_as(&self, operand: Aval) -> Array {
        self.reshaped(
            operand.shape(),
            OutSharding::of_cotangent(operand, &[self.aval()]),
        )
    }

    /// Merges the axes of a range into one: `x.flatten(1..)` keeps the first axis.
    ///
    /// # Panics
    /// Panics if the range is empty or out of bounds.
    #[track_caller]
    pub fn flatten(&self, axes: impl std::ops::RangeBounds<usize>) -> Array {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let start = match axes.start_bound() {
            Included(&s) => s,
            Excluded(&s) => s + 1,
            Unbounded => 0,
        };
        let end = match axes.end_bound() {
            Included(&e) => e + 1,
            Excluded(&e) => e,
            Unbounded => self.ndim(),
        };
        let shape = self.shape();
        if self.ndim() == 0 && start == 0 {
            return self.reshape(&[1]);
        }
        assert!(
            start < end && end <= shape.len(),
            "flatten: axes {start}..{end} are not a range of {}\n  help: axes run from 0 to {}",
            self.aval(),
            shape.len().saturating_sub(1)
        );
        let mut to: Dims = shape[..start].into();
        to.push(shape[start..end].iter().product());
        to.extend_from_slice(&shape[end..]);
        self.reshape(&to)
    }

    /// Removes the given axes, which must have size 1; removes all such axes if `axes` is empty.
    ///
    /// # Panics
    /// Panics if an axis is out of range or has another size.
    #[track_caller]
    pub fn squeeze(&self, axes: &[isize]) -> Array {
        let mut dimensions = if axes.is_empty() {
            (0..self.ndim()).filter(|&d| self.shape()[d] == 1).collect()
        } else {
            self.axes("squeeze", axes)
        };
        dimensions.sort_unstable();
        if dimensions.is_empty() {
            return self.clone();
        }
        bind1(Squeeze { dimensions }, &[self])
    }
}

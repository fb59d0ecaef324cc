//! `transpose`, and other permutations of axes.

use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};

/// Permutes axes: result axis `i` is operand axis `permutation[i]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Transpose {
    /// Axis of the operand for each axis of the result.
    pub permutation: Dims,
}

impl Primitive for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::elementwise()
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("permutation", Param::tuple(&self.permutation))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let mut sorted = self.permutation.clone();
        sorted.sort_unstable();
        if sorted.iter().copied().ne(0..args[0].ndim()) {
            return Err(ShapeError::new(format!(
                "{:?} is not a permutation of the {} axes",
                self.permutation.as_slice(),
                args[0].ndim()
            ))
            .help("pass each axis once"));
        }
        let shape: Dims = self
            .permutation
            .iter()
            .map(|&d| args[0].shape()[d])
            .collect();
        one(args[0].with_shape(&shape))
    }
    fn sharding(&self, _: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        let to = |d| self.permutation.iter().position(|p| *p == d);
        Ok(ShardingRule::moved(
            (0..outs[0].ndim()).map(to),
            outs[0].ndim(),
        ))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, _| {
            let mut inverse: Dims = self.permutation.clone();
            for (i, &p) in self.permutation.iter().enumerate() {
                inverse[p] = i;
            }
            ct.permute(inverse)
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        let axis = axes[0].expect("the operand is batched");
        let permutation = std::iter::once(axis)
            .chain(self.permutation.iter().map(|&p| p + usize::from(p >= axis)))
            .collect();
        batched(args[0].permute(permutation), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        vec![ctx.transpose(args[0], &self.permutation)]
    }
}

impl Array {
    #[track_caller]
    fn permute(&self, permutation: Dims) -> Array {
        if permutation.iter().enumerate().all(|(i, &p)| i == p) && permutation.len() == self.ndim()
        {
            return self.clone();
        }
        bind1(Transpose { permutation }, &[self])
    }

    /// Permutes axes: axis `i` of the result is axis `permutation[i]`.
    ///
    /// # Panics
    /// Panics unless `permutation` contains every axis exactly once.
    #[track_caller]
    pub fn transpose(&self, permutation: &[isize]) -> Array {
        self.permute(self.axes("transpose", permutation))
    }

    /// Reverses the order of the axes; for a matrix, returns its transpose.
    #[track_caller]
    pub fn t(&self) -> Array {
        self.permute((0..self.ndim()).rev().collect())
    }

    /// Moves one axis to another index.
    ///
    /// # Panics
    /// Panics if an axis is out of range.
    #[track_caller]
    pub fn move_axis(&self, from: isize, to: isize) -> Array {
        let (from, to) = (self.axis("move_axis", from), self.axis("move_axis", to));
        let mut permutation: Dims = (0..self.ndim()).filter(|&d| d != from).collect();
        permutation.insert(to, from);
        self.permute(permutation)
    }

    /// Exchanges two axes.
    ///
    /// # Panics
    /// Panics if an axis is out of range.
    #[track_caller]
    pub fn swap_axes(&self, a: isize, b: isize) -> Array {
        let mut permutation: Dims = (0..self.ndim()).collect();
        permutation.swap(self.axis("swap_axes", a), self.axis("swap_axes", b));
        self.permute(permutation)
    }
}

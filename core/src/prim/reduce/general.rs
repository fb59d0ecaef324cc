//! `reduce`: a reduction by a custom program.

use super::computation::{
    batched_reduction, combine, combine_halves, lower_in_whole_bytes, monoid, named_first,
    reduction_program, repeated, tangents,
};
use super::{ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceProd, ReduceSum, ReduceXor};
use super::{highest, lowest, reduced_shape};
use crate::dtypes::{Literal, Scalar};
use crate::extend::ShardingRule;
use crate::prim::operands;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Jaxprs, Nested, Param, Primitive};
use crate::program::jaxpr::Jaxpr;
use crate::program::lower::{Lowering, Value, dims_array};
use crate::program::trace::{bind, bind1};
use crate::typing::Dims;
use crate::{Array, Aval, DType, IntoArray, ShapeError};
use std::sync::Arc;

/// Combines elements along axes by a program; several arrays are reduced together. The operands
/// are the arrays, followed by one initial value for each array, which must be the program's
/// identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reduce {
    /// Axes that are reduced, in increasing order; at least one.
    pub dimensions: Dims,
    /// Program that combines two elements of each array, without captured values.
    pub jaxpr: Arc<Jaxpr>,
}

/// Returns an error if the operands are not arrays of the same shape and one scalar of each
/// dtype, or if the program does not combine them.
pub(crate) fn check_operands(jaxpr: &Jaxpr, args: &[Aval]) -> Result<(), ShapeError> {
    let n = args.len() / 2;
    crate::ensure_shape!(
        n > 0 && args.len() == 2 * n && jaxpr.outvars.len() == n,
        "{} operands for a computation of {} elements: expected arrays, and an initial value for \
         each",
        args.len(),
        jaxpr.outvars.len()
    );
    let types = jaxpr.out_avals();
    for i in 0..n {
        let (operand, start) = (args[i], args[n + i]);
        crate::ensure_shape!(
            operand.shape() == args[0].shape(),
            "array {i} is {operand}, array 0 is {}: arrays that are reduced together must have the \
             same shape",
            args[0]
        );
        if start.strong() != Aval::scalar(operand.dtype()) || operand.dtype() != types[i].dtype() {
            return Err(ShapeError::new(format!(
                "array {i} is {operand}, its initial value is {start}, and the computation returns \
                 {}",
                types[i]
            ))
            .help(
                "all three must have the same dtype, and the initial value must be 0-d: convert \
                 with astype",
            ));
        }
    }
    Ok(())
}

impl Reduce {
    /// Computes the same reduction with differentiable operations.
    fn by_halves(&self, args: &[Array]) -> Vec<Array> {
        let (arrays, starts) = args.split_at(args.len() / 2);
        let (order, kept) = named_first(arrays[0].ndim(), &self.dimensions);
        let shape: Dims = kept.iter().map(|&d| arrays[0].shape()[d]).collect();
        let count: usize = self
            .dimensions
            .iter()
            .map(|&d| arrays[0].shape()[d])
            .product();
        let starts: Vec<Array> = starts.iter().map(|s| repeated(s, &shape)).collect();
        if count == 0 {
            return starts;
        }
        let mut lined = vec![count];
        lined.extend_from_slice(&shape);
        let arrays: Vec<Array> = arrays
            .iter()
            .map(|x| x.transpose(&order).reshape(&lined))
            .collect();
        combine(&self.jaxpr, &starts, &combine_halves(&self.jaxpr, &arrays))
    }
}

impl Primitive for Reduce {
    fn name(&self) -> &'static str {
        "reduce"
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("dimensions", Param::tuple(&self.dimensions)),
            ("jaxpr", Param::Jaxpr(self.jaxpr.clone())),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        check_operands(&self.jaxpr, args)?;
        crate::ensure_shape!(
            !self.dimensions.is_empty(),
            "no axis to reduce: the result would be the operand"
        );
        let shape = reduced_shape(args[0], &self.dimensions)?;
        let arrays = args[..args.len() / 2].iter();
        Ok(arrays.map(|a| a.with_shape(&shape)).collect())
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::without(args, outs, &self.dimensions))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|p, t, _| tangents(|args| self.by_halves(args), p, t))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let dimensions: Dims = self.dimensions.iter().map(|d| d + 1).collect();
        batched_reduction(&self.jaxpr, args, axes, axis.size, |jaxpr, args| {
            bind(Reduce { dimensions, jaxpr }, args)
        })
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let attributes = format!("dimensions = {}", dims_array(&self.dimensions));
        lower_in_whole_bytes(ctx, "reduce", &[&self.jaxpr], args, outs, &attributes)
    }
}

impl Nested for Reduce {
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.jaxpr])
    }
}

/// Returns whether an array is the literal `identity`.
pub(crate) fn is_number(array: &Array, identity: Scalar) -> bool {
    let known = array
        .as_literal()
        .map(|l| Literal::new(l.value(), array.dtype()));
    known == Some(Literal::new(identity, array.dtype()))
}

/// Returns the built-in reduction that is equivalent to a program, if there is one.
fn single(jaxpr: &Jaxpr, x: &Array, start: &Array, axes: &Dims) -> Option<Array> {
    let dtype = x.dtype();
    let axes = || axes.clone();
    macro_rules! reduction {
        ($ty:ident, $identity:expr) => {
            is_number(start, $identity).then(|| bind1($ty { axes: axes() }, &[x]))
        };
    }
    match monoid(jaxpr)? {
        "add" => reduction!(ReduceSum, Scalar::Int(0)),
        "mul" => reduction!(ReduceProd, Scalar::Int(1)),
        "max" => reduction!(ReduceMax, lowest(dtype)),
        "min" => reduction!(ReduceMin, highest(dtype)),
        "and" => reduction!(ReduceAnd, Scalar::Int(-1)),
        "or" => reduction!(ReduceOr, Scalar::Int(0)),
        "xor" => reduction!(ReduceXor, Scalar::Int(0)),
        _ => None,
    }
}

/// Reduces several arrays of the same shape along axes together (`jax.lax.reduce`). `computation`
/// receives two scalars of each array and returns one. It must be associative and commutative,
/// with `init_values` as its identity. Without axes the results are the arrays themselves.
///
/// ```no_run
/// use ramie_core::lax::reduce;
/// use ramie_core::Array;
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// // The sum and the product, in one pass.
/// let both = |a: &[Array], b: &[Array]| vec![&a[0] + &b[0], &a[1] * &b[1]];
/// let starts = [Array::from(0.0f32), Array::from(1.0f32)];
/// let results = reduce(&[x.clone(), x], &starts, both, &[0]);
/// assert_eq!([results[0].item::<f32>(), results[1].item::<f32>()], [6.0, 6.0]);
/// ```
///
/// # Panics
/// Panics if shapes differ, if an axis is out of range or occurs twice, if the initial values are
/// not one scalar of each array's dtype, or if the computation captures arrays or returns other
/// types.
#[track_caller]
pub fn reduce(
    operands: &[Array],
    init_values: &[Array],
    computation: impl FnOnce(&[Array], &[Array]) -> Vec<Array>,
    axes: &[isize],
) -> Vec<Array> {
    let (Some(first), true) = (operands.first(), operands.len() == init_values.len()) else {
        panic!(
            "reduce: {} arrays and {} initial values\n  help: pass one or more arrays, and an \
             initial value for each",
            operands.len(),
            init_values.len()
        );
    };
    let mut dimensions = first.axes("reduce", axes);
    dimensions.sort_unstable();
    if dimensions.is_empty() {
        return operands.to_vec();
    }
    let types: Vec<DType> = operands.iter().map(Array::dtype).collect();
    let jaxpr = reduction_program("reduce", &types, computation);
    if operands.len() == 1
        && let Some(out) = single(&jaxpr, first, &init_values[0], &dimensions)
    {
        return vec![out];
    }
    let refs: Vec<&Array> = operands.iter().chain(init_values).collect();
    bind(Reduce { dimensions, jaxpr }, &refs).into_vec()
}

impl Array {
    /// Reduces the array along axes by a computation on scalars (`jax.lax.reduce`); see
    /// [`reduce`].
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([3, -5, 4]);
    /// let largest = |a: &Array, b: &Array| a.abs().maximum(b.abs());
    /// assert_eq!(x.reduce(0, largest, &[0]).item::<i32>(), 5);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`reduce`].
    #[track_caller]
    pub fn reduce(
        &self,
        init_value: impl IntoArray,
        computation: impl FnOnce(&Array, &Array) -> Array,
        axes: &[isize],
    ) -> Array {
        let start = operands::as_dtype_of("reduce", self, &init_value.into_array());
        let combine = |a: &[Array], b: &[Array]| vec![computation(&a[0], &b[0])];
        reduce(std::slice::from_ref(self), &[start], combine, axes).swap_remove(0)
    }
}

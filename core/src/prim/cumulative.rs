//! Cumulative reductions: `cumsum` and related operations.

use super::associative_scan::{AssociativeScanOptions, associative_scan_with};
use super::{Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one};
use crate::dtypes::Scalar;
use crate::extend::ShardingRule;
use crate::passes::jvp_of;
use crate::prim::reduce::{highest, lowest};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Region, Value, dims_array, padding_attribute};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};

/// An entry of the table of cumulative reductions, for tests and documentation.
pub struct CumulativeRow {
    /// Struct that implements the primitive.
    pub ty: &'static str,
    /// Name in a jaxpr.
    pub name: &'static str,
    /// Supported dtypes.
    pub class: Class,
    /// Applies the operation along an axis; the flag selects the reverse direction.
    pub apply: fn(&Array, isize, bool) -> Array,
}

macro_rules! differentiation {
    ($self:ident, linear) => {
        Differentiation::linear(|ct, _| {
            let (axis, reverse) = ($self.axis, !$self.reverse);
            bind1(Cumsum { axis, reverse }, &[ct])
        })
    };
    ($self:ident, $combine:expr) => {
        Differentiation::jvp(|primals, tangents, _| {
            if tangents[0].is_none() {
                return vec![None];
            }
            let scan = |x: &[Array]| {
                let combine = |a: Array, b: Array| $combine(&a, &b);
                let (reverse, axis) = ($self.reverse, $self.axis as isize);
                let options = AssociativeScanOptions { reverse, axis };
                vec![associative_scan_with(combine, x[0].clone(), options)]
            };
            vec![jvp_of(scan, primals, tangents).1.pop()]
        })
    };
}

macro_rules! cumulative {
    ($( $(#[$doc:meta])* $ty:ident $f:ident $reversed:ident $class:ident $identity:expr,
        {$region:expr} [$($diff:tt)+]; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty {
            /// Axis along which elements are combined.
            pub axis: usize,
            /// Whether to start at the end of the axis.
            pub reverse: bool,
        }
        impl Primitive for $ty {
            fn name(&self) -> &'static str { stringify!($f) }
            fn facts(&self) -> Facts<'_> {
                Facts { checks: Class::$class.checks(), ..Facts::default() }
            }
            fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
                vec![("axis", Param::new(self.axis)), ("reverse", Param::flag(self.reverse))]
            }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                Class::$class.check(args[0].dtype())?;
                crate::ensure_shape!(
                    self.axis < args[0].ndim(),
                    "axis {} is out of range for {}", self.axis, args[0]
                );
                one(args[0])
            }
            fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
                Ok(ShardingRule::along(args, outs, &[self.axis]))
            }
            fn differentiation(&self) -> Differentiation<'_> { differentiation!(self, $($diff)+) }
            fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
                let at = axes[0].expect("the operand is batched");
                let axis = self.axis + usize::from(self.axis >= at);
                batched(bind1($ty { axis, reverse: self.reverse }, &[&args[0]]), Some(at))
            }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
                let identity: fn(DType) -> Scalar = $identity;
                let region: fn(&mut Lowering<'_>, DType) -> Region = $region;
                let (dtype, shape) = (outs[0].dtype(), outs[0].shape());
                if shape[self.axis] == 0 {
                    return vec![args[0]];
                }
                let identity = ctx.scalar(identity(dtype), dtype);
                let region = region(ctx, dtype);
                let attributes = window(shape, self.axis, self.reverse);
                ctx.op("reduce_window", &[args[0], identity], outs, &attributes, &[region])
            }
        }
        impl Array {
            $(#[$doc])*
            ///
            /// The result has the shape of the operand.
            ///
            /// # Panics
            /// Panics if the axis is out of range, or if the dtype is not supported.
            #[track_caller]
            pub fn $f(&self, axis: isize) -> Array {
                let axis = self.axis(stringify!($f), axis);
                bind1($ty { axis, reverse: false }, &[&numbers(stringify!($f), self, axis)])
            }

            $(#[$doc])*
            ///
            /// Runs in reverse, from the end of the axis.
            ///
            /// # Panics
            /// Panics if the axis is out of range, or if the dtype is not supported.
            #[track_caller]
            pub fn $reversed(&self, axis: isize) -> Array {
                let axis = self.axis(stringify!($f), axis);
                bind1($ty { axis, reverse: true }, &[&numbers(stringify!($f), self, axis)])
            }
        } )*
        /// Table of cumulative reductions.
        pub const CUMULATIVE: &[CumulativeRow] = &[$( CumulativeRow {
            ty: stringify!($ty), class: Class::$class, name: stringify!($f),
            apply: |x, axis, reverse| if reverse { x.$reversed(axis) } else { x.$f(axis) },
        } ),*];
    };
}

cumulative! {
    /// Computes cumulative sums along an axis.
    Cumsum cumsum cumsum_reversed Number |_| Scalar::Int(0),
        {|ctx, d| ctx.reducer("add", d)} [linear];
    /// Computes cumulative products along an axis.
    Cumprod cumprod cumprod_reversed Number |_| Scalar::Int(1),
        {|ctx, d| ctx.reducer("multiply", d)} [|a: &Array, b: &Array| a.mul(b)];
    /// Computes cumulative maxima along an axis. NaN propagates.
    Cummax cummax cummax_reversed Number lowest,
        {|ctx, d| ctx.reducer("maximum", d)} [|a: &Array, b: &Array| a.maximum(b)];
    /// Computes cumulative minima along an axis. NaN propagates.
    Cummin cummin cummin_reversed Number highest,
        {|ctx, d| ctx.reducer("minimum", d)} [|a: &Array, b: &Array| a.minimum(b)];
    /// Computes the cumulative log-sum-exp along an axis.
    Cumlogsumexp cumlogsumexp cumlogsumexp_reversed Inexact lowest_power,
        {log_add_exp} [|a: &Array, b: &Array| a.logaddexp(b)];
}

/// Converts booleans to `i32`, in which they are counted.
#[track_caller]
fn numbers(operation: &str, x: &Array, axis: usize) -> Array {
    match x.dtype() {
        DType::Bool => {
            x.expect_i32_count(operation, x.shape()[axis]);
            x.astype(DType::I32)
        }
        _ => x.clone(),
    }
}

/// Formats the window over all elements up to each one; XLA splits long windows into blocks.
fn window(shape: &[usize], axis: usize, reverse: bool) -> String {
    let n = shape[axis];
    let ones = Dims::from_elem(1, shape.len());
    let mut sizes = ones.clone();
    sizes[axis] = n;
    let before = n as isize - 1;
    let mut padding = vec![(0, 0); shape.len()];
    padding[axis] = if reverse { (0, before) } else { (before, 0) };
    format!(
        "window_dimensions = {}, window_strides = {}, base_dilations = {}, window_dilations = {}, {}",
        dims_array(&sizes),
        dims_array(&ones),
        dims_array(&ones),
        dims_array(&ones),
        padding_attribute(&padding)
    )
}

/// Returns the number whose exponential is zero.
fn lowest_power(dtype: DType) -> Scalar {
    if dtype.is_complex() {
        Scalar::Complex(f64::NEG_INFINITY, 0.0)
    } else {
        lowest(dtype)
    }
}

fn log_add_exp(ctx: &mut Lowering<'_>, dtype: DType) -> Region {
    let scalar = Aval::scalar(dtype);
    ctx.region(&[scalar, scalar], |ctx, args| {
        vec![ctx.log_add_exp([args[0], args[1]])]
    })
}

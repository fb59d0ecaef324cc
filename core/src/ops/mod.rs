//! Array operations: operators, NumPy functions, `lax` functions, neural network functions.

mod activation;
mod arithmetic;
mod collective;
mod complex;
mod contraction;
mod conv;
mod conv_transpose;
mod convolve;
mod create;
mod diagonal;
mod einsum;
mod fused;
mod index;
mod into_shape;
mod lax;
mod linalg;
mod math;
mod nn;
mod pad;
mod platform;
mod pool;
mod reduce;
mod scaled_dot;
mod shape;
pub(crate) mod sharding;
mod window;

// Functions of NumPy and of `jax.nn`.
mod attention;
mod bits;
mod calculus;
mod choose;
mod elementwise;
mod grid;
mod histogram;
mod join;
mod logic;
mod nan;
mod order;
mod polynomial;
mod positions;
mod products;
mod quantile;
mod rearrange;
mod reduction;
mod search;
mod segment;
mod sets;
mod softmax;
mod special;
mod statistics;
mod taper;
mod vectorize;

use crate::base::location;
use crate::{Array, DType, Dims, Literal, Scalar};

pub use collective::*;
pub(crate) use complex::{by_parts, lexicographic, require_real};
pub use contraction::Contraction;
pub use conv::*;
pub use conv_transpose::{ConvTranspose, conv_transpose};
pub use convolve::ConvolveMode;
pub use create::Like;
pub use einsum::{einsum, einsum_path, einsum_sharded, einsum_with};
pub(crate) use fused::{forget_fused, fused, fused1};
pub use index::*;
pub use into_shape::{DimSize, IntoShape, Order, RequestedShape};
pub use pad::{PadMode, PadStatistic};
pub use platform::{PlatformFn, platform_dependent};
pub use pool::*;
pub(crate) use shape::{as_dtype_of, at_least, broadcast_promoted, common_type, promote_all};
pub use shape::{result_type, broadcast_arrays, hstack, stack, vstack};
pub use sharding::{auto_axes, explicit_axes, reshard, type_of, with_logical_constraint, with_sharding_constraint};
pub use window::*;

pub use attention::{Attention, dot_product_attention};
pub use bits::BitOrder;
pub use calculus::Interpolation;
pub use choose::{BoundsMode, ravel_multi_index};
pub(crate) use elementwise::{float_divmod, nonzero_divisor};
pub use grid::{Spacing, ix_, meshgrid, meshgrid_ij, mgrid};
pub use histogram::Histogram;
pub use join::{block, column_stack, dstack, select};
pub(crate) use order::joined;
pub use order::lexsort;
pub(crate) use positions::{check_count, flat_positions, index_dtype};
pub use quantile::{Quantile, QuantileMethod};
pub use reduction::Reduction;
pub use search::Side;
pub use segment::Segments;
pub use sets::{Distinct, Unique};
pub use softmax::Standardize;
pub use statistics::Covariance;
pub use vectorize::vectorize;

/// A value that can be used as an operand: an array or a scalar. A scalar is weakly typed: it
/// takes the dtype of the other operand where possible. `2.into_array()` is such a scalar as an
/// array, like JAX's `jnp.asarray(2)`; `Array::from(2)` and `array(2)` have the dtype `i32`. The
/// types in messages mark a weak type by `~`.
///
/// ```no_run
/// use ramie_core::{Array, DType, IntoArray};
/// let x = Array::from([1i8]);
/// assert_eq!((&x * 2.into_array()).dtype(), DType::I8);
/// assert_eq!((&x * Array::from(2)).dtype(), DType::I32);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of array functions",
    label = "not an array, a number or a boolean",
    note = "pass an `Array`, `&Array`, a number, a boolean, or a variable such as a `Param` by \
            `&`; `array(..)` creates an array of a list"
)]
pub trait IntoArray {
    /// Converts the operand to an array.
    fn into_array(self) -> Array;
}

impl IntoArray for Array {
    fn into_array(self) -> Array {
        self
    }
}
impl IntoArray for &Array {
    fn into_array(self) -> Array {
        self.clone()
    }
}
macro_rules! scalar_operand {
    ($($t:ty),*) => { $(
        #[diagnostic::do_not_recommend]
        impl IntoArray for $t {
            fn into_array(self) -> Array {
                let value = Scalar::from(self);
                Array::literal(Literal::weak(value, value.weak_dtype()))
            }
        }
    )* };
}
scalar_operand!(
    bool,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    usize,
    f32,
    f64,
    half::f16,
    half::bf16
);

/// Promotes both operands to a common dtype, and to a common rank unless one of them is 0-d.
#[track_caller]
pub(crate) fn promote(operation: &str, a: &Array, b: &Array) -> (Array, Array) {
    let (x, y) = (a.aval(), b.aval());
    let (dtype, weak) = DType::promote((x.dtype(), x.weak_type()), (y.dtype(), y.weak_type()));
    let (a, b) = (convert(a, dtype, weak), convert(b, dtype, weak));
    if a.ndim() == b.ndim() || a.ndim() == 0 || b.ndim() == 0 {
        return (a, b);
    }
    if crate::broadcast_shapes(&[a.shape(), b.shape()]).is_none() {
        refuse_shapes(operation, &[&a, &b]);
    }
    let rank = a.ndim().max(b.ndim());
    (lead(&a, rank), lead(&b, rank))
}

pub(crate) fn convert(x: &Array, dtype: DType, weak: bool) -> Array {
    if x.dtype() == dtype && x.aval().weak_type() == weak {
        return x.clone();
    }
    match x.as_literal() {
        Some(l) if weak => Array::literal(Literal::weak(l.value(), dtype)),
        Some(l) => Array::literal(Literal::new(l.value(), dtype)),
        None => x.convert(dtype, weak),
    }
}

/// Prepends axes of size 1 until the array has `rank` axes.
fn lead(x: &Array, rank: usize) -> Array {
    let missing: Vec<isize> = (0..(rank - x.ndim()) as isize).collect();
    if missing.is_empty() {
        x.clone()
    } else {
        x.expand_dims(&missing)
    }
}

/// Returns the shape that the arrays broadcast to.
#[track_caller]
pub(crate) fn common_shape(operation: &str, arrays: &[&Array]) -> Dims {
    let shapes: Vec<&[usize]> = arrays.iter().map(|a| a.shape()).collect();
    match crate::broadcast_shapes(&shapes) {
        Some(shape) => shape,
        None => refuse_shapes(operation, arrays),
    }
}

#[track_caller]
fn refuse_shapes(operation: &str, arrays: &[&Array]) -> ! {
    let operands: Vec<String> = arrays
        .iter()
        .zip(["lhs", "rhs", "operand 2"])
        .map(|(a, name)| format!("{name} {}", a.describe()))
        .collect();
    let error = crate::ShapeError::new("the shapes of the operands do not broadcast together")
        .help(
            "shapes are aligned at their last axes, and sizes must agree or be 1; use reshape, \
         expand_dims or transpose to align them",
        );
    location::fail(&error.render(operation, &operands))
}

/// Collects `size` numbers that an operation lists on the host.
///
/// # Panics
/// Panics if the list does not fit in host memory.
#[track_caller]
pub(crate) fn listed<T>(operation: &str, size: usize, numbers: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    assert!(
        list.try_reserve_exact(size).is_ok(),
        "{operation}: not enough host memory for a list of {size} numbers\n  help: the operation \
         lists them on the host; use smaller arrays"
    );
    list.extend(numbers);
    list
}

//! Array operations: operators, NumPy functions, `lax` functions, neural network functions.

mod activation;
mod arithmetic;
mod conv;
mod conv_transpose;
mod convolve;
mod create;
mod device_put;
mod diagonal;
mod einsum;
mod index;
mod lax;
mod math;
mod matmul;
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
mod extreme;
mod grid;
mod histogram;
mod join;
mod logic;
mod nan;
mod order;
mod polynomial;
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

pub use conv::*;
pub use conv_transpose::{ConvTranspose, conv_transpose};
pub use convolve::ConvolveMode;
pub use create::Like;
pub use device_put::{device_get, device_put, device_put_donating};
pub use diagonal::Trace;
pub use einsum::{einsum, einsum_path, einsum_with};
pub use index::*;
pub use matmul::TensordotAxes;
pub use pad::{PadMode, PadStatistic};
pub use platform::{PlatformFn, platform_dependent};
pub use pool::*;
pub(crate) use shape::at_least;
pub use shape::{broadcast_arrays, hstack, result_type, vstack};
pub use sharding::{
    auto_axes, explicit_axes, reshard, type_of, with_logical_constraint, with_sharding_constraint,
};
pub use window::*;

pub use activation::Exact;
pub use attention::{Attention, dot_product_attention};
pub use bits::BitOrder;
pub use calculus::Interpolation;
pub use choose::{BoundsMode, ravel_multi_index};
pub use elementwise::Rounding;
pub(crate) use elementwise::{float_divmod, nonzero_divisor};
pub use grid::{Indexing, Spacing, ix_, meshgrid, meshgrid_with, mgrid};
pub use histogram::Histogram;
pub use join::{block, column_stack, dstack, select};
pub use logic::{EqualNan, Tolerance};
pub(crate) use order::joined;
pub use order::{Descending, lexsort};
pub use quantile::{Quantile, QuantileMethod};
pub use reduction::{IncludeInitial, Reduction};
pub use scaled_dot::ScaledDot;
pub use search::Side;
pub use segment::Segments;
pub use sets::{Distinct, Unique};
pub use softmax::Standardize;
pub use statistics::Covariance;
pub use vectorize::vectorize;

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

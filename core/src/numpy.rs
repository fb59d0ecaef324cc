//! Functions of `jax.numpy` that are not methods of [`Array`](crate::Array), and the values that they take.
//!
//! ```
//! use ramie_core::{array, numpy};
//!
//! let (x, y) = (array([1, 2]), array([3, 4]));
//! assert_eq!(numpy::vstack(&[x, y]).shape(), [2, 2]);
//! ```

pub use crate::functions::ops::{
    At, BitOrder, BoundsMode, ConvolveMode, Ellipsis, IndexItem, Indexing, Interpolation, NewAxis,
    PadMode, PadStatistic, QuantileMethod, Side, Stepped, TakeMode, block, broadcast_arrays,
    column_stack, dstack, einsum_path, einsum_with, hstack, ix_, lexsort, meshgrid, meshgrid_with,
    mgrid, ravel_multi_index, select, vectorize, vstack,
};
pub use crate::prim::elementwise::complex;
pub use crate::prim::shape::into_shape::Order;
pub use crate::types::aval::broadcast_shapes;

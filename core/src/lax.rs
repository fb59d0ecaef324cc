//! Control flow, collectives, convolutions and windows (`jax.lax`), and attention (`jax.nn`).
//!
//! ```
//! use ramie_core::{array, lax};
//!
//! let (total, sums) = lax::scan(|sum, x| (&sum + &x, sum + x), array(0.0), array([1.0, 2.0, 3.0]));
//! assert_eq!(total.item::<f32>(), 6.0);
//! assert_eq!(sums.to_vec::<f32>(), [1.0, 3.0, 6.0]);
//! ```

pub use crate::functions::implicit::{custom_linear_solve, custom_root, custom_root_with};
pub use crate::functions::ops::{
    avg_pool, avg_pool_with, conv, conv_general_dilated, conv_general_dilated_local,
    conv_general_dilated_patches, conv_transpose, conv_with_general_padding, dot_product_attention,
    max_pool, min_pool, platform_dependent, pool, reduce_window, select_and_scatter,
};
pub use crate::prim::associative_scan::{associative_scan, associative_scan_with};
pub use crate::prim::collective::functions::{
    Along, PcastTo, all_gather, all_gather_invariant, all_gather_with, all_to_all, axis_index,
    axis_size, pbroadcast, pcast, pmax, pmean, pmin, ppermute, pshuffle, psum, psum_scatter,
    pswapaxes, pvary,
};
pub use crate::prim::collective::{AxisIndexGroups, ragged_all_to_all};
pub use crate::prim::composite::CompositeAttribute;
pub use crate::prim::control::functions::{
    cond, fori_loop, fori_loop_with, scan, scan_with, switch, while_loop,
};
pub use crate::prim::conv::{ConvDimensionNumbers, ConvGeneralDilated, ConvLayout, Padding};
pub use crate::prim::dot::{DotDimensionNumbers, DotGeneral, Precision, RaggedDotDimensionNumbers};
pub use crate::prim::elementwise::{AccuracyMode, RoundingMethod, clamp, select_n};
pub use crate::prim::index::GatherScatterMode;
pub use crate::prim::reduce::reduce;
pub use crate::prim::remat::optimization_barrier;
pub use crate::prim::shape::into_shape::Dimensions;
pub use crate::prim::sort::sort;
pub use crate::transform::{composite, map, map_with};

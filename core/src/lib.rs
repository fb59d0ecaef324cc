//! Arrays, a typed IR, composable transformations, and lowering to StableHLO.
//!
//! Most users take this crate through `ramie`, which re-exports it.
#![forbid(unsafe_code)]

// Derived code names this crate from outside and from its own tests alike.
#[allow(unused_extern_crates)]
extern crate self as ramie_core;

pub mod aot;
mod array;
mod aval;
mod axis;
mod callback;
pub mod checkify;
mod control;
pub mod distributed;
mod dtype;
mod dtype_info;
mod eager;
mod error;
pub mod export;
pub mod fft;
pub mod files;
mod fill;
mod hash;
pub mod image;
mod intern;
mod jaxpr;
mod jit;
pub mod linalg;
pub mod lock;
pub mod lost;
pub mod lower;
mod narrow;
mod numerics;
mod ops;
pub mod prim;
pub mod profiler;
mod program_cache;
pub mod random;
mod runtime;
mod scalar;
mod sharding;
mod single_flight;
mod stack;
mod state;
pub mod stats;
mod thread_stack;
mod trace;
mod transform;
pub mod tree;

pub use array::{Array, ArrayLike, Number, array};
pub use aval::{Aval, Dims, broadcast_shapes};
pub use axis::{AxisName, AxisNames};
pub use callback::{
    VmapMethod, debug, effects_barrier, io_callback, io_callback_ordered, pure_callback,
    pure_callback_with,
};
pub use control::{
    ForiLoopOptions, LinearFn, MapOptions, ScanOptions, TransposeSolve, cond, custom_linear_solve,
    fori_loop, fori_loop_with, map, map_with, scan, scan_with, switch, while_loop,
};
pub use control::{RootFn, custom_root, custom_root_with_aux};
pub use control::{StepCount, StepFunction, TrainStepsOptions, train_steps, train_steps_with};
pub use dtype::{DType, Element};
pub use dtype_info::{
    DTypeKind, FloatInfo, IntInfo, can_cast, finfo, iinfo, issubdtype, promote_types, result_type,
};
pub use eager::clear_caches;
pub use error::{Error, Result, ShapeError};
pub use jaxpr::{Atom, ClosedJaxpr, Eqn, Jaxpr, Scope, Var};
pub use jaxpr::{NamedScope, enter_named_scope, named_scope};
pub use jit::{
    Compiled, JitFunction, JitOptions, Jitted, Lowered, Staged, Stateful, disable_jit, jit,
    jit_with, log_compiles,
};
pub use narrow::{F4E2M1Fn, F8E4M3Fn, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0Fnu, I2, I4, U2, U4};
pub use numerics::{debug_infs, debug_nans};
pub use ops::{
    At, Ellipsis, IndexItem, IntoArray, IntoIndex, IntoIndexItem, NewAxis, PadMode, PadStatistic,
    Stepped, broadcast_arrays, einsum, einsum_path, einsum_sharded, hstack, meshgrid, meshgrid_ij,
    s, stack, vstack,
};
pub use ops::{
    Attention, BitOrder, BoundsMode, Covariance, Distinct, Histogram, Interpolation, Quantile,
    QuantileMethod, Reduction, Segments, Side, Spacing, Standardize, Unique, block, column_stack,
    dot_product_attention, dstack, ix_, lexsort, mgrid, ravel_multi_index, select, vectorize,
};
pub use ops::{
    ConvTranspose, Convolution, ConvolveMode, all_gather, all_gather_stacked, all_gather_tiled,
    all_to_all, all_to_all_tiled, axis_index, axis_size, conv, conv_general_dilated,
    conv_general_dilated_local, conv_general_dilated_patches, conv_transpose,
    conv_with_general_padding, pbroadcast, pmax, pmean, pmin, ppermute, pshuffle, psum,
    psum_scatter, psum_scatter_tiled, pswapaxes, pvary,
};
pub use ops::{EinsumOptions, einsum_with};
pub use ops::{PcastTo, all_gather_invariant, all_gather_invariant_tiled, pcast};
pub use ops::{PlatformFn, platform_dependent};
pub use ops::{Window, avg_pool, max_pool, min_pool, pool, reduce_window, select_and_scatter};
pub use ops::{auto_axes, explicit_axes, reshard, type_of, with_sharding_constraint};
pub use prim::Primitive;
pub use prim::collective::ragged_all_to_all;
pub use prim::composite::CompositeAttribute;
pub use prim::conv::{ConvDimensionNumbers, ConvGeneralDilated, ConvLayout, Padding};
pub use prim::cumulative::associative_scan;
pub use prim::dot::{DotDimensionNumbers, DotGeneral, Precision, RaggedDotDimensionNumbers};
pub use prim::elementwise::{RoundingMethod, complex, where_};
pub use prim::index::GatherScatterMode;
pub use prim::reduce::reduce;
pub use prim::remat::{CheckpointPolicy, checkpoint_name, optimization_barrier};
pub use prim::shape::concatenate;
pub use prim::sort::lax_sort;
pub use ramie_pjrt::discover::Platform;
pub use ramie_pjrt::{AlignedBytes, Device, MemoryAnalysis, OptionOverride, Value, at_exit};
pub use runtime::{
    CompilationStats, Runtime, RuntimeOptions, compilation_stats, configure, devices, runtime,
    with_default_device,
};
pub use scalar::{Literal, Scalar};
pub use sharding::{
    AbstractMesh, AxisType, HostShard, Mesh, MeshGuard, NamedSharding, OutSharding, PartitionSpec,
    Place, Placed, Shard, Sharding, ShardingRule, Shardings, SpecEntry, Specs, TypeSharding,
    device_put, get_abstract_mesh, get_mesh, make_array_from_callback, make_array_from_parts,
    make_array_from_process_local_data, make_mesh, make_mesh_with, set_mesh, visualize_sharding,
    with_mesh,
};
pub use sharding::{
    LogicalAxisRules, get_logical_axis_rules, logical_to_mesh, set_logical_axis_rules,
    with_logical_axis_rules, with_logical_constraint,
};
pub use state::{State, StateMismatch};
pub use trace::{Outputs, bind, bind_arc, bind1, compile_time_eval, is_tracing};
pub use transform::{
    ArgTuple, Function, MapAxes, Objective, Pure, ShardMapOptions, VmapOptions, eval_shape, grad,
    grad_holomorphic, hessian_holomorphic, jacfwd_holomorphic, jacrev_holomorphic, jvp,
    linear_transpose, linearize, make_jaxpr, shard_map, shard_map_with, value_and_grad,
    value_and_grad_holomorphic, vjp, vjp_with_aux, vmap, vmap_axes, vmap_with,
};
pub use transform::{BatchedResults, Mapped, custom_vmap, sequential_vmap};
pub use transform::{
    CheckpointOptions, Residual, checkpoint, checkpoint_with, print_saved_residuals, remat,
    saved_residuals,
};
pub use transform::{
    Codomain, closure_convert, grad_all, hessian, hvp, jacfwd, jacrev, jvp_with_aux,
    value_and_grad_all,
};
pub use transform::{CompositeName, composite};
pub use transform::{
    JvpTerm, Tangents, custom_jvp, custom_jvp_nondiff, custom_jvp_symbolic_zeros, custom_jvp_terms,
    custom_vjp, custom_vjp_nondiff, custom_vjp_symbolic_zeros,
};
pub use transform::{PmapOptions, pmap, pmap_with, smap};
pub use tree::Tree;

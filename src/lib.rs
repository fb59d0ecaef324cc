//! Ramie trains neural networks in Rust: arrays, function transformations, models and optimizers
//! with JAX's vocabulary, compiled by XLA for CPU, GPU and TPU. No Python runs in the process.
//!
//! A function of arrays is an ordinary Rust function. [`grad`] differentiates it, [`vmap`] batches
//! it, [`jit`] compiles it, and they compose:
//!
//! ```
//! use ramie::{Array, grad, jit, vmap};
//!
//! fn energy(x: Array) -> Array {
//!     x.square() * 0.5 + x.cos()
//! }
//!
//! let force = jit(vmap(grad(energy)));
//! let x = Array::from([0.0f32, 1.0, 2.0]);
//! let sine = x.sin();
//! assert_eq!(force(x.clone()).to_vec::<f32>(), (x - sine).to_vec::<f32>());
//! ```
//!
//! # Overview
//!
//! - [`Array`], [`DType`]: elements on a device, with NumPy's operations as methods. Operators
//!   broadcast and promote as in JAX; number literals take the dtype of the array operand.
//! - Transformations: [`jit`], [`grad`], [`value_and_grad`], [`jvp`], [`vjp`], [`linearize`],
//!   [`linear_transpose`], [`vmap`], [`make_jaxpr`], [`eval_shape`]. Whole Jacobians: [`jacfwd`],
//!   [`jacrev`], [`hessian`], [`hvp`]. Custom derivatives: [`custom_jvp`], [`custom_vjp`].
//!   Rematerialization: [`remat`], with a [`CheckpointPolicy`].
//! - Control flow on values: [`cond`], [`switch`], [`scan`], [`map`], [`fori_loop`],
//!   [`while_loop`], [`associative_scan`]. Many training steps in one program: [`train_steps`].
//! - Collectives over axes named by [`vmap_with`]: [`psum`], [`all_gather`], [`ppermute`] and
//!   others.
//! - [`random`]: random numbers from explicit keys. Keys, bits and uniforms equal JAX's bit for
//!   bit; normals differ by at most 2 ulp.
//! - [`linalg`]: matrix decompositions and linear systems; eigenvalues of general matrices with the
//!   feature `eigen`. [`fft`]: Fourier transforms. [`image`]: image resizing.
//! - [`debug`], [`io_callback`], [`pure_callback`]: host callbacks. [`checkify`], [`profiler`],
//!   [`export`]: runtime checks, profiler traces, programs as files.
//! - [`Tree`], [`tree`], [`State`]: pytrees of arrays. Arguments and results of transformed
//!   functions are trees; `#[derive(Tree)]` implements the trait for a struct.
//! - [`nn`]: models as structs with `#[derive(Module)]`, variables such as [`nn::Param`], layers
//!   such as [`nn::Linear`], and [`nn::Optimizer`].
//! - [`models`]: models that load published checkpoints, and text generation.
//! - [`optim`]: gradient transformations, composed with [`optim::chain`].
//! - [`train`]: the training loop, with validation, metrics, checkpoints and resuming.
//! - [`data`]: datasets. [`mod@checkpoint`]: saving and restoring.
//! - `onnx`, with the feature `onnx`: ONNX files as functions.
//! - `plot`, with the feature `plots`: plots, grids of images and heat maps as PNG and SVG files.
//! - [`distributed`]: programs of several processes on several hosts.
//! - [`configure`], [`devices`], [`init_logging`]: the process's XLA client.
//! - [`core`]: internals: the typed IR, primitives, lowering to StableHLO. [`pjrt`]: the layer
//!   over XLA's plugins.
//!
//! [`prelude`] exports the names that most programs use.
//!
//! # Errors
//!
//! A mistake in the program, such as mismatched shapes or an invalid axis, panics at the caller's
//! line. The message contains the expected and the actual values and a remedy. Failures of the
//! environment, such as a missing plugin, a full disk or a damaged file, are returned as a
//! [`Result`].
#![forbid(unsafe_code)]

// Derived code uses the same crate name in other crates and in this crate's own examples.
#[allow(unused_extern_crates)]
extern crate self as ramie;

pub mod linalg;
pub mod prelude;

#[doc(inline)]
pub use ramie_checkpoint as checkpoint;
#[doc(inline)]
pub use ramie_core as core;
#[doc(inline)]
pub use ramie_core::{aot, checkify, config, distributed, export, profiler};
#[doc(inline)]
pub use ramie_data as data;
#[doc(inline)]
pub use ramie_models as models;
#[doc(inline)]
pub use ramie_nn as nn;
#[cfg(feature = "onnx")]
#[doc(inline)]
pub use ramie_onnx as onnx;
#[doc(inline)]
pub use ramie_optim as optim;
#[doc(inline)]
pub use ramie_pjrt as pjrt;
#[cfg(feature = "plots")]
#[doc(inline)]
pub use ramie_plot as plot;
#[doc(inline)]
pub use ramie_plugins as plugins;
#[doc(inline)]
pub use ramie_train as train;

// Arrays.
#[doc(inline)]
pub use ramie_core::{
    Array, ArrayLike, At, Aval, AxisName, AxisNames, DType, DimSize, Dims, DotDimensionNumbers,
    Element, Ellipsis, GatherScatterMode, IndexItem, IntoArray, IntoBound, IntoIndex,
    IntoIndexItem, IntoShape, Like, Literal, NewAxis, Number, Order, PadMode, PadStatistic,
    Precision, RequestedShape, ReshapeOption, RoundingMethod, Scalar, Stepped, TakeMode, array,
    associative_scan, broadcast_arrays, broadcast_shapes, complex, concatenate, einsum,
    einsum_path, fft, hstack, image, lax_sort, meshgrid, meshgrid_with, random, s, stack, vstack,
    where_,
};
// Functions of NumPy and for neural networks.
#[doc(inline)]
pub use ramie_core::{
    Attention, BitOrder, BoundsMode, Covariance, DTypeKind, Descending, Distinct, Exact, FloatInfo,
    Histogram, Indexing, IntInfo, Interpolation, OneOrMany, Quantile, QuantileMethod, Reduction,
    Segments, Side, Spacing, Standardize, Tolerance, Unique, block, can_cast, column_stack,
    dot_product_attention, dstack, finfo, iinfo, issubdtype, ix_, lexsort, mgrid, promote_types,
    ravel_multi_index, result_type, select, stats, vectorize,
};
// Convolutions and windows.
#[doc(inline)]
pub use ramie_core::{Contraction, TensordotAxes, einsum_with};
#[doc(inline)]
pub use ramie_core::{
    ConvDimensionNumbers, ConvGeneralDilated, ConvLayout, ConvTranspose, Convolution, ConvolveMode,
    Padding, RaggedDotDimensionNumbers, Window, avg_pool, conv, conv_general_dilated,
    conv_general_dilated_local, conv_general_dilated_patches, conv_transpose,
    conv_with_general_padding, max_pool, min_pool, pool, reduce, reduce_window, select_and_scatter,
};
// Control flow on values.
#[doc(inline)]
pub use ramie_core::{
    ForiLoopOptions, LinearFn, MapOptions, ScanOptions, TransposeSolve, cond, custom_linear_solve,
    fori_loop, fori_loop_with, map, map_with, scan, scan_with, switch, while_loop,
};
#[doc(inline)]
pub use ramie_core::{RootFn, custom_root, custom_root_with};
#[doc(inline)]
pub use ramie_core::{StepCount, StepFunction, TrainStepsOptions, train_steps, train_steps_with};
// Elements narrower than sixteen bits.
#[doc(inline)]
pub use ramie_core::{
    F4E2M1Fn, F8E4M3Fn, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0Fnu, I2, I4, U2, U4,
};
// Transformations of functions.
#[doc(inline)]
pub use ramie_core::{
    ArgTuple, ClosedJaxpr, Compiled, Function, FunctionOnce, JitFunction, JitOptions, Jitted,
    Lowered, MapAxes, Objective, Packed, Pure, Staged, Stateful, Traced, VmapOptions,
    compile_time_eval, eval_shape, grad, is_tracing, jit, jit_with, jvp, linear_transpose,
    linearize, log_compiles, make_jaxpr, value_and_grad, vjp, vmap, vmap_with,
};
// Custom derivatives and rematerialization.
#[doc(inline)]
pub use ramie_core::{
    CheckpointOptions, CheckpointPolicy, Residual, checkpoint, checkpoint_name, checkpoint_with,
    optimization_barrier, print_saved_residuals, remat, saved_residuals,
};
#[doc(inline)]
pub use ramie_core::{Codomain, closure_convert, hessian, hvp, jacfwd, jacrev};
#[doc(inline)]
pub use ramie_core::{
    Dots, FirstOnly, RuleOptions, SymbolicZeros, Tangents, custom_jvp, custom_jvp_with, custom_vjp,
    custom_vjp_with,
};
// Gradients of chosen arguments, and auxiliary results.
#[doc(inline)]
pub use ramie_core::{
    AllArguments, Argnum, Argnums, HasArgument, HasAux, Holomorphic, JacobianOf, JacobianOptions,
    Selection, argnums, grad_with, hessian_with, jacfwd_with, jacrev_with, value_and_grad_with,
    vjp_with,
};
// Custom composite operations.
#[doc(inline)]
pub use ramie_core::{CompositeAttribute, CompositeName, composite};
// Custom batching rules.
#[doc(inline)]
pub use ramie_core::{BatchedResults, Mapped, custom_vmap, sequential_vmap};
// Collectives over mapped axes.
#[doc(inline)]
pub use ramie_core::{
    Along, all_gather, all_gather_with, all_to_all, axis_index, axis_size, pbroadcast, pmax, pmean,
    pmin, ppermute, pshuffle, psum, psum_scatter, pswapaxes, pvary,
};
#[doc(inline)]
pub use ramie_core::{
    PcastTo, PmapOptions, all_gather_invariant, pcast, pmap, pmap_with, ragged_all_to_all, smap,
};
// Inspecting programs, and host callbacks.
#[doc(inline)]
pub use ramie_core::{
    NamedScope, Ordered, Scope, VmapMethod, debug, debug_infs, debug_nans,
    default_matmul_precision, disable_jit, effects_barrier, enter_named_scope, io_callback,
    io_callback_with, named_scope, pure_callback, pure_callback_with,
};
// Pytrees of arrays.
#[doc(inline)]
pub use ramie_core::{State, StateMismatch, Tree, tree};
#[doc(inline)]
pub use ramie_nn::{Module, Tree};
// Devices and the process's client.
#[doc(inline)]
pub use ramie_core::{
    AlignedBytes, CompilationStats, Device, MemoryAnalysis, OptionOverride, Platform, Runtime,
    RuntimeOptions, Value, at_exit, compilation_stats, configure, devices, runtime,
    with_default_device,
};
// Meshes and shardings of arrays.
#[doc(inline)]
pub use ramie_core::{
    AbstractMesh, AxisType, DimensionRule, HostShard, Mesh, MeshGuard, MeshShape, NamedSharding,
    OutSharding, P, PartitionSpec, Placed, Shard, ShardMapOptions, Sharding, ShardingRule,
    Shardings, SpecEntry, Specs, TypeSharding, auto_axes, device_get, device_put,
    device_put_donating, explicit_axes, get_abstract_mesh, get_mesh, make_array_from_callback,
    make_array_from_parts, make_array_from_process_local_data, make_mesh, make_mesh_with, reshard,
    set_mesh, shard_map, shard_map_with, type_of, visualize_sharding, with_mesh,
    with_sharding_constraint,
};
// Logical axis names and their rules.
#[doc(inline)]
pub use ramie_core::{Error, Result, ShapeError};
#[doc(inline)]
pub use ramie_core::{
    LogicalAxisRules, get_logical_axis_rules, logical_to_mesh, set_logical_axis_rules,
    with_logical_axis_rules, with_logical_constraint,
};
#[doc(inline)]
pub use ramie_core::{PlatformFn, clear_caches, platform_dependent};

#[cfg(feature = "logging")]
mod logging;
#[cfg(feature = "logging")]
pub use logging::init_logging;

/// Items for derived code; not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use {ramie_core, ramie_nn};
}

/// Runs the examples of the documents as doc tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/settings.md")]
    struct Settings;
    #[doc = include_str!("../docs/tool.md")]
    struct Tool;
    #[cfg(feature = "plots")]
    #[doc = include_str!("../docs/plots.md")]
    struct Plots;
    #[cfg(feature = "onnx")]
    #[doc = include_str!("../docs/onnx.md")]
    struct Onnx;
    #[doc = include_str!("../docs/guide.md")]
    struct Guide;
    #[doc = include_str!("../docs/from-jax.md")]
    struct FromJax;
    #[doc = include_str!("../docs/from-pytorch.md")]
    struct FromPyTorch;
    #[doc = include_str!("../docs/recipes.md")]
    struct Recipes;
    #[doc = include_str!("../docs/core.md")]
    struct Core;
    #[doc = include_str!("../docs/adding-a-primitive.md")]
    struct AddingAPrimitive;
    #[doc = include_str!("../docs/adding-a-layer.md")]
    struct AddingALayer;
    #[doc = include_str!("../docs/models.md")]
    struct Models;
    #[doc = include_str!("../docs/data.md")]
    struct Data;
    #[doc = include_str!("../docs/schedules.md")]
    struct Schedules;
    #[doc = include_str!("../docs/training.md")]
    struct Training;
    #[doc = include_str!("../docs/checkpoints.md")]
    struct Checkpoints;
    #[doc = include_str!("../docs/adding-an-optimizer.md")]
    struct AddingAnOptimizer;
    #[doc = include_str!("../docs/scaling.md")]
    struct Scaling;
    #[doc = include_str!("../docs/aot.md")]
    struct AheadOfTime;
}

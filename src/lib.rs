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
//! - Control flow on values: [`lax::cond`], [`lax::scan`], [`lax::while_loop`] and others. Many
//!   training steps in one program: [`train_steps`]. Collectives over axes named by [`vmap_with`]:
//!   [`lax::psum`], [`lax::all_gather`] and others.
//! - The other names stand where users of JAX look for them: [`numpy`], [`lax`], [`sharding`],
//!   [`dtypes`], [`config`], [`stages`], and [`options`] of functions that end in `_with`.
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
//! - [`extend`], [`prim`], [`lower`]: programs, primitives and their lowering to StableHLO, for those
//!   who add operations. [`pjrt`]: the layer over XLA's plugins.
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
pub use ramie_data as data;
#[cfg(feature = "distributions")]
#[doc(inline)]
pub use ramie_distributions as distributions;
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

// One list of names for both crates, which stands in the core.
#[doc(inline)]
pub use ramie_core::*;
#[doc(inline)]
pub use ramie_nn::{Module, Tree};

// The crates of host arrays and of their elements, in the versions whose types functions take.
#[doc(no_inline)]
pub use {half, ndarray, num_complex};

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
    #[cfg(feature = "distributions")]
    #[doc = include_str!("../docs/distributions.md")]
    struct Distributions;
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
    #[doc = include_str!("../docs/published-models.md")]
    struct PublishedModels;
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

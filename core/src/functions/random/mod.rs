//! Random numbers from explicit keys, compatible with JAX.
//!
//! A [`Key`] determines the random numbers: the same key gives the same numbers eagerly, in a
//! compiled function, and for each batch element under `vmap`. To sample again, derive new keys
//! with [`Key::split`] or [`Key::fold_in`].
//!
//! ```no_run
//! use ramie_core::{DType, random};
//! let key = random::key(42);
//! let x = random::normal(&key, &[], DType::F32);
//! assert_eq!(x.item::<f32>(), -0.028304616);
//! let [weights, noise] = key.split_into();
//! let w = random::uniform(&weights, &[3, 2], DType::F32);
//! let e = random::normal(&noise, &[3], DType::BF16);
//! # let _ = (w, e);
//! ```
//!
//! The shape of a draw is always an argument. Where JAX takes the shape of a parameter by default,
//! pass that shape: `random::bernoulli(&key, &p, p.shape())`.
//!
//! The default generator is the counter-based threefry2x32; [`KeyImpl`] lists the others. Bits,
//! integers, choices and uniform floats equal JAX's exactly. Samplers that use `erf_inv`, `log`
//! or another transcendental function equal JAX's with the same version of XLA, and differ by at
//! most two units in the last place with another version.

mod approximate;
mod choose;
mod continuous;
mod counts;
mod discrete;
mod gamma;
mod generator;
mod key;
mod matrix;
mod random_gamma;
mod uniform;

use crate::functions::ops;
use crate::prim::elementwise::parts;
use crate::prim::fused;
use crate::typing::Dims;
use crate::{Array, DType, IntoArray, PartitionSpec};
use std::hash::Hash;

pub use crate::prim::random::KeyLayout;
pub use crate::prim::random::key_impl::KeyImpl;
pub use approximate::SamplingMethod;
pub use choose::{
    Categorical, Choice, Permutation, Population, categorical, choice, permutation,
    permutation_with,
};
pub use continuous::{
    GumbelMode, cauchy, double_sided_maxwell, exponential, gumbel, gumbel_with, laplace, logistic,
    lognormal, maxwell, normal, pareto, rayleigh, triangular, truncated_normal, wald, weibull_min,
};
pub use counts::{binomial, multinomial, poisson, poisson_with};
pub use discrete::{
    BernoulliMode, bernoulli, bernoulli_with, bits, geometric, rademacher, randint,
};
pub use gamma::{
    ball, beta, beta_with, chisquare, chisquare_with, dirichlet, f, gamma, gamma_with,
    generalized_normal, loggamma, loggamma_with, t,
};
pub(crate) use gamma::{gamma_sample, gamma_slope};
pub use generator::{default_impl, set_default_impl};
pub use key::{
    Key, Seed, clone, key, key_data, key_dtype, key_impl, key_with, wrap_key_data,
    wrap_key_data_with,
};
pub use matrix::{CovarianceRoot, multivariate_normal, orthogonal};
pub use random_gamma::RandomGamma;
pub use uniform::{uniform, uniform_range};

/// Draws with `sampler`, sharded by `out_sharding` over explicit axes of the current mesh: each
/// device samples its own shard (`jax.random.normal(.., out_sharding=..)`, and likewise for every
/// sampler). The numbers are the same as on one device.
///
/// ```no_run
/// use ramie_core::sharding::{make_mesh_with, AxisType};
/// use ramie_core::{random, set_mesh, DType, P};
/// let _current = set_mesh(make_mesh_with(&[4, 2], &["X", "Y"], AxisType::Explicit)?);
/// let w = random::sharded(&random::key(0), P!["X", "Y"], |key| {
///     random::normal(key, &[8, 16], DType::F32)
/// });
/// assert_eq!(w.aval().to_string(), "f32[8@X,16@Y]");
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics in the same cases as the sampler, if no mesh is current, or if `out_sharding` does not
/// fit the mesh or the shape.
#[track_caller]
pub fn sharded(
    key: &Key,
    out_sharding: impl Into<PartitionSpec>,
    sampler: impl FnOnce(&Key) -> Array,
) -> Array {
    let spec = out_sharding.into();
    ops::sharding::placed_by_compiler("random::sharded", &[key_data(key)], &spec, |given| {
        sampler(&key.wrap(given[0].clone()))
    })
}

/// Runs a sampler as one program: `f`, applied to the key and to `args`, is traced once for each
/// value of `fixed` and each combination of argument types, and compiled as a whole.
///
/// The samplers of this module are built on it. A custom sampler that transforms the numbers of
/// another sampler becomes a single program instead of two. `f` must depend only on `fixed` and
/// its arguments: the trace for the same `name` and `fixed` is reused, so every sampler needs its
/// own name.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// /// Normal floats of this standard deviation.
/// fn noise(key: &random::Key, shape: &[usize], stddev: f32) -> Array {
///     let stddev = Array::scalar(stddev, DType::F32);
///     random::draw("noise", key, shape, &[&stddev], |key, args| {
///         random::normal(key, shape, DType::F32) * &args[0]
///     })
/// }
/// ```
///
/// # Panics
/// Panics if `key` is an array of keys, or if `f` captures an array.
#[track_caller]
pub fn draw(
    name: &'static str,
    key: &Key,
    fixed: impl Hash,
    args: &[&Array],
    f: impl FnOnce(&Key, &[Array]) -> Array,
) -> Array {
    key.single(name);
    let kind = key.kind();
    let all: Vec<Array> = std::iter::once(key_data(key))
        .chain(args.iter().copied())
        .cloned()
        .collect();
    fused::fused1(name, (kind, fixed), &all, |args| {
        let key = Key::of(args[0].clone(), kind);
        f(&key, &args[1..])
    })
}

/// Panics if the dtype is not a floating-point dtype.
#[track_caller]
fn expect_float(operation: &str, dtype: DType) {
    // Accepts floats with a sign and a fraction, in whole bytes.
    assert!(
        dtype.is_float() && dtype.is_signed() && dtype.bits() >= 8,
        "{operation}: expects a floating-point dtype, got {dtype}\n  help: {}",
        if dtype.is_complex() {
            "draw the real and the imaginary part: complex(re, im)"
        } else {
            "draw f32 and convert, or draw integers with `random::randint`"
        }
    );
}

/// Panics if the dtype is neither a floating-point nor a complex dtype.
#[track_caller]
fn expect_inexact(operation: &str, dtype: DType) {
    if !dtype.is_complex() {
        expect_float(operation, dtype);
    }
}

/// Panics if a parameter does not broadcast to the shape of the samples.
#[track_caller]
fn expect_fits(operation: &str, shape: &[usize], parameters: &[(&str, &Array)]) {
    for (name, array) in parameters {
        let together = crate::numpy::broadcast_shapes(&[array.shape(), shape]);
        assert!(
            together.as_deref() == Some(shape),
            "{operation}: {name} {} does not broadcast to the shape {shape:?} of the draw\n  \
             help: pass the shape of the draw, such as {name}.shape(); the axes of {name} must agree \
             with its last axes, or be 1",
            array.describe()
        );
    }
}

/// Converts a parameter to `dtype` and broadcasts it to `shape`.
fn parameter(array: &Array, shape: &[usize], dtype: DType) -> Array {
    array.astype(dtype).broadcast_to(shape)
}

/// Converts a parameter of real numbers to `dtype`.
#[track_caller]
fn real_parameter(operation: &str, value: impl IntoArray, dtype: DType) -> Array {
    let array = value.into_array();
    parts::require_real(operation, &[&array]);
    array.astype(dtype)
}

/// Converts a parameter that determines the dtype of the sampled floats. A literal becomes `f32`.
#[track_caller]
fn float_parameter(operation: &str, value: impl IntoArray) -> Array {
    let array = value.into_array().to_inexact();
    parts::require_real(operation, &[&array]);
    // Makes the dtype strong.
    array.astype(array.dtype())
}

/// Prepends an axis to `shape`.
fn with_front(n: usize, shape: &[usize]) -> Dims {
    std::iter::once(n).chain(shape.iter().copied()).collect()
}

//! Probability distributions and bijectors, as in DeepMind's Distrax.
//!
//! ```
//! use ramie_core::{Array, DType, random};
//! use ramie_distributions::{Distribution, KlDivergence, Normal};
//!
//! let prior = Normal::new(0.0, 1.0);
//! let posterior = Normal::new(Array::from([0.5f32, -1.0]), 0.1);
//! let (x, log_prob) = posterior.sample_and_log_prob(&random::key(0), &[10]);
//! assert_eq!((x.shape(), log_prob.shape()), (&[10, 2][..], &[10, 2][..]));
//! assert_eq!(posterior.kl_divergence(&prior).shape(), [2]);
//! ```
//!
//! A distribution is a [`Tree`](ramie_core::Tree) of its parameters: compiled and mapped functions
//! take and return it. Parameters are floats that broadcast together to the [batch
//! shape](Distribution::batch_shape), and their common dtype is that of the results. A sample has
//! the requested shape, followed by the batch shape and the [event
//! shape](Distribution::event_shape).
//!
//! Samples equal those of Distrax with the same key. [`LogNormal`], [`Exponential`] and [`Poisson`],
//! which Distrax takes from TensorFlow Probability, transform the samplers of
//! [`random`](ramie_core::random). Samples of distributions of floats are differentiable with
//! respect to the parameters.
#![forbid(unsafe_code)]

mod bernoulli;
mod beta;
mod bijector;
mod categorical;
mod distribution;
mod gamma;
mod independent;
mod kl_divergence;
mod location_scale;
mod mixture;
mod multivariate_normal;
mod parameters;
mod poisson;
mod transformed;
mod uniform;

pub use bernoulli::Bernoulli;
pub use beta::{Beta, Dirichlet};
pub use bijector::{Bijector, Block, Chain, ScalarAffine, Sigmoid, Tanh};
pub use categorical::{Categorical, OneHotCategorical};
pub use distribution::Distribution;
pub use gamma::{Exponential, Gamma, LogNormal};
pub use independent::Independent;
pub use kl_divergence::KlDivergence;
pub use location_scale::{Laplace, Normal};
pub use mixture::MixtureSameFamily;
pub use multivariate_normal::{MultivariateNormalDiag, MultivariateNormalTri};
pub use poisson::Poisson;
pub use transformed::Transformed;
pub use uniform::Uniform;

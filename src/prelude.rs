//! Names that most programs use: `use ramie::prelude::*;`.
//!
//! ```
//! use ramie::prelude::*;
//!
//! #[derive(Module)]
//! struct Scale {
//!     factor: Param,
//! }
//!
//! let mut model = Scale { factor: Param::new(Array::from(3.0f32)) };
//! let grads = nn::grad(&mut model, |m| m.factor.square());
//! assert_eq!(grads.get("factor").unwrap().item::<f32>(), 6.0);
//! ```
//!
//! Gradients with respect to models stay in [`nn`], as in Flax: [`grad`] differentiates a function
//! with respect to its arguments, [`nn::grad`] with respect to a model's parameters.

#[doc(no_inline)]
pub use crate::nn::{BatchStat, Linear, Optimizer, Param, Rngs};
#[doc(no_inline)]
pub use crate::{
    Array, DType, Module, State, Tree, array, concatenate, grad, jit, jvp, linearize, nn, optim,
    random, s, tree, value_and_grad, vjp, vmap, where_,
};

//! Parts that all transformations share: the trait, options, moments and numerics.

pub(crate) mod any_tree;
pub(crate) mod dimension_numbers;
pub(crate) mod extra_args;
pub(crate) mod given;
pub(crate) mod hyperparam;
pub(crate) mod linear_algebra;
pub(crate) mod mistake;
pub(crate) mod moments;
pub(crate) mod numerics;
pub(crate) mod options;
pub(crate) mod rounding;
pub(crate) mod state_dtype;
pub(crate) mod transformation;
pub(crate) mod update;
pub(crate) mod wide;

//! Functions of the other recordings that lack a shape.

use super::Exemption;

/// Where JAX has no such call, or another recording has it.
pub const EXEMPTIONS: &[Exemption] = &[];

/// Recordings in which shapes are still missing.
pub const PENDING: &[&str] = &[
    "collectives",
    "complex",
    "control",
    "convolution",
    "custom",
    "functions",
    "images",
    "lax",
    "linalg",
    "linalg_functions",
    "narrow",
    "numpy_calculus",
    "numpy_layouts",
    "numpy_networks",
    "numpy_orders",
    "numpy_pointwise",
    "numpy_quantiles",
    "numpy_reductions",
    "numpy_searches",
    "numpy_special_functions",
    "primitives",
    "random",
    "samplers",
    "windows",
];

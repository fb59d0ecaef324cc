//! Functions of the other recordings that lack a shape.

use super::Exemption;
use super::Gap::{Empty, Scalar, Shapes};

/// Where JAX has no such call, or another recording has it.
pub const EXEMPTIONS: &[Exemption] = &[
    Exemption {
        recording: "control",
        gap: Scalar,
        reason: "a mapped operand has an axis: it is 0-d within",
        functions: &[
            "vmap_choice",
            "vmap_choice_of_three",
            "vmap_guarded",
            "jvp_halve",
        ],
    },
    Exemption {
        recording: "control",
        gap: Shapes,
        reason: "a loop's condition is of numbers: vmap_halve has arrays of them",
        functions: &["halve"],
    },
    Exemption {
        recording: "control",
        gap: Empty,
        reason: "a loop's condition is of numbers: vmap_halve has arrays of them",
        functions: &["halve"],
    },
    Exemption {
        recording: "custom",
        gap: Empty,
        reason: "JAX refuses to choose among no elements",
        functions: &["max", "min"],
    },
    Exemption {
        recording: "custom",
        gap: Scalar,
        reason: "taken along an axis",
        functions: &[
            "cummax",
            "cumprod",
            "log_softmax",
            "logsumexp",
            "softmax",
            "sort",
        ],
    },
    Exemption {
        recording: "custom",
        gap: Scalar,
        reason: "made of a product of matrices, which refuses 0-d operands",
        functions: &[
            "checkpoint",
            "hessian_tree",
            "jacfwd_tree",
            "jacfwd_tuple",
            "jacrev_tree",
            "jacrev_tuple",
        ],
    },
    Exemption {
        recording: "functions",
        gap: Scalar,
        reason: "taken along an axis",
        functions: &["cumlogsumexp", "glu"],
    },
    Exemption {
        recording: "lax",
        gap: Scalar,
        reason: "taken along an axis",
        functions: &[
            "approx_max_k",
            "approx_min_k",
            "index_in_dim",
            "index_take",
            "sort_key_val",
        ],
    },
    Exemption {
        recording: "lax",
        gap: Scalar,
        reason: "a product of matrices, which refuses 0-d operands",
        functions: &[
            "batch_matmul",
            "ragged_dot",
            "ragged_dot_general",
            "scaled_dot",
        ],
    },
    Exemption {
        recording: "primitives",
        gap: Scalar,
        reason: "taken along an axis",
        functions: &[
            "argmax",
            "argmin",
            "concatenate",
            "cummax",
            "cummin",
            "cumprod",
            "cumsum",
            "iota",
            "sort",
            "top_k",
        ],
    },
    Exemption {
        recording: "pmap",
        gap: Scalar,
        reason: "a mapped operand has an axis: it is 0-d within",
        functions: &["pmap"],
    },
    Exemption {
        recording: "pmap",
        gap: Empty,
        reason: "JAX fails to read an array without elements from several devices",
        functions: &["pmap"],
    },
    Exemption {
        recording: "roots",
        gap: Scalar,
        reason: "of a matrix or a batch",
        functions: &["batch", "coupled"],
    },
    Exemption {
        recording: "roots",
        gap: Empty,
        reason: "JAX refuses it",
        functions: &["gmres"],
    },
    Exemption {
        recording: "padding",
        gap: Empty,
        reason: "JAX looks at each axis, also where nothing is added",
        functions: &["linear_ramp", "maximum", "median", "minimum"],
    },
    Exemption {
        recording: "hermitian",
        gap: Scalar,
        reason: "of matrices",
        functions: &["matrix_rank", "pinv", "pinv_as_is", "svd", "svdvals"],
    },
    Exemption {
        recording: "hermitian",
        gap: Empty,
        reason: "of given matrices: pinv and svdvals have it",
        functions: &["matrix_rank", "pinv_as_is"],
    },
];

/// Recordings in which shapes are still missing.
pub const PENDING: &[&str] = &[
    "collectives",
    "complex",
    "convolution",
    "images",
    "linalg",
    "linalg_functions",
    "narrow",
    "random",
    "samplers",
    "windows",
];

//! Functions of `jax.numpy`, `jax.nn` and `jax.scipy` that lack a shape. The
//! scripts that record them name calls that JAX refuses (`refused`), and fail
//! where it does not.

use super::{Exemption, Gap};

const AN_AXIS_IS_NAMED: &str = "it is along an axis, and a 0-d array has none";

/// Where JAX has no such call.
pub const EXEMPTIONS: &[Exemption] = &[
    Exemption {
        recording: "numpy_calculus",
        gap: Gap::Scalar,
        reason: AN_AXIS_IS_NAMED,
        functions: &[
            "average",
            "diff",
            "diff_2",
            "gradient",
            "gradient_spaced",
            "trapezoid",
            "trapezoid_at",
            "trapezoid_spaced",
            "unwrap",
        ],
    },
    Exemption {
        recording: "numpy_calculus",
        gap: Gap::Scalar,
        reason: "weights are one for each sample, 1-d",
        functions: &["cov_frequencies", "cov_weights", "cov_weights_0"],
    },
    Exemption {
        recording: "numpy_calculus",
        gap: Gap::Empty,
        reason: "each axis needs two elements",
        functions: &["gradients"],
    },
    Exemption {
        recording: "numpy_layouts",
        gap: Gap::Scalar,
        reason: AN_AXIS_IS_NAMED,
        functions: &[
            "apply_along_axis",
            "array_split",
            "delete",
            "diagonal_axes",
            "fill_diagonal",
            "fliplr",
            "flipud",
            "insert",
            "matrix_transpose",
            "moveaxis",
            "packbits_little",
            "roll_axes",
            "rollaxis",
            "rot90",
        ],
    },
    Exemption {
        recording: "numpy_layouts",
        gap: Gap::Scalar,
        reason: "vectors and matrices have axes to multiply along",
        functions: &["cross", "cross_axis", "matvec", "vecdot", "vecmat"],
    },
    Exemption {
        recording: "numpy_layouts",
        gap: Gap::Scalar,
        reason: "coefficients of polynomials, and numbers to take powers of, are 1-d",
        functions: &[
            "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub", "vander",
        ],
    },
    Exemption {
        recording: "numpy_layouts",
        gap: Gap::Scalar,
        reason: "a window is 1-d",
        functions: &["bartlett", "blackman", "hamming", "hanning"],
    },
    Exemption {
        recording: "numpy_networks",
        gap: Gap::Scalar,
        reason: "queries, keys and values have four axes, or three",
        functions: &[
            "attention",
            "attention_bias_mask",
            "attention_causal",
            "attention_lengths",
            "attention_plain",
            "attention_scale_window",
        ],
    },
    Exemption {
        recording: "numpy_networks",
        gap: Gap::Scalar,
        reason: "segments are of slices along the first axis",
        functions: &[
            "segment_max",
            "segment_max_buckets",
            "segment_min",
            "segment_min_buckets",
            "segment_prod",
            "segment_sorted",
            "segment_sum",
            "segment_sum_buckets",
        ],
    },
    Exemption {
        recording: "numpy_orders",
        gap: Gap::Scalar,
        reason: AN_AXIS_IS_NAMED,
        functions: &[
            "argpartition",
            "argsort_descending",
            "partition",
            "sort_descending",
            "unique_columns",
            "unique_rows",
        ],
    },
    Exemption {
        recording: "numpy_orders",
        gap: Gap::Empty,
        reason: "a size without a fill value needs an element to repeat; `unique` has one",
        functions: &["unique_columns", "unique_flat"],
    },
    Exemption {
        recording: "numpy_reductions",
        gap: Gap::Scalar,
        reason: AN_AXIS_IS_NAMED,
        functions: &[
            "cumulative_prod",
            "cumulative_prod_initial",
            "cumulative_sum",
            "cumulative_sum_initial",
            "nanargmax",
            "nanargmin",
            "nancumprod",
            "nancumsum",
        ],
    },
    Exemption {
        recording: "numpy_reductions",
        gap: Gap::Scalar,
        reason: "JAX's median of a 0-d array that keeps its axes has one axis; NumPy's and this \
                 one's have none",
        functions: &["median_keepdims", "nanmedian_keepdims"],
    },
    Exemption {
        recording: "numpy_searches",
        gap: Gap::Scalar,
        reason: AN_AXIS_IS_NAMED,
        functions: &["compress", "compress_last"],
    },
    Exemption {
        recording: "numpy_searches",
        gap: Gap::Scalar,
        reason: "a 0-d array has no places",
        functions: &["nonzero"],
    },
    Exemption {
        recording: "numpy_searches",
        gap: Gap::Scalar,
        reason: "numbers to count are 1-d",
        functions: &["bincount", "bincount_weighted"],
    },
    Exemption {
        recording: "numpy_special_functions",
        gap: Gap::Scalar,
        reason: "a window is 1-d",
        functions: &["kaiser"],
    },
];

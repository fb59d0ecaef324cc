//! Elementwise operators: JAX's recorded values and derivatives.

#[path = "../../tests/common/mod.rs"]
mod common;

use common::golden::Golden;

#[test]
fn unary_operators_agree_with_jax() {
    common::walk(
        &Golden::open("primitives"),
        &[
            "neg",
            "sign",
            "abs",
            "exp",
            "exp2",
            "expm1",
            "log",
            "log1p",
            "sqrt",
            "rsqrt",
            "cbrt",
            "sin",
            "cos",
            "tan",
            "tanh",
            "sinh",
            "cosh",
            "asin",
            "acos",
            "atan",
            "asinh",
            "acosh",
            "atanh",
            "logistic",
            "erf",
            "erfc",
            "erf_inv",
            "square",
            "floor",
            "ceil",
            "round",
            "integer_pow",
            "not",
            "population_count",
            "clz",
            "is_finite",
            "lgamma",
            "digamma",
        ],
    );
}

#[test]
fn binary_operators_agree_with_jax() {
    common::walk(
        &Golden::open("primitives"),
        &[
            "add",
            "sub",
            "mul",
            "div",
            "rem",
            "max",
            "min",
            "pow",
            "atan2",
            "nextafter",
            "and",
            "or",
            "xor",
            "shift_left",
            "shift_right_logical",
            "shift_right_arithmetic",
        ],
    );
}

#[test]
fn comparisons_and_choices_agree_with_jax() {
    common::walk(
        &Golden::open("primitives"),
        &["eq", "ne", "lt", "le", "gt", "ge", "select_n", "clamp"],
    );
}

#[test]
fn conversions_agree_with_jax() {
    common::walk(&Golden::open("primitives"), &["convert_element_type"]);
}

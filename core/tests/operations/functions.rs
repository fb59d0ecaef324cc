//! Functions of several primitives: values and derivatives of `jax.nn` and
//! `jax.numpy`.

use ramie_core::numpy::{Indexing, meshgrid, meshgrid_with};
use ramie_core::options::Exact;
use ramie_core::{Array, DType};
use ramie_testing::functions::{Applied, agree, one, two};
use ramie_testing::golden::{Golden, Row};
use ramie_testing::numbers::close;
use ramie_testing::walk_recorded;

fn function(row: &Row) -> Applied {
    // A 0-d array has none.
    let axis = row.params["axis"].as_i64().map(|axis| axis as isize);
    let along = |f: fn(&Array, &[isize]) -> Array| -> Applied {
        Some(Box::new(move |x| vec![f(&x[0], axis.as_slice())]))
    };
    match row.op.as_str() {
        "relu" => one(Array::relu),
        "relu6" => one(Array::relu6),
        "leaky_relu" => one(|x| x.leaky_relu(0.01)),
        "elu" => one(|x| x.elu(1.5)),
        "celu" => one(|x| x.celu(1.5)),
        "selu" => one(Array::selu),
        "gelu" => one(Array::gelu),
        "gelu_exact" => one(|x| x.gelu_with(Exact)),
        "sigmoid" => one(Array::sigmoid),
        "silu" => one(Array::swish),
        "softplus" => one(Array::softplus),
        "soft_sign" => one(Array::soft_sign),
        "log_sigmoid" => one(Array::log_sigmoid),
        "hard_tanh" => one(Array::hard_tanh),
        "hard_sigmoid" => one(Array::hard_sigmoid),
        "hard_silu" => one(Array::hard_silu),
        "mish" => one(Array::mish),
        "squareplus" => one(|x| x.squareplus(4.0)),
        "sparse_plus" => one(Array::sparse_plus),
        "sparse_sigmoid" => one(Array::sparse_sigmoid),
        "deg2rad" => one(Array::deg2rad),
        "rad2deg" => one(Array::rad2deg),
        "trunc" => one(Array::trunc),
        "reciprocal" => one(Array::reciprocal),
        "nan_to_num" => one(Array::nan_to_num),
        "log2" => one(Array::log2),
        "log10" => one(Array::log10),
        "logaddexp" => two(|a, b| a.logaddexp(b)),
        "hypot" => two(|a, b| a.hypot(b)),
        "isclose" => two(|a, b| a.isclose(b)),
        "softmax" => along(|x, axes| x.softmax(axes)),
        "log_softmax" => along(|x, axes| x.log_softmax(axes)),
        "logsumexp" => along(|x, axes| x.logsumexp(axes)),
        "glu" => along(|x, axes| x.glu(axes[0])),
        "standardize" => along(|x, axes| x.standardize(axes, 1e-5)),
        "sum" => along(|x, axes| x.sum_over(axes)),
        "prod" => along(|x, axes| x.prod_over(axes)),
        "mean" => along(|x, axes| x.mean_over(axes)),
        "var" => along(|x, axes| x.var_over(axes)),
        "std" => along(|x, axes| x.std_over(axes)),
        "max" => along(|x, axes| x.max_over(axes)),
        "min" => along(|x, axes| x.min_over(axes)),
        "ptp" => along(|x, axes| x.ptp_over(axes)),
        "norm" => along(|x, axes| x.norm_over(axes)),
        "count_nonzero" => along(|x, axes| x.count_nonzero_over(axes)),
        "cumlogsumexp" => along(|x, axes| x.cumlogsumexp(axes[0])),
        _ => None,
    }
}

#[test]
fn functions_agree_with_jax() {
    agree("functions", 41, &function);
}

#[test]
fn numbers_at_equal_distances() {
    let x = Array::linspace(-1.0, 2.0, 4);
    close(&x, &Array::from([-1.0f32, 0.0, 1.0, 2.0]), 0.0, 1e-7, false).unwrap();
    assert_eq!(Array::linspace(3.0, 9.0, 1).to_vec::<f32>(), [3.0]);
    assert_eq!(Array::linspace(3.0, 9.0, 0).shape(), [0]);
    let many = Array::linspace(0.0, 0.1, 1001);
    assert_eq!(many.to_vec::<f32>()[1000], 0.1);
}

#[test]
fn grids_repeat_coordinates() {
    let axes = [Array::from([1, 2, 3]), Array::from([10, 20])];
    let grid = meshgrid(&axes);
    assert_eq!(grid[0].to_vec::<i32>(), [1, 2, 3, 1, 2, 3]);
    assert_eq!(grid[1].shape(), [2, 3]);
    assert_eq!(grid[1].to_vec::<i32>(), [10, 10, 10, 20, 20, 20]);
    let grid = meshgrid_with(&axes, Indexing::Ij);
    assert_eq!(grid[0].to_vec::<i32>(), [1, 1, 2, 2, 3, 3]);
    assert_eq!(meshgrid(&axes[..1])[0].shape(), [3]);
}

#[test]
fn arrays_are_compared_whole() {
    let x = Array::from([1.0f32, 1e6]);
    let y = Array::from([1.0f32, 1e6 + 1.0]);
    assert!(x.allclose(&y).item::<bool>());
    assert!(!x.allclose_with(&y, (1e-7, 0.0)).item::<bool>());
    assert!(!x.array_equal(&y).item::<bool>());
    assert!(x.array_equal(&x).item::<bool>());
    assert!(!x.array_equal(Array::ones(&[3], DType::F32)).item::<bool>());
    assert!(x.is_inf().any().item::<bool>() == (&x / 0.0).is_nan().all().item::<bool>());
    close(&x.hypot(0.0), &x, 0.0, 0.0, true).unwrap();
}

#[test]
#[should_panic(expected = "glu: axis -1 of f32[3] has an odd size, 3")]
fn halves_of_odd_axes_are_refused() {
    let _ = Array::ones(&[3], DType::F32).glu(-1);
}

fn at_the_ends(row: &Row) -> Applied {
    match row.op.as_str() {
        "abs" => one(Array::abs),
        "sign" => one(Array::sign),
        "square" => one(Array::square),
        "sqrt" => one(Array::sqrt),
        "rsqrt" => one(Array::rsqrt),
        "cbrt" => one(Array::cbrt),
        "exp" => one(Array::exp),
        "exp2" => one(Array::exp2),
        "expm1" => one(Array::expm1),
        "log" => one(Array::log),
        "log1p" => one(Array::log1p),
        "tanh" => one(Array::tanh),
        "sinh" => one(Array::sinh),
        "cosh" => one(Array::cosh),
        "arcsin" => one(Array::asin),
        "arccos" => one(Array::acos),
        "arctan" => one(Array::atan),
        "arcsinh" => one(Array::asinh),
        "arccosh" => one(Array::acosh),
        "arctanh" => one(Array::atanh),
        "sinc" => one(Array::sinc),
        "floor" => one(Array::floor),
        "ceil" => one(Array::ceil),
        "round" => one(Array::round),
        "clip" => one(|x| x.clip(-1.0, 1.0)),
        "maximum" => one(|x| x.maximum(0.0)),
        "minimum" => one(|x| x.minimum(0.0)),
        "erf" => one(Array::erf),
        "erfc" => one(Array::erfc),
        "erf_inv" => one(Array::erf_inv),
        "ndtr" => one(Array::ndtr),
        "log_ndtr" => one(Array::log_ndtr),
        "ndtri" => one(Array::ndtri),
        "logit" => one(Array::logit),
        "entr" => one(Array::entr),
        "integer_pow" => one(|x| x.power(3)),
        "inverse_cube" => one(|x| x.power(-3)),
        "add_of_two" => two(|a, b| a + b),
        "sub_of_two" => two(|a, b| a - b),
        "mul_of_two" => two(|a, b| a * b),
        "div_of_two" => two(|a, b| a / b),
        "maximum_of_two" => two(|a, b| a.maximum(b)),
        "minimum_of_two" => two(|a, b| a.minimum(b)),
        "fmax_of_two" => two(|a, b| a.fmax(b)),
        "fmin_of_two" => two(|a, b| a.fmin(b)),
        "power_of_two" => two(|a, b| a.power(b)),
        "arctan2_of_two" => two(|a, b| a.arctan2(b)),
        "hypot_of_two" => two(|a, b| a.hypot(b)),
        "logaddexp_of_two" => two(|a, b| a.logaddexp(b)),
        "logaddexp2_of_two" => two(|a, b| a.logaddexp2(b)),
        "remainder_of_two" => two(|a, b| a.remainder(b)),
        "fmod_of_two" => two(|a, b| a.fmod(b)),
        "floor_divide_of_two" => two(|a, b| a.floor_divide(b)),
        "copysign_of_two" => two(|a, b| a.copysign(b)),
        "heaviside_of_two" => two(|a, b| a.heaviside(b)),
        "xlogy_of_two" => two(|a, b| a.xlogy(b)),
        "xlog1py_of_two" => two(|a, b| a.xlog1py(b)),
        "rel_entr_of_two" => two(|a, b| a.rel_entr(b)),
        "kl_div_of_two" => two(|a, b| a.kl_div(b)),
        _ => function(row),
    }
}

#[test]
fn functions_agree_with_jax_where_definitions_end() {
    let golden = Golden::open("ends");
    walk_recorded(golden, &golden.ops(), &at_the_ends);
}

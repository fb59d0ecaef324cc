//! Functions of complex numbers against JAX: values and derivatives.

use super::rows::{self, Operation, array, check, rows};
use num_complex::Complex;
use ramie_core::lax::{conv_general_dilated, pmax};
use ramie_core::numpy::{ConvolveMode, PadMode, PadStatistic, Side, lexsort};
use ramie_core::options::{
    Convolution, Covariance, Descending, Histogram, Holomorphic, Reduction, Spacing, Standardize,
    Tolerance, VmapOptions, Window,
};
use ramie_core::{
    Array, DType, grad, hessian_with, image, jacfwd, jacfwd_with, jacrev, jacrev_with, linalg,
    random, stack, value_and_grad_with, vmap_with,
};
use ramie_testing::check_calls;
use serde_json::Value;

type Function = fn(&[Array]) -> Array;

/// A table of functions under the names of their rows.
macro_rules! table {
    ($name:ident { $($unary:ident)* } { $($binary:ident)* } { $($row:literal |$x:ident| $call:expr;)* }) => {
        const $name: &[(&str, Function)] = &[
            $((stringify!($unary), |x| x[0].$unary()),)*
            $((stringify!($binary), |x| x[0].$binary(&x[1])),)*
            $(($row, |$x| $call),)*
        ];
    };
}

table! { OF_ANY_SHAPE {
    square reciprocal exp2 log2 log10 deg2rad rad2deg sinc positive round rint is_finite is_nan is_inf
    is_real is_complex logical_not nan_to_num relu selu gelu sigmoid silu swish softplus log_sigmoid
    relu6 soft_sign hard_tanh hard_sigmoid hard_silu hard_swish mish sparse_plus logit expit log1mexp
    sum prod mean var std nansum nanprod nanmean nanvar nanstd max min ptp nanmax nanmin all any
    count_nonzero norm ravel unique ediff1d
} {
    maximum minimum lt le gt ge arctan2 logaddexp logaddexp2 power float_power true_divide xlogy
    xlog1py boxcox boxcox1p logical_and logical_or logical_xor isclose allclose array_equal array_equiv
    isin fmax fmin vdot outer kron union1d intersect1d setdiff1d setxor1d
} {
    "round_decimals" |x| (&x[0] * 1.234).round_with(1);
    "leaky_relu" |x| x[0].leaky_relu(0.01);
    "elu" |x| x[0].elu(1.0);
    "celu" |x| x[0].celu(1.0);
    "squareplus" |x| x[0].squareplus(4.0);
    "logsumexp" |x| x[0].logsumexp(Reduction::all());
    "logmeanexp" |x| x[0].logmeanexp(Reduction::all());
    "histogram" |x| x[0].histogram(2).0;
    "var_with" |x| x[0].var_over(Reduction::all().ddof(0.5).keepdims());
    "var_dtype" |x| x[0].var_over(Reduction::all().dtype(x[0].dtype()));
    "max_initial" |x| x[0].max_over(Reduction::all().initial(0.5));
    "min_initial" |x| x[0].min_over(Reduction::all().initial(0.5));
    "isclose_or_nan" |x| x[0].isclose_with(&x[1], Tolerance { equal_nan: true, ..Tolerance::default() });
} }

fn pair_window(x: &Array) -> Window {
    let mut dimensions = vec![1; x.ndim()];
    dimensions[0] = 2;
    Window::new(&dimensions)
}

fn padded(x: &Array, of: PadStatistic) -> Array {
    let mode = PadMode::Statistic {
        of,
        stat_length: vec![],
    };
    x.pad_with(&first_widths(x), mode)
}

fn first_widths(x: &Array) -> Vec<(usize, usize)> {
    let mut widths = vec![(0, 0); x.ndim()];
    widths[0] = (1, 2);
    widths
}

fn named() -> VmapOptions {
    VmapOptions {
        axis_name: Some("i".into()),
        ..VmapOptions::default()
    }
}

fn length(x: &Array, p: f64) -> Array {
    linalg::vector_norm(x, p, 0)
}

table! { OF_AXES { cov corrcoef } {} {
    "sort" |x| x[0].sort(0);
    "argsort" |x| x[0].argsort(0);
    "sort_descending" |x| x[0].sort_with(0, Descending);
    "argsort_descending" |x| x[0].argsort_with(0, Descending);
    "cumsum" |x| x[0].cumsum(0);
    "cumprod" |x| x[0].cumprod(0);
    "cummax" |x| x[0].cummax(0);
    "cummin" |x| x[0].cummin(0);
    "cummax_reversed" |x| x[0].cummax_reversed(0);
    "cumlogsumexp" |x| x[0].cumlogsumexp(0);
    "nancumsum" |x| x[0].nancumsum(0);
    "nancumprod" |x| x[0].nancumprod(0);
    "softmax" |x| x[0].softmax(0);
    "log_softmax" |x| x[0].log_softmax(0);
    "diff" |x| x[0].diff(0);
    "gradient" |x| x[0].gradient(0);
    "trapezoid" |x| x[0].trapezoid(0);
    "flip" |x| x[0].flip(&[0]);
    "var_axes" |x| x[0].var_over(0);
    "std_ddof" |x| x[0].std_over(Reduction::over(0).ddof(1.0));
    "norm_axes" |x| x[0].norm_over(0);
    "reduce_window_max" |x| x[0].reduce_window_max(&pair_window(&x[0]));
    "reduce_window_min" |x| x[0].reduce_window_min(&pair_window(&x[0]));
    "reduce_window_sum" |x| x[0].reduce_window_sum(&pair_window(&x[0]));
    "pad_maximum" |x| padded(&x[0], PadStatistic::Maximum);
    "pad_minimum" |x| padded(&x[0], PadStatistic::Minimum);
    "pad_mean" |x| padded(&x[0], PadStatistic::Mean);
    "pad_linear_ramp" |x| x[0].pad_linear_ramp(&first_widths(&x[0]), 0);
    "glu" |x| ramie_core::concatenate(&[&x[0], &(&x[0] * Complex::<f32>::i())], 0).glu(0);
    "pmax" |x| vmap_with(|a: Array| pmax(&a, "i"), named())(x[0].clone());
    "nonzero" |x| x[0].nonzero().remove(0);
    "vector_norm_0" |x| length(&x[0], 0.0);
    "vector_norm_1" |x| length(&x[0], 1.0);
    "vector_norm_2" |x| length(&x[0], 2.0);
    "vector_norm_3" |x| length(&x[0], 3.0);
    "vector_norm_inf" |x| length(&x[0], f64::INFINITY);
    "vector_norm_-inf" |x| length(&x[0], f64::NEG_INFINITY);
    "matrix_norm_fro" |x| linalg::matrix_norm(&x[0]);
    "matrix_norm_1" |x| linalg::matrix_norm_with(&x[0], 1);
    "matrix_norm_-1" |x| linalg::matrix_norm_with(&x[0], -1);
    "matrix_norm_inf" |x| linalg::matrix_norm_with(&x[0], f64::INFINITY);
    "matrix_norm_-inf" |x| linalg::matrix_norm_with(&x[0], f64::NEG_INFINITY);
} }

fn mask() -> Array {
    Array::from([true, false, true])
}

fn ids() -> Array {
    Array::from([0, 1, 1])
}

/// The first two elements.
fn start(x: &Array) -> Array {
    x.slice_in_dim(0, 2, 1, 0)
}

/// Numbers in the real type of an array.
fn reals(x: &Array, values: &[f64]) -> Array {
    Array::from_slice(values, &[values.len()]).astype(x.dtype().real())
}

/// A matrix made of two vectors.
fn matrix(x: &[Array]) -> Array {
    stack(
        &[x[1].clone(), x[0].clone(), &x[1] * Complex::<f32>::i()],
        0,
    )
}

table! { OF_VECTORS { } { vecdot inner dot polyval polyadd polymul } {
    "lexsort" |x| lexsort(&[&x[0], &x[1]], 0);
    "searchsorted" |x| x[0].sort(0).searchsorted(&x[1], Side::Left);
    "searchsorted_right" |x| x[0].sort(0).searchsorted(&x[1], Side::Right);
    "digitize" |x| x[0].digitize(&x[1].sort(0));
    "cross" |x| x[0].cross(&x[1], -1);
    "convolve" |x| x[0].convolve(&x[1], ConvolveMode::Full);
    "correlate_full" |x| x[0].correlate(start(&x[1]), ConvolveMode::Full);
    "correlate_same" |x| start(&x[0]).correlate(&x[1], ConvolveMode::Same);
    "correlate_valid" |x| x[0].correlate(start(&x[1]), ConvolveMode::Valid);
    "vecmat" |x| x[0].vecmat(matrix(x));
    "matvec" |x| matrix(x).matvec(&x[0]);
    "average" |x| x[0].average(&x[1], 0);
    "polydiv" |x| x[0].polydiv(&x[1]).1;
    "polyder" |x| x[0].polyder(1);
    "polyint" |x| x[0].polyint(1);
    "poly" |x| x[0].poly();
    "vander" |x| x[0].vander(3);
    "max_where" |x| x[0].max_over(Reduction::all().mask(&mask()).initial(-9));
    "var_where" |x| x[0].var_over(Reduction::all().mask(&mask()));
    "softmax_where" |x| x[0].softmax(Reduction::over(0).mask(&mask()));
    "logsumexp_where" |x| x[0].logsumexp(Reduction::all().mask(&mask()));
    "logsumexp_weighted" |x| x[0].logsumexp_with(Reduction::all(), &x[1]);
    "logsumexp_size" |x| x[0].logsumexp_signed(&x[1], Reduction::all()).0;
    "logsumexp_sign" |x| x[0].logsumexp_signed(&x[1], Reduction::all()).1;
    "cov_of_two" |x| Covariance::new().and(&x[1]).of(&x[0]);
    "cov_weighted" |x| {
        let weights = reals(&x[0], &[1.0, 2.0, 3.0]);
        Covariance::new().and(&x[1]).weights(&weights).of(&x[0])
    };
    "standardize" |x| {
        let variance = reals(&x[0], &[2.0]).squeeze(&[0]);
        Standardize::over(&[0]).mean(&x[0].mean()).variance(&variance).of(&x[0])
    };
    "interp" |x| {
        let places = reals(&x[0], &[0.0, 1.0, 2.0]);
        reals(&x[0], &[-1.0, 0.3, 1.5]).interp(&places, &x[0])
    };
    "histogram_weighted" |x| {
        Histogram::new(2).weights(&x[0]).of(&reals(&x[0], &[0.0, 1.0, 1.0])).0
    };
    "bincount_weighted" |x| ids().bincount_with(2, &x[0]);
    "segment_sum" |x| x[0].segment_sum(&ids(), 2);
    "segment_prod" |x| x[0].segment_prod(&ids(), 2);
    "segment_max" |x| x[0].segment_max(&ids(), 2);
    "segment_min" |x| x[0].segment_min(&ids(), 2);
    "at_max" |x| x[0].at(Array::from([0, 1])).max(start(&x[1]));
    "at_min" |x| x[0].at(Array::from([0, 1])).min(start(&x[1]));
    "at_add" |x| x[0].at(Array::from([0, 1])).add(start(&x[1]));
    "at_multiply" |x| x[0].at(Array::from([0, 1])).multiply(start(&x[1]));
    "trim_zeros" |x| x[0].pad(&[(1, 0)], 0).trim_zeros();
    "linspace" |x| Spacing::new(4).linear(&x[0], &x[1]);
    "logspace" |x| Spacing::new(3).logarithmic(&x[0], &x[1], 10.0);
    "geomspace" |x| Spacing::new(3).geometric(&x[0], &x[1]);
    "extract" |x| x[0].extract(&mask());
    "piecewise" |x| x[0].piecewise(&[(mask(), &|x: &Array| x * 2)], |x| x * Complex::<f32>::i());
    "conv" |x| {
        let lines = |x: &Array| x.expand_dims(&[0, 1]);
        conv_general_dilated(&lines(&x[0]), &lines(&start(&x[1])), &Convolution::new())
    };
    "image" |x| image::resize(&x[0], &[5], image::ResizeMethod::Linear);
    "square_of_imaginary" |x| {
        (x[0].real() * Complex::<f64>::i()) * (Complex::<f64>::i() * x[0].imag())
    };
} }

/// The names of all functions with rows.
pub fn names() -> impl Iterator<Item = &'static str> {
    let tables = [OF_ANY_SHAPE, OF_AXES, OF_VECTORS];
    tables.into_iter().flatten().map(|(name, _)| *name)
}

fn compared(functions: &'static [(&'static str, Function)]) -> usize {
    check("complex_functions", |row| {
        let name = row["op"].as_str().expect("a name");
        let (_, f) = functions.iter().find(|(own, _)| *own == name)?;
        let f = *f;
        Some(Box::new(f) as Box<Operation>)
    })
}

#[test]
fn functions_of_any_shape_are_those_of_jax() {
    let applied = compared(OF_ANY_SHAPE);
    assert!(applied > 400, "{applied} rows");
}

#[test]
fn functions_along_axes_are_those_of_jax() {
    let applied = compared(OF_AXES);
    assert!(applied > 150, "{applied} rows");
}

#[test]
fn functions_of_vectors_are_those_of_jax() {
    let applied = compared(OF_VECTORS);
    assert!(applied > 100, "{applied} rows");
}

#[test]
fn every_row_has_a_function() {
    let others = |row: &Value| row["sampler"].is_null() && row["derivative"].is_null();
    for row in rows("complex_functions").iter().filter(|r| others(r)) {
        let name = row["op"].as_str().expect("a name");
        assert!(
            names().any(|own| own == name),
            "nothing is compared with `{name}`"
        );
    }
}

#[test]
fn samplers_of_complex_numbers_are_those_of_jax() {
    let key = random::key(7);
    let mut compared = 0;
    for row in rows("complex_functions") {
        let half = row["output"]["dtype"].as_str() == Some("complex64");
        let dtype = if half { DType::C64 } else { DType::C128 };
        let got = match row["op"].as_str().expect("a name") {
            "normal" => random::normal(&key, &[2, 3], dtype),
            "lognormal" => random::lognormal(&key, 0.5, &[3], dtype),
            "rademacher" => random::rademacher(&key, &[5], dtype),
            _ => continue,
        };
        compared += 1;
        rows::close(&got, &row["output"]).unwrap_or_else(|e| panic!("{e}: {row}"));
    }
    assert_eq!(compared, 5);
}

#[test]
fn holomorphic_derivatives_are_those_of_jax() {
    let f = |x: Array| &x * x.flip(&[0]) + x.sin();
    let cube = |x: Array| (&x * &x * x.flip(&[0])).sum();
    let rows = rows("complex_functions");
    let rows = rows.iter().filter(|row| !row["derivative"].is_null());
    let rows: Vec<&Value> = rows.collect();
    let derivative = |i: usize, z: Array| match rows[i]["op"].as_str().expect("a name") {
        "jacrev_holomorphic" => jacrev_with(f, Holomorphic)(z),
        "jacfwd_holomorphic" => jacfwd_with(f, Holomorphic)(z),
        "hessian_holomorphic" => hessian_with(cube, Holomorphic)(z),
        "value_and_grad_holomorphic" => value_and_grad_with(cube, Holomorphic)(z).1,
        "jacrev_to_real" => jacrev(|x: Array| x.abs())(z),
        "jacfwd_from_real" => jacfwd({
            let z = z.clone();
            move |x: Array| x * &z
        })(z.real()),
        other => panic!("{other}"),
    };
    let points: Vec<Array> = rows.iter().map(|row| array(&row["inputs"][0])).collect();
    check_calls(&points, derivative, |i, got| {
        rows::close(&got, &rows[i]["output"]).unwrap_or_else(|e| panic!("{e}: {}", rows[i]));
    });
    assert_eq!(rows.len(), 12);
}

/// `NaN` wins whatever the order of operands, as the documentation says; in JAX
/// the result depends on the order.
#[test]
fn nan_is_the_largest_and_the_smallest() {
    let nan = Complex::new(f32::NAN, 1.0);
    for pair in [[nan, Complex::new(5.0, 0.0)], [Complex::new(5.0, 0.0), nan]] {
        let x = Array::from(pair);
        for chosen in [
            x.max(),
            x.min(),
            x.cummax(0).index(1),
            x.index(0).maximum(x.index(1)),
        ] {
            assert!(chosen.is_nan().item::<bool>(), "{pair:?}: {chosen}");
        }
    }
}

#[test]
fn lengths_and_deviations_at_zero_have_jax_derivatives() {
    let slope = grad(|z: Array| z.var())(Array::zeros(&[2], DType::C64));
    assert_eq!(slope.to_vec::<Complex<f32>>(), [Complex::new(0.0, 0.0); 2]);
}

/// A scalar gives way to the type of the array, and makes it complex.
#[test]
fn complex_scalars_are_weak_on_both_sides() {
    let (single, double) = (Complex::<f32>::i(), Complex::<f64>::i());
    for (dtype, expected) in [
        (DType::F32, DType::C64),
        (DType::F64, DType::C128),
        (DType::C64, DType::C64),
        (DType::C128, DType::C128),
        (DType::BF16, DType::C64),
        (DType::I32, DType::C64),
    ] {
        let x = Array::ones(&[2], dtype);
        let all = [
            &x * single,
            &x * double,
            single * &x,
            double * &x,
            x.add(single),
            double - &x,
        ];
        for y in all {
            assert_eq!(y.dtype(), expected, "{dtype}");
        }
    }
}

//! Second derivatives of smooth functions where their formulas have branches or ties.

use ramie_core::options::Exact;
use ramie_core::{Array, DType, grad, hessian, stack, stats};

type F1 = fn(&Array) -> Array;
type F2 = fn(&Array, &Array) -> Array;

fn number(x: f64) -> Array {
    Array::scalar(x, DType::F64)
}

/// Derivatives by differences are accurate to about 1e-7 with this step.
const STEP: f64 = 1e-4;

fn differs(got: f64, expected: f64) -> bool {
    let error = (got - expected).abs() / (1.0 + expected.abs());
    error.is_nan() || error > 2e-6
}

#[test]
fn second_derivatives_are_those_of_the_first() {
    let functions: &[(&str, F1, &[f64])] = &[
        ("lgamma", Array::lgamma, &[0.5, 1.0, 2.0, -1.5, 3.0]),
        ("gamma", Array::gamma, &[0.5, 1.0, 2.0, -1.5]),
        ("factorial", Array::factorial, &[1.0, 2.0]),
        ("digamma", Array::digamma, &[0.5, 1.0, 2.0, -1.5]),
        ("erf", Array::erf, &[0.0, 1.0, -1.0]),
        ("erfc", Array::erfc, &[0.0, 1.0, -1.0]),
        ("erf_inv", Array::erf_inv, &[0.0, 0.5]),
        ("erfcx", Array::erfcx, &[0.0, 1.0, 26.0]),
        ("ndtr", Array::ndtr, &[0.0, 1.0, -1.0]),
        ("log_ndtr", Array::log_ndtr, &[0.0, 5.0, 8.0, -10.0, -20.0]),
        (
            "ndtri",
            Array::ndtri,
            &[0.5, 0.135_335_283_236_612_7, 0.864_664_716_763_387_3],
        ),
        ("i0", Array::i0, &[0.0, 8.0, -8.0, 0.1]),
        ("i1", Array::i1, &[0.0, 8.0, -8.0, 0.1]),
        ("i0e", Array::i0e, &[8.0, -8.0, 0.1]),
        ("i1e", Array::i1e, &[8.0, -8.0, 0.1]),
        ("entr", Array::entr, &[0.5, 1.0]),
        ("logit", Array::logit, &[0.5]),
        ("expit", Array::expit, &[0.0]),
        ("log1mexp", Array::log1mexp, &[std::f64::consts::LN_2, 0.1]),
        ("sinc", Array::sinc, &[0.0, 1.0, 1e-3]),
        ("softplus", Array::softplus, &[0.0]),
        ("log_sigmoid", Array::log_sigmoid, &[0.0]),
        ("silu", Array::silu, &[0.0]),
        ("mish", Array::mish, &[0.0]),
        ("squareplus", |x| x.squareplus(4.0), &[0.0]),
        ("gelu exact", |x| x.gelu_with(Exact), &[0.0]),
        ("gelu", Array::gelu, &[0.0]),
        ("expm1", Array::expm1, &[0.0]),
        ("log1p", Array::log1p, &[0.0]),
        ("tanh", Array::tanh, &[0.0]),
        ("asinh", Array::asinh, &[0.0]),
        ("atanh", Array::atanh, &[0.0]),
        ("atan", Array::atan, &[0.0, 1.0]),
        ("square", Array::square, &[0.0]),
        ("power 2", |x| x.power(2), &[0.0]),
        ("power 3.0", |x| x.power(3.0), &[0.0]),
        ("power 1, traced", |x| x.power(number(1.0)), &[0.0]),
        ("power 2, traced", |x| x.power(number(2.0)), &[0.0]),
        ("power 0, traced", |x| x.power(number(0.0)), &[0.0]),
        (
            "Laplace cdf",
            |x| stats::laplace::cdf(x, 0.0, 1.0),
            &[-1.0, 1.0, 700.0, -700.0, 900.0],
        ),
        (
            "exponential cdf",
            |x| stats::expon::cdf(x, 0.0, 1.0),
            &[1.0, -1.0, -900.0],
        ),
        ("boxcox", |x| x.boxcox(0.0), &[1.0, 2.0]),
        ("boxcox1p", |x| x.boxcox1p(0.0), &[0.0, 2.0]),
        ("multigammaln", |x| x.multigammaln(3), &[2.0]),
        ("zeta", |x| number(2.0).zeta(x), &[1.0]),
        ("polygamma", |x| number(1.0).polygamma(x), &[1.0]),
        (
            "prod with a zero",
            |x| stack(&[x, x, &number(2.0)], 0).prod(),
            &[0.0],
        ),
        (
            "cumprod with a zero",
            |x| stack(&[x, x, &number(2.0)], 0).cumprod(0).sum(),
            &[0.0],
        ),
        (
            "variance of equal",
            |x| stack(&[x, &number(1.0)], 0).var(),
            &[1.0],
        ),
        (
            "logsumexp of equal",
            |x| stack(&[x, &number(1.0)], 0).logsumexp(0),
            &[1.0],
        ),
        (
            "softmax of equal",
            |x| stack(&[x, &number(1.0)], 0).softmax(0).index(0),
            &[1.0],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, f, points) in functions {
        for &x in *points {
            let first = |x: f64| grad(|x: Array| f(&x))(number(x)).item::<f64>();
            let got = hessian(|x: Array| f(&x))(number(x)).item::<f64>();
            let expected = (first(x + STEP) - first(x - STEP)) / (2.0 * STEP);
            let slope = first(x);
            let at = |x: f64| f(&number(x)).item::<f64>();
            let difference = (at(x + STEP) - at(x - STEP)) / (2.0 * STEP);
            if differs(got, expected) {
                wrong.push(format!("{name} at {x}: second {got}, expected {expected}"));
            }
            if differs(slope, difference) {
                wrong.push(format!(
                    "{name} at {x}: first {slope}, expected {difference}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mixed_second_derivatives_are_those_of_the_first() {
    let functions: &[(&str, F2, &[[f64; 2]])] = &[
        (
            "betaln",
            |a, b| a.betaln(b),
            &[[2.0, 2.0], [8.0, 8.0], [20.0, 20.0], [1.0, 8.0]],
        ),
        ("beta", |a, b| a.beta(b), &[[2.0, 2.0], [8.0, 8.0]]),
        ("comb", |a, b| a.comb(b), &[[4.0, 2.0], [5.0, 1.0]]),
        (
            "logaddexp",
            |a, b| a.logaddexp(b),
            &[[0.5, 0.5], [1.0, 0.0]],
        ),
        (
            "logaddexp2",
            |a, b| a.logaddexp2(b),
            &[[0.5, 0.5], [1.0, 0.0]],
        ),
        (
            "hypot",
            |a, b| a.hypot(b),
            &[[1.0, 1.0], [-1.0, 1.0], [0.0, 1.0], [1.0, 0.0]],
        ),
        (
            "arctan2",
            |a, b| a.arctan2(b),
            &[[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]],
        ),
        ("xlogy", |a, b| a.xlogy(b), &[[0.0, 1.0], [1.0, 1.0]]),
        ("xlog1py", |a, b| a.xlog1py(b), &[[0.0, 0.0], [1.0, 0.0]]),
        (
            "rel_entr",
            |a, b| a.rel_entr(b),
            &[[1.0, 1.0], [1.0, 2.0], [1.0, 0.5]],
        ),
        (
            "kl_div",
            |a, b| a.kl_div(b),
            &[[1.0, 1.0], [1.0, 2.0], [1.05, 1.0]],
        ),
        (
            "boxcox",
            |a, b| a.boxcox(b),
            &[[2.0, 0.0], [2.0, 1e-3], [1.0, 0.0], [2.0, 1.0]],
        ),
        ("boxcox1p", |a, b| a.boxcox1p(b), &[[2.0, 0.0], [0.0, 0.0]]),
        (
            "power",
            |a, b| a.power(b),
            &[[1.0, 0.0], [2.0, 1.0], [1.0, 1.0]],
        ),
        (
            "product",
            |a, b| stack(&[a, b], 0).prod(),
            &[[0.0, 0.0], [0.0, 1.0]],
        ),
        ("variance", |a, b| stack(&[a, b], 0).var(), &[[1.0, 1.0]]),
        (
            "logsumexp",
            |a, b| stack(&[a, b], 0).logsumexp(0),
            &[[1.0, 1.0]],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, f, points) in functions {
        for &[a, b] in *points {
            let of = |x: Array| f(&x.index(0), &x.index(1));
            let pair = |a: f64, b: f64| Array::from([a, b]).astype(DType::F64);
            let first = |a: f64, b: f64| grad(of)(pair(a, b)).to_vec::<f64>();
            let got = hessian(of)(pair(a, b)).to_vec::<f64>();
            let by = |up: Vec<f64>, down: Vec<f64>, i: usize| (up[i] - down[i]) / (2.0 * STEP);
            let by_a = |i| by(first(a + STEP, b), first(a - STEP, b), i);
            let by_b = |i| by(first(a, b + STEP), first(a, b - STEP), i);
            let expected = [by_a(0), by_b(0), by_a(1), by_b(1)];
            for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
                if differs(*got, expected) {
                    wrong.push(format!(
                        "{name} at {a}, {b}: [{i}] {got}, expected {expected}"
                    ));
                }
            }
            let value = |a: f64, b: f64| f(&number(a), &number(b)).item::<f64>();
            let slopes = [
                (value(a + STEP, b) - value(a - STEP, b)) / (2.0 * STEP),
                (value(a, b + STEP) - value(a, b - STEP)) / (2.0 * STEP),
            ];
            for (got, expected) in first(a, b).iter().zip(slopes) {
                if differs(*got, expected) {
                    wrong.push(format!(
                        "{name} at {a}, {b}: first {got}, expected {expected}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_in_f64_are_accurate_beyond_f32() {
    // By mpmath, with 60 digits.
    let betaln = [
        ([1.0, 8.0], -2.0794415416798357),
        ([2.5, 9.0], -5.402714703349072),
        ([0.5, 20.0], -0.919251844406604),
        ([8.0, 8.0], -10.848948661710063),
        ([12.0, 30.5], -25.444291440371234),
    ];
    for ([a, b], expected) in betaln {
        let got = number(a).betaln(number(b)).item::<f64>();
        assert!(
            (got - expected).abs() < 4e-14 * expected.abs(),
            "betaln({a}, {b}) is {got}"
        );
        let swapped = number(b).betaln(number(a)).item::<f64>();
        assert_eq!(got, swapped, "betaln({a}, {b})");
    }
    let log_ndtr = [
        (-10.5, -58.404187061073245),
        (-20.5, -214.0667289632638),
        (-25.0, -316.63940800802027),
        (-40.0, -804.6084420137538),
    ];
    for (x, expected) in log_ndtr {
        let got = number(x).log_ndtr().item::<f64>();
        assert!(
            (got - expected).abs() < 4e-15 * expected.abs(),
            "log_ndtr({x}) is {got}"
        );
    }
}

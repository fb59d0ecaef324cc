//! Activation functions: values, slopes, and the ends of the number line.

use ramie_core::options::Exact;
use ramie_core::{Array, DType, grad, vmap};

const POINTS: [f32; 9] = [
    f32::NEG_INFINITY,
    -200.0,
    -2.0,
    -0.5,
    0.0,
    0.5,
    2.0,
    200.0,
    f32::INFINITY,
];

#[track_caller]
fn close(got: &[f32], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(expected) {
        let same = f64::from(*g) == *e || (f64::from(*g) - e).abs() <= 2e-6 * (1.0 + e.abs());
        assert!(
            same || (g.is_nan() && e.is_nan()),
            "{got:?} instead of {expected:?}"
        );
    }
}

/// Checks a function and its derivative against formulas in `f64`, and that it
/// lets NaN through.
#[track_caller]
fn check(f: impl Fn(&Array) -> Array + Send + Sync, value: fn(f64) -> f64, slope: fn(f64) -> f64) {
    let x = Array::from(POINTS);
    let exact = |f: fn(f64) -> f64| POINTS.map(|x| f(f64::from(x)));
    close(&f(&x).to_vec::<f32>(), &exact(value));
    let finite = &POINTS[1..8];
    let slopes = grad(|x: Array| f(&x).sum())(Array::from(finite));
    close(&slopes.to_vec::<f32>(), &exact(slope)[1..8]);
    assert!(f(&Array::from(f32::NAN)).item::<f32>().is_nan());
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[test]
fn piecewise() {
    check(|x| x.relu(), |x| x.max(0.0), |x| f64::from(x > 0.0));
    check(
        |x| x.leaky_relu(0.01),
        |x| if x >= 0.0 { x } else { 0.01 * x },
        |x| if x >= 0.0 { 1.0 } else { 0.01 },
    );
    check(
        |x| x.elu(1.5),
        |x| if x > 0.0 { x } else { 1.5 * x.exp_m1() },
        |x| if x > 0.0 { 1.0 } else { 1.5 * x.exp() },
    );
    // The fixed point of the self-normalizing map.
    const ALPHA: f64 = 1.6732632423543772;
    const SCALE: f64 = 1.0507009873554805;
    check(
        |x| x.selu(),
        |x| SCALE * if x > 0.0 { x } else { ALPHA * x.exp_m1() },
        |x| SCALE * if x > 0.0 { 1.0 } else { ALPHA * x.exp() },
    );
}

#[test]
fn smooth() {
    check(|x| x.sigmoid(), sigmoid, |x| sigmoid(x) * sigmoid(-x));
    check(|x| x.softplus(), softplus, sigmoid);
    check(|x| x.log_sigmoid(), |x| -softplus(-x), |x| sigmoid(-x));
}

#[test]
fn units_with_a_dip() {
    let x = Array::from([-2.0f32, -0.5, 0.0, 0.5, 2.0]);
    // x·sigmoid(x); JAX's numbers for the two forms of GELU.
    let silu = [-2.0, -0.5, 0.0, 0.5, 2.0].map(|x| x * sigmoid(x));
    close(&x.silu().to_vec::<f32>(), &silu);
    let gelu = [-0.04540229, -0.15428595, 0.0, 0.34571403, 1.9545977];
    close(&x.gelu().to_vec::<f32>(), &gelu);
    let exact = [-0.04550028, -0.1542688, 0.0, 0.3457312, 1.9544997];
    close(&x.gelu_with(Exact).to_vec::<f32>(), &exact);
}

#[test]
fn sums_of_exponentials() {
    let x = Array::from([[1000.0f32, 1000.0], [f32::NEG_INFINITY, 3.0], [1.0, 2.0]]);
    let ln2 = std::f64::consts::LN_2;
    let last = (1f64.exp() + 2f64.exp()).ln();
    close(&x.logsumexp(-1).to_vec::<f32>(), &[1000.0 + ln2, 3.0, last]);
    let none = Array::full(&[2], f32::NEG_INFINITY, DType::F32).logsumexp(0);
    assert_eq!(none.item::<f32>(), f32::NEG_INFINITY);
    let p = sigmoid(-1.0);
    close(
        &x.softmax(1).to_vec::<f32>(),
        &[0.5, 0.5, 0.0, 1.0, p, 1.0 - p],
    );
    let logs = [-ln2, -ln2, f64::NEG_INFINITY, 0.0, p.ln(), (1.0 - p).ln()];
    close(&x.log_softmax(1).to_vec::<f32>(), &logs);
    let slopes = grad(|x: Array| x.logsumexp(0))(Array::from([1.0f32, 2.0]));
    close(&slopes.to_vec::<f32>(), &[p, 1.0 - p]);
    let slopes =
        grad(|x: Array| (x.log_softmax(0) * Array::from([1.0f32, 0.0])).sum())(Array::from([
            1.0f32, 2.0,
        ]));
    close(&slopes.to_vec::<f32>(), &[1.0 - p, p - 1.0]);
    let infinite = Array::from([f32::NEG_INFINITY, 1.0]);
    close(
        &infinite
            .logaddexp(Array::from([f32::NEG_INFINITY, 1.0]))
            .to_vec::<f32>(),
        &[f64::NEG_INFINITY, 1.0 + ln2],
    );
}

#[test]
fn softplus_has_a_second_derivative_at_zero() {
    let slope = |x: Array| grad(|x: Array| x.softplus())(x);
    close(&[grad(slope)(Array::from(0.0f32)).item()], &[0.25]);
    let rows = vmap(|x: Array| x.logaddexp(Array::from([0.0f32, 1.0])))(Array::from([0.0f32, 1.0]));
    let ln2 = std::f64::consts::LN_2;
    let mixed = (1.0 + 1f64.exp()).ln();
    close(&rows.to_vec::<f32>(), &[ln2, mixed, mixed, 1.0 + ln2]);
}

#[test]
fn one_hot_rows() {
    let rows = Array::from([2i32, 0, 5]).one_hot(3, DType::F32);
    assert_eq!(rows.shape(), [3, 3]);
    assert_eq!(
        rows.to_vec::<f32>(),
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
}

#[test]
fn gates_of_the_family_of_glu() {
    let x = Array::from([[1.0f32, 2.0, -1.0, 3.0]]);
    let got = |gate: fn(&Array) -> Array| x.glu_by(-1, gate).to_vec::<f32>();
    assert_eq!(got(Array::relu), [0.0, 6.0]);
    assert_eq!(got(Array::sigmoid), x.glu(-1).to_vec::<f32>());
    let silu = Array::from([-1.0f32, 3.0]).silu() * Array::from([1.0f32, 2.0]);
    assert_eq!(got(Array::silu), silu.to_vec::<f32>());
    assert_eq!(
        x.hard_swish().to_vec::<f32>(),
        x.hard_silu().to_vec::<f32>()
    );
}

//! Samplers without loops, which are faster than the exact ones and slightly biased.

use super::continuous::gauss;
use super::{Key, exponential, parameter, with_front};
use crate::dtypes::finfo;
use crate::{Array, DType, where_};

/// The algorithm of [`gamma_with`](super::gamma_with) and similar samplers (`method=` in JAX).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SamplingMethod {
    /// Rejection sampling in a loop.
    #[default]
    Exact,
    /// A series without a loop, with a small bias. Derivatives differ from those of `Exact`.
    Approximate,
}

/// Coefficients of the quantiles of the chi-square distribution with `nu` degrees of freedom, from
/// Algorithm 451 of the ACM (Goldstein, 1973): row `k` is the factor of `(x / √nu)^k`, a polynomial
/// in `1 / nu`. As in JAX, the first is 1 instead of 1.0000886, so that large samples have no bias.
const QUANTILES: [[f64; 3]; 7] = [
    [1.0, -0.2237368, -0.01513904],
    [0.4713941, 0.02607083, -0.008986007],
    [0.0001348028, 0.01128186, 0.02277679],
    [-0.008553069, -0.01153761, -0.01323293],
    [0.00312558, 0.005169654, -0.006950356],
    [-0.0008426812, 0.00253001, 0.001060438],
    [0.00009780499, -0.001450117, 0.001565326],
];

/// Number by which parameters of gamma distributions are raised to where the series is accurate.
const BOOSTS: usize = 4;

/// Computes a polynomial with coefficients from the constant term on.
fn polynomial(x: &Array, coefficients: &[Array]) -> Array {
    let mut all = coefficients.iter().rev();
    let last = all.next().expect("a coefficient").clone();
    all.fold(last, |sum, c| sum * x + c)
}

/// Returns the logarithms of gamma numbers with parameters `a` of at least 4.
fn log_gamma_series(key: &Key, a: &Array) -> Array {
    let nu = 2 * a;
    let x = gauss(key, a.shape(), a.dtype());
    let inverse = 1 / &nu;
    let row = |row: &[f64; 3]| {
        let numbers = row.map(|c| Array::scalar(c, a.dtype()));
        polynomial(&inverse, &numbers)
    };
    let root = polynomial(&(x * nu.rsqrt()), &QUANTILES.each_ref().map(row));
    let root = root.maximum(finfo(a.dtype()).smallest_normal);
    a.log() + 3 * root.log()
}

/// Draws gamma numbers or their logarithms: from a series at `a + 4`, multiplied by powers of
/// uniform numbers (Stuart, "Gamma-distributed products of independent random variables", 1962).
pub(super) fn gamma(key: &Key, a: &Array, shape: &[usize], dtype: DType, log_space: bool) -> Array {
    let wide = if dtype.bits() < 32 { DType::F32 } else { dtype };
    let a = parameter(a, shape, wide);
    let [base, boost] = key.split_into();
    let series = log_gamma_series(&base, &(&a + BOOSTS as i64));
    let mut steps = vec![1; shape.len() + 1];
    steps[0] = BOOSTS;
    let steps = Array::iota(&steps, 0, wide);
    let log_u = -exponential(&boost, &with_front(BOOSTS, shape), wide);
    let log = series + (log_u / (a.expand_dims(&[0]) + steps)).sum_over(0);
    let out = if log_space { log } else { log.exp() };
    out.astype(dtype)
}

/// Mean below which Poisson counts are quantiles of the first [`TERMS`] probabilities.
const SPLIT: f64 = 7.0;

/// Number of probabilities of small Poisson counts.
const TERMS: usize = 20;

/// Draws Poisson counts as quantiles of normal numbers.
pub(super) fn poisson(key: &Key, lam: &Array, shape: &[usize], dtype: DType) -> Array {
    let wide = lam.dtype() == DType::F64 || dtype.bits() > 32;
    let float = if wide { DType::F64 } else { DType::F32 };
    let lam = lam.astype(float);
    let z = gauss(key, shape, float);
    let small = truncated_quantile(&z.ndtr(), &lam);
    let large = normal_quantile(&z, &lam);
    where_(lam.lt(SPLIT), small, large).astype(dtype)
}

/// Returns the quantiles of probabilities `u`: the number of the first [`TERMS`] sums of
/// probabilities that are below `u`.
fn truncated_quantile(u: &Array, lam: &Array) -> Array {
    let mut probability = (-lam).exp();
    let mut sum = probability.clone();
    let mut count = sum.lt(u).astype(u.dtype());
    for k in 1..TERMS - 1 {
        probability *= lam / k as f64;
        sum = &sum + &probability;
        count += sum.lt(u).astype(u.dtype());
    }
    count
}

/// Returns the smallest counts whose [`normal_score`] is at least `z`. A Cornish-Fisher expansion
/// is off by at most 1, so that two scores decide.
fn normal_quantile(z: &Array, lam: &Array) -> Array {
    let root = lam.sqrt();
    let guess =
        lam + &root * z - 2.0 / 3.0 + z.square() / 6.0 + z * (1.0 - z.square()) / (72.0 * &root);
    let count = (guess + 0.6).ceil();
    let reaches = |count: &Array| {
        let score = normal_score(&count.maximum(0.0), lam);
        let score = where_(count.lt(0.0), f64::NEG_INFINITY, score);
        score.ge(z).astype(count.dtype())
    };
    let out = &count + 1.0 - reaches(&count) - reaches(&(&count - 1.0));
    out.maximum(0.0)
}

/// Returns the normal quantile of the probability of at most `x` events (Peizer and Pratt, "A normal
/// approximation for binomial, F, beta, and other common, related tail probabilities", 1968).
fn normal_score(x: &Array, lam: &Array) -> Array {
    let t = deviance(&((x + 0.5) / lam));
    let shift = x - lam + 2.0 / 3.0 + 0.02 / (x + 1.0);
    shift * ((1.0 + t) / lam).sqrt()
}

/// Computes `(1 - y² + 2y log y) / (1 - y)²`, by a series near 1.
fn deviance(y: &Array) -> Array {
    let d = &(y - 1.0);
    let near = d.abs().lt(0.25);
    let series = (1..10).rev().fold(d.zeros_like(), |series, k| {
        let sign = if k % 2 == 0 { 2.0 } else { -2.0 };
        let factor = sign / f64::from((k + 1) * (k + 2));
        d * (factor + series)
    });
    let y = &where_(&near, 2.0, y);
    let d = where_(&near, 1.0, d);
    let direct = (1.0 - y.square() + 2.0 * y * y.log()) / d.square();
    where_(&near, series, direct)
}

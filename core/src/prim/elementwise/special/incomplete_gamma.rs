//! Incomplete gamma functions and their derivatives, by a series for small `x` and a continued
//! fraction for large `x`, as in Cephes.

use super::{epsilon, largest_exponent};
use crate::prim::control::functions::while_loop;
use crate::{Array, where_};

/// The quantity to compute.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// The value of the function.
    Value,
    /// The derivative with respect to `a`.
    Derivative,
    /// The derivative of a sample `x` of the distribution with respect to `a`.
    Sample,
}

impl Wanted {
    /// Computes the quantity for the function `scale * factor`, given the factor, its derivative
    /// with respect to `a`, and the derivative of the scale's logarithm.
    fn of(
        self,
        scale: &Array,
        x: &Array,
        [factor, factor_da]: [&Array; 2],
        scale_da: impl FnOnce() -> Array,
    ) -> Array {
        if self == Wanted::Value {
            return factor * scale;
        }
        let scale_da = scale_da();
        match self {
            Wanted::Sample => -(factor_da + factor * &scale_da) * x,
            _ => scale * (factor * &scale_da + factor_da),
        }
    }
}

/// Returns `value` where `enabled`, and `old` elsewhere.
fn updated(enabled: &Array, value: &Array, old: &Array) -> Array {
    enabled.select(value, old)
}

/// Computes `P(a, x)` by its power series, for `x` up to about `a`; `scale` is `xᵃ e⁻ˣ / Γ(a)`.
fn series(scale: &Array, x: &Array, a: &Array, enabled: Array, wanted: Wanted) -> Array {
    let precision = epsilon(a.dtype());
    let (one, zero) = (a.ones_like(), a.zeros_like());
    // The index of the term, the term and the sum, and the derivatives of both with respect to a.
    let start = [a.clone(), one.clone(), one, zero.clone(), zero];
    let step = |(enabled, values): (Array, [Array; 5])| {
        let [index, term, sum, term_da, sum_da] = &values;
        let index = index + 1.0;
        let term_da = term_da * (x / &index) - (term * x) / (&index * &index);
        let sum_da = sum_da + &term_da;
        let term = term * (x / &index);
        let sum = sum + &term;
        let change = match wanted {
            Wanted::Value => &term / &sum,
            _ => (&term_da / &sum_da).abs(),
        };
        let next = [index, term, sum, term_da, sum_da];
        let next = std::array::from_fn(|i| updated(&enabled, &next[i], &values[i]));
        (enabled.bitwise_and(change.gt(precision)), next)
    };
    let on = |(enabled, _): (Array, [Array; 5])| enabled.any();
    let (_, [_, _, sum, _, sum_da]) = while_loop(on, step, (enabled, start));
    wanted.of(scale, x, [&sum, &sum_da], || x.log() - (a + 1.0).digamma()) / a
}

/// Computes `Q(a, x)` by its continued fraction, for `x` above 1 and `a`; `scale` is
/// `xᵃ e⁻ˣ / Γ(a)`.
fn fraction(scale: &Array, x: &Array, a: &Array, enabled: Array, wanted: Wanted) -> Array {
    const STEPS: f64 = 2000.0;
    let (one, zero) = (x.ones_like(), x.zeros_like());
    let y = 1.0 - a;
    let z = x + &y + 1.0;
    let (p1, q1) = (x + 1.0, &z * x);
    let ratio = &p1 / &q1;
    let q1_da = -x;
    let ratio_da = (&zero - &ratio * &q1_da) / &q1;
    let (p2, q2, p2_da, q2_da) = (one, x.clone(), zero.clone(), zero.clone());
    let count = Array::scalar(0, a.dtype());
    let values = [
        ratio, y, z, p1, q1, p2, q2, p2_da, q2_da, zero, q1_da, ratio_da,
    ];
    let step = |(enabled, count, values): (Array, Array, [Array; 12])| {
        let count = count + 1.0;
        let (next, change) = next_fraction(&values, &count, wanted);
        let values = std::array::from_fn(|i| updated(&enabled, &next[i], &values[i]));
        let enabled = enabled.bitwise_and(change.gt(epsilon(a.dtype())));
        (enabled, count, values)
    };
    let on = |(enabled, count, _): (Array, Array, [Array; 12])| {
        count.lt(STEPS).bitwise_and(enabled.any())
    };
    let (_, _, [ratio, .., ratio_da]) = while_loop(on, step, (enabled, count, values));
    wanted.of(scale, x, [&ratio, &ratio_da], || x.log() - a.digamma())
}

/// Computes the next values of a continued fraction, and the change of the wanted quantity. The
/// values are the ratio, two factors, the numerators and denominators of this step and the
/// previous step, and the derivatives of all with respect to `a`.
fn next_fraction(values: &[Array; 12], count: &Array, wanted: Wanted) -> ([Array; 12], Array) {
    let [
        ratio,
        y,
        z,
        p1,
        q1,
        p2,
        q2,
        p2_da,
        q2_da,
        p1_da,
        q1_da,
        ratio_da,
    ] = values;
    let precision = epsilon(ratio.dtype());
    let (y, z) = (y + 1.0, z + 2.0);
    let factor = &y * count;
    let p = p1 * &z - p2 * &factor;
    let q = q1 * &z - q2 * &factor;
    let defined = q.ne(0.0);
    let next = &p / &q;
    let change = where_(&defined, ((ratio - &next) / &next).abs(), 1.0);
    let ratio = where_(&defined, &next, ratio);
    let p_da = p1_da * &z - p1 - p2_da * &factor + p2 * count;
    let q_da = q1_da * &z - q1 - q2_da * &factor + q2 * count;
    let next_da = where_(&defined, (&p_da - &ratio * &q_da) / &q, ratio_da);
    let change_da = where_(&defined, (&next_da - ratio_da).abs(), 1.0);
    // Both grow without bound, but their ratio does not.
    let large = p.abs().gt(1.0 / precision);
    let [p, q, p1, q1, p1_da, q1_da, p_da, q_da] =
        [&p, &q, p1, q1, p1_da, q1_da, &p_da, &q_da].map(|x| where_(&large, x * precision, x));
    let next = [ratio, y, z, p, q, p1, q1, p1_da, q1_da, p_da, q_da, next_da];
    match wanted {
        Wanted::Value => (next, change),
        _ => (next, change_da),
    }
}

/// Returns `xᵃ e⁻ˣ / Γ(a)`, and whether it underflows to 0.
fn scale(a: &Array, x: &Array) -> (Array, Array) {
    let exponent = a * x.log() - x - a.lgamma();
    let underflow = exponent.lt(-largest_exponent(a.dtype()));
    (exponent.exp(), underflow)
}

/// Returns where the functions are undefined.
fn outside(a: &Array, x: &Array) -> Array {
    let negative = x.lt(0.0).bitwise_or(a.lt(0.0));
    let both_zero = a.eq(0.0).bitwise_and(x.eq(0.0));
    let both_infinite = is_infinite(a).bitwise_and(is_infinite(x));
    let unknown = a.is_nan().bitwise_or(x.is_nan());
    let ends = both_zero.bitwise_or(both_infinite);
    negative.bitwise_or(ends).bitwise_or(unknown)
}

/// Returns whether each element is positive infinity.
fn is_infinite(x: &Array) -> Array {
    x.eq(f64::INFINITY)
}

/// Computes `P(a, x)`.
pub(super) fn lower(operands: &[Array]) -> Array {
    let (a, x) = (&operands[0], &operands[1]);
    let outside = outside(a, x);
    let large = x.ge(1.0).bitwise_and(x.gt(a));
    let (scale, underflow) = scale(a, x);
    let known = x
        .eq(0.0)
        .bitwise_or(&outside)
        .bitwise_or(&underflow)
        .bitwise_or(is_infinite(x))
        .bitwise_or(is_infinite(a));
    let enabled = known.logical_not();
    let upper = fraction(&scale, x, a, enabled.bitwise_and(&large), Wanted::Value);
    let rest = enabled.bitwise_and(large.logical_not());
    let value = where_(
        &large,
        1.0 - upper,
        series(&scale, x, a, rest, Wanted::Value),
    );
    let value = where_(x.eq(0.0).bitwise_or(is_infinite(a)), 0.0, value);
    let value = where_(is_infinite(x), 1.0, value);
    where_(&outside, f64::NAN, value)
}

/// Computes `Q(a, x)`.
pub(super) fn upper(operands: &[Array]) -> Array {
    let (a, x) = (&operands[0], &operands[1]);
    let outside = outside(a, x);
    let small = x.lt(1.0).bitwise_or(x.lt(a));
    let (scale, underflow) = scale(a, x);
    let nothing = is_infinite(x).bitwise_or(a.eq(0.0));
    let enabled = outside
        .bitwise_or(&underflow)
        .bitwise_or(&nothing)
        .bitwise_or(is_infinite(a))
        .logical_not();
    let lower = series(&scale, x, a, enabled.bitwise_and(&small), Wanted::Value);
    let rest = enabled.bitwise_and(small.logical_not());
    let upper = fraction(&scale, x, a, rest, Wanted::Value);
    let value = where_(&small, 1.0 - lower, upper);
    let value = where_(is_infinite(a), 1.0, value);
    let value = where_(&nothing, 0.0, value);
    where_(&outside, f64::NAN, value)
}

/// Computes a derivative with respect to `a`.
fn derivative_of(operands: &[Array], wanted: Wanted) -> Array {
    let (a, x) = (&operands[0], &operands[1]);
    let unknown = a.is_nan().bitwise_or(x.is_nan());
    let outside = x.lt(0.0).bitwise_or(a.le(0.0)).bitwise_or(unknown);
    let large = x.gt(1.0).bitwise_and(x.gt(a));
    let (scale, underflow) = scale(a, x);
    let known = x.eq(0.0).bitwise_or(&outside).bitwise_or(&underflow);
    let enabled = known.logical_not();
    let upper = fraction(&scale, x, a, enabled.bitwise_and(&large), wanted);
    let rest = enabled.bitwise_and(large.logical_not());
    let value = where_(&large, -upper, series(&scale, x, a, rest, wanted));
    let value = where_(x.eq(0.0), 0.0, value);
    where_(&outside, f64::NAN, value)
}

/// Computes the derivative of `P(a, x)` with respect to `a`.
pub(super) fn derivative(operands: &[Array]) -> Array {
    derivative_of(operands, Wanted::Derivative)
}

/// Computes the derivative of a sample with respect to `a`.
pub(super) fn of_sample(operands: &[Array]) -> Array {
    derivative_of(operands, Wanted::Sample)
}

/// Computes the derivative of `P(a, x)` with respect to `x`: the distribution's density.
pub(super) fn density(a: &Array, x: &Array) -> Array {
    ((a - 1.0) * x.log() - x - a.lgamma()).exp()
}

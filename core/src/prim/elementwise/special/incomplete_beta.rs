//! The incomplete beta function, by its continued fraction (DLMF 8.17.22).

use super::epsilon;
use crate::prim::control::functions::while_loop;
use crate::{Array, DType, where_};

/// Returns the maximum number of steps of the fraction.
fn most_steps(dtype: DType) -> i64 {
    match dtype {
        DType::F32 => 200,
        _ => 600,
    }
}

/// Returns twice the smallest normal number.
fn very_small(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 2.0 * f64::MIN_POSITIVE,
        _ => 2.0 * f64::from(f32::MIN_POSITIVE),
    }
}

/// Returns the numerator of step `n`, counted from 1; all but the first belong to a step `m` of
/// the published fraction.
fn numerator(n: &Array, a: &Array, b: &Array, x: &Array) -> Array {
    let before = n - 1;
    let m = before.lax_div(before.full_like(2));
    let first = m.eq(0);
    let m = m.astype(a.dtype());
    let twice = a + &m * 2.0;
    // If a is near 0, the general formula divides two tiny numbers.
    let start = -(a + b) * x / (a + 1.0);
    let even = -(a + &m) * (a + b + &m) * x / (&twice * (&twice + 1.0));
    let odd = &m * (b - &m) * x / ((&twice - 1.0) * &twice);
    let is_even = n.bitwise_and(1).eq(0);
    let value = where_(&is_even, where_(&first, start, even), odd);
    where_(n.eq(1), 1.0, value)
}

/// Evaluates the continued fraction by the algorithm of Lentz, Thompson and Barnett.
fn fraction(a: &Array, b: &Array, x: &Array) -> Array {
    let dtype = a.dtype();
    let tiny = epsilon(dtype) / 2.0;
    let nonzero = |x: Array| where_(x.abs().lt(tiny), tiny, &x);
    // All denominators are 1, except the zeroth, which is 0.
    let start = x.full_like(tiny);
    let start = vec![
        Array::from(1i32),
        Array::from(true),
        start.clone(),
        start.zeros_like(),
        start,
    ];
    let on = |v: Vec<Array>| v[0].lt(most_steps(dtype)).bitwise_and(&v[1]);
    let step = |v: Vec<Array>| {
        let numerator = numerator(&v[0].broadcast_to(x.shape()), a, b, x);
        let c = nonzero(1.0 + &numerator / &v[2]);
        let d = 1.0 / nonzero(1.0 + &numerator * &v[3]);
        let change = &c * &d;
        let value = &v[4] * &change;
        let unsettled = (change - 1.0).abs().ge(tiny).any();
        vec![&v[0] + 1, unsettled, c, d, value]
    };
    while_loop(on, step, start).swap_remove(4)
}

/// Computes the regularized incomplete beta function of `a`, `b` and `x`.
pub(super) fn regularized(operands: &[Array]) -> Array {
    let (a, b, x) = (&operands[0], &operands[1], &operands[2]);
    // For these parameters the whole integral is at one end.
    let at_start = a.eq(0.0).bitwise_or(b.eq(f64::INFINITY));
    let at_end = b.eq(0.0).bitwise_or(a.eq(f64::INFINITY));
    let (from, to) = (x.eq(0.0), x.eq(1.0));
    let zero = at_end
        .bitwise_and(to.logical_not())
        .bitwise_or(at_start.bitwise_and(&from));
    let one = at_start
        .bitwise_and(from.logical_not())
        .bitwise_or(at_end.bitwise_and(&to));
    let negative = a.lt(0.0).bitwise_or(b.lt(0.0)).bitwise_or(x.lt(0.0));
    let unknown = a.is_nan().bitwise_or(b.is_nan()).bitwise_or(x.is_nan());
    let undefined = negative
        .bitwise_or(x.gt(1.0))
        .bitwise_or(at_start.bitwise_and(&at_end))
        .bitwise_or(unknown);
    // Where the fraction converges slowly, the one from the other end converges fast.
    let rapid = x.lt((a + 1.0) / (a + b + 2.0));
    let (first, second) = (rapid.select(a, b), rapid.select(b, a));
    let (a, b) = (&first, &second);
    let x = &rapid.select(x, &(1.0 - x));
    let rest = b.lgamma() - (a + b).lgamma();
    let factor = where_(
        a.lt(very_small(a.dtype())),
        // a Γ(a) = Γ(a + 1) → 1.
        ((-x).log1p() * b - &rest).exp(),
        (x.log() * a + (-x).log1p() * b - (a.lgamma() + &rest)).exp() / a,
    );
    let value = fraction(a, b, x) * factor;
    let value = where_(&rapid, &value, 1.0 - &value);
    let value = where_(&zero, 0.0, value);
    let value = where_(&one, 1.0, value);
    where_(&undefined, f64::NAN, value)
}

/// Computes the derivative with respect to `x`: the density of the beta distribution.
pub(super) fn density(a: &Array, b: &Array, x: &Array) -> Array {
    let beta = a.lgamma() + b.lgamma() - (a + b).lgamma();
    ((b - 1.0) * (-x).log1p() + (a - 1.0) * x.log() - beta).exp()
}

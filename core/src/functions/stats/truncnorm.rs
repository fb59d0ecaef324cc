//! The normal distribution with mean `loc` and standard deviation `scale`, truncated to the interval
//! from `loc + scale · a` to `loc + scale · b`.

use super::{functions, norm, standard};
use crate::{Array, where_};

/// Computes the logarithm of the probability of a standard normal number between `a` and `b`.
#[track_caller]
fn log_mass(a: &Array, b: &Array) -> Array {
    // The tail in which both distribution functions are small.
    let right = a.gt(0);
    let (low, high) = (where_(&right, -b, a), where_(&right, -a, b));
    let (low, high) = (low.log_ndtr(), high.log_ndtr());
    let tail = &high + (&high - low).log1mexp();
    let center = (-(a.ndtr() + (-b).ndtr())).log1p();
    where_(a.le(0).bitwise_and(b.gt(0)), center, tail)
}

functions! {
    /// Computes the logarithm of the probability density.
    logpdf |x, a, b, loc, scale| {
        let z = standard(&x, loc.clone(), scale.clone());
        let outside = z.lt(&a).bitwise_or(z.gt(&b));
        let log = norm::logpdf(&x, loc, scale) - log_mass(&a, &b);
        let log = where_(&outside, f64::NEG_INFINITY, log);
        where_(a.lt(b), log, f64::NAN)
    };
    /// Computes the probability density.
    pdf |x, a, b, loc, scale| logpdf(&x, a, b, loc, scale).exp();
    /// Computes the logarithm of [`cdf`].
    logcdf |x, a, b, loc, scale| {
        let z = standard(&x, loc, scale);
        let inside = z.gt(&a).bitwise_and(z.lt(&b));
        // Between the bounds, so that no derivative is NaN outside.
        let safe = where_(&inside, &z, (&a + &b) * 0.5);
        let whole = log_mass(&a, &b);
        let below = log_mass(&a, &safe) - &whole;
        let above = log_mass(&safe, &b) - whole;
        let below = where_(below.gt(-0.1), (-above.exp()).log1p(), below);
        let outside = where_(z.ge(&b), z.full_like(0), f64::NEG_INFINITY);
        let log = where_(&inside, below, outside);
        where_(a.lt(b).bitwise_and(z.eq(&z)), log, f64::NAN)
    };
    /// Computes the cumulative distribution function, the probability of a value of at most `x`.
    cdf |x, a, b, loc, scale| logcdf(&x, a, b, loc, scale).exp();
    /// Computes the survival function, the probability of a value above `x`.
    sf |x, a, b, loc, scale| logsf(&x, a, b, loc, scale).exp();
    /// Computes the logarithm of [`sf`].
    logsf |x, a, b, loc, scale| logcdf(&-x, -b, -a, -loc, scale);
}

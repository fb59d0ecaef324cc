//! Information theory: `x · log(y)`, entropies, divergences and log-odds.

use crate::dtypes::finfo;
use crate::prim::elementwise::parts::require_real;
use crate::prim::elementwise::special::erfcinv::polynomial;
use crate::prim::operands::{common_shape, promote};
use crate::{Array, IntoArray, custom_jvp, where_};

/// Converts two operands to floats of a common dtype and shape.
#[track_caller]
fn floats(operation: &str, a: &Array, b: impl IntoArray) -> (Array, Array) {
    let (a, b) = promote(operation, a, &b.into_array());
    let (a, b) = (a.to_inexact(), b.to_inexact());
    let shape = common_shape(operation, &[&a, &b]);
    (a.broadcast_to(&shape), b.broadcast_to(&shape))
}

/// Returns `x · log(y)`, or 0 for `x = 0` unless `y` is NaN.
#[track_caller]
fn guarded(x: &Array, y: &Array, log: Array) -> Array {
    let counts = x.ne(0).bitwise_or(y.is_nan());
    where_(&counts, x * log, 0)
}

/// Computes `x · log(x)`, which is 0 at 0, with the derivative `log(x) + 1`.
#[track_caller]
fn xlogx(x: &Array) -> Array {
    custom_jvp(
        |x: Array| x.xlogy(&x),
        |x: Array, dx: Array| (xlogx(&x), dx * (x.log() + 1.0)),
    )(x.clone())
}

/// Returns `inside` for two positive numbers, `at_zero` for `p = 0` and `q >= 0`, NaN if one is NaN,
/// and `rest` elsewhere.
#[track_caller]
fn by_domain(p: &Array, q: &Array, inside: Array, at_zero: impl IntoArray, rest: f64) -> Array {
    let positive = p.gt(0).bitwise_and(q.gt(0));
    let zero = p.eq(0).bitwise_and(q.ge(0));
    let unknown = p.is_nan().bitwise_or(q.is_nan());
    let outside = where_(&unknown, f64::NAN, p.full_like(rest));
    where_(&positive, inside, where_(&zero, at_zero, outside))
}

/// Returns `p` and `q` where both are positive, and 1 elsewhere.
#[track_caller]
fn positive(p: &Array, q: &Array) -> (Array, Array) {
    let both = p.gt(0).bitwise_and(q.gt(0));
    (where_(&both, p, 1), where_(&both, q, 1))
}

/// Returns `(p - q) / q` where it is between -1/2 and 1, and 0 elsewhere.
#[track_caller]
fn relative_difference(p: &Array, q: &Array) -> Array {
    let ratio = p / q;
    let near = ratio.gt(0.5).bitwise_and(ratio.lt(2));
    let (p, q) = (where_(&near, p, 1), where_(&near, q, 1));
    (&p - &q) / &q
}

/// Computes `log(p / q)` of positive numbers, accurately for `p` near `q`, and without overflow.
#[track_caller]
fn log_ratio(p: &Array, q: &Array) -> Array {
    let ratio = p / q;
    let near = ratio.gt(0.5).bitwise_and(ratio.lt(2));
    let smallest = finfo(p.dtype()).smallest_normal;
    let normal = ratio.gt(smallest).bitwise_and(ratio.lt(f64::INFINITY));
    let safe = where_(&normal, &ratio, 1);
    let far = where_(&normal, safe.log(), p.log() - q.log());
    where_(&near, relative_difference(p, q).log1p(), far)
}

#[track_caller]
fn relative_entropy(p: Array, q: Array) -> Array {
    custom_jvp(
        |p: Array, q: Array| {
            let (safe_p, safe_q) = positive(&p, &q);
            let inside = &safe_p * log_ratio(&safe_p, &safe_q);
            by_domain(&p, &q, inside, 0, f64::INFINITY)
        },
        |(p, q): (Array, Array), (dp, dq): (Array, Array)| {
            let (safe_p, safe_q) = positive(&p, &q);
            let by_p = by_domain(&p, &q, log_ratio(&safe_p, &safe_q) + 1.0, 0, 0.0);
            let by_q = by_domain(&p, &q, -(safe_p / safe_q), 0, 0.0);
            (relative_entropy(p, q), dp * by_p + dq * by_q)
        },
    )(p, q)
}

#[track_caller]
fn divergence(p: Array, q: Array) -> Array {
    custom_jvp(
        |p: Array, q: Array| {
            let (safe_p, safe_q) = positive(&p, &q);
            let far = &safe_p * log_ratio(&safe_p, &safe_q) - (&safe_p - &safe_q);
            // p log(1 + u) - (p - q) = (p - q) u (1/2 - u/6 + u²/12 - u³/20 + u⁴/30 - …)
            let u = relative_difference(&safe_p, &safe_q);
            let series = polynomial(&u, &[1.0 / 30.0, -0.05, 1.0 / 12.0, -1.0 / 6.0, 0.5]);
            let near = (safe_p - safe_q) * &u * series;
            let small = u.ne(0).bitwise_and(u.abs().lt(0.05));
            by_domain(&p, &q, where_(&small, near, far), &q, f64::INFINITY)
        },
        |(p, q): (Array, Array), (dp, dq): (Array, Array)| {
            let (safe_p, safe_q) = positive(&p, &q);
            let infinite = safe_q.eq(f64::INFINITY);
            let finite_q = where_(&infinite, 1, &safe_q);
            let finite_p = where_(&infinite, 1, &safe_p);
            let by_q = where_(&infinite, 1, (&finite_q - finite_p) / &finite_q);
            let by_p = by_domain(&p, &q, log_ratio(&safe_p, &safe_q), 0, 0.0);
            let by_q = by_domain(&p, &q, by_q, 1, 0.0);
            (divergence(p, q), dp * by_p + dq * by_q)
        },
    )(p, q)
}

impl Array {
    /// Computes `x · log(y)`, which is 0 for `x = 0` unless `y` is NaN.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn xlogy(&self, y: impl IntoArray) -> Array {
        let (x, y) = floats("xlogy", self, y);
        custom_jvp(
            |x: Array, y: Array| guarded(&x, &y, y.log()),
            |(x, y): (Array, Array), (dx, dy): (Array, Array)| {
                (x.xlogy(&y), dx * y.log() + dy * &x / &y)
            },
        )(x, y)
    }

    /// Computes `x · log(1 + y)`, which is 0 for `x = 0` unless `y` is NaN.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn xlog1py(&self, y: impl IntoArray) -> Array {
        let (x, y) = floats("xlog1py", self, y);
        custom_jvp(
            |x: Array, y: Array| guarded(&x, &y, y.log1p()),
            |(x, y): (Array, Array), (dx, dy): (Array, Array)| {
                (x.xlog1py(&y), dx * y.log1p() + dy * &x / (&y + 1.0))
            },
        )(x, y)
    }

    /// Computes the entropy term `-x · log(x)` of a probability. It is negative infinity for
    /// negative numbers.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn entr(&self) -> Array {
        require_real("entr", &[self]);
        let x = self.to_inexact();
        where_(x.lt(0), f64::NEG_INFINITY, -xlogx(&x))
    }

    /// Computes the relative entropy term `p · log(p / q)` of probabilities, accurately for `p`
    /// near `q`. It is 0 for `p = 0`, and infinity where it is undefined.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn rel_entr(&self, q: impl IntoArray) -> Array {
        let (p, q) = floats("rel_entr", self, q);
        require_real("rel_entr", &[&p, &q]);
        relative_entropy(p, q)
    }

    /// Computes the Kullback-Leibler divergence term `p · log(p / q) - p + q`, accurately for `p`
    /// near `q`. It is `q` for `p = 0`, and infinity where it is undefined.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn kl_div(&self, q: impl IntoArray) -> Array {
        let (p, q) = floats("kl_div", self, q);
        require_real("kl_div", &[&p, &q]);
        divergence(p, q)
    }

    /// Computes the log-odds of a probability, `log(x / (1 - x))`, the inverse of
    /// [`sigmoid`](Array::sigmoid).
    #[track_caller]
    pub fn logit(&self) -> Array {
        custom_jvp(
            |x: Array| (&x / (1.0 - &x)).log(),
            |x: Array, dx: Array| (x.logit(), dx / (&x * (1.0 - &x))),
        )(self.to_inexact())
    }

    /// Applies the sigmoid function. Alias of [`sigmoid`](Array::sigmoid).
    #[track_caller]
    pub fn expit(&self) -> Array {
        self.logistic()
    }

    /// Computes the Box-Cox transformation, `(xᶫ - 1) / l`, or `log(x)` for `l = 0`.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn boxcox(&self, l: impl IntoArray) -> Array {
        let (x, l) = floats("boxcox", self, l);
        power_or_log(&x.log(), &l)
    }

    /// Computes [`boxcox`](Array::boxcox) of `1 + x`, accurately for small `x`.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast.
    #[track_caller]
    pub fn boxcox1p(&self, l: impl IntoArray) -> Array {
        let (x, l) = floats("boxcox1p", self, l);
        power_or_log(&x.log1p(), &l)
    }

    /// Computes `log(1 - e⁻ˣ)` for positive `x`, accurately near zero and for large numbers.
    #[track_caller]
    pub fn log1mexp(&self) -> Array {
        custom_jvp(
            |x: Array| {
                let small = (-(-&x).expm1()).log();
                let large = (-(-&x).exp()).log1p();
                where_(x.lt(std::f64::consts::LN_2), small, large)
            },
            |x: Array, dx: Array| (x.log1mexp(), dx / x.expm1()),
        )(self.to_inexact())
    }
}

/// Computes `(exp(l · log) - 1) / l`, which is `log` for `l = 0`.
#[track_caller]
fn power_or_log(log: &Array, l: &Array) -> Array {
    custom_jvp(
        |log: Array, l: Array| {
            let zero = l.eq(0);
            let safe = where_(&zero, 1, l);
            where_(&zero, &log, (&safe * &log).expm1() / &safe)
        },
        |(log, l): (Array, Array), (dlog, dl): (Array, Array)| {
            let finite = where_(l.eq(0).bitwise_and(log.is_inf()), 0, &log);
            let z = &l * finite;
            let by_l = log.square() * (exponential_rest(1, &z) - exponential_rest(2, &z));
            (power_or_log(&log, &l), dlog * z.exp() + dl * by_l)
        },
    )(log.clone(), l.clone())
}

/// Computes the sum of `zʲ / (j + k)!` over `j` from 0, which is `(eᶻ - 1) / z` for `k = 1`, with
/// derivatives of every order at 0. The recurrence over `k` is accurate for numbers away from 0.
#[track_caller]
fn exponential_rest(k: usize, z: &Array) -> Array {
    custom_jvp(
        move |z: Array| {
            let near = z.abs().lt(1);
            let (small, large) = (where_(&near, &z, 0), where_(&near, 1, &z));
            let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
            let terms: Vec<f64> = (0..20).rev().map(|j| 1.0 / factorial(j + k)).collect();
            let first = large.expm1() / &large;
            let away = (1..k).fold(first, |rest, j| (rest - 1.0 / factorial(j)) / &large);
            where_(&near, polynomial(&small, &terms), away)
        },
        move |z: Array, dz: Array| {
            let rest = exponential_rest(k, &z);
            let slope = &rest - exponential_rest(k + 1, &z) * k as f64;
            (rest, dz * slope)
        },
    )(z.clone())
}

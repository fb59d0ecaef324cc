//! Information theory: `x · log(y)`, entropies, divergences and log-odds.

use super::super::{common_shape, promote, require_real};
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

    /// Computes the relative entropy term `p · log(p / q)` of probabilities. It is 0 for `p = 0`,
    /// and infinity where it is undefined.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn rel_entr(&self, q: impl IntoArray) -> Array {
        let (p, q) = floats("rel_entr", self, q);
        require_real("rel_entr", &[&p, &q]);
        let both = p.gt(0).bitwise_and(q.gt(0));
        let none = p.eq(0).bitwise_and(q.ge(0));
        let (safe_p, safe_q) = (where_(&both, &p, 1), where_(&both, &q, 1));
        let value = xlogx(&safe_p) - safe_p.xlogy(safe_q);
        where_(&both, value, where_(&none, 0, p.full_like(f64::INFINITY)))
    }

    /// Computes the Kullback-Leibler divergence term `p · log(p / q) - p + q`. It is infinity
    /// where it is undefined.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn kl_div(&self, q: impl IntoArray) -> Array {
        let (p, q) = floats("kl_div", self, q);
        require_real("kl_div", &[&p, &q]);
        p.rel_entr(&q) - p + q
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

#[track_caller]
fn power_or_log(log: &Array, l: &Array) -> Array {
    let zero = l.eq(0);
    let safe = where_(&zero, 1, l);
    where_(&zero, log, (&safe * log).expm1() / &safe)
}

//! The gamma function and related functions.

use crate::numpy::select;
use crate::prim::elementwise::parts::require_real;
use crate::prim::elementwise::special::erfcinv::polynomial;
use crate::prim::operands::promote;
use crate::{Array, IntoArray, where_};

impl Array {
    /// Computes the logarithm of the magnitude of the gamma function. Alias of
    /// [`lgamma`](Array::lgamma).
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn gammaln(&self) -> Array {
        require_real("gammaln", &[self]);
        self.lgamma()
    }

    /// Computes the logarithm of the gamma function of positive numbers. Other numbers give NaN.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn loggamma(&self) -> Array {
        require_real("loggamma", &[self]);
        let x = self.to_inexact();
        where_(x.gt(0), x.lgamma(), f64::NAN)
    }

    /// Computes the sign of the gamma function. It is NaN at the poles, the negative integers.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn gammasgn(&self) -> Array {
        require_real("gammasgn", &[self]);
        let x = self.to_inexact();
        let floor = x.floor();
        let negative = x.lt(0);
        let pole = negative.bitwise_and(x.eq(&floor)).bitwise_or(x.is_nan());
        let odd = negative.bitwise_and(floor.remainder(2).ne(0));
        let below = odd.bitwise_or(x.eq(0).bitwise_and(x.signbit()));
        let signs = [x.full_like(f64::NAN), x.full_like(-1)];
        select(&[pole, below], &signs, x.ones_like())
    }

    /// Computes the gamma function of each element.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn gamma(&self) -> Array {
        require_real("gamma", &[self]);
        let x = self.to_inexact();
        x.gammasgn() * x.lgamma().exp()
    }

    /// Computes the factorial, `Γ(n + 1)`, of each element. The result for negative numbers is 0.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn factorial(&self) -> Array {
        require_real("factorial", &[self]);
        let n = self.to_inexact();
        where_(n.lt(0), 0, (&n + 1.0).lgamma().exp())
    }

    /// Computes the logarithm of the magnitude of the beta function, `Γ(a) Γ(b) / Γ(a + b)`.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn betaln(&self, b: impl IntoArray) -> Array {
        let (a, b) = promote("betaln", self, &b.into_array());
        require_real("betaln", &[&a, &b]);
        let (a, b) = (a.to_inexact(), b.to_inexact());
        // The derivatives of a minimum and a maximum of equal numbers would be halves of both.
        let ascending = a.le(&b);
        let (small, large) = (where_(&ascending, &a, &b), where_(&ascending, &b, &a));
        let plain = large.lgamma() - (&small + &large).lgamma();
        let rest = where_(large.lt(8), plain, gamma_ratio(&small, &large));
        small.lgamma() + rest
    }

    /// Computes the beta function, `Γ(a) Γ(b) / Γ(a + b)`.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn beta(&self, b: impl IntoArray) -> Array {
        let (a, b) = promote("beta", self, &b.into_array());
        require_real("beta", &[&a, &b]);
        let (a, b) = (a.to_inexact(), b.to_inexact());
        let sign = a.gammasgn() * b.gammasgn() * (&a + &b).gammasgn();
        sign * a.betaln(&b).exp()
    }

    /// Computes the logarithm of the multivariate gamma function of dimension `d`.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn multigammaln(&self, d: usize) -> Array {
        require_real("multigammaln", &[self]);
        let a = self.to_inexact();
        let size = d as f64;
        let constant = 0.25 * size * (size - 1.0) * std::f64::consts::PI.ln();
        let halves = Array::iota(&[d], 0, a.dtype()) / 2.0;
        let terms = (a.expand_dims(&[-1]) - halves).lgamma();
        terms.sum_over(-1) + constant
    }

    /// Computes the binomial coefficient "`n` choose `k`" of real numbers. It is 0 unless
    /// `0 ≤ k ≤ n`.
    ///
    /// # Panics
    /// Panics if the shapes do not broadcast, or an operand is complex.
    #[track_caller]
    pub fn comb(&self, k: impl IntoArray) -> Array {
        let (n, k) = promote("comb", self, &k.into_array());
        require_real("comb", &[&n, &k]);
        let (n, k) = (n.to_inexact(), k.to_inexact());
        let some = k.le(&n).bitwise_and(n.ge(0)).bitwise_and(k.ge(0));
        let (n, k) = (where_(&some, &n, 0), where_(&some, &k, 0));
        let log = (&n + 1.0).lgamma() - (&k + 1.0).lgamma() - (&n + 1.0 - &k).lgamma();
        where_(&some, log.exp(), 0)
    }
}

/// Computes `log(Γ(b) / Γ(a + b))` for `b ≥ 8` and `a ≤ b` with Stirling's series, whose large
/// terms cancel in the difference of the logarithms.
///
/// Didonato and Morris, *Algorithm 708*, 1992.
#[track_caller]
fn gamma_ratio(a: &Array, b: &Array) -> Array {
    const SERIES: [f64; 6] = [
        0.0833333333333333,
        -0.00277777777760991,
        0.00079365066682539,
        -0.00059520293135187,
        0.000837308034031215,
        -0.00165322962780713,
    ];
    let ratio = a / b;
    let x = (&ratio + 1.0).reciprocal();
    let square = x.square();
    // The sums 1 + x + … + xⁿ for n = 0, 2, 4, …, 10.
    let mut sums = vec![x.ones_like()];
    for _ in 1..SERIES.len() {
        let last = sums.last().expect("the first sum");
        sums.push((&x + &square * last) + 1.0);
    }
    let t = b.reciprocal().square();
    let terms = SERIES.iter().zip(&sums).rev();
    let correction = terms
        .map(|(&c, sum)| sum * c)
        .reduce(|rest, term| rest * &t + term)
        .expect("the series has terms");
    let w = correction * (&ratio * &x / b);
    let u = (b + (a - 0.5)) * ratio.log1p();
    let v = a * (b.log() - 1.0);
    where_(u.le(&v), (&w - &v) - &u, (&w - &u) - &v)
}

impl Array {
    /// Computes the scaled complementary error function, `eˣ² erfc(x)`, which does not vanish for
    /// large numbers.
    ///
    /// # Panics
    /// Panics if the array is complex.
    #[track_caller]
    pub fn erfcx(&self) -> Array {
        require_real("erfcx", &[self]);
        let x = self.to_inexact();
        let wide = x.astype(super::normal::at_least_f32(x.dtype()));
        scaled_erfc(&wide).astype(x.dtype())
    }
}

#[track_caller]
fn scaled_erfc(x: &Array) -> Array {
    const SERIES: [f64; 9] = [
        7918.06640625,
        -1055.7421875,
        162.421875,
        -29.53125,
        6.5625,
        -1.875,
        0.75,
        -0.5,
        1.0,
    ];
    crate::custom_jvp(
        |x: Array| {
            let info = crate::dtypes::finfo(x.dtype());
            let large = x.gt(info.max.ln().sqrt());
            let safe = where_(&large, 1, &x);
            let direct = safe.square().exp() * safe.erfc();
            let terms = if info.bits == 64 { 9 } else { 5 };
            let series = polynomial(&(1.0 / x.square()), &SERIES[SERIES.len() - terms..]);
            where_(&large, series / (&x * std::f64::consts::PI.sqrt()), direct)
        },
        |x: Array, dx: Array| {
            let value = scaled_erfc(&x);
            let slope = &x * 2.0 * &value - std::f64::consts::FRAC_2_SQRT_PI;
            (value, dx * slope)
        },
    )(x.clone())
}

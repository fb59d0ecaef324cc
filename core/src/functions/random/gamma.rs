//! The gamma distribution and distributions derived from it.

use super::approximate::{self, SamplingMethod};
use super::continuous::gauss;
use super::generator::Kind;
use super::uniform::between;
use super::{
    Key, draw, expect_fits, expect_float, exponential, key_data, parameter, rademacher,
    real_parameter,
};
use crate::dtypes::finfo;
use crate::functions::random::random_gamma::RandomGamma;
use crate::lax::{map, while_loop};
use crate::prim::random::key_impl::KeyImpl;
use crate::program::trace::bind1;
use crate::{Array, DType, IntoArray, vmap, where_};

/// Computes [`RandomGamma`]: a program for one element, mapped over all keys.
pub(crate) fn gamma_sample(of: &RandomGamma, keys: &Array, a: &Array) -> Array {
    let kind = Kind {
        layout: of.layout,
        generator: of.generator,
    };
    let words = kind.generator.words();
    let flat = keys.reshape(&[keys.size() / words, words]);
    let (groups, log_space) = (flat.shape()[0], of.log_space);
    if a.size() == 0 {
        return a.clone();
    }
    let each = a.size() / groups;
    let split = |data: Array| kind.split(&data, &[each]);
    let sample = |(data, a): (Array, Array)| gamma_of_one(&Key::of(data, kind), &a, log_space);
    let alphas = a.reshape(&[a.size()]);
    let samples = if kind.generator == KeyImpl::Threefry2x32 {
        let keys = vmap(split)(flat).reshape(&[a.size(), words]);
        vmap(move |data, a| sample((data, a)))(keys, alphas)
    } else {
        // Batched samples of these generators differ from the samples of each key.
        let keys = map(split, flat).reshape(&[a.size(), words]);
        map(sample, (keys, alphas))
    };
    samples.reshape(a.shape())
}

/// Draws by the rejection method of Marsaglia and Tsang, "A simple method for generating gamma
/// variables" (2000), with random numbers in JAX's order.
fn gamma_of_one(key: &Key, a: &Array, log_space: bool) -> Array {
    let dtype = a.dtype();
    let number = |v: f64| Array::scalar(v, dtype);
    let large = a.ge(1.0);
    let alpha = where_(&large, a, a + 1.0);
    let third = number(1.0 / 3.0);
    let d = alpha - &third;
    let c = third / d.sqrt();
    let [key, last] = key.split_into();

    let rejected = |(_, x, v, u): (Key, Array, Array, Array)| {
        let quick = u.ge(1.0 - number(0.0331) * (&x * &x));
        let exact = u.log().ge(&x * 0.5 + &d * (1.0 - &v + v.log()));
        quick.bitwise_and(exact)
    };
    let propose = |(key, ..): (Key, Array, Array, Array)| {
        let [key, x_key, u_key] = key.split_into();
        let (_, x, v) = while_loop(
            |(_, _, v): (Key, Array, Array)| v.le(0.0),
            |(key, ..)| {
                let [key, sub] = key.split_into();
                let x = gauss(&sub, &[], dtype);
                let v = 1.0 + &x * &c;
                (key, x, v)
            },
            (x_key, number(0.0), number(-1.0)),
        );
        let u = between(&u_key, &[], dtype, 0.0, 1.0);
        (key, &x * &x, &v * &v * &v, u)
    };
    let first = (key, number(0.0), number(1.0), number(2.0));
    let (_, _, v, _) = while_loop(rejected, propose, first);

    if log_space {
        let e = -exponential(&last, &[], dtype);
        let boost = &e * (1.0 / a);
        let boost = where_(large.bitwise_or(e.eq(0.0)), 0.0, boost);
        return d.log() + v.log() + boost;
    }
    let u = 1.0 - between(&last, &[], dtype, 0.0, 1.0);
    d * v * where_(&large, 1.0, u.lax_pow(1.0 / a))
}

/// Computes the derivative of samples with respect to the parameter.
pub(crate) fn gamma_slope(a: &Array, sample: &Array, log_space: bool) -> Array {
    if !log_space {
        return a.random_gamma_grad(sample);
    }
    let x = sample.exp();
    let tiny = finfo(x.dtype()).smallest_normal;
    let x = where_(x.eq(0.0), tiny, &x);
    a.random_gamma_grad(&x) / x
}

/// Draws gamma numbers by the given method within a sampler's program.
fn gamma_by(
    method: SamplingMethod,
    key: &Key,
    a: &Array,
    (shape, dtype): (&[usize], DType),
    log_space: bool,
) -> Array {
    match method {
        SamplingMethod::Exact => gamma_draw(key, a, shape, dtype, log_space),
        SamplingMethod::Approximate => approximate::gamma(key, a, shape, dtype, log_space),
    }
}

/// Draws gamma numbers within a sampler's program.
fn gamma_draw(key: &Key, a: &Array, shape: &[usize], dtype: DType, log_space: bool) -> Array {
    let Kind { layout, generator } = key.kind();
    let sample = RandomGamma {
        log_space,
        layout,
        generator,
    };
    bind1(sample, &[key_data(key), &parameter(a, shape, dtype)])
}

macro_rules! with_parameters {
    ($( $(#[$doc:meta])* $f:ident $name:literal ($($p:ident),*) |$key:ident, $shape:ident, $dtype:ident| $body:expr; )*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if `dtype` is not a floating-point dtype, if a parameter does not broadcast to
        /// the shape, or if `key` is an array of keys.
        #[track_caller]
        pub fn $f(key: &Key, $($p: impl IntoArray,)* shape: &[usize], dtype: DType) -> Array {
            expect_float(stringify!($f), dtype);
            $( let $p = real_parameter(stringify!($f), $p, dtype); )*
            expect_fits(stringify!($f), shape, &[$((stringify!($p), &$p)),*]);
            draw($name, key, (shape, dtype), &[$(&$p),*], |$key, args| {
                let [$($p),*] = args else { unreachable!("as many as there are parameters") };
                let ($shape, $dtype) = (shape, dtype);
                $body
            })
        } )*
    };
}

macro_rules! with_methods {
    ($( $(#[$doc:meta])* $f:ident $with:ident $name:literal ($($p:ident),*) |$method:ident, $key:ident, $draw:ident| $body:expr; )*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if `dtype` is not a floating-point dtype, if a parameter does not broadcast to
        /// the shape, or if `key` is an array of keys.
        #[track_caller]
        pub fn $f(key: &Key, $($p: impl IntoArray,)* shape: &[usize], dtype: DType) -> Array {
            $with(key, $($p,)* shape, dtype, SamplingMethod::Exact)
        }

        #[doc = concat!("Same as [`", stringify!($f), "`], with the given algorithm (`method=` in JAX).")]
        ///
        /// # Panics
        #[doc = concat!("Panics in the same cases as [`", stringify!($f), "`].")]
        #[track_caller]
        pub fn $with(
            key: &Key,
            $($p: impl IntoArray,)*
            shape: &[usize],
            dtype: DType,
            method: SamplingMethod,
        ) -> Array {
            expect_float(stringify!($f), dtype);
            $( let $p = real_parameter(stringify!($f), $p, dtype); )*
            expect_fits(stringify!($f), shape, &[$((stringify!($p), &$p)),*]);
            draw($name, key, (shape, dtype, method), &[$(&$p),*], |$key, args| {
                let [$($p),*] = args else { unreachable!("as many as there are parameters") };
                let ($method, $draw) = (method, (shape, dtype));
                $body
            })
        } )*
    };
}

with_methods! {
    /// Draws gamma numbers with shape parameter `a` and scale 1: density `x^(a-1) e⁻ˣ / Γ(a)`
    /// (`jax.random.gamma`). Samples are differentiable with respect to `a`. For small `a`, many
    /// samples are rounded to zero; [`loggamma`] avoids this.
    ///
    /// ```no_run
    /// use ramie_core::{DType, random};
    /// let x = random::gamma(&random::key(0), 2.5, &[100], DType::F32);
    /// assert!(x.to_vec::<f32>().iter().all(|v| *v > 0.0));
    /// ```
    gamma gamma_with "_gamma" (a) |method, key, draw| gamma_by(method, key, a, draw, false);

    /// Draws the logarithms of [`gamma`] numbers.
    loggamma loggamma_with "_loggamma" (a) |method, key, draw| gamma_by(method, key, a, draw, true);

    /// Draws beta numbers between 0 and 1: density proportional to `x^(a-1) (1-x)^(b-1)`.
    beta beta_with "_beta" (a, b) |method, key, draw| {
        let [first, second] = key.split_into();
        let x = gamma_by(method, &first, a, draw, true);
        let y = gamma_by(method, &second, b, draw, true);
        let largest = x.maximum(&y);
        let (x, y) = ((x - &largest).exp(), (y - &largest).exp());
        &x / (&x + &y)
    };

    /// Draws chi-square numbers with `df` degrees of freedom: sums of the squares of `df`
    /// standard normal numbers.
    chisquare chisquare_with "_chisquare" (df) |method, key, draw| {
        gamma_by(method, key, &(df / 2.0), draw, true).exp() * 2.0
    };
}

with_parameters! {
    /// Draws numbers of Student's t distribution with `df` degrees of freedom.
    t "_t" (df) |key, shape, dtype| {
        let [normal, gamma] = key.split_into();
        let n = gauss(&normal, shape, dtype);
        let half = df / 2.0;
        let g = gamma_draw(&gamma, &half, shape, dtype, false);
        n * (half / g).sqrt()
    };

    /// Draws numbers of the F distribution: the ratio of two [`chisquare`] numbers, each
    /// divided by its degrees of freedom.
    f "_f" (dfnum, dfden) |key, shape, dtype| {
        let [below, above] = key.split_into();
        let above = chi_square(&above, dfnum, shape, dtype);
        let below = chi_square(&below, dfden, shape, dtype);
        (above / dfnum) / (below / dfden)
    };

    /// Draws numbers with a density proportional to `e^-|x|^p`: Laplace numbers for `p` of 1,
    /// and normal numbers with variance one half for `p` of 2.
    generalized_normal "_generalized_normal" (p) |key, shape, dtype| {
        powers_of_gamma(key, p, shape, dtype)
    };
}

/// Draws [`chisquare`] numbers within a sampler's program.
fn chi_square(key: &Key, df: &Array, shape: &[usize], dtype: DType) -> Array {
    gamma_draw(key, &(df / 2.0), shape, dtype, true).exp() * 2.0
}

/// Draws [`generalized_normal`] numbers within a sampler's program.
fn powers_of_gamma(key: &Key, p: &Array, shape: &[usize], dtype: DType) -> Array {
    let [gamma, signs] = key.split_into();
    let inverse = 1.0 / p;
    // The numbers of a small shape underflow, their logarithms do not.
    let log = gamma_draw(&gamma, &inverse, shape, dtype, true);
    rademacher(&signs, shape, dtype) * (log * parameter(&inverse, shape, dtype)).exp()
}

/// Draws points of the simplex: floats along the last axis that add up to 1, with a density
/// proportional to the product of `x^(alpha-1)`. `shape` is the batch shape, to which the leading
/// axes of `alpha` broadcast. The result has the last axis of `alpha` after it.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// let alpha = Array::from([1.0f32, 2.0, 3.0]);
/// let x = random::dirichlet(&random::key(0), &alpha, &[10], DType::F32);
/// assert_eq!(x.shape(), [10, 3]);
/// ```
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if `alpha` is 0-d or does not broadcast to
/// the shape, or if `key` is an array of keys.
#[track_caller]
pub fn dirichlet(key: &Key, alpha: impl IntoArray, shape: &[usize], dtype: DType) -> Array {
    expect_float("dirichlet", dtype);
    let alpha = real_parameter("dirichlet", alpha, dtype);
    let Some(&last) = alpha.shape().last() else {
        panic!(
            "dirichlet: expects parameters along an axis, got alpha {}\n  help: pass them as a \
             1-d array",
            alpha.describe()
        );
    };
    let shape = [shape, &[last]].concat();
    expect_fits("dirichlet", &shape, &[("alpha", &alpha)]);
    draw("_dirichlet", key, (&shape, dtype), &[&alpha], |key, p| {
        gamma_draw(key, &p[0], &shape, dtype, true).softmax(-1)
    })
}

/// Draws points uniformly from the `d`-dimensional unit ball in the `p`-norm, along a last
/// axis: `[…shape, d]`.
///
/// # Panics
/// Panics if `dtype` is not a floating-point dtype, if `p` is not 0-d, or if `key` is an array of
/// keys.
#[track_caller]
pub fn ball(key: &Key, d: usize, p: impl IntoArray, shape: &[usize], dtype: DType) -> Array {
    expect_float("ball", dtype);
    let p = real_parameter("ball", p, dtype);
    expect_fits("ball", &[], &[("p", &p)]);
    draw("_ball", key, (shape, d, dtype), &[&p], |key, args| {
        let p = &args[0];
        let [directions, lengths] = key.split_into();
        let g = powers_of_gamma(&directions, p, &[shape, &[d]].concat(), dtype);
        let e = exponential(&lengths, shape, dtype);
        let size = g.abs().power(p).sum_over(-1) + e;
        g / size.power(1.0 / p).expand_dims(&[-1])
    })
}

//! Kullback-Leibler divergences in closed form.

use crate::bernoulli::Bernoulli;
use crate::categorical::{Categorical, expectation};
use crate::multivariate_normal::Scale;
use crate::parameters::multiply_no_nan;
use crate::{
    Beta, Bijector, Dirichlet, Distribution, Exponential, Gamma, Independent, Laplace, LogNormal,
    MultivariateNormalDiag, MultivariateNormalTri, Normal, OneHotCategorical, Poisson, Transformed,
    Uniform,
};
use ramie_core::numpy::broadcast_shapes;
use ramie_core::{Array, tree, where_};

/// Pairs of distributions whose Kullback-Leibler divergence has a closed form.
///
/// Other pairs do not compile:
///
/// ```compile_fail
/// use ramie_distributions::{KlDivergence, Normal, Uniform};
/// Normal::new(0.0, 1.0).kl_divergence(&Uniform::new(0.0, 1.0));
/// ```
#[diagnostic::on_unimplemented(
    message = "the KL divergence of `{Self}` from `{Q}` has no closed form here",
    note = "estimate it by the mean of `p.log_prob(&x) - q.log_prob(&x)` over samples `x` of `p`"
)]
pub trait KlDivergence<Q: Distribution = Self>: Distribution {
    /// Computes the divergence of this distribution from `q`, the expectation of `log p - log q`,
    /// in the shape to which the batch shapes broadcast.
    ///
    /// ```
    /// use ramie_distributions::{KlDivergence, Normal};
    /// let divergence = Normal::new(1.0, 1.0).kl_divergence(&Normal::new(0.0, 1.0));
    /// assert_eq!(divergence.item::<f32>(), 0.5);
    /// ```
    ///
    /// # Panics
    /// Panics if the event shapes differ, or if the batch shapes do not broadcast together. Of
    /// [`Transformed`] distributions also if the bijectors differ.
    #[track_caller]
    fn kl_divergence(&self, q: &Q) -> Array;
}

#[track_caller]
fn check_pair(p: &impl Distribution, q: &impl Distribution) {
    let (batch, event) = (
        [p.batch_shape(), q.batch_shape()],
        [p.event_shape(), q.event_shape()],
    );
    assert!(
        event[0] == event[1] && broadcast_shapes(&[&batch[0], &batch[1]]).is_some(),
        "kl_divergence: {} has the batch shape {:?} and the event shape {:?}, {} has {:?} and {:?}\n  \
         help: the event shapes must be equal, and the batch shapes must broadcast together",
        p.name(),
        batch[0],
        event[0],
        q.name(),
        batch[1],
        event[1]
    );
}

macro_rules! kl_divergence {
    ($($p:ty, $q:ty, |$a:ident, $b:ident| $value:expr;)*) => { $(
        impl KlDivergence<$q> for $p {
            fn kl_divergence(&self, q: &$q) -> Array {
                check_pair(self, q);
                let ($a, $b) = (self, q);
                $value
            }
        }
    )* };
}

kl_divergence! {
    Normal, Normal, |p, q| {
        let ratio = p.scale.log() - q.scale.log();
        let distance = &p.loc / &q.scale - &q.loc / &q.scale;
        distance.square() * 0.5 + (&ratio * 2.0).expm1() * 0.5 - ratio
    };
    Uniform, Uniform, |p, q| {
        let within = q.low.le(&p.low).bitwise_and(p.high.le(&q.high));
        where_(within, q.entropy() - p.entropy(), f64::INFINITY)
    };
    Bernoulli, Bernoulli, |p, q| {
        let ([log_0, log_1], [q_0, q_1]) = (p.log_probs(), q.log_probs());
        let [p_0, p_1] = p.both_probs();
        let part = |log_p, log_q, p| multiply_no_nan(log_p, p) - multiply_no_nan(log_q, p);
        part(&log_1, &q_1, &p_1) + part(&log_0, &q_0, &p_0)
    };
    Categorical, Categorical, |p, q| categorical(p, q);
    OneHotCategorical, OneHotCategorical, |p, q| categorical(p.indices(), q.indices());
    Laplace, Laplace, |p, q| {
        let distance = (&p.loc - &q.loc).abs();
        let ratio = p.scale.log() - q.scale.log();
        &distance / &q.scale - 1.0 + (&ratio - distance / &p.scale).exp() - ratio
    };
    LogNormal, LogNormal, |p, q| p.logarithm().kl_divergence(&q.logarithm());
    Gamma, Gamma, |p, q| {
        let (a, b) = (&p.concentration, &q.concentration);
        let rates = b * (p.rate.log() - q.rate.log()) + (&q.rate - &p.rate) * (a / &p.rate);
        rates + b.lgamma() - a.lgamma() + (a - b) * a.digamma()
    };
    Exponential, Exponential, |p, q| p.rate.log() - q.rate.log() + &q.rate / &p.rate - 1.0;
    Poisson, Poisson, |p, q| p.rate.xlogy(&p.rate / &q.rate) - &p.rate + &q.rate;
    Beta, Beta, |p, q| {
        let (a, b) = (&p.alpha - &q.alpha, &p.beta - &q.beta);
        let own = &a * p.alpha.digamma() + &b * p.beta.digamma();
        q.log_normalization() - p.log_normalization() + own - (a + b) * (&p.alpha + &p.beta).digamma()
    };
    Dirichlet, Dirichlet, |p, q| {
        let (a, b) = (&p.concentration, &q.concentration);
        let sum = a.sum_over(-1).expand_dims(&[-1]);
        let own = ((a - b) * (a.digamma() - sum.digamma())).sum_over(-1);
        q.log_normalization() - p.log_normalization() + own
    };
    MultivariateNormalDiag, MultivariateNormalDiag, |p, q| {
        normal_vectors(p, q, &(p.stddev() / q.stddev()).square().sum_over(-1))
    };
    MultivariateNormalDiag, MultivariateNormalTri, |p, q| normal_vectors(p, q, &ratio(p, q));
    MultivariateNormalTri, MultivariateNormalDiag, |p, q| normal_vectors(p, q, &ratio(p, q));
    MultivariateNormalTri, MultivariateNormalTri, |p, q| normal_vectors(p, q, &ratio(p, q));
}

#[track_caller]
fn categorical(p: &Categorical, q: &Categorical) -> Array {
    let counts = [p.num_categories(), q.num_categories()];
    assert!(
        counts[0] == counts[1],
        "kl_divergence: the distributions have {} and {} categories\n  help: pass distributions of \
         the same categories",
        counts[0],
        counts[1]
    );
    let [log_p, log_q] = [p, q].map(|d| d.logits().log_softmax(-1));
    expectation(&(&log_p - log_q), &log_p)
}

/// Computes the squared norm of `p`'s scale divided by that of `q`.
fn ratio(p: &impl Scale, q: &impl Scale) -> Array {
    q.solve_matrix(&p.matrix()).square().sum_over([-2, -1])
}

fn normal_vectors(p: &impl Scale, q: &impl Scale, ratio: &Array) -> Array {
    let n = p.event_shape()[0] as f64;
    let distance = q.solve(&(q.mean() - p.mean())).square().sum_over(-1);
    q.log_det() - p.log_det() + (ratio + distance - n) * 0.5
}

impl<P: KlDivergence<Q>, Q: Distribution> KlDivergence<Independent<Q>> for Independent<P> {
    fn kl_divergence(&self, q: &Independent<Q>) -> Array {
        check_pair(self, q);
        self.sum(&self.distribution.kl_divergence(&q.distribution))
    }
}

impl<P: KlDivergence<Q>, Q: Distribution, B: Bijector> KlDivergence<Transformed<Q, B>>
    for Transformed<P, B>
{
    fn kl_divergence(&self, q: &Transformed<Q, B>) -> Array {
        check_pair(self, q);
        check_same(&self.bijector, &q.bijector);
        self.distribution.kl_divergence(&q.distribution)
    }
}

/// Refuses bijectors with different parameters, and with parameters that are not known.
#[track_caller]
fn check_same<B: Bijector>(p: &B, q: &B) {
    let pairs = tree::leaves(p).into_iter().zip(tree::leaves(q));
    for (a, b) in pairs {
        assert!(
            !a.is_tracer() && !b.is_tracer(),
            "kl_divergence: the bijectors of two `Transformed` have traced parameters, which cannot \
             be compared\n  help: compute the divergence of the base distributions, which is equal \
             if the bijectors are"
        );
        assert!(
            a.shape() == b.shape() && a.array_equal(&b).item::<bool>(),
            "kl_divergence: the bijectors have different parameters, {a} and {b}\n  help: the \
             divergence has a closed form only for equal bijectors; estimate it from samples"
        );
    }
}

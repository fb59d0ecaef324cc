//! Fenchel–Young losses.

use ramie_core::Array;

/// Returns the Fenchel–Young loss of `max_fun`, which maps scores `[…, n]` to their regularized
/// maximum `[…]`. The loss is the maximum minus the inner product of scores and targets
/// (`optax.losses.make_fenchel_young_loss`; Blondel et al., 2020).
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::losses::make_fenchel_young_loss;
/// // With the log-sum-exp function, the loss is the cross entropy.
/// let loss = make_fenchel_young_loss(|scores: &Array| scores.logsumexp(-1));
/// ```
pub fn make_fenchel_young_loss(
    max_fun: impl Fn(&Array) -> Array,
) -> impl Fn(&Array, &Array) -> Array {
    move |scores, targets| max_fun(scores) - (targets * scores).sum_over(-1)
}

//! Losses made of a maximum.

use ramie_core::Array;

/// The loss of Fenchel and Young of a function that takes scores `[…, n]` to their
/// regularised maximum `[…]`: the maximum less the scores of the targets
/// (`optax.losses.make_fenchel_young_loss`; Blondel et al., 2020).
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::losses::make_fenchel_young_loss;
/// // With the logarithm of the sum of exponentials it is the cross entropy.
/// let loss = make_fenchel_young_loss(|scores: &Array| scores.logsumexp(-1));
/// ```
pub fn make_fenchel_young_loss(
    max_fun: impl Fn(&Array) -> Array,
) -> impl Fn(&Array, &Array) -> Array {
    move |scores, targets| max_fun(scores) - (targets * scores).sum_axes(&[-1])
}

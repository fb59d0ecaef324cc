//! Optimizers that scale updates by one transformation and by a learning rate.

use crate::base::given::CheckedSetting;
use crate::base::options::{Predicate, transformation_methods};
use crate::transforms::decay::decay;
use crate::{GradientTransformation, Schedule, chain, scale_by_learning_rate};
use ramie_core::Array;
use std::sync::Arc;

/// An optimizer that applies the transformation `S`, then weight decay if it has any, then the
/// learning rate. [`adam`](crate::adam) and similar functions return it; its setters are those
/// of `S` and of weight decay.
///
/// ```
/// use ramie_optim::adamw;
/// let tx = adamw(1e-3).b2(0.99).weight_decay(0.01);
/// ```
#[derive(Clone, Debug)]
pub struct Scaled<S> {
    pub(crate) by: S,
    learning_rate: Schedule,
    weight_decay: Option<Schedule>,
    mask: Option<Predicate>,
}

impl<S> Scaled<S> {
    #[track_caller]
    pub(crate) fn new(by: S, learning_rate: impl Into<Schedule>) -> Scaled<S> {
        Scaled {
            by,
            learning_rate: learning_rate.into().given("learning_rate"),
            weight_decay: None,
            mask: None,
        }
    }

    /// Sets the strength of decoupled weight decay, which is multiplied by the learning rate and
    /// does not enter the state of `S`: `u = -rate · (s + weight_decay · p)` for the output `s` of
    /// `S`. `update` then panics if `params` is `None`.
    #[must_use]
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: impl Into<Schedule>) -> Self {
        self.weight_decay = Some(weight_decay.into().given("weight_decay"));
        self
    }

    /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
    /// all.
    #[must_use]
    pub fn mask(mut self, mask: impl Fn(&str, &Array) -> bool + Send + Sync + 'static) -> Self {
        self.mask = Some(Predicate(Arc::new(mask)));
        self
    }
}

impl<S: Into<GradientTransformation>> From<Scaled<S>> for GradientTransformation {
    fn from(scaled: Scaled<S>) -> GradientTransformation {
        let rate = scale_by_learning_rate(scaled.learning_rate);
        match scaled.weight_decay {
            Some(strength) => chain((scaled.by, decay(strength, scaled.mask), rate)),
            None => chain((scaled.by, rate)),
        }
    }
}

transformation_methods! { Scaled<S> }

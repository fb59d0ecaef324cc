//! Optimizers by their names: short chains.

use crate::{
    GradientTransformation, ScaleByAdam, Schedule, add_decayed_weights, chain, identity, masked,
    scale_by_adam, scale_by_learning_rate, trace,
};
use ramie_core::Array;
use std::sync::Arc;

/// Stochastic gradient descent; see [`sgd`].
#[derive(Clone, Debug)]
pub struct Sgd {
    learning_rate: Schedule,
    momentum: Option<f64>,
    nesterov: bool,
}

/// Stochastic gradient descent: `u = -rate · g`.
///
/// ```
/// use ramie_optim::sgd;
/// let plain = sgd(0.05);
/// let fast = sgd(0.05).momentum(0.9).nesterov();
/// ```
pub fn sgd(learning_rate: impl Into<Schedule>) -> Sgd {
    Sgd {
        learning_rate: learning_rate.into(),
        momentum: None,
        nesterov: false,
    }
}

impl Sgd {
    /// Follows a decaying sum of past gradients, `t ← g + decay · t`.
    #[must_use]
    pub fn momentum(mut self, decay: f64) -> Sgd {
        self.momentum = Some(decay);
        self
    }

    /// Looks one step ahead, where there is a momentum.
    #[must_use]
    pub fn nesterov(mut self) -> Sgd {
        self.nesterov = true;
        self
    }
}

impl From<Sgd> for GradientTransformation {
    fn from(sgd: Sgd) -> GradientTransformation {
        let momentum = match sgd.momentum {
            Some(decay) => trace(decay, sgd.nesterov),
            None => identity(),
        };
        chain((momentum, scale_by_learning_rate(sgd.learning_rate)))
    }
}

macro_rules! moments {
    ($t:ty) => {
        impl $t {
            /// The decay of the mean of gradients, 0.9 by default.
            #[must_use]
            pub fn b1(mut self, b1: f64) -> Self {
                self.moments.b1 = b1;
                self
            }

            /// The decay of the mean of their squares, 0.999 by default.
            #[must_use]
            pub fn b2(mut self, b2: f64) -> Self {
                self.moments.b2 = b2;
                self
            }

            /// Added to the denominator, 1e-8 by default.
            #[must_use]
            pub fn eps(mut self, eps: f64) -> Self {
                self.moments.eps = eps;
                self
            }

            /// Added inside the square root, 0 by default.
            #[must_use]
            pub fn eps_root(mut self, eps_root: f64) -> Self {
                self.moments.eps_root = eps_root;
                self
            }

            /// Looks one step ahead.
            #[must_use]
            pub fn nesterov(mut self) -> Self {
                self.moments.nesterov = true;
                self
            }
        }
    };
}

/// Adam; see [`adam`].
#[derive(Clone, Debug)]
pub struct Adam {
    learning_rate: Schedule,
    moments: ScaleByAdam,
}
moments!(Adam);

/// Adam: steps of about the learning rate, whatever the gradients' size.
///
/// With `m` and `n` the decaying means of gradients and of their squares,
/// both corrected for starting at zero: `u = -rate · m / (√(n + eps_root) + eps)`.
///
/// ```
/// use ramie_optim::adam;
/// let tx = adam(1e-3).b2(0.99);
/// ```
///
/// Kingma and Ba, *Adam: A Method for Stochastic Optimization*, 2014.
pub fn adam(learning_rate: impl Into<Schedule>) -> Adam {
    Adam {
        learning_rate: learning_rate.into(),
        moments: ScaleByAdam::default(),
    }
}

impl From<Adam> for GradientTransformation {
    fn from(adam: Adam) -> GradientTransformation {
        chain((
            scale_by_adam(adam.moments),
            scale_by_learning_rate(adam.learning_rate),
        ))
    }
}

/// Adam with decoupled weight decay; see [`adamw`].
#[derive(Clone)]
pub struct AdamW {
    learning_rate: Schedule,
    moments: ScaleByAdam,
    weight_decay: f64,
    mask: Option<Arc<dyn Fn(&str, &Array) -> bool + Send + Sync>>,
}
moments!(AdamW);

/// [`adam`] with weight decay that the moments do not see:
/// `u = -rate · (m / (√(n + eps_root) + eps) + weight_decay · p)`.
///
/// ```
/// use ramie_optim::adamw;
/// let tx = adamw(1e-3).weight_decay(0.01).mask(|path, _| path.ends_with("kernel"));
/// ```
///
/// Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.
pub fn adamw(learning_rate: impl Into<Schedule>) -> AdamW {
    AdamW {
        learning_rate: learning_rate.into(),
        moments: ScaleByAdam::default(),
        weight_decay: 1e-4,
        mask: None,
    }
}

impl AdamW {
    /// The strength of the decay, 1e-4 by default. It is multiplied by the
    /// learning rate.
    #[must_use]
    pub fn weight_decay(mut self, weight_decay: f64) -> AdamW {
        self.weight_decay = weight_decay;
        self
    }

    /// Which parameters decay, by path and value; by default all.
    #[must_use]
    pub fn mask(mut self, mask: impl Fn(&str, &Array) -> bool + Send + Sync + 'static) -> AdamW {
        self.mask = Some(Arc::new(mask));
        self
    }
}

impl From<AdamW> for GradientTransformation {
    fn from(adamw: AdamW) -> GradientTransformation {
        let decay = add_decayed_weights(adamw.weight_decay);
        chain((
            scale_by_adam(adamw.moments),
            match adamw.mask {
                Some(mask) => masked(decay, move |path, array| mask(path, array)),
                None => decay,
            },
            scale_by_learning_rate(adamw.learning_rate),
        ))
    }
}

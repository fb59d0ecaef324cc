//! `DynamicScale`: loss scaling for narrow floating-point dtypes.

use ramie_core::lax::pmean;
use ramie_core::sharding::AxisName;
use ramie_core::typing::Objective;
use ramie_core::{Array, DType, IntoArray, Tree, tree, value_and_grad, where_};
use ramie_derive::Tree;

/// Scales a loss, so that small gradients are not rounded to zero in `f16`. The scale grows
/// while gradients are finite, and shrinks when they overflow
/// (`flax.training.dynamic_scale.DynamicScale`).
///
/// ```
/// use ramie_core::{Array, DType, where_};
/// use ramie_nn::training::DynamicScale;
/// let loss = |p: Array| p.astype(DType::F16).square();
/// let mut scale = DynamicScale::default();
/// let mut p = Array::scalar(1.0, DType::F32);
/// for _ in 0..3 {
///     let step = scale.value_and_grad(loss, p.clone());
///     p -= where_(&step.is_finite, step.grad * 0.1, 0.0);
/// }
/// assert!(p.item::<f32>() < 1.0);
/// // The initial scale was too large.
/// assert!(scale.scale.item::<f32>() < 65536.0);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct DynamicScale {
    /// The factor by which the scale grows after `growth_interval` steps with finite gradients.
    /// Defaults to 2.
    #[tree(fixed)]
    pub growth_factor: f32,
    /// The factor by which the scale shrinks after a gradient that is not finite. Defaults to
    /// 0.5.
    #[tree(fixed)]
    pub backoff_factor: f32,
    /// Number of consecutive steps with finite gradients before the scale grows. Defaults to
    /// 2000.
    #[tree(fixed)]
    pub growth_interval: i32,
    /// Number of consecutive steps with finite gradients so far, 0-d `i32`.
    pub fin_steps: Array,
    /// The current scale, 0-d `f32`. Defaults to 65536.
    pub scale: Array,
    /// Lower bound of the scale. Defaults to the smallest positive normal `f32`.
    #[tree(fixed)]
    pub minimum_scale: Option<f32>,
}

impl Default for DynamicScale {
    fn default() -> DynamicScale {
        DynamicScale {
            growth_factor: 2.0,
            backoff_factor: 0.5,
            growth_interval: 2000,
            fin_steps: Array::scalar(0, DType::I32),
            scale: Array::scalar(65536.0, DType::F32),
            minimum_scale: Some(f32::MIN_POSITIVE),
        }
    }
}

/// The result of [`DynamicScale::value_and_grad`].
#[derive(Clone, Debug, Tree)]
pub struct ScaledGradient<P: Tree, R: Tree = Array> {
    /// Whether all gradients are finite, a 0-d boolean. If not, skip the step.
    pub is_finite: Array,
    /// The result of the function: the unscaled loss, or `(loss, aux)`.
    pub value: R,
    /// The unscaled gradient, in `f32`.
    pub grad: P,
}

impl DynamicScale {
    /// Computes the value and gradient of a function that returns a loss or `(loss, aux)`, and
    /// updates the scale for the next step.
    ///
    /// # Panics
    /// Panics if the loss is not a floating-point scalar.
    #[track_caller]
    pub fn value_and_grad<P: Tree, R: Objective>(
        &mut self,
        f: impl Fn(P) -> R + Send + Sync,
        params: P,
    ) -> ScaledGradient<P, R> {
        self.value_and_grad_with(f, params, None)
    }

    /// Same as [`value_and_grad`](DynamicScale::value_and_grad), with gradients averaged over a
    /// mapped axis, if one is given.
    ///
    /// # Panics
    /// Panics if the loss is not a floating-point scalar.
    #[track_caller]
    pub fn value_and_grad_with<P: Tree, R: Objective>(
        &mut self,
        f: impl Fn(P) -> R + Send + Sync,
        params: P,
        axis_name: Option<AxisName>,
    ) -> ScaledGradient<P, R> {
        let scale = self.scale.clone();
        let scaled = |p: P| {
            let value = f(p);
            let loss = &scale * value.loss();
            value.with_loss(loss)
        };
        let (value, grad) = value_and_grad(scaled)(params);
        let loss = value.loss() / &scale;
        let unscaled = tree::map(&grad, |g| {
            let g = g.astype(DType::F32) / &scale;
            match axis_name {
                Some(name) => pmean(&g, name),
                None => g,
            }
        });
        let is_finite = tree::reduce(&unscaled, true.into_array(), |all, g| {
            all & g.is_finite().all()
        });
        self.adjust(&is_finite);
        ScaledGradient {
            is_finite,
            value: value.with_loss(loss),
            grad: unscaled,
        }
    }

    /// Updates the scale after a step, given whether its gradients were finite.
    fn adjust(&mut self, is_finite: &Array) {
        let grow = self.fin_steps.eq(self.growth_interval);
        let larger = (&self.scale * self.growth_factor).minimum(f32::MAX);
        let if_finite = where_(&(&grow & is_finite), larger, &self.scale);
        let mut if_not = &self.scale * self.backoff_factor;
        if let Some(least) = self.minimum_scale {
            if_not = if_not.maximum(least);
        }
        self.scale = where_(is_finite, if_finite, if_not);
        let zero = self.fin_steps.zeros_like();
        self.fin_steps = where_(&(grow | !is_finite), zero, &self.fin_steps + 1);
    }
}

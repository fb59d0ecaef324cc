//! `DynamicScale`: losses scaled for narrow floating-point numbers.

use ramie_core::{Array, AxisName, DType, IntoArray, Tree, pmean, tree, value_and_grad, where_};
use ramie_derive::Tree;

/// Scales a loss, so that small gradients are not rounded to zero in `f16`, by
/// the greatest power for which they are finite
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
/// // The first scale was too large.
/// assert!(scale.scale.item::<f32>() < 65536.0);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct DynamicScale {
    /// How much the scale grows after many finite gradients.
    pub growth_factor: f32,
    /// How much it falls after one that is not.
    pub backoff_factor: f32,
    /// After how many finite gradients in a row the scale grows.
    pub growth_interval: i32,
    /// Finite gradients in a row, 0-d `i32`.
    pub fin_steps: Array,
    /// The scale now, 0-d `f32`.
    pub scale: Array,
    /// The least scale.
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

/// What [`DynamicScale::value_and_grad`] returns.
#[derive(Clone, Debug, Tree)]
pub struct ScaledGradient<P: Tree, X: Tree = ()> {
    /// Whether all gradients are finite, 0-d bool. If not, the step must be
    /// left out.
    pub is_finite: Array,
    /// The loss, not scaled.
    pub loss: Array,
    /// What the function returned beside the loss.
    pub aux: X,
    /// The gradient, not scaled, in `f32`.
    pub grad: P,
}

impl DynamicScale {
    /// The value and gradient of a loss; the scale becomes that of the next
    /// step.
    ///
    /// # Panics
    /// If the loss is no floating-point scalar.
    #[track_caller]
    pub fn value_and_grad<P: Tree>(
        &mut self,
        loss: impl Fn(P) -> Array + Send + Sync,
        params: P,
    ) -> ScaledGradient<P> {
        self.value_and_grad_with_aux(|p| (loss(p), ()), params, None)
    }

    /// [`value_and_grad`](DynamicScale::value_and_grad) of a function that
    /// returns other values too; gradients are averaged over a mapped axis if
    /// one is named.
    ///
    /// # Panics
    /// If the loss is no floating-point scalar.
    #[track_caller]
    pub fn value_and_grad_with_aux<P: Tree, X: Tree>(
        &mut self,
        f: impl Fn(P) -> (Array, X) + Send + Sync,
        params: P,
        axis_name: Option<AxisName>,
    ) -> ScaledGradient<P, X> {
        let scale = self.scale.clone();
        let scaled = |p: P| {
            let (loss, aux) = f(p);
            (&scale * loss, aux)
        };
        let ((loss, aux), grad) = value_and_grad(scaled)(params);
        let loss = loss / &scale;
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
            loss,
            aux,
            grad: unscaled,
        }
    }

    /// The scale after gradients that were finite or not.
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

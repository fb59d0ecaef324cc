//! Polyak's step size.

use crate::base::given::unchecked;
use crate::base::options::options;
use crate::{ExtraArgs, GradientTransformation, tree};
use ramie_core::{Array, where_};

/// The behavior of [`scale_by_polyak`] when the objective is below `f_min`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolyakVariant {
    /// The step goes uphill.
    #[default]
    Sps,
    /// The step is zero.
    SpsPlus,
}

unchecked!(PolyakVariant);

options! {
    /// Multiplies updates by `min((f - f_min) / (‖g‖² + eps), max_learning_rate)`, where `f` is
    /// the value of the objective. The updates are zero if `‖g‖² + eps` is at most the `f32`
    /// machine epsilon.
    ///
    /// `update` panics if [`ExtraArgs::value`] is missing.
    ///
    /// Loizou et al., *Stochastic Polyak Step-size for SGD*, 2020; Garrigos et
    /// al., *Function Value Learning: Adaptive Learning Rates Based on the
    /// Polyak Stepsize*, 2023.
    scale_by_polyak() -> ScaleByPolyak {
        /// Sets the lower bound of the objective.
        f_min: num = 0.0,
        /// Sets the maximum step size.
        max_learning_rate: num = 1.0,
        /// Sets the constant added to the squared norm of the gradient.
        eps: num = 0.0,
        /// Sets the behavior when the objective is below `f_min`.
        variant: PolyakVariant = PolyakVariant::Sps,
    }
    |o| GradientTransformation::with_extra_args(
        |_| (),
        move |updates, (), _, extra: &ExtraArgs<'_>| {
            let value = extra.expect_value("scale_by_polyak");
            let squared = tree::squared_norm(&updates);
            let gap = (value - &o.f_min).astype(squared.dtype());
            let gap = match o.variant {
                PolyakVariant::Sps => gap,
                PolyakVariant::SpsPlus => gap.relu(),
            };
            let squared = squared + &o.eps;
            let epsilon = f64::from(f32::EPSILON);
            let step = (gap / &squared).minimum(&o.max_learning_rate);
            let step: Array = where_(squared.le(epsilon), 0.0, step);
            (tree::scale(step, &updates), ())
        },
    )
}

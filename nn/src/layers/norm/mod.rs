//! Normalizations: one way to take statistics, one way to apply them.

mod batch;
mod group;
mod instance;
mod layer;
mod rms;
mod spectral;
mod statistics;
mod weight;
mod weights;

pub use batch::{BatchNorm, BatchNormConfig};
pub use group::{GroupNorm, GroupNormConfig};
pub use instance::{InstanceNorm, InstanceNormConfig};
pub use layer::{LayerNorm, LayerNormConfig};
pub use rms::{RMSNorm, RMSNormConfig};
pub use spectral::{SpectralNorm, SpectralNormConfig};
pub use statistics::Statistics;
pub use weight::{WeightNorm, WeightNormConfig};

/// The configuration of a normalization: its own hyperparameters, and those
/// that all have.
macro_rules! norm_hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident as $class:literal, epsilon $epsilon:literal { $($own:tt)* }
    ) => {
        $crate::layers::hyperparameters::hyperparameters! {
            $(#[$doc])*
            $name as $class () {
                $($own)*
                /// Sets the constant added to the variance before the square root.
                epsilon: [f64] = $epsilon,
                /// Sets the dtype of the result. Defaults to the dtype that the input and the
                /// parameters promote to.
                dtype: [Option<ramie_core::DType>] = None,
                /// Sets the dtype of the parameters. Defaults to `f32`.
                param_dtype: [ramie_core::DType] = ramie_core::DType::F32,
                /// Whether there is a scale for each feature; there is by
                /// default.
                use_scale: [bool] = true,
                /// How the scale is drawn, ones by default.
                scale_init: [$crate::Initializer] = $crate::init::ones(),
                /// A mapped axis, over whose devices or examples statistics
                /// are averaged; none by default.
                axis_name: [Option<ramie_core::AxisName>] = None,
                /// Whether the variance is the mean of squares less the
                /// squared mean, which needs one pass over the input; it is by
                /// default.
                use_fast_variance: [bool] = true,
                /// Whether statistics are at least of `f32` whatever the input
                /// is; they are by default.
                force_float32_reductions: [bool] = true,
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $name {
            fn statistics(&self) -> $crate::layers::norm::Statistics {
                $crate::layers::norm::Statistics {
                    axis_name: self.axis_name,
                    use_fast_variance: self.use_fast_variance,
                    force_float32_reductions: self.force_float32_reductions,
                }
            }

            #[track_caller]
            fn scale(
                &self,
                vars: &mut $crate::Vars<'_>,
                features: &[usize],
            ) -> Option<$crate::Param> {
                let scale = &self.scale_init;
                vars.param_if(self.use_scale, "scale", scale, features, self.param_dtype)
            }
        }
    };
}

/// [`norm_hyperparameters`] with a bias.
macro_rules! biased_norm_hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident as $class:literal, epsilon $epsilon:literal { $($own:tt)* }
    ) => {
        $crate::layers::norm::norm_hyperparameters! {
            $(#[$doc])*
            $name as $class, epsilon $epsilon {
                $($own)*
                /// Whether there is a bias for each feature; there is by
                /// default.
                use_bias: [bool] = true,
                /// Sets the initializer of the bias. Defaults to zeros.
                bias_init: [$crate::Initializer] = $crate::init::zeros(),
            }
        }

        impl $name {
            #[track_caller]
            fn bias(
                &self,
                vars: &mut $crate::Vars<'_>,
                features: &[usize],
            ) -> Option<$crate::Param> {
                let bias = &self.bias_init;
                vars.param_if(self.use_bias, "bias", bias, features, self.param_dtype)
            }
        }
    };
}

/// Linen's module of a normalization that is called with an array, or with an
/// array and a mask.
macro_rules! linen_norm {
    ($config:ident) => {
        impl $crate::linen::Module for $config {
            fn call(&self, scope: &mut $crate::linen::Scope, x: Array) -> Array {
                self.call_in(scope, &x, None)
            }
            fn class_name(&self) -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($config::CLASS)
            }
        }

        /// With a mask, which broadcasts to the input: statistics are of the
        /// elements where it is true.
        impl $crate::linen::Module<(Array, Array)> for $config {
            fn call(&self, scope: &mut $crate::linen::Scope, (x, mask): (Array, Array)) -> Array {
                self.call_in(scope, &x, Some(&mask))
            }
            fn class_name(&self) -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($config::CLASS)
            }
        }
    };
}

/// [`linen_norm`] of a normalization with features on `feature_axes`, of which the
/// input tells how many there are.
macro_rules! linen_feature_norm {
    ($config:ident) => {
        impl $config {
            #[track_caller]
            fn call_in(
                &self,
                scope: &mut $crate::linen::Scope,
                x: &Array,
                mask: Option<&Array>,
            ) -> Array {
                let axes = positive_axes(Self::CLASS, x, &self.feature_axes);
                $crate::linen::in_scope!(
                    scope,
                    |vars| self.build_for(&Normalization::features(x, &axes), vars),
                    |layer| layer.forward_masked(x, mask),
                )
            }
        }

        $crate::layers::norm::linen_norm!($config);
    };
}

use {biased_norm_hyperparameters, linen_feature_norm, linen_norm, norm_hyperparameters};

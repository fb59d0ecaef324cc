//! Normalization layers. They share the computation of statistics and the normalization itself.

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
pub use weight::{WeightNorm, WeightNormConfig};

/// Defines the options of a normalization layer: its own and those that all normalization
/// layers have.
macro_rules! norm_hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident as $class:literal, epsilon $epsilon:literal { $($own:tt)* }
        calls { $($calls:tt)* }
    ) => {
        $crate::layers::hyperparameters::hyperparameters! {
            $(#[$doc])*
            $name as $class () {
                $($own)*
                /// Sets the dtype of the parameters. Defaults to `f32`.
                param_dtype: [ramie_core::DType] = ramie_core::DType::F32,
                /// Sets whether each feature has a scale. Defaults to `true`.
                use_scale: [bool] = true,
                /// Sets the initializer of the scale. Defaults to ones.
                scale_init: [$crate::Initializer] = $crate::init::ones(),
            } calls {
                $($calls)*
                /// Sets the constant added to the variance before the square root. Defaults to
                /// 1e-5 for `BatchNorm` and to 1e-6 for all others.
                epsilon: [f64] = $epsilon,
                /// Sets the dtype of the result. Defaults to the dtype that the input and the
                /// parameters promote to.
                dtype: [Option<ramie_core::DType>] = None,
                /// Sets a custom rule by which the input, the averages and the parameters are
                /// converted before the computation. Defaults to none.
                promote_dtype: [Option<$crate::PromoteDtypeFn>] = None,
                /// Sets the mapped axes over which the statistics are averaged: names of axes, or
                /// [groups](ramie_core::lax::AxisIndexGroups) of indices along them
                /// (`axis_index_groups`). Defaults to none.
                axis_name: [Option<ramie_core::lax::AxisIndexGroups>] = None,
                /// Sets whether the variance is computed as `E[x²] - E[x]²`, in one pass over the
                /// input. Otherwise it is the mean squared distance from the mean, which is more
                /// accurate. Defaults to `true`.
                use_fast_variance: [bool] = true,
                /// Sets whether the statistics are computed in `f32` or wider, whatever the
                /// dtype of the input. Defaults to `true`.
                force_float32_reductions: [bool] = true,
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $name {
            fn normalization<'a>(
                &'a self,
                reduction_axes: &'a [usize],
                feature_axes: &'a [usize],
                scale: Option<&$crate::Param>,
                bias: Option<&$crate::Param>,
            ) -> $crate::layers::norm::statistics::Normalization<'a> {
                $crate::layers::norm::statistics::Normalization {
                    class: Self::CLASS,
                    reduction_axes,
                    feature_axes,
                    scale: scale.map(|scale| scale.value().clone()),
                    bias: bias.map(|bias| bias.value().clone()),
                    epsilon: self.epsilon,
                    dtype: self.dtype,
                    promote_dtype: self.promote_dtype.as_ref(),
                    axis_name: self.axis_name.as_ref(),
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

/// Extends [`norm_hyperparameters`] with a bias.
macro_rules! biased_norm_hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident as $class:literal, epsilon $epsilon:literal { $($own:tt)* }
        calls { $($calls:tt)* }
    ) => {
        $crate::layers::norm::norm_hyperparameters! {
            $(#[$doc])*
            $name as $class, epsilon $epsilon {
                $($own)*
                /// Sets whether each feature has a bias. Defaults to `true`.
                use_bias: [bool] = true,
                /// Sets the initializer of the bias. Defaults to zeros.
                bias_init: [$crate::Initializer] = $crate::init::zeros(),
            } calls {
                $($calls)*
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

/// Implements Linen's module for a normalization layer whose argument is an array, or an array
/// and a mask.
macro_rules! linen_norm {
    ($config:ident) => {
        impl $crate::linen::Module for $config {
            #[track_caller]
            fn call(&self, scope: &mut $crate::linen::Scope, x: Array) -> Array {
                self.call_in(scope, &x, None)
            }
            fn class_name(&self) -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($config::CLASS)
            }
        }

        /// Takes a mask, which broadcasts to the input: the statistics only include elements
        /// where it is true.
        impl $crate::linen::Module<(Array, Array)> for $config {
            #[track_caller]
            fn call(&self, scope: &mut $crate::linen::Scope, (x, mask): (Array, Array)) -> Array {
                self.call_in(scope, &x, Some(&mask))
            }
            fn class_name(&self) -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($config::CLASS)
            }
        }
    };
}

/// Implements [`linen_norm`] for a layer with `feature_axes`, whose sizes come from the input.
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
                $crate::layers::in_scope!(
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

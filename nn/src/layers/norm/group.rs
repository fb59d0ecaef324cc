//! `GroupNorm`: group normalization.

use super::statistics::positive_axes;
use super::{biased_norm_hyperparameters, linen_norm};
use crate::layers::in_scope;
use crate::model::observed;
use crate::{Module, Param, Rngs, VarSource, linen};
use ramie_core::Array;

/// Normalizes groups of channels of each example by their own mean and variance
/// (`nnx.GroupNorm`, `nn.GroupNorm`). The first axis is the batch, the last axis contains the
/// channels.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{GroupNorm, Rngs};
/// let norm = GroupNorm::new(64, 8, &mut Rngs::new(0));
/// let x = Array::zeros(&[2, 16, 16, 64], DType::F32);
/// assert_eq!(norm.forward(&x).shape(), x.shape());
/// ```
#[derive(Clone, Debug, Module)]
pub struct GroupNorm {
    /// The scale of each channel, if any.
    pub scale: Option<Param>,
    /// The bias of each channel, if any.
    pub bias: Option<Param>,
    /// Number of groups of channels.
    pub num_groups: usize,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: GroupNormConfig,
}

biased_norm_hyperparameters! {
    /// Options of a [`GroupNorm`] layer.
    ///
    /// As a Linen module, its argument is an array, or an array and a mask.
    GroupNormConfig as "GroupNorm", epsilon 1e-6 {
        /// Sets the number of groups of channels. Defaults to 32.
        num_groups: [Option<usize>] = None,
        /// Sets the number of channels per group, instead of the number of groups.
        group_size: [Option<usize>] = None,
    } calls {
        /// Sets the axes over which the statistics are computed, which must include the last
        /// axis. Defaults to all axes but the first.
        reduction_axes: [Option<Vec<isize>>] = None,
    }
}

impl GroupNorm {
    /// Creates a layer for inputs of `num_features` channels in `num_groups` groups, with scale
    /// one and bias zero.
    ///
    /// # Panics
    /// Panics if the number of groups does not divide the number of channels.
    #[track_caller]
    pub fn new(num_features: usize, num_groups: usize, rngs: &mut Rngs) -> GroupNorm {
        GroupNorm::config()
            .num_groups(num_groups)
            .build(num_features, rngs)
    }

    /// Returns the default options; [`build`](GroupNormConfig::build) creates the layer.
    pub fn config() -> GroupNormConfig {
        GroupNormConfig::new()
    }

    /// Normalizes the input; the shape is unchanged.
    ///
    /// # Panics
    /// Panics if the input does not have the layer's channels, lacks one of its axes, or if the
    /// reduction axes do not include the last axis.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.forward_masked(x, None))
    }

    /// Like [`forward`](GroupNorm::forward), with an optional mask, whose last axis must be
    /// that of the input. The statistics only include elements where the mask is true.
    ///
    /// # Panics
    /// Panics as [`forward`](GroupNorm::forward) does, and if the mask does not broadcast to
    /// the input.
    #[track_caller]
    pub fn forward_masked(&self, x: &Array, mask: Option<&Array>) -> Array {
        let class = GroupNormConfig::CLASS;
        assert!(
            x.ndim() >= 2,
            "{class}: the input is {}, expected a batch axis and a channel axis\n  help: add the \
             batch axis: x.expand_dims(&[0])",
            x.aval()
        );
        let last = x.ndim() - 1;
        let axes = match &self.config.reduction_axes {
            Some(axes) => positive_axes(class, x, axes),
            None => (1..=last).collect(),
        };
        assert!(
            axes.last() == Some(&last),
            "{class}: the reduction axes are {axes:?} for the input {}, but must include the \
             last axis\n  help: add the last axis, which contains the channels",
            x.aval()
        );
        let (outer, features) = (&axes[..axes.len() - 1], [last]);
        let channels = x.shape()[last];
        expect_groups(channels, self.num_groups);
        let size = channels / self.num_groups;
        let grouped = |x: &Array| {
            let mut shape = x.shape().to_vec();
            shape.pop();
            shape.extend([self.num_groups, size]);
            x.reshape(&shape)
        };
        let mask = mask.map(|mask| {
            assert!(
                mask.shape().last() == Some(&channels),
                "{class}: the mask is {}, expected a last axis of {channels}, as in the input \
                 {}\n  help: broadcast it: mask.broadcast_to(x.shape())",
                mask.aval(),
                x.aval()
            );
            grouped(mask)
        });
        let mut reduced = outer.to_vec();
        reduced.push(last + 1);
        let (scale, bias) = (self.scale.as_ref(), self.bias.as_ref());
        let mut normalization = self.config.normalization(outer, &features, scale, bias);
        let mut x = x.clone();
        normalization.promote([&mut x]);
        let (mean, var) = normalization.statistics(&grouped(&x), &reduced, mask.as_ref(), true);
        let (mean, var) = (mean.repeat(size, -1), var.repeat(size, -1));
        normalization.of(&x, &mean, &var)
    }
}

#[track_caller]
fn expect_groups(channels: usize, groups: usize) {
    assert!(
        groups > 0 && channels.is_multiple_of(groups),
        "GroupNorm: {channels} channels cannot be divided into {groups} groups\n  help: use \
         num_groups(n) with a divisor of the number of channels, or group_size(n)"
    );
}

impl GroupNormConfig {
    /// Returns the number of groups for this number of channels.
    #[track_caller]
    fn groups(&self, channels: usize) -> usize {
        let groups = match (self.num_groups, self.group_size) {
            (Some(_), Some(_)) => panic!(
                "GroupNorm: num_groups and group_size are both set\n  help: remove one of them"
            ),
            (None, Some(size)) => {
                assert!(
                    size > 0 && channels.is_multiple_of(size),
                    "GroupNorm: {channels} channels are not a multiple of the group size \
                     {size}\n  help: use a group size that divides the number of channels"
                );
                channels / size
            }
            (groups, None) => groups.unwrap_or(32),
        };
        expect_groups(channels, groups);
        groups
    }

    /// Builds the layer for inputs of `num_features` channels.
    ///
    /// Each new parameter takes a key from the stream `params`.
    ///
    /// # Panics
    /// Panics if the channels do not divide evenly into groups, or if both the number and the
    /// size of groups are set.
    #[track_caller]
    pub fn build(&self, num_features: usize, vars: &mut impl VarSource) -> GroupNorm {
        let vars = &mut vars.vars();
        let num_groups = self.groups(num_features);
        GroupNorm {
            scale: self.scale(vars, &[num_features]),
            bias: self.bias(vars, &[num_features]),
            num_groups,
            config: self.clone(),
        }
    }

    #[track_caller]
    fn call_in(&self, scope: &mut linen::Scope, x: &Array, mask: Option<&Array>) -> Array {
        let channels = x.shape().last().copied().unwrap_or(1);
        in_scope!(scope, |vars| self.build(channels, vars), |layer| layer
            .forward_masked(x, mask),)
    }
}

linen_norm!(GroupNormConfig);

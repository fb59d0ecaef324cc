//! Statistics for normalization layers, and the normalization by them.

use crate::PromoteDtypeFn;
use crate::layers::promote::{Promotion, computed_in};
use ramie_core::dtypes::{promote_types, result_type};
use ramie_core::lax::{AxisIndexGroups, pmean, psum};
use ramie_core::options::Reduction;
use ramie_core::{Array, DType, stack};

/// Returns the axes as non-negative numbers in ascending order, without duplicates.
#[track_caller]
pub(crate) fn positive_axes(class: &str, x: &Array, axes: &[isize]) -> Vec<usize> {
    let rank = x.ndim() as isize;
    let mut all = Vec::with_capacity(axes.len());
    for &axis in axes {
        assert!(
            (-rank..rank).contains(&axis),
            "{class}: the input {} has no axis {axis}\n  help: axes count from 0, or from the \
             last one as -1",
            x.aval()
        );
        all.push(axis.rem_euclid(rank) as usize);
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn signed(axes: &[usize]) -> Vec<isize> {
    axes.iter().map(|&a| a as isize).collect()
}

/// Returns `|x|²` of each element.
fn abs_sq(x: &Array) -> Array {
    if x.dtype().is_complex() {
        x.real().square() + x.imag().square()
    } else {
        x.square()
    }
}

/// The parameters, axes and options of a normalization.
pub(crate) struct Normalization<'a> {
    pub class: &'static str,
    pub reduction_axes: &'a [usize],
    pub feature_axes: &'a [usize],
    pub scale: Option<Array>,
    pub bias: Option<Array>,
    pub epsilon: f64,
    pub dtype: Option<DType>,
    pub promote_dtype: Option<&'a PromoteDtypeFn>,
    pub axis_name: Option<&'a AxisIndexGroups>,
    pub use_fast_variance: bool,
    pub force_float32_reductions: bool,
}

impl Normalization<'_> {
    /// Returns the sizes of the feature axes of an input.
    pub fn features(x: &Array, feature_axes: &[usize]) -> Vec<usize> {
        feature_axes.iter().map(|&a| x.shape()[a]).collect()
    }

    /// Checks that an array of the layer has one element per feature.
    #[track_caller]
    pub fn expect_features(class: &str, name: &str, value: &Array, x: &Array, axes: &[usize]) {
        let features = Self::features(x, axes);
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        assert!(
            count(value.shape()) == count(&features),
            "{class}: the input is {}, which has {features:?} features along {axes:?}, expected \
             {:?}\n  {name} {}\n  help: create the layer with the number of features of its \
             input, or set the feature axis",
            x.aval(),
            value.shape(),
            value.aval()
        );
    }

    /// Computes mean and variance over axes in ascending order and over the elements where the
    /// mask is true, in the order of operations of Flax's `_compute_stats`. If `use_mean` is
    /// false, the mean is taken to be zero.
    #[track_caller]
    pub fn statistics(
        &self,
        x: &Array,
        axes: &[usize],
        mask: Option<&Array>,
        use_mean: bool,
    ) -> (Array, Array) {
        let mut dtype = self.dtype.unwrap_or_else(|| result_type(&[x]));
        if self.force_float32_reductions {
            dtype = promote_types(dtype, DType::F32);
        }
        let x = &x.astype(dtype);
        let axes = signed(axes);
        let mut over = Reduction::over(&axes);
        if let Some(mask) = mask {
            over = over.mask(&mask.astype(DType::Bool));
        }
        let mean = |x: &Array| self.means(&[x], &over, mask).remove(0);
        if !use_mean {
            let var = mean(&abs_sq(x));
            return (var.zeros_like(), var);
        }
        if self.use_fast_variance {
            let mut both = self.means(&[x, &abs_sq(x)], &over, mask);
            let (mu2, mu) = (both.remove(1), both.remove(0));
            // Rounding can make the difference negative.
            let var = (mu2 - abs_sq(&mu)).maximum(0.0);
            return (mu, var);
        }
        let mu = mean(x);
        let var = mean(&abs_sq(&(x - mu.expand_dims(&axes))));
        (mu, var)
    }

    /// Computes means over the axes of a reduction, and over the devices along the axis name, with
    /// one collective.
    #[track_caller]
    fn means(&self, xs: &[&Array], over: &Reduction, mask: Option<&Array>) -> Vec<Array> {
        let Some(axes) = self.axis_name else {
            return xs.iter().map(|x| x.mean_over(over)).collect();
        };
        let parts = |together: Array| together.unstack(0);
        let Some(mask) = mask else {
            let means: Vec<Array> = xs.iter().map(|x| x.mean_over(over)).collect();
            return parts(pmean(&stack(&means, 0), axes.clone()));
        };
        // Devices have different numbers of elements, or none.
        let kept = mask.astype(DType::Bool).astype(xs[0].dtype().real());
        let kept = kept.broadcast_to(xs[0].shape());
        let all = xs.iter().copied().chain([&kept]);
        let sums: Vec<Array> = all.map(|x| x.sum_over(over)).collect();
        let mut sums = parts(psum(&stack(&sums, 0), axes.clone()));
        let count = sums.pop().expect("the number of elements");
        sums.iter().map(|sum| sum / &count).collect()
    }

    /// Converts these arrays, the scale and the bias by the layer's rule, if it has one.
    #[track_caller]
    pub fn promote<const N: usize>(&mut self, arrays: [&mut Array; N]) {
        let rule = Promotion {
            dtype: self.dtype,
            rule: self.promote_dtype,
        };
        let params = self.scale.iter_mut().chain(&mut self.bias);
        rule.apply_rule(arrays.into_iter().chain(params));
    }

    /// Normalizes the input by its own statistics, over the elements where the mask is true.
    #[track_caller]
    pub fn by_own(mut self, x: &Array, mask: Option<&Array>, use_mean: bool) -> Array {
        let mut x = x.clone();
        self.promote([&mut x]);
        let (mean, var) = self.statistics(&x, self.reduction_axes, mask, use_mean);
        self.of(&x, &mean, &var)
    }

    /// Subtracts the mean, divides by the standard deviation, and applies scale and bias, in
    /// the order of operations of Flax's `_normalize`.
    #[track_caller]
    pub fn of(&self, x: &Array, mean: &Array, var: &Array) -> Array {
        let axes = signed(self.reduction_axes);
        let mut shape = vec![1; x.ndim()];
        for &axis in self.feature_axes {
            shape[axis] = x.shape()[axis];
        }
        for (name, param) in [("scale", &self.scale), ("bias", &self.bias)] {
            if let Some(param) = param {
                Self::expect_features(self.class, name, param, x, self.feature_axes);
            }
        }
        let (mean, var) = (mean.expand_dims(&axes), var.expand_dims(&axes));
        let mut y = x - mean;
        let mut by = (var + self.epsilon).rsqrt();
        let mut operands = vec![x.clone()];
        if let Some(scale) = &self.scale {
            let scale = scale.reshape(&shape);
            by *= &scale;
            operands.push(scale);
        }
        y *= by;
        if let Some(bias) = &self.bias {
            let bias = bias.reshape(&shape);
            y += &bias;
            operands.push(bias);
        }
        let operands: Vec<&Array> = operands.iter().collect();
        y.astype(computed_in(self.dtype, &operands))
    }
}

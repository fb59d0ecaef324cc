//! Second moments stored as the product of a row and a column.

use crate::base::extra_args::expect_params;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::{GradientTransformation, tree};
use ramie_core::options::Reduction;
use ramie_core::{Array, DType, IntoArray, State};
use ramie_derive::Tree;

/// The state of [`scale_by_factored_rms`]. For each array it contains either a row and a column
/// or the whole moment. The fields that do not apply are arrays of one zero.
#[derive(Tree)]
pub struct FactoredState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying means of squares, averaged over the longest axis.
    pub v_row: State,
    /// Decaying means of squares, averaged over the second longest axis.
    pub v_col: State,
    /// Decaying means of squares of the arrays that are not factored.
    pub v: State,
}

/// Returns the second longest and the longest axis if both have at least `least` elements.
fn factored_axes(shape: &[usize], least: Option<usize>) -> Option<(usize, usize)> {
    let least = least?;
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    axes.sort_by_key(|a| shape[*a]);
    match axes[..] {
        [.., second, first] if shape[second] >= least => Some((second, first)),
        _ => None,
    }
}

options! {
    /// Divides by the root of a decaying mean of squares, which is stored as a row and a column
    /// for large matrices.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// Shazeer and Stern, *Adafactor: Adaptive Learning Rates with Sublinear
    /// Memory Cost*, 2018.
    scale_by_factored_rms() -> ScaleByFactoredRms {
        /// Sets whether large arrays are factored.
        factored: toggle = true,
        /// Sets the exponent `c` of the decay rate `1 - t⁻ᶜ` of the mean in step `t`.
        decay_rate: num = 0.8,
        /// Sets the function that returns the decay rate of the mean, instead of `decay_rate`. It
        /// receives the number of the step as a 0-d `f32`: 0 in the first step, after subtraction of
        /// `step_offset`.
        decay_rate_fn: function,
        /// Sets the number to subtract from the step count, for example when fine-tuning.
        step_offset: count = 0,
        /// Sets the minimum length of the second longest axis of arrays to factor.
        min_dim_size_to_factor: count = 128,
        /// Sets the constant added to squares.
        epsilon: num = 1e-30,
    }
    |o| {
        let least = o.factored.then_some(o.min_dim_size_to_factor);
        let nothing = |p: &Array| Array::zeros(&[1], p.dtype());
        let without = |p: &Array, axis: usize| {
            let mut shape = p.shape().to_vec();
            shape.remove(axis);
            Array::zeros(&shape, p.dtype())
        };
        GradientTransformation::new(
            move |params| FactoredState {
                count: count_zero(),
                v_row: params.map(|p| match factored_axes(p.shape(), least) {
                    Some((_, first)) => without(p, first),
                    None => nothing(p),
                }),
                v_col: params.map(|p| match factored_axes(p.shape(), least) {
                    Some((second, _)) => without(p, second),
                    None => nothing(p),
                }),
                v: params.map(|p| match factored_axes(p.shape(), least) {
                    Some(_) => nothing(p),
                    None => p.zeros_like(),
                }),
            },
            move |updates, state: FactoredState, params| {
                let params = expect_params("scale_by_factored_rms", params);
                let t = (&state.count - o.step_offset as i32).astype(DType::F32);
                let decay = match &o.decay_rate_fn {
                    Some(rate) => rate.0(&t),
                    None => 1.0_f64 - (t + 1).power(o.decay_rate.negative()),
                };
                let rest = 1.0_f64 - &decay;
                let mean = |old: &Array, new: Array| (old * &decay + new * &rest).astype(old.dtype());
                let squares = updates.map(|g| tree::abs_sq(g) + &o.epsilon);
                let axes = |path: &str| factored_axes(params.get(path)?.shape(), least);
                let whole = |s: &State, path: &str| s.get(path).expect("the paths of the updates").clone();
                let v_row = state.v_row.map_with_path(|path, old| match axes(path) {
                    Some((_, first)) => mean(old, whole(&squares, path).mean_over(first as isize)),
                    None => old.clone(),
                });
                let v_col = state.v_col.map_with_path(|path, old| match axes(path) {
                    Some((second, _)) => mean(old, whole(&squares, path).mean_over(second as isize)),
                    None => old.clone(),
                });
                let v = state.v.map_with_path(|path, old| match axes(path) {
                    Some(_) => old.clone(),
                    None => mean(old, whole(&squares, path)),
                });
                let updates = updates.map_with_path(|path, g| match axes(path) {
                    Some((second, first)) => {
                        let (row, col) = (whole(&v_row, path), whole(&v_col, path));
                        let kept = if second > first { second - 1 } else { second };
                        let row = (&row / row.mean_over(Reduction::over(kept as isize).keepdims())).power(-0.5);
                        let col = col.power(-0.5);
                        g * row.expand_dims(&[first as isize]) * col.expand_dims(&[second as isize])
                    }
                    None => g * whole(&v, path).power((-0.5).into_array()),
                });
                let count = safe_increment(&state.count);
                (updates, FactoredState { count, v_row, v_col, v })
            },
        )
    }
}

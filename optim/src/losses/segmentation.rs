//! Image segmentation losses.

use super::check_same_shape;
use ramie_core::dtypes::promote_types;
use ramie_core::{Array, DType};

/// Options of [`dice_loss`].
#[derive(Clone, Debug)]
pub struct DiceOptions {
    /// Weight of each class, `[classes]`. Defaults to equal weights.
    pub class_weights: Option<Array>,
    /// Constant added to numerator and denominator, for classes that do not occur.
    pub smooth: f64,
    /// Weight of false positives. With `alpha` and `beta` of 0.5 this is the Dice loss, otherwise
    /// the Tversky loss.
    pub alpha: f64,
    /// Weight of false negatives.
    pub beta: f64,
    /// Whether predictions are logits, converted to probabilities by softmax, or by the logistic
    /// function for a single class.
    pub apply_softmax: bool,
    /// Whether to exclude the first class.
    pub ignore_background: bool,
    /// Axes of the image. Defaults to all between the first and the last.
    pub axes: Option<Vec<isize>>,
}

impl Default for DiceOptions {
    fn default() -> Self {
        DiceOptions {
            class_weights: None,
            smooth: 1.0,
            alpha: 0.5,
            beta: 0.5,
            apply_softmax: true,
            ignore_background: false,
            axes: None,
        }
    }
}

/// Computes the Dice loss of predictions `[batch, …, classes]` and targets of the same shape, for
/// each example and class: `[batch, classes]` (`optax.losses.dice_loss` with `reduction="none"`;
/// its other reductions are the mean and the sum over the last axis). Milletari et al., 2016;
/// Salehi et al., 2017.
///
/// If `apply_softmax` is false, predictions must be probabilities. Optax checks that they sum to
/// 1; here this is not checked, so that the loss can be traced.
///
/// # Panics
/// Panics if the shapes differ by more than a last axis of one class, or if the number of class
/// weights is not the number of classes.
#[track_caller]
pub fn dice_loss(predictions: &Array, targets: &Array, options: &DiceOptions) -> Array {
    let (mut predictions, mut targets) = (predictions.clone(), targets.clone());
    if predictions.ndim() + 1 == targets.ndim() {
        predictions = predictions.expand_dims(&[-1]);
    }
    if targets.ndim() + 1 == predictions.ndim() {
        targets = targets.expand_dims(&[-1]);
    }
    check_same_shape(
        "dice_loss",
        ["predictions", "targets"],
        &predictions,
        &targets,
    );
    let classes = predictions.shape().last().copied().unwrap_or(1);
    let probabilities = match (options.apply_softmax, classes) {
        (false, _) => predictions,
        (true, 1) => predictions.sigmoid(),
        (true, _) => predictions.softmax(-1),
    };
    let between = || (1..probabilities.ndim() as isize - 1).collect();
    let axes: Vec<isize> = options.axes.clone().unwrap_or_else(between);
    let both = (&probabilities * &targets).sum_over(&axes);
    let (predicted, wanted) = (probabilities.sum_over(&axes), targets.sum_over(&axes));
    let below = &both
        + (predicted - &both) * options.alpha
        + (wanted - &both) * options.beta
        + options.smooth;
    let mut loss = 1.0_f64 - (both + options.smooth) / below;
    if let Some(weights) = &options.class_weights {
        assert!(
            weights.shape() == [classes],
            "dice_loss: class_weights is {}, but there are {classes} classes\n  help: pass one \
             weight for each class",
            weights.aval()
        );
        loss *= weights;
    }
    if options.ignore_background && classes > 1 {
        loss.slice_in_dim(1, classes, 1, -1)
    } else {
        loss
    }
}

/// Computes the mean [`dice_loss`] with classes weighted by their rarity, `[]`
/// (`optax.losses.multiclass_generalized_dice_loss`; Sudre et al., 2017). The `class_weights` of
/// the options are ignored.
///
/// # Panics
/// Panics if the shapes differ.
#[track_caller]
pub fn multiclass_generalized_dice_loss(
    predictions: &Array,
    targets: &Array,
    options: &DiceOptions,
) -> Array {
    let names = ["predictions", "targets"];
    check_same_shape(
        "multiclass_generalized_dice_loss",
        names,
        predictions,
        targets,
    );
    // The square of a number of pixels overflows in narrow dtypes and `i32`.
    let dtype = promote_types(predictions.dtype(), DType::F32);
    let targets = &targets.astype(dtype);
    let all: Vec<isize> = (0..targets.ndim() as isize - 1).collect();
    let frequencies = targets.sum_over(&all);
    let weights = 1.0_f64 / (frequencies.square() + 1e-7);
    let classes = weights.shape()[0];
    let weights = &weights / weights.sum() * classes as f64;
    let options = DiceOptions {
        class_weights: Some(weights),
        ..options.clone()
    };
    dice_loss(predictions, targets, &options).mean()
}

/// Computes the [`dice_loss`] of a single class, for arrays `[batch, …]` or `[batch, …, 1]`, with
/// the result `[batch]` (`optax.losses.binary_dice_loss`).
///
/// # Panics
/// Panics if the shapes differ.
#[track_caller]
pub fn binary_dice_loss(predictions: &Array, targets: &Array, options: &DiceOptions) -> Array {
    let one = predictions.shape().last() == Some(&1);
    let (predictions, targets) = if predictions.ndim() == targets.ndim() && !one {
        (predictions.expand_dims(&[-1]), targets.expand_dims(&[-1]))
    } else {
        (predictions.clone(), targets.clone())
    };
    dice_loss(&predictions, &targets, options).mean_over(-1)
}

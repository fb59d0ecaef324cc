//! Losses of regions in images.

use super::check_same_shape;
use ramie_core::Array;

/// Options of [`dice_loss`].
#[derive(Clone, Debug)]
pub struct DiceOptions {
    /// How much each class counts, `[classes]`; all alike by default.
    pub class_weights: Option<Array>,
    /// Added above and below the line, for classes that are not there.
    pub smooth: f64,
    /// How much false positives count. With `alpha` and `beta` of 0.5 the loss is
    /// Dice's, else Tversky's.
    pub alpha: f64,
    /// How much false negatives count.
    pub beta: f64,
    /// Whether predictions are logits, made probabilities by softmax, or by the
    /// logistic function where there is one class.
    pub apply_softmax: bool,
    /// Whether the first class is left out.
    pub ignore_background: bool,
    /// The axes of the image; by default all between the first and the last.
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

/// How little predictions `[batch, …, classes]` and targets of the same shape
/// cover each other, for each example and class: `[batch, classes]`
/// (`optax.losses.dice_loss` with `reduction="none"`; its other reductions are the
/// mean and the sum over the last axis). Milletari et al., 2016; Salehi et al.,
/// 2017.
///
/// Where `apply_softmax` is off, predictions must be probabilities; Optax checks
/// that their sum is 1, which here is the caller's matter, so that the loss can be
/// traced.
///
/// # Panics
/// If the shapes differ by more than a last axis of one class, or there are not
/// as many class weights as classes.
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
    let both = (&probabilities * &targets).sum_axes(&axes);
    let (predicted, wanted) = (probabilities.sum_axes(&axes), targets.sum_axes(&axes));
    let below = &both
        + (predicted - &both) * options.alpha
        + (wanted - &both) * options.beta
        + options.smooth;
    let mut loss = 1.0_f64 - (both + options.smooth) / below;
    if let Some(weights) = &options.class_weights {
        assert!(
            weights.shape() == [classes],
            "dice_loss: the class weights are {}, and there are {classes} classes\n  help: give one \
             number for each class",
            weights.aval()
        );
        loss *= weights;
    }
    match options.ignore_background && classes > 1 {
        true => loss.slice_in_dim(1, classes, 1, -1),
        false => loss,
    }
}

/// [`dice_loss`] with classes that count by how rare they are, its mean: `[]`
/// (`optax.losses.multiclass_generalized_dice_loss`; Sudre et al., 2017).
/// `class_weights` of the options have no effect.
///
/// # Panics
/// If the shapes differ.
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
    let all: Vec<isize> = (0..targets.ndim() as isize - 1).collect();
    let frequencies = targets.sum_axes(&all);
    let weights = 1.0_f64 / (frequencies.square() + 1e-7);
    let classes = weights.shape()[0];
    let weights = &weights / weights.sum() * classes as f64;
    let options = DiceOptions {
        class_weights: Some(weights),
        ..options.clone()
    };
    dice_loss(predictions, targets, &options).mean()
}

/// [`dice_loss`] of one class, `[batch, …]` or `[batch, …, 1]`: `[batch]`
/// (`optax.losses.binary_dice_loss`).
///
/// # Panics
/// If the shapes differ.
#[track_caller]
pub fn binary_dice_loss(predictions: &Array, targets: &Array, options: &DiceOptions) -> Array {
    let one = predictions.shape().last() == Some(&1);
    let (predictions, targets) = match predictions.ndim() == targets.ndim() && !one {
        true => (predictions.expand_dims(&[-1]), targets.expand_dims(&[-1])),
        false => (predictions.clone(), targets.clone()),
    };
    dice_loss(&predictions, &targets, options).mean_axes(&[-1])
}

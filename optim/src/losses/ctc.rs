//! Connectionist temporal classification (CTC), a loss for sequences without alignment.

use super::{check_classes, check_floats, check_integers, class_numbers};
use ramie_core::dtypes::{finfo, promote_types};
use ramie_core::lax::scan;
use ramie_core::{Array, DType, concatenate, einsum, where_};

/// Options of [`ctc_loss`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CtcOptions {
    /// Class that represents the blank.
    pub blank_id: usize,
    /// Log-probability that represents a probability of 0.
    pub log_epsilon: f64,
}

impl Default for CtcOptions {
    fn default() -> Self {
        CtcOptions {
            blank_id: 0,
            log_epsilon: -1e5,
        }
    }
}

/// Computes the CTC loss: the negative log-probability that frames of logits
/// `[batch, frames, classes]` emit the labels `[batch, labels]`, summed over all alignments. The
/// result is `[batch]`, in at least `f32` (`optax.ctc_loss`; Graves et al., 2006). Paddings are 1 for
/// padded frames or labels and 0 otherwise; padding must be at the end. Padded labels may have any
/// value. In a traced program, the loss of a sequence with another label out of range is NaN.
///
/// # Panics
/// Panics if the logits are not floats, if the labels are not integers or known to be out of range,
/// if the shapes do not match, or if `blank_id` is not a class.
#[track_caller]
pub fn ctc_loss(
    logits: &Array,
    logit_paddings: &Array,
    labels: &Array,
    label_paddings: &Array,
    options: &CtcOptions,
) -> Array {
    ctc_loss_with_forward_probs(logits, logit_paddings, labels, label_paddings, options).0
}

#[track_caller]
fn check(
    logits: &Array,
    logit_paddings: &Array,
    labels: &Array,
    label_paddings: &Array,
    blank: usize,
) {
    check_floats("ctc_loss", "logits", logits);
    check_integers(
        "ctc_loss",
        "labels",
        labels,
        "pass class indices, counted from 0",
    );
    let fits = logits.ndim() == 3
        && labels.ndim() == 2
        && labels.shape() == label_paddings.shape()
        && logit_paddings.shape() == &logits.shape()[..2]
        && labels.shape()[0] == logits.shape()[0];
    assert!(
        fits,
        "ctc_loss: shapes do not match\n  logits {}\n  logit_paddings {}\n  labels {}\n  label_paddings \
         {}\n  help: the shapes must be [batch, frames, classes], [batch, frames], [batch, \
         labels] and [batch, labels]",
        logits.aval(),
        logit_paddings.aval(),
        labels.aval(),
        label_paddings.aval()
    );
    let classes = logits.shape()[2];
    assert!(
        blank < classes,
        "ctc_loss: blank_id is {blank}, but there are only {classes} classes\n  help: set \
         blank_id to the index of the blank class"
    );
}

/// Returns which labels are equal to the next one, so that a blank must separate them.
fn repeated(labels: &Array) -> Array {
    let count = labels.shape()[1];
    let next = labels.slice_in_dim(count.min(1), count, 1, 1);
    let all_but_last = labels.slice_in_dim(0, count.saturating_sub(1), 1, 1);
    all_but_last.eq(next)
}

/// Returns which sequences have a label out of range, `None` if it is known that none has one.
///
/// # Panics
/// Panics if a label is known to be out of range.
#[track_caller]
fn wrong_sequences(labels: &Array, paddings: &Array, classes: usize) -> Option<Array> {
    let unknown = class_numbers(labels, classes).1 & paddings.eq(0);
    let is_known = check_classes("ctc_loss", labels, &unknown, classes);
    (!is_known).then(|| unknown.any_over(-1))
}

/// Replaces the losses of some sequences by NaN.
#[track_caller]
fn nan_where(wrong: Option<Array>, loss: Array) -> Array {
    match wrong {
        None => loss,
        Some(wrong) => where_(wrong, f64::NAN, loss),
    }
}

/// Computes [`ctc_loss`] together with the forward log-probabilities of each prefix of the
/// labels: those of alignments whose current frame emits a blank, `[frames, batch, labels + 1]`,
/// and those of alignments whose current frame emits a label, `[frames, batch, labels]`
/// (`optax.ctc_loss_with_forward_probs`).
///
/// # Panics
/// Panics in the same cases as [`ctc_loss`].
// In a step, `phi[n]` sums over the alignments of `n` labels that the next label may follow. `cost`
// and `open` are log-probabilities, where `epsilon` stands for log 0: a label leads to the next one
// directly (`cost`), but to an equal one only after a blank (`open`).
#[track_caller]
pub fn ctc_loss_with_forward_probs(
    logits: &Array,
    logit_paddings: &Array,
    labels: &Array,
    label_paddings: &Array,
    options: &CtcOptions,
) -> (Array, Array, Array) {
    let blank = options.blank_id;
    check(logits, logit_paddings, labels, label_paddings, blank);
    let [batch, frames, classes] = logits.dims();
    let count = labels.shape()[1];
    let epsilon = options.log_epsilon;
    let dtype = promote_types(logits.dtype(), DType::F32);
    let padded_frames = logit_paddings.ne(0);
    // Frames of padding have no influence, whatever their numbers are.
    let logits = where_(padded_frames.expand_dims(&[2]), 0, logits.astype(dtype));
    let logs = logits.log_softmax(-1);
    let padded_labels = label_paddings.ne(0);
    let padded = padded_labels.count_nonzero_over(1).astype(DType::I32);
    let lengths = -padded + count as i32;
    let repeat = repeated(labels).pad(&[(0, 0), (0, count.min(1))], false);
    let blanks = logs.slice_in_dim(blank, blank + 1, 1, 2).swap_axes(0, 1);
    let wrong = wrong_sequences(labels, label_paddings, classes);
    let rows = labels.one_hot(classes, dtype);
    // The logarithm of an impossible class times 0 would be NaN.
    let finite = logs.maximum(finfo(dtype).min);
    let emits = einsum("btk,bnk->tbn", &[&finite, &rows]);
    let cost = where_(&repeat, Array::scalar(epsilon, dtype), 0);
    let open = where_(&repeat, 0, Array::scalar(epsilon, dtype));
    let with_score = |phi: &Array, score: &Array| {
        let first = phi.slice_in_dim(0, 1, 1, 1);
        let rest = phi.slice_in_dim(1, count + 1, 1, 1).logaddexp(score);
        concatenate(&[&first, &rest], 1)
    };
    let start = Array::full(&[batch, count], epsilon, dtype);
    let phi = concatenate(&[&Array::zeros(&[batch, 1], dtype), &start], 1);
    let pads = padded_frames.swap_axes(0, 1);
    let step = |(before, emitted): (Array, Array), (emit, none, pad): (Array, Array, Array)| {
        let phi = with_score(&before, &(&emitted + &cost));
        let shorter = phi.slice_in_dim(0, count, 1, 1);
        let next_emit = (shorter + &emit).logaddexp(&emitted + &emit);
        let next_phi = with_score(&(&phi + &none), &(&emitted + &none + &open));
        let pad = pad.expand_dims(&[1]);
        let next_emit = where_(&pad, &emitted, next_emit);
        let next_phi = where_(&pad, &before, next_phi);
        let now = (next_phi, next_emit);
        (now.clone(), now)
    };
    let (_, (phis, emitted)) = scan(step, (phi, start), (emits, blanks, pads));
    let of_last = |x: &Array| x.slice_in_dim(frames - 1, frames, 1, 0).squeeze(&[0]);
    // A sequence may end with a blank or with its last label.
    let last = with_score(&of_last(&phis), &of_last(&emitted));
    let before = phis.slice_in_dim(0, frames - 1, 1, 0);
    let phis = concatenate(&[&before, &last.expand_dims(&[0])], 0);
    let chosen = lengths.one_hot(count + 1, DType::Bool);
    let loss = -where_(chosen, last, 0).sum_over(-1);
    (nan_where(wrong, loss), phis, emitted)
}

//! Cross-entropy losses.

use super::{check_broadcasts, check_classes, check_floats, check_integers, class_numbers};
use ramie_core::numpy::broadcast_shapes;
use ramie_core::options::Reduction;
use ramie_core::{Array, custom_jvp, where_};

/// Computes the cross entropy of logits `[…, classes]` and target probabilities of the same
/// shape, with the result `[…]` (`optax.softmax_cross_entropy`).
///
/// # Panics
/// Panics if the logits are not floats, if the labels are class numbers (integers with fewer axes
/// than the logits), or if the shapes do not broadcast.
#[track_caller]
pub fn softmax_cross_entropy(logits: &Array, labels: &Array) -> Array {
    softmax_cross_entropy_over(logits, labels, -1)
}

/// Computes [`softmax_cross_entropy`] with classes along other axes or with a mask.
///
/// ```no_run
/// use ramie_core::options::Reduction;
/// use ramie_core::Array;
/// use ramie_optim::losses::softmax_cross_entropy_over;
/// # let (logits, labels, mask) = (Array::from(1.0f32), Array::from(1.0f32), Array::from(true));
/// // Classes along the second axis, some of which are masked.
/// let loss = softmax_cross_entropy_over(&logits, &labels, Reduction::over(1).mask(&mask));
/// ```
///
/// # Panics
/// Panics in the same cases as [`softmax_cross_entropy`], and if an axis is out of range.
#[track_caller]
pub fn softmax_cross_entropy_over(
    logits: &Array,
    labels: &Array,
    over: impl Into<Reduction>,
) -> Array {
    const LOSS: &str = "softmax_cross_entropy";
    check_floats(LOSS, "logits", logits);
    check_probabilities(LOSS, logits, labels);
    let over = over.into();
    let logs = logits.log_softmax(&over);
    -(labels * logs).sum_over(over)
}

/// Computes [`softmax_cross_entropy`], where a class with target probability 0 contributes
/// nothing even if its logit is negative infinity (`optax.safe_softmax_cross_entropy`).
///
/// # Panics
/// Panics in the same cases as [`softmax_cross_entropy`].
#[track_caller]
pub fn safe_softmax_cross_entropy(logits: &Array, labels: &Array) -> Array {
    const LOSS: &str = "safe_softmax_cross_entropy";
    check_floats(LOSS, "logits", logits);
    check_probabilities(LOSS, logits, labels);
    let weighted = |x: &Array, weights: &Array| {
        let logs = x.log_softmax(-1);
        where_(weights.ne(0), weights * &logs, logs.zeros_like())
    };
    let f = custom_jvp(
        move |(x, weights): (Array, Array)| weighted(&x, &weights),
        move |(x, weights): (Array, Array), (dx, dweights): (Array, Array)| {
            let mean = (&dx * x.softmax(-1)).sum_over(Reduction::over(-1).keepdims());
            let logs = where_(weights.ne(0), x.log_softmax(-1), 0);
            let tangent = &weights * dx - &weights * mean + dweights * logs;
            (weighted(&x, &weights), tangent)
        },
    );
    let labels = labels.astype(logits.dtype());
    -f((logits.clone(), labels)).sum_over(-1)
}

/// Computes the cross entropy of logits `[…, classes]` and integer class labels `[…]`, with the
/// result `[…]` (`optax.softmax_cross_entropy_with_integer_labels`). Classes are numbered from 0.
///
/// A label that is negative or not less than the number of classes is a mistake. The function panics
/// if it can read the labels. In a traced program, such as that of `jit`, the loss of the example is
/// NaN. Optax counts negative labels from the last class, so that -1 trains it. To ignore an example,
/// such as padding, set its label and its loss to 0:
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::softmax_cross_entropy_with_integer_labels;
/// let logits = Array::from([[1.2f32, -0.8, -0.5], [0.9, -1.2, 1.1]]);
/// let loss = softmax_cross_entropy_with_integer_labels(&logits, &Array::from([0i32, 1]));
/// assert_eq!(loss.shape(), [2]);
///
/// let labels = Array::from([0i32, -1]); // the second example is padding
/// let counts = labels.ge(0);
/// let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels.maximum(0));
/// let mean = ramie_core::where_(&counts, loss, 0.0).sum() / counts.sum();
/// ```
///
/// # Panics
/// Panics if the logits are not floats, if the labels are not integers or known to be out of range,
/// or if the shapes do not match.
#[track_caller]
pub fn softmax_cross_entropy_with_integer_labels(logits: &Array, labels: &Array) -> Array {
    softmax_cross_entropy_with_integer_labels_over(logits, labels, -1)
}

/// Computes [`softmax_cross_entropy_with_integer_labels`] with classes along other axes or with a
/// mask. Several axes are flattened into one axis of classes in row-major order. The loss of
/// examples without unmasked classes is 0.
///
/// # Panics
/// Panics in the same cases as [`softmax_cross_entropy_with_integer_labels`], and if an axis is
/// out of range.
#[track_caller]
pub fn softmax_cross_entropy_with_integer_labels_over(
    logits: &Array,
    labels: &Array,
    over: impl Into<Reduction>,
) -> Array {
    const LOSS: &str = "softmax_cross_entropy_with_integer_labels";
    check_floats(LOSS, "logits", logits);
    // Floats with fewer axes than the logits are class numbers.
    let help = if labels.dtype().is_float() && labels.ndim() < logits.ndim() {
        "convert class numbers with labels.astype(DType::I32)"
    } else {
        "use softmax_cross_entropy for class probabilities"
    };
    check_integers(LOSS, "labels", labels, help);
    assert!(
        logits.ndim() > 0,
        "{LOSS}: the logits are {}, expected a last axis of classes\n  help: pass logits of the shape \
         [batch, classes]",
        logits.aval()
    );
    let over = over.into();
    let axes = over.axes(logits);
    let mask = over
        .selection()
        .map(|mask| mask.broadcast_to(logits.shape()));
    let mask = mask.map(|mask| classes_last(&mask, &axes));
    let logits = classes_last(logits, &axes);
    let (&classes, batch) = logits.shape().split_last().expect("an axis of classes");
    assert!(
        labels.shape() == batch,
        "{LOSS}: shapes do not match\n  logits {}\n  labels {}\n  help: pass labels with the \
         shape of the logits without the axis of classes, {batch:?}",
        logits.aval(),
        labels.aval()
    );
    let (places, unknown) = class_numbers(labels, classes);
    let any = mask.as_ref().map(|mask| mask.any_over(-1));
    let unknown = match &any {
        Some(any) => unknown & any,
        None => unknown,
    };
    let is_known = check_classes(LOSS, labels, &unknown, classes);
    // Select by comparison instead of gathering, so that the derivative is a selection and not a
    // scatter.
    let places = where_(&unknown, 0, places).expand_dims(&[-1]);
    let chosen = Array::iota(&[classes], 0, places.dtype()).eq(&places);
    let label_logits = where_(&chosen, &logits, 0).sum_over(-1);
    let all = match &mask {
        Some(mask) => logits.logsumexp(Reduction::over(-1).mask(mask)),
        None => logits.logsumexp(-1),
    };
    let mut loss = all - label_logits;
    if !is_known {
        loss = where_(&unknown, f64::NAN, loss);
    }
    match any {
        Some(any) => where_(any, loss, 0),
        None => loss,
    }
}

/// Panics if the labels cannot be target probabilities of the classes. Class numbers would be taken
/// for probabilities if there are as many examples as classes.
#[track_caller]
fn check_probabilities(loss: &str, logits: &Array, labels: &Array) {
    let arrays = || format!("logits {}\n  labels {}", logits.aval(), labels.aval());
    assert!(
        !labels.dtype().is_integer() || labels.ndim() >= logits.ndim(),
        "{loss}: the labels are class numbers, expected a probability for each class\n  {}\n  help: use \
         softmax_cross_entropy_with_integer_labels",
        arrays()
    );
    assert!(
        broadcast_shapes(&[logits.shape(), labels.shape()]).is_some(),
        "{loss}: shapes do not broadcast together\n  {}\n  help: pass labels with the shape of the \
         logits, or class numbers to softmax_cross_entropy_with_integer_labels",
        arrays()
    );
}

/// Moves the given axes to the end and flattens them into one.
#[track_caller]
fn classes_last(x: &Array, axes: &[isize]) -> Array {
    if let &[axis] = axes {
        return x.move_axis(axis, -1);
    }
    let to: Vec<isize> = (0..axes.len())
        .map(|i| i as isize - axes.len() as isize)
        .collect();
    let moved = x.move_axes(axes, &to);
    let batch = moved.ndim() - axes.len();
    let mut shape = moved.shape()[..batch].to_vec();
    shape.push(moved.shape()[batch..].iter().product());
    moved.reshape(&shape)
}

/// Computes the binary cross entropy of logits and target probabilities for each element
/// (`optax.sigmoid_binary_cross_entropy`).
///
/// The result has the shape of the logits. Optax also broadcasts the logits, so that `[8, 1]` and
/// `[8]` give `[8, 8]`.
///
/// # Panics
/// Panics if the logits are not floats, or the labels do not broadcast to the shape of the logits.
#[track_caller]
pub fn sigmoid_binary_cross_entropy(logits: &Array, labels: &Array) -> Array {
    check_floats("sigmoid_binary_cross_entropy", "logits", logits);
    check_broadcasts(
        "sigmoid_binary_cross_entropy",
        ["logits", "labels"],
        logits,
        labels,
    );
    let labels = labels.astype(logits.dtype());
    // A certain prediction has an infinite logarithm for the other label.
    let yes = where_(labels.eq(0), 0, &labels * logits.log_sigmoid());
    let rest = 1.0_f64 - &labels;
    let no = where_(labels.eq(1), 0, rest * (-logits).log_sigmoid());
    -yes - no
}

/// Computes the focal loss of logits and target probabilities for each element: the binary cross
/// entropy times the error to the power `gamma`, so that well classified examples contribute
/// less. With `alpha`, positive targets have the weight `alpha` and negative ones `1 - alpha`
/// (`optax.sigmoid_focal_loss`; Lin et al., 2017).
///
/// # Panics
/// Panics if the logits are not floats, or the shapes do not broadcast.
#[track_caller]
pub fn sigmoid_focal_loss(logits: &Array, labels: &Array, alpha: Option<f64>, gamma: f64) -> Array {
    check_floats("sigmoid_focal_loss", "logits", logits);
    let labels = labels.astype(logits.dtype());
    let entropy = sigmoid_binary_cross_entropy(logits, &labels);
    let (yes, no) = (logits.log_sigmoid(), (-logits).log_sigmoid());
    let rest = 1.0_f64 - &labels;
    // The logarithm of the error of the prediction.
    let logs = ramie_core::stack(&[&yes, &no], -1);
    let weights = ramie_core::stack(&[&rest, &labels], -1);
    let wrong = logs.logsumexp_with(-1, weights);
    let loss = entropy * (wrong * gamma).exp();
    match alpha {
        None => loss,
        Some(alpha) => (&labels * alpha + &rest * (1.0 - alpha)) * loss,
    }
}

/// Computes [`softmax_cross_entropy`] plus `epsilon` times the first term of its series expansion
/// (`optax.poly_loss_cross_entropy`; Leng et al., 2022). The default in Optax is `epsilon = 2`.
///
/// # Panics
/// Panics if logits or labels are not floats, or the shapes do not broadcast.
#[track_caller]
pub fn poly_loss_cross_entropy(logits: &Array, labels: &Array, epsilon: f64) -> Array {
    poly_loss_cross_entropy_over(logits, labels, epsilon, -1)
}

/// Computes [`poly_loss_cross_entropy`] with classes along other axes or with a mask.
///
/// # Panics
/// Panics in the same cases as [`poly_loss_cross_entropy`], and if an axis is out of range.
#[track_caller]
pub fn poly_loss_cross_entropy_over(
    logits: &Array,
    labels: &Array,
    epsilon: f64,
    over: impl Into<Reduction>,
) -> Array {
    const LOSS: &str = "poly_loss_cross_entropy";
    check_floats(LOSS, "logits", logits);
    check_floats(LOSS, "labels", labels);
    check_probabilities(LOSS, logits, labels);
    let over = over.into();
    let p = logits.softmax(&over);
    let missed = (labels * (1.0_f64 - p)).sum_over(&over);
    softmax_cross_entropy_over(logits, labels, over) + missed * epsilon
}

/// Smooths probabilities `[…, classes]`: the fraction `alpha` is distributed equally among all
/// classes (`optax.smooth_labels`).
///
/// # Panics
/// Panics if the labels are not floats.
#[track_caller]
pub fn smooth_labels(labels: &Array, alpha: f64) -> Array {
    smooth_labels_over(labels, alpha, -1)
}

/// Computes [`smooth_labels`] with classes along other axes or with a mask.
///
/// # Panics
/// Panics if the labels are not floats, or an axis is out of range.
#[track_caller]
pub fn smooth_labels_over(labels: &Array, alpha: f64, over: impl Into<Reduction>) -> Array {
    check_floats("smooth_labels", "labels", labels);
    let classes = labels.ones_like().sum_over(over.into().keepdims());
    labels * (1.0 - alpha) + alpha / classes
}

//! Losses: reports about PyTorch, Optax, SupContrast, OneFlow and MXNet.
use ramie_core::{Array, DType, grad, jvp, random};
use ramie_optim::losses::{
    CtcOptions, DiceOptions, TripletOptions, ctc_loss, generalized_kl_divergence, hinge_loss,
    huber_loss, kl_divergence, kl_divergence_with_log_targets, log_cosh,
    multiclass_generalized_dice_loss, multiclass_hinge_loss, multiclass_sparsemax_loss, ntxent,
    ranking_softmax_loss, safe_softmax_cross_entropy, sigmoid_binary_cross_entropy,
    triplet_margin_loss,
};
use ramie_testing::panics::panic_message;

fn close(got: &[f32], expected: &[f32], tolerance: f32) -> bool {
    got.len() == expected.len()
        && got
            .iter()
            .zip(expected)
            .all(|(a, b)| a == b || (a - b).abs() <= tolerance * (1.0 + b.abs()))
}

/// pytorch/pytorch#49844 and #102894, pyro-ppl/numpyro#2240, google-deepmind/optax#431. The binary cross
/// entropy of an infinite logit is NaN, even if the prediction is right: `0 * inf`. Masked choices have the
/// logit minus infinity.
/// Right: the logarithm of the probability of the label, which is 1 or 0, so the loss is 0 or infinity. The
/// derivative of a right prediction is 0.
#[test]
fn binary_cross_entropy_of_certain_predictions() {
    let inf = f32::INFINITY;
    let (logits, labels) = (
        Array::from([-inf, inf, -inf, inf]),
        Array::from([0.0f32, 1.0, 1.0, 0.0]),
    );
    let loss = sigmoid_binary_cross_entropy(&logits, &labels).to_vec::<f32>();
    assert_eq!(loss, [0.0, 0.0, inf, inf], "loss");
    let right = labels.index(..2);
    let slope = grad(|x: Array| sigmoid_binary_cross_entropy(&x, &right).sum())(logits.index(..2));
    assert_eq!(
        slope.to_vec::<f32>(),
        [0.0, 0.0],
        "derivative of right predictions"
    );
}

/// google-deepmind/optax#1786, pytorch/pytorch#114049. The divergence is NaN if a class has the target 0 and the
/// log-probability minus infinity, as masked classes have.
/// Right: `0 log(0 / q)` is 0, also for q = 0: the divergence is that of the other classes, 0 for equal
/// distributions. If the target is positive and the prediction impossible, it is infinite.
#[test]
fn divergence_without_a_class_that_neither_side_has() {
    let inf = f32::INFINITY;
    let logits = Array::from([[0.5f32, 1.0, -inf], [2.0, -inf, -inf], [2.0, -inf, -inf]]);
    let targets = Array::from([[0.25f32, 0.75, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]);
    let logs = logits.log_softmax(-1);
    // Of two classes with logits 0.5 and 1.
    let sum = 0.5f32.exp() + 1f32.exp();
    let first = 0.25 * (0.25f32.ln() - (0.5 - sum.ln())) + 0.75 * (0.75f32.ln() - (1.0 - sum.ln()));
    let expected = [first, 0.0, inf];
    for (name, got) in [
        ("kl_divergence", kl_divergence(&logs, &targets)),
        (
            "generalized_kl_divergence",
            generalized_kl_divergence(&logs, &targets),
        ),
    ] {
        let got = got.to_vec::<f32>();
        assert!(
            close(&got, &expected, 1e-5),
            "{name}: {got:?}, expected {expected:?}"
        );
    }
}

/// HobbitLong/SupContrast#141, tensorflow/addons#2447. The contrastive loss of a batch without two examples of
/// one class is NaN, a mean over no pairs; one such batch ends a run.
/// Right: without pairs there is nothing to attract: the loss is 0, and so is its derivative. A batch of one
/// class has nothing to repel: the probability of each pair is 1, and the loss is 0, too.
#[test]
fn a_contrastive_batch_without_pairs_has_no_loss() {
    let x = random::normal(&random::key(0), &[4, 3], DType::F32);
    for (name, labels) in [
        ("all different", [0i32, 1, 2, 3]),
        ("all equal", [5, 5, 5, 5]),
    ] {
        let labels = Array::from(labels);
        let loss = ntxent(&x, &labels, 0.5).item::<f32>();
        assert!(loss.abs() < 1e-6, "{name}: {loss}");
        let slope = grad(|x: Array| ntxent(&x, &labels, 0.5))(x.clone()).to_vec::<f32>();
        assert!(slope.iter().all(|s| s.abs() < 1e-6), "{name}: {slope:?}");
    }
    // Some examples without a partner do not matter to the others.
    let slope = grad(|x: Array| ntxent(&x, &Array::from([0i32, 1, 1, 3]), 0.5))(x).to_vec::<f32>();
    assert!(slope.iter().all(|s| s.is_finite()), "{slope:?}");
}

/// Oneflow-Inc/oneflow#3864. A distance of odd order adds powers of differences without their sign, so that
/// differences cancel, and sums can be negative: their roots are NaN.
/// Right: the norm of order p of d is `(sum |dᵢ|^p)^(1/p)`. Of (1, -1) and (2, 2) these are 2 and 4 of order 1,
/// `2^(1/3)` and `16^(1/3)` of order 3. Norms do not depend on the order of the operands.
#[test]
fn distances_of_odd_order_are_norms() {
    let x = |x: [f32; 2]| Array::from([x]);
    let mut wrong = Vec::new();
    for (order, near, far) in [
        (1, 2.0, 4.0),
        (2, 2f32.sqrt(), 8f32.sqrt()),
        (3, 2f32.cbrt(), 16f32.cbrt()),
    ] {
        let options = TripletOptions {
            norm_degree: order,
            margin: 4.0,
            ..TripletOptions::default()
        };
        let loss = |sign: f32| {
            let (p, n) = (x([sign, -sign]), x([2.0 * sign, 2.0 * sign]));
            triplet_margin_loss(&x([0.0, 0.0]), &p, &n, &options).to_vec::<f32>()[0]
        };
        let expected = near - far + 4.0;
        for got in [loss(1.0), loss(-1.0)] {
            if (got - expected).abs().is_nan() || (got - expected).abs() >= 1e-3 {
                wrong.push(format!("order {order}: {got}, expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("; "));
}

/// apache/mxnet#19628, NVIDIA/apex#722. The CTC loss in half precision is NaN or fails.
/// Right: the loss of the same numbers in `f32`, within the precision of the dtype, with repeated labels and
/// padding, too. All alignments of 3 frames with one label are 6 (b = blank): a--, -a-, --a, aa-, -aa, aaa; each
/// has the probability 1/27 for 3 equal classes.
#[test]
fn ctc_loss_in_half_precision() {
    let simple = |dtype: DType| {
        let (logits, pads) = (
            Array::zeros(&[1, 3, 3], dtype),
            Array::zeros(&[1, 3], DType::F32),
        );
        let (labels, no) = (Array::from([[1i32]]), Array::zeros(&[1, 1], DType::F32));
        let loss = ctc_loss(&logits, &pads, &labels, &no, &CtcOptions::default());
        loss.astype(DType::F32).item::<f32>()
    };
    let logits = random::normal(&random::key(3), &[2, 6, 4], DType::F32);
    let frames = Array::from([
        [0.0f32, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ]);
    let labels = Array::from([[1i32, 1, 2], [3, 2, 0]]);
    let pads = Array::from([[0.0f32, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    let loss = |dtype: DType| {
        let loss = ctc_loss(
            &logits.astype(dtype),
            &frames,
            &labels,
            &pads,
            &CtcOptions::default(),
        );
        loss.astype(DType::F32).to_vec::<f32>()
    };
    let (expected, wide) = ((27f32 / 6.0).ln(), loss(DType::F32));
    let mut wrong = Vec::new();
    for (dtype, tolerance) in [(DType::F32, 1e-5), (DType::BF16, 0.1), (DType::F16, 0.02)] {
        let (one, all) = (simple(dtype), loss(dtype));
        if !close(&[one], &[expected], tolerance) {
            wrong.push(format!("one label in {dtype}: {one}, expected {expected}"));
        }
        if !close(&all, &wide, tolerance) {
            wrong.push(format!("a batch in {dtype}: {all:?}, in f32 {wide:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A class that the mask of logits excludes, and a frame of padding, were multiplied by 0.
/// Right: what is excluded has no influence on values and derivatives.
#[test]
fn impossible_classes_and_padded_frames_have_no_influence() {
    let none = f32::NEG_INFINITY;
    let of = |logits: &Array, labels: [[i32; 2]; 1]| {
        let (frames, labels) = (Array::from([[0.0f32, 0.0, 0.0, 1.0]]), Array::from(labels));
        let pads = Array::from([[0.0f32, 1.0]]);
        ctc_loss(logits, &frames, &labels, &pads, &CtcOptions::default())
    };
    let with = |masked: f32, padded: f32| {
        let row = [0.5f32, 1.0, masked];
        Array::from([[row, [0.1, 0.3, masked], row, [padded; 3]]])
    };
    let expected = of(&with(none, 0.0), [[1, 0]]).item::<f32>();
    assert!(expected.is_finite(), "{expected}");
    for padded in [f32::NAN, f32::INFINITY, 7.0] {
        let logits = with(none, padded);
        assert_eq!(of(&logits, [[1, 0]]).item::<f32>(), expected, "{padded}");
        // A padded label is never read.
        assert_eq!(of(&logits, [[1, -1]]).item::<f32>(), expected, "{padded}");
        let slope = grad(|x: Array| of(&x, [[1, 0]]).sum())(logits).to_vec::<f32>();
        assert!(slope.iter().all(|s| s.is_finite()), "{slope:?}");
        assert_eq!(slope[9..], [0.0; 3]);
    }
    for unknown in [-1, 3] {
        let message = panic_message(|| of(&with(0.0, 0.0), [[unknown, 0]]));
        assert!(message.contains("out of range for 3 classes"), "{message}");
    }
    let logs = Array::from([0.0f32, none, none]);
    assert_eq!(
        kl_divergence_with_log_targets(&logs, &logs).item::<f32>(),
        0.0
    );
    let slope = grad(|x: Array| kl_divergence_with_log_targets(&x, &logs))(logs.clone());
    assert_eq!(slope.to_vec::<f32>(), [-1.0, 0.0, 0.0]);
    let (logits, labels) = (
        Array::from([1.0f32, 2.0, none]),
        Array::from([0.0f32, 1.0, 0.0]),
    );
    let loss = |x: Array| safe_softmax_cross_entropy(&x, &labels);
    let (_, tangent) = jvp(loss, logits.clone(), Array::from([1.0f32, 0.0, 1.0]));
    let first = 1.0 / (1.0 + 1f32.exp());
    assert!((tangent.item::<f32>() - first).abs() < 1e-6, "{tangent}");
    let expected = (1.0 + (-1f32).exp()).ln();
    let got = ranking_softmax_loss(&logits, &labels, None, None).item::<f32>();
    assert!((got - expected).abs() < 1e-6, "{got}, expected {expected}");
    let scores = Array::from([[2.0f32, 1.0, none]]);
    assert_eq!(
        multiclass_hinge_loss(&scores, &Array::from([0])).to_vec::<f32>(),
        [0.0]
    );
}

/// Targets `[8]` of predictions `[8, 1]` were compared with every prediction.
#[test]
fn targets_of_another_shape_are_refused() {
    let (column, row) = (
        Array::ones(&[8, 1], DType::F32),
        Array::ones(&[8], DType::F32),
    );
    for message in [
        panic_message(|| huber_loss(&column, &row, 1.0)),
        panic_message(|| log_cosh(&column, &row)),
        panic_message(|| hinge_loss(&column, &row)),
    ] {
        assert!(
            message.contains("do not broadcast to the shape of"),
            "{message}"
        );
    }
    let labels = Array::zeros(&[8, 1], DType::I32);
    let message =
        panic_message(|| multiclass_hinge_loss(&Array::ones(&[8, 3], DType::F32), &labels));
    assert!(message.contains("shapes do not match"), "{message}");
}

#[test]
fn a_label_that_is_no_class_has_no_loss() {
    let scores = Array::from([[2.0f32, 1.0], [2.0, 1.0], [2.0, 1.0]]);
    let labels = ramie_core::jit(|l: Array| l)(Array::from([1i32, 2, -1]));
    for loss in [multiclass_hinge_loss, multiclass_sparsemax_loss] {
        let run = ramie_core::jit(move |s: Array, l: Array| loss(&s, &l));
        let loss = run(scores.clone(), labels.clone()).to_vec::<f32>();
        assert!(
            loss[0] > 0.0 && loss[1].is_nan() && loss[2].is_nan(),
            "{loss:?}"
        );
    }
}

/// The square of the number of pixels of a class wrapped around in `i32`.
#[test]
fn large_images_have_a_weight() {
    let shape = [4, 256, 256, 1];
    let of = |dtype: DType| {
        let one = Array::ones(&shape, dtype);
        let targets = ramie_core::concatenate(&[&one, &one.zeros_like()], -1);
        let logits = random::normal(&random::key(0), targets.shape(), DType::F32);
        multiclass_generalized_dice_loss(&logits, &targets, &DiceOptions::default()).item::<f32>()
    };
    assert_eq!(of(DType::I32), of(DType::F32));
}

#[test]
fn an_infinite_delta_is_half_the_square() {
    let (x, y) = (Array::from([3.0f32]), Array::from([1.0f32]));
    assert_eq!(huber_loss(&x, &y, f64::INFINITY).to_vec::<f32>(), [2.0]);
    let message = panic_message(|| huber_loss(&x, &y, f64::NAN));
    assert!(message.contains("delta is NaN"), "{message}");
}

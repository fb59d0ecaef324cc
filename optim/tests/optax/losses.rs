//! Losses and their gradients against Optax; `tests/golden/losses.py` made the
//! numbers.

use ramie_core::options::Reduction;
use ramie_core::{Array, DType, grad, jit, where_};
use ramie_optim::losses::*;
use ramie_testing::panic_message;
use serde_json::Value;

fn rows() -> Vec<Value> {
    let mut all: Value = ramie_testing::golden::json("losses.json");
    match all["rows"].take() {
        Value::Array(rows) => rows,
        other => panic!("rows are a list, not {other}"),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Null => f64::NAN,
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::String(s) => s.parse().expect("an infinity"),
        other => other.as_f64().expect("a number"),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value["elements"]
        .as_array()
        .expect("a list")
        .iter()
        .map(number)
        .collect()
}

fn array(value: &Value) -> Array {
    let shape: Vec<usize> = value["shape"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|n| n.as_u64().expect("a size") as usize)
        .collect();
    let numbers = numbers(value);
    match value["type"].as_str().expect("a type") {
        "float32" => Array::from_vec(numbers.iter().map(|&x| x as f32).collect(), &shape),
        "int32" => Array::from_vec(numbers.iter().map(|&x| x as i32).collect(), &shape),
        "bool" => Array::from_vec(numbers.iter().map(|&x| x != 0.0).collect(), &shape),
        other => panic!("no type {other} is recorded"),
    }
}

fn close(got: &Array, expected: &Value) -> Result<(), String> {
    let shape: Vec<u64> = got.shape().iter().map(|&n| n as u64).collect();
    if expected["shape"] != serde_json::json!(shape) {
        return Err(format!("shape {shape:?}, expected {}", expected["shape"]));
    }
    let (got, expected) = (got.to_vec::<f32>(), numbers(expected));
    for (&g, &e) in got.iter().zip(&expected) {
        let g = f64::from(g);
        let same = g == e || (g.is_nan() && e.is_nan());
        let near = (g - e).abs() <= 3e-6 * (1.0 + e.abs());
        if !same && !near {
            return Err(format!("{got:?}, expected {expected:?}"));
        }
    }
    Ok(())
}

/// The loss of a recorded case.
fn loss(case: &str, x: &Array, with: &dyn Fn(&str) -> Array) -> Array {
    let over = |name: &str| Reduction::over(-1).mask(&with(name));
    let dice = DiceOptions::default();
    match case {
        "softmax_cross_entropy" => softmax_cross_entropy(x, &with("p")),
        "softmax_cross_entropy_mask" => softmax_cross_entropy_over(x, &with("p"), over("m")),
        "softmax_cross_entropy_first" => softmax_cross_entropy_over(x, &with("p"), 0),
        "safe_softmax_cross_entropy" => safe_softmax_cross_entropy(x, &with("b")),
        "integer_labels" => softmax_cross_entropy_with_integer_labels(x, &with("k")),
        "integer_labels_mask" => {
            softmax_cross_entropy_with_integer_labels_over(x, &with("k"), over("m"))
        }
        "sigmoid_binary_cross_entropy" => sigmoid_binary_cross_entropy(x, &with("b")),
        "sigmoid_focal_loss" => sigmoid_focal_loss(x, &with("b"), None, 2.0),
        "sigmoid_focal_loss_alpha" => sigmoid_focal_loss(x, &with("p"), Some(0.3), 1.5),
        "poly_loss_cross_entropy" => poly_loss_cross_entropy(x, &with("p"), 2.0),
        "poly_loss_cross_entropy_mask" => {
            poly_loss_cross_entropy_over(x, &with("p"), 0.5, over("m"))
        }
        "smooth_labels" => smooth_labels(x, 0.1),
        "smooth_labels_mask" => smooth_labels_over(x, 0.2, over("m")),
        "kl_divergence" | "kl_divergence_zero" => kl_divergence(x, &with("b")),
        "kl_divergence_mask" => kl_divergence_over(x, &with("b"), over("m")),
        "kl_divergence_with_log_targets" => kl_divergence_with_log_targets(x, &with("y")),
        "generalized_kl_divergence" => generalized_kl_divergence(x, &with("p")),
        "squared_error" => squared_error(x, &with("y")),
        "l2_loss" => l2_loss(x, &with("y")),
        "huber_loss" => huber_loss(x, &with("y"), 1.0),
        "huber_loss_delta" => huber_loss(x, &with("y"), 0.3),
        "log_cosh" => log_cosh(x, &with("y")),
        "squared_error_alone" => squared_error(x, None),
        "l2_loss_alone" => l2_loss(x, None),
        "huber_loss_alone" => huber_loss(x, None, 0.3),
        "log_cosh_alone" => log_cosh(x, None),
        "cosine_similarity" => cosine_similarity(x, &with("y"), 0.0),
        "cosine_similarity_mask" => cosine_similarity_over(x, &with("y"), 0.5, over("m")),
        "cosine_distance" => cosine_distance(x, &with("y"), 1e-3),
        "hinge_loss" => hinge_loss(x, &with("t")),
        "perceptron_loss" => perceptron_loss(x, &with("t")),
        "multiclass_hinge_loss" => multiclass_hinge_loss(x, &with("k")),
        "multiclass_perceptron_loss" => multiclass_perceptron_loss(x, &with("k")),
        "sparsemax_loss" => sparsemax_loss(x, &with("b")),
        "ranking_softmax_loss" => ranking_softmax_loss(x, &with("p"), None, None),
        "ranking_softmax_loss_mask" => {
            ranking_softmax_loss(x, &with("p"), Some(&with("m")), Some(&with("y")))
        }
        "triplet_margin_loss" => {
            triplet_margin_loss(x, &with("y"), &with("p"), &TripletOptions::default())
        }
        "triplet_margin_loss_cubic" => {
            let options = TripletOptions {
                norm_degree: 4,
                margin: 0.2,
                ..TripletOptions::default()
            };
            triplet_margin_loss(x, &with("y"), &with("p"), &options)
        }
        "fenchel_young" => {
            make_fenchel_young_loss(|s: &Array| s.logsumexp(Reduction::over(-1)))(x, &with("p"))
        }
        "ntxent" => ntxent(x, &with("k"), 0.07),
        "ntxent_warm" => ntxent(x, &with("k"), 0.5),
        "dice_loss" => dice_loss(x, &with("t"), &dice),
        "dice_loss_weights" => {
            let options = DiceOptions {
                class_weights: Some(with("w")),
                ..dice
            };
            dice_loss(x, &with("t"), &options)
        }
        "tversky_loss" => {
            let options = DiceOptions {
                alpha: 0.3,
                beta: 0.7,
                smooth: 0.1,
                ignore_background: true,
                ..dice
            };
            dice_loss(x, &with("t"), &options)
        }
        "multiclass_generalized_dice_loss" => {
            multiclass_generalized_dice_loss(x, &with("t"), &dice)
        }
        "binary_dice_loss" => binary_dice_loss(x, &with("t"), &dice),
        "ctc_loss_0" | "ctc_loss_2" => {
            let options = CtcOptions {
                blank_id: if case.ends_with('2') { 2 } else { 0 },
                ..CtcOptions::default()
            };
            ctc_loss(x, &with("xp"), &with("y"), &with("yp"), &options)
        }
        other => panic!("no loss is known for the case {other}"),
    }
}

#[test]
fn values_and_gradients() {
    let mut wrong = Vec::new();
    for (i, row) in rows().iter().enumerate() {
        let case = row["case"].as_str().expect("a name");
        let with = |name: &str| array(&row["inputs"][name]);
        let x = with("x");
        let both = jit(|x: Array| {
            let gradient = grad(|x: Array| loss(case, &x, &with).sum())(x.clone());
            (loss(case, &x, &with), gradient)
        });
        let (value, gradient) = both(x.clone());
        if let Err(e) = close(&value, &row["value"]) {
            wrong.push(format!(
                "{case} (row {i}, x {}): the value is {e}",
                x.aval()
            ));
        }
        if let Err(e) = close(&gradient, &row["gradient"]) {
            wrong.push(format!(
                "{case} (row {i}, x {}): the gradient is {e}",
                x.aval()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn several_axes_of_classes_are_one() {
    let logits = Array::arange(24)
        .reshape(&[2, 3, 4])
        .astype(DType::F32)
        .sin();
    let labels = Array::from([3i32, 7]);
    let over = softmax_cross_entropy_with_integer_labels_over(&logits, &labels, [1, 2]);
    let flat = softmax_cross_entropy_with_integer_labels(&logits.reshape(&[2, 12]), &labels);
    assert_eq!(over.to_vec::<f32>(), flat.to_vec::<f32>());
}

#[test]
fn an_impossible_alignment_has_no_probability() {
    // Two equal labels need a frame between them.
    let logits = Array::zeros(&[1, 2, 3], DType::F32);
    let none = |n: usize| Array::zeros(&[1, n], DType::F32);
    let labels = Array::from([[1i32, 1]]);
    let loss = ctc_loss(&logits, &none(2), &labels, &none(2), &CtcOptions::default());
    assert!(loss.item::<f32>() > 1e4);
}

/// Losses of four examples with two classes, of labels.
fn by_label(name: &str, labels: &Array) -> Array {
    let logits = Array::from([[1.0f32, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]);
    match name {
        "multiclass_hinge_loss" => multiclass_hinge_loss(&logits, labels),
        "multiclass_perceptron_loss" => multiclass_perceptron_loss(&logits, labels),
        "multiclass_sparsemax_loss" => multiclass_sparsemax_loss(&logits, labels),
        "ctc_loss" => {
            let (none, labels) = (Array::zeros(&[4, 1], DType::F32), labels.expand_dims(&[1]));
            let logits = logits.expand_dims(&[1]);
            ctc_loss(&logits, &none, &labels, &none, &CtcOptions::default())
        }
        _ => softmax_cross_entropy_with_integer_labels(&logits, labels),
    }
}

/// Optax wraps -1 around to the last class, which then is trained with padding.
#[test]
fn labels_outside_the_classes_are_refused() {
    for name in [
        "softmax_cross_entropy_with_integer_labels",
        "multiclass_hinge_loss",
        "multiclass_perceptron_loss",
        "multiclass_sparsemax_loss",
        "ctc_loss",
    ] {
        let labels = Array::from([1i32, -1, 2, -100]);
        let text = panic_message(|| by_label(name, &labels));
        let expected =
            format!("{name}: 3 of the 4 labels are out of range for 2 classes: -100, -1, 2\n");
        assert!(text.starts_with(&expected), "{text}");
        assert!(
            text.contains("\n  help: number the classes from 0 to 1; "),
            "{text}"
        );
        // In a program, the loss of these examples is NaN, and only theirs.
        let loss = jit(move |labels: Array| by_label(name, &labels))(labels);
        let nan: Vec<bool> = loss.to_vec::<f32>().iter().map(|x| x.is_nan()).collect();
        assert_eq!(nan, [false, true, true, true], "{name}");
        let known = Array::from([1i32, 0, 1, 0]);
        let eager = by_label(name, &known).to_vec::<f32>();
        assert_eq!(
            jit(move |labels: Array| by_label(name, &labels))(known).to_vec::<f32>(),
            eager
        );
    }
}

/// What the documentation says about padding: no value and no derivative of it is NaN.
#[test]
fn padding_is_ignored_by_its_label() {
    let mean = |logits: Array, labels: Array| {
        let counts = labels.ge(0);
        let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels.maximum(0));
        where_(&counts, loss, 0.0).sum() / counts.sum()
    };
    let logits = Array::from([[1.0f32, 2.0], [3.0, -1.0]]);
    let one = mean(logits.slice_in_dim(0, 1, 1, 0), Array::from([1i32]));
    let labels = Array::from([1i32, -1]);
    assert_eq!(
        mean(logits.clone(), labels.clone()).item::<f32>(),
        one.item::<f32>()
    );
    let gradient = jit(grad(move |logits: Array| mean(logits, labels.clone())))(logits);
    let gradient = gradient.to_vec::<f32>();
    assert!(
        gradient[0] != 0.0 && gradient[2..] == [0.0, 0.0],
        "{gradient:?}"
    );
    // Padded labels of CTC may have any value.
    let logits = Array::zeros(&[1, 3, 4], DType::F32);
    let (frames, pads) = (
        Array::zeros(&[1, 3], DType::F32),
        Array::from([[0.0f32, 1.0]]),
    );
    let loss = |label: i32| {
        let labels = Array::from([[1, label]]);
        ctc_loss(&logits, &frames, &labels, &pads, &CtcOptions::default()).item::<f32>()
    };
    assert_eq!(loss(-1), loss(2));
}

#[test]
fn narrow_labels_of_many_classes() {
    let check = |classes: usize, labels: Array| {
        let logits = Array::zeros(&[2, classes], DType::F32);
        let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels);
        for loss in loss.to_vec::<f32>() {
            assert!((loss - (classes as f32).ln()).abs() < 1e-5, "{loss}");
        }
    };
    check(256, Array::from([1u8, 255]));
    check(1000, Array::from([1u8, 7]));
    check(200, Array::from([127i8, 0]));
}

#[test]
#[should_panic(
    expected = "pass labels with the shape of the logits without the axis of classes, [2]"
)]
fn labels_of_another_shape_are_refused() {
    let logits = Array::from([[1.0f32, 2.0], [1.0, 2.0]]);
    softmax_cross_entropy_with_integer_labels(&logits, &Array::from([1i32, 0, 1]));
}

/// Optax has no quantile loss.
#[test]
fn quantile_losses_weigh_errors_by_their_sign() {
    let targets = Array::from([1.0f32, 2.0, 3.0, 10.0]).reshape(&[4, 1]);
    let predictions = Array::full(&[4, 2], 2.5, DType::F32);
    let loss = quantile_loss(&predictions, &targets, Array::from([0.25f32, 0.5]));
    let expected = [1.125, 0.75, 0.375, 0.25, 0.125, 0.25, 1.875, 3.75];
    assert_eq!(loss.to_vec::<f32>(), expected);
    // Gradient descent finds the quantile.
    let targets = Array::arange(101).astype(DType::F32);
    let slope = grad(|q: Array| {
        let predictions = q.broadcast_to(&[101]);
        quantile_loss(&predictions, &targets, 0.9).mean()
    });
    let mut quantile = Array::from(50.0f32);
    for _ in 0..200 {
        quantile = &quantile - slope(quantile.clone()) * 2.0;
    }
    let found = quantile.item::<f32>();
    assert!((found - 90.0).abs() < 1.5, "{found}");
}

#[test]
#[should_panic(expected = "quantile_loss: the targets do not broadcast")]
fn quantile_losses_refuse_targets_of_other_shapes() {
    let predictions = Array::zeros(&[8, 3], DType::F32);
    quantile_loss(&predictions, &Array::zeros(&[8], DType::F32), 0.5);
}

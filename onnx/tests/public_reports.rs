//! Public reports about other readers of ONNX: attributes that are ignored, numbers that are NaN.

#[allow(dead_code)]
mod common;

use common::message::{self, Message, int, model};
use ramie_core::{Array, DType, State};
use ramie_onnx::{Error, Model};

/// A model of one node with inputs of 32-bit floats. An input without a name is omitted.
fn single(
    operator: &str,
    attributes: &[Message],
    inputs: &[(&str, &[i64])],
) -> Result<Model, Error> {
    let inputs: Vec<_> = inputs
        .iter()
        .map(|(name, sizes)| (*name, 1, *sizes))
        .collect();
    Model::from_bytes(model(14, message::single(operator, attributes, &inputs)))
}

fn run(model: &Model, inputs: &[Array]) -> Array {
    model.apply(&State::new(), inputs).remove(0)
}

/// sonos/tract#2751: the attribute that is given is named, and only this one.
#[test]
fn refusals_name_the_attribute_and_the_node() {
    let inputs: [(&str, &[i64]); 3] = [("x", &[5, 1, 3]), ("w", &[1, 16, 3]), ("r", &[1, 16, 4])];
    let clip = Message::default().bytes(1, "clip").number(20, 1);
    for (name, attribute) in [("clip", clip), ("input_forget", int("input_forget", 1))] {
        let attributes = [int("hidden_size", 4), attribute];
        let message = single("LSTM", &attributes, &inputs)
            .expect_err("a refusal")
            .to_string();
        let expected = format!(
            "\n  LSTM: the attribute `{name}` is not supported (node with the output `y`)\n"
        );
        assert!(message.contains(&expected), "{message}");
    }
    let message = single("LpNormalization", &[int("p", 3)], &[("x", &[2, 3])])
        .expect_err("a refusal")
        .to_string();
    assert!(
        message.contains("`p` is 3, supported are 1 and 2"),
        "{message}"
    );
}

/// onnx/onnx#3947, microsoft/onnxruntime#21935: the difference of two mean squares was below 0.
#[test]
fn mean_variance_normalization_of_a_large_mean() {
    let of = |row: &[f32]| {
        let n = row.len();
        let model = single(
            "MeanVarianceNormalization",
            &[],
            &[("x", &[1, 1, 1, n as i64])],
        );
        let x = Array::from(row).reshape(&[1, 1, 1, n]);
        run(&model.expect("a model"), &[x]).to_vec::<f32>()
    };
    for constant in [0.0f32, 0.1, 7.3, 123.456, 9999.9] {
        for n in [3, 7, 100] {
            let y = of(&vec![constant; n]);
            assert!(
                y.iter().all(|y| y.is_finite()),
                "{n} times {constant}: {y:?}"
            );
        }
    }
    let root = 5f32.sqrt();
    for mean in [0.0f32, 1000.0, 4096.0] {
        let y = of(&[-1.0f32, 1.0, 3.0, -3.0].map(|d| mean + d / 8.0));
        let expected = [-1.0 / root, 1.0 / root, 3.0 / root, -3.0 / root];
        let near = y.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(near, "mean {mean}: {y:?}, expected {expected:?}");
    }
}

/// onnx/onnx#4919: ONNX Runtime multiplies sizes and scales as 32-bit floats.
#[test]
fn sizes_of_scales_that_are_no_binary_fractions() {
    for (size, scale, expected) in [
        (10usize, 2.0f32, 20usize),
        (13, 7.0 / 13.0, 7),
        (640, 0.35, 224),
        (10, 0.7, 7),
        (224, 706.0 / 224.0, 706),
    ] {
        let inputs: [(&str, &[i64]); 3] =
            [("x", &[1, 1, 1, size as i64]), ("", &[]), ("scales", &[4])];
        let model = single("Resize", &[], &inputs).expect("a model");
        let x = Array::iota(&[1, 1, 1, size], 3, DType::F32);
        let y = run(&model, &[x, Array::from([1.0f32, 1.0, 1.0, scale])]);
        assert_eq!(y.shape(), [1, 1, 1, expected], "{size} times {scale}");
    }
}

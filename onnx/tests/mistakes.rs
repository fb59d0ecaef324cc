//! Wrong attributes and inputs of nodes are errors: no default replaces them.

#[allow(dead_code)]
mod common;

use common::message::{self, Message, int, ints, of_arrays};
use ramie_core::{Array, DType, State};
use ramie_onnx::Model;
use ramie_testing::panic_message;

/// Version of the operators in most tests.
const OPSET: i64 = 20;

/// The error of a model, or of its call if it is opened.
#[track_caller]
fn failure(model: Vec<u8>, inputs: &[Array]) -> String {
    match Model::from_bytes(model) {
        Ok(model) => panic_message(|| model.apply(&State::new(), inputs)),
        Err(error) => error.to_string(),
    }
}

/// Checks the error of a node, which must contain the operator and `part`.
#[track_caller]
fn fails(operator: &str, attributes: &[Message], inputs: &[Array], part: &str) {
    let message = failure(of_arrays(OPSET, operator, attributes, inputs), inputs);
    assert!(message.contains(part), "{message}");
    assert!(message.contains(operator), "{message}");
}

fn text(name: &str, text: impl AsRef<[u8]>) -> Message {
    let attribute = Message::default().bytes(1, name).bytes(4, text);
    attribute.number(20, 3)
}

#[test]
fn attributes_of_another_type() {
    let images = [1, 2].map(|n| Array::ones(&[1, 1, n, n], DType::F32));
    let numbers = || {
        Message::default()
            .bytes(1, "strides")
            .number(8, 2)
            .number(8, 2)
    };
    let expected = "expected a list of integers";
    let untyped = format!("`strides` has no type or an unknown one, {expected}");
    fails("Conv", &[numbers()], &images, &untyped);
    let floats = format!("`strides` is a list of floats, {expected}");
    fails("Conv", &[numbers().number(20, 6)], &images, &floats);

    let x = [Array::zeros(&[2], DType::F32)];
    let wrong = [
        (
            "Elu",
            int("alpha", 2),
            "`alpha` is an integer, expected a float",
        ),
        (
            "Flatten",
            text("axis", "0"),
            "`axis` is a string, expected an integer",
        ),
        (
            "Gelu",
            int("approximate", 1),
            "`approximate` is an integer, expected a string in UTF-8",
        ),
        (
            "Gelu",
            text("approximate", [0xff]),
            "`approximate` is a string, expected a string in UTF-8",
        ),
    ];
    for (operator, attribute, part) in wrong {
        fails(operator, &[attribute], &x, part);
    }
    let states = [[1, 1, 1], [1, 4, 1], [1, 4, 1]].map(|shape| Array::zeros(&shape, DType::F32));
    let part = "`activations` is a string, expected a list of strings in UTF-8";
    fails("LSTM", &[text("activations", "Tanh")], &states, part);
    let value = [int("value", 3)];
    let part = "`value` is an integer, expected a tensor";
    fails("ConstantOfShape", &value, &[Array::from([2i64])], part);
    let upsampled = message::single("Upsample", &[ints("scales", &[2])], &[("x0", 1, &[2])]);
    let message = failure(message::model(7, upsampled), &x);
    let part = "`scales` is a list of integers, expected a list of floats";
    assert!(message.contains(part), "{message}");
}

#[test]
fn unlisted_strings() {
    let image = [Array::zeros(&[1, 4, 1, 1], DType::F32)];
    let numbers = [Array::from([1u64]), Array::from([1u64])];
    let losses = [
        Array::zeros(&[1, 2], DType::F32),
        Array::zeros(&[1], DType::I64),
    ];
    let states = [[1, 1, 1], [1, 4, 1], [1, 4, 1]].map(|shape| Array::zeros(&shape, DType::F32));
    let wrong: [(&str, &str, &[Array], &str); 10] = [
        (
            "Resize",
            "nearest_mode",
            &image,
            "round_prefer_floor, round_prefer_ceil, floor, ceil",
        ),
        (
            "Resize",
            "keep_aspect_ratio_policy",
            &image,
            "stretch, not_larger, not_smaller",
        ),
        ("DepthToSpace", "mode", &image, "DCR, CRD"),
        ("BitShift", "direction", &numbers, "LEFT, RIGHT"),
        (
            "NegativeLogLikelihoodLoss",
            "reduction",
            &losses,
            "none, sum, mean",
        ),
        (
            "SoftmaxCrossEntropyLoss",
            "reduction",
            &losses,
            "none, sum, mean",
        ),
        (
            "LSTM",
            "direction",
            &states,
            "forward, reverse, bidirectional",
        ),
        (
            "GRU",
            "direction",
            &states,
            "forward, reverse, bidirectional",
        ),
        (
            "RNN",
            "direction",
            &states,
            "forward, reverse, bidirectional",
        ),
        ("Gelu", "approximate", &image, "none, tanh"),
    ];
    for (operator, name, inputs, supported) in wrong {
        let part = format!("`{name}` is \"XYZ\", supported are {supported}");
        fails(operator, &[text(name, "XYZ")], inputs, &part);
    }
    // The specification has no default of the direction.
    fails(
        "BitShift",
        &[],
        &numbers,
        "`direction` is \"\", supported are LEFT, RIGHT",
    );
}

#[test]
fn scales_and_regions_of_resize() {
    let x = Array::ones(&[2, 2], DType::F32);
    let resize = |attributes: &[Message], roi: &[f32], scales: &[f32], part: &str| {
        let inputs = [x.clone(), Array::from(roi), Array::from(scales)];
        fails("Resize", attributes, &inputs, part);
    };
    let crop = [text("coordinate_transformation_mode", "tf_crop_and_resize")];
    let part = "`roi` has 2 numbers for 2 axes, expected 4";
    resize(&crop, &[0.0, 1.0], &[1.0, 2.0], part);
    let inputs: [(&str, i64, &[i64]); 3] = [("x0", 1, &[2, 2]), ("", 1, &[]), ("x2", 1, &[2])];
    let without = message::model(OPSET, message::single("Resize", &crop, &inputs));
    let message = failure(without, &[x.clone(), Array::from([1.0f32, 2.0])]);
    assert!(message.contains("input 1 is missing"), "{message}");

    resize(
        &[],
        &[],
        &[2.0],
        "`scales` has 1 numbers for 2 axes, expected 2",
    );
    for wrong in [0.0, -2.0, f32::NAN, f32::INFINITY] {
        let part = format!("`scales` is [1.0, {wrong:?}], expected finite numbers above 0");
        resize(&[], &[], &[1.0, wrong], &part);
    }
    let sizes: [(&str, i64, &[i64]); 4] = [
        ("x0", 1, &[2, 2]),
        ("", 1, &[]),
        ("", 1, &[]),
        ("x3", 7, &[1]),
    ];
    let short = [text("keep_aspect_ratio_policy", "not_larger")];
    let short = message::model(OPSET, message::single("Resize", &short, &sizes));
    let message = failure(short, &[x.clone(), Array::from([4i64])]);
    let part = "`sizes` has 1 numbers for 2 axes, expected 2";
    assert!(message.contains(part), "{message}");
}

#[test]
fn numbers_below_the_least() {
    let image = || Array::ones(&[1, 1, 1, 1], DType::F32);
    let (pair, feature) = ([Array::from([0i64, 1])], Array::from([1.0f32]));
    let wrong: [(&str, &str, i64, &[Array]); 7] = [
        ("Conv", "group", 0, &[image(), image()]),
        ("ConvTranspose", "group", -1, &[image(), image()]),
        (
            "GroupNormalization",
            "num_groups",
            0,
            &[image(), feature.clone(), feature],
        ),
        ("LRN", "size", 0, &[image()]),
        ("DepthToSpace", "blocksize", 0, &[image()]),
        ("SpaceToDepth", "blocksize", -2, &[image()]),
        ("Split", "num_outputs", 0, &pair),
    ];
    for (operator, name, number, inputs) in wrong {
        let part = format!("`{name}` is {number}, expected at least 1");
        fails(operator, &[int(name, number)], inputs, &part);
        if !matches!(name, "group" | "num_outputs") {
            let part = format!("the attribute `{name}` is missing");
            fails(operator, &[], inputs, &part);
        }
    }
    let k = [Array::from([1.0f32, 2.0]), Array::from([-1i64])];
    fails("TopK", &[], &k, "`k` is -1, expected at least 0");
    let depth = [pair[0].clone(), Array::from([-1i64]), pair[0].clone()];
    fails("OneHot", &[], &depth, "`depth` is -1, expected at least 0");
}

#[test]
fn axes_that_are_missing_or_repeated() {
    let x = || Array::ones(&[1, 2], DType::F32);
    fails("Unsqueeze", &[], &[x()], "the axes are missing");
    let part = "the axes [0, -4] contain axis 0 twice";
    fails("Unsqueeze", &[], &[x(), Array::from([0i64, -4])], part);
    let part = "the axes [1, -1] contain axis 1 twice";
    fails("ReduceSum", &[], &[x(), Array::from([1i64, -1])], part);
}

#[test]
fn lists_of_different_lengths() {
    let rows = || Array::ones(&[3, 3], DType::F32);
    let list = |numbers: &[i64]| Array::from(numbers);
    let slice = |others: &[&[i64]], part: &str| {
        for x in [rows(), Array::from([[1i64, 2], [3, 4]])] {
            let others = others.iter().map(|numbers| list(numbers));
            let inputs: Vec<Array> = std::iter::once(x).chain(others).collect();
            fails("Slice", &[], &inputs, part);
        }
    };
    slice(&[&[0, 0], &[1]], "got 2 starts, 1 ends, 2 axes and 2 steps");
    slice(
        &[&[0], &[1], &[0, 1]],
        "got 1 starts, 1 ends, 2 axes and 1 steps",
    );
    slice(
        &[&[0], &[1], &[0], &[1, 1]],
        "got 1 starts, 1 ends, 1 axes and 2 steps",
    );
    slice(
        &[&[0, 1], &[1, 2], &[1, -1]],
        "the axes [1, -1] contain axis 1 twice",
    );
    slice(&[&[0]], "`ends` is missing");

    let part = "`shape` has 1 numbers for 2 axes, expected 2";
    fails("CenterCropPad", &[], &[rows(), list(&[2])], part);
    let part = "the sizes [2, -1] are negative";
    fails("CenterCropPad", &[], &[rows(), list(&[2, -1])], part);

    let part = "the sizes [1, 1] add up to 2, but axis 0 has 3 elements";
    for x in [rows(), list(&[1, 2, 3])] {
        fails("Split", &[], &[x, list(&[1, 1])], part);
    }
}

#[test]
fn types_of_results() {
    let x = || Array::ones(&[2, 2], DType::F32);
    let wrong: [(&str, &str, &[Array]); 3] = [
        ("EyeLike", "dtype", &[x()]),
        (
            "QuantizeLinear",
            "output_dtype",
            &[x(), Array::from(1.0f32)],
        ),
        (
            "DequantizeLinear",
            "output_dtype",
            &[Array::from([1i64]), Array::from(1.0f32)],
        ),
    ];
    for (operator, name, inputs) in wrong {
        for (number, shown) in [(8, "string"), (99, "type 99"), (-1, "type -1")] {
            let part = format!("`{name}` is {shown}, which is not supported");
            fails(operator, &[int(name, number)], inputs, &part);
        }
        let model = of_arrays(OPSET, operator, &[int(name, 3)], inputs);
        let model = Model::from_bytes(model).expect("a model");
        let y = model.apply(&State::new(), inputs).remove(0);
        assert_eq!(y.dtype(), DType::I8, "{operator}");
    }
}

#[test]
fn batch_normalization_of_each_element() {
    let feature = Array::ones(&[1], DType::F32);
    let inputs = [&[Array::ones(&[1, 1], DType::F32)], &vec![feature; 4][..]].concat();
    let model = |opset: i64, spatial: i64| {
        of_arrays(
            opset,
            "BatchNormalization",
            &[int("spatial", spatial)],
            &inputs,
        )
    };
    for opset in [7, 8] {
        let message = failure(model(opset, 0), &inputs);
        assert!(
            message.contains("`spatial` is 0, supported is 1"),
            "{message}"
        );
        Model::from_bytes(model(opset, 1)).expect("a model");
    }
}

#[test]
fn axes_and_ranges_out_of_bounds() {
    let x = [Array::ones(&[2, 3], DType::F32)];
    for axis in [3, -3] {
        let part = format!("axis {axis} is out of range for 2 axes");
        fails("Flatten", &[int("axis", axis)], &x, &part);
    }
    let floats = |numbers: [f32; 3]| numbers.map(Array::from);
    for [start, limit, delta] in [[5.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, f32::NAN, 1.0]] {
        let part = format!("a step of {delta} never reaches {limit} from {start}");
        fails("Range", &[], &floats([start, limit, delta]), &part);
    }
    for [start, limit] in [[5i64, 1], [1, 5]] {
        let part = format!("a step of 0 never reaches {limit} from {start}");
        fails("Range", &[], &[start, limit, 0].map(Array::from), &part);
    }
    let mixed = [Array::from(0i64), Array::from(1.0f32), Array::from(1i64)];
    fails(
        "Range",
        &[],
        &mixed,
        "start, limit and step are i64, f32 and i64, expected one dtype",
    );
}

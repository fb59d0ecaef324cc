//! Models as functions, and the errors of files and calls.

#[allow(dead_code)]
mod common;

use common::message::{self, Message, external, int, ints, model, node, tensor, value};
use ramie_core::{Array, DType, State, jit, value_and_grad, vmap};
use ramie_onnx::{Error, Model, OnnxFile, tensor_from_bytes};
use ramie_testing::panics::assert_explained;
use ramie_testing::{golden, panic_message};
use std::fs;

const FLOAT: i64 = 1;
const INT64: i64 = 7;

fn dense() -> Model {
    Model::from_bytes(golden::bytes("onnx/dense.onnx")).expect("a model")
}

/// A graph with one float input `x` of 3 elements and the output `y`.
fn graph(nodes: &[Message]) -> Message {
    let graph = Message::default()
        .message(11, value("x", FLOAT, &[3]))
        .message(12, value("y", FLOAT, &[]));
    nodes
        .iter()
        .fold(graph, |graph, node| graph.message(1, node.clone()))
}

/// A model of one node, whose inputs have the types of arrays.
#[track_caller]
fn single(operator: &str, attributes: &[Message], inputs: &[Array]) -> Model {
    Model::from_bytes(message::of_arrays(20, operator, attributes, inputs)).expect("a model")
}

/// The output of one node for integers that are known, and for the same integers traced.
#[track_caller]
fn known_and_traced(operator: &str, attributes: &[Message], inputs: &[Array]) -> [Array; 2] {
    let model = single(operator, attributes, inputs);
    let known = model.apply(&State::new(), inputs).remove(0);
    let traced = jit(move |inputs: Vec<Array>| model.apply(&State::new(), &inputs).remove(0));
    [known, traced(inputs.to_vec())]
}

/// The message of a model that is rejected.
#[track_caller]
fn rejected(bytes: &[u8]) -> String {
    let message = Model::from_bytes(bytes)
        .expect_err("it is rejected")
        .to_string();
    assert!(message.contains("\n  help: "), "{message}");
    message
}

#[test]
fn a_model_is_a_function() {
    let model = dense();
    let weights = model.weights().expect("weights");
    assert_eq!(weights.paths().collect::<Vec<_>>(), ["w", "b"]);
    assert_eq!(model.abstract_weights()["w"].shape(), [3, 2]);
    let x = Array::from([[1.0f32, 2.0, 3.0], [-9.0, 0.0, 1.0]]);
    let apply = {
        let model = model.clone();
        move |weights: State, x: Array| model.apply(&weights, &[x]).remove(0)
    };
    let expected = [4.5, 5.5, 0.0, 1.5];
    assert_eq!(apply(weights.clone(), x.clone()).to_vec::<f32>(), expected);
    assert_eq!(
        jit(apply.clone())(weights.clone(), x.clone()).to_vec::<f32>(),
        expected
    );

    let named = model.apply_named(&weights, &State::from_iter([("x", x.clone())]));
    assert_eq!(named["y"].to_vec::<f32>(), expected);

    // One example at a time.
    let weights_of_all = weights.clone();
    let row = move |x: Array| {
        model
            .apply(&weights_of_all, &[x.expand_dims(&[0])])
            .remove(0)
            .squeeze(&[0])
    };
    assert_eq!(vmap(row)(x.clone()).to_vec::<f32>(), expected);

    let loss = move |weights: State| apply(weights, x.clone()).sum();
    let (value, gradients) = value_and_grad(loss)(weights);
    assert_eq!(value.item::<f32>(), 11.5);
    assert_eq!(gradients["b"].to_vec::<f32>(), [1.0, 2.0]);
    assert_eq!(
        gradients["w"].to_vec::<f32>(),
        [1.0, -8.0, 2.0, 2.0, 3.0, 4.0]
    );
}

#[test]
fn known_signs_and_powers_equal_traced_ones() {
    let zero = tensor("zero", FLOAT, &[]).bytes(9, [0; 4]);
    let sign = graph(&[node("Sign", &["zero"], "y")]).message(5, zero);
    let sign = Model::from_bytes(model(20, sign)).expect("a model");
    let x = [Array::zeros(&[3], DType::F32)];
    assert_eq!(sign.apply(&State::new(), &x)[0].item::<f32>(), 0.0);

    let squares = tensor("squares", INT64, &[2]).number(7, 4).number(7, 16);
    let half = tensor("half", FLOAT, &[]).bytes(9, 0.5f32.to_le_bytes());
    let roots = graph(&[node("Pow", &["squares", "half"], "y")]);
    let roots = roots.message(5, squares).message(5, half);
    let roots = Model::from_bytes(model(20, roots)).expect("a model");
    assert_eq!(roots.apply(&State::new(), &x)[0].to_vec::<i64>(), [2, 4]);

    // A 64-bit float cannot represent the first power.
    let operands = [Array::from([3i64, -2]), Array::from([39i64, 3])];
    for powers in known_and_traced("Pow", &[], &operands) {
        assert_eq!(powers.to_vec::<i64>(), [3i64.pow(39), -8]);
    }
}

#[test]
fn a_model_describes_itself() {
    let file = OnnxFile::open(golden::path("onnx/dense.onnx")).expect("a file");
    let description = file.description();
    assert_eq!((description.opset(), description.ir_version), (17, 8));
    assert_eq!(description.producer, "ramie");
    assert_eq!(
        description.metadata,
        [("license".to_owned(), "MIT".to_owned())]
    );
    let shown = |i: &ramie_onnx::TensorInfo| format!("{} {i}", i.name);
    assert_eq!(shown(&description.inputs[0]), "x f32[batch,3]");
    assert_eq!(shown(&description.outputs[0]), "y f32[batch,2]");
    let operators: Vec<_> = description
        .operators
        .iter()
        .map(|(o, n)| (o.as_str(), *n))
        .collect();
    assert_eq!(operators, [("Add", 1), ("MatMul", 1), ("Relu", 1)]);
    let tensors: Vec<_> = file.tensors().collect();
    assert_eq!(tensors[1], ("b", &[2][..], Some(DType::F32)));
}

#[test]
fn wrong_calls_are_explained() {
    let (model, x) = (dense(), Array::zeros(&[4, 3], DType::F32));
    let weights = model.weights().expect("weights");
    assert_explained(
        || model.apply(&weights, &[]),
        &["Model::apply: got 0 inputs, expected 1: f32[batch,3]"],
    );
    assert_explained(
        || model.apply(&weights, &[x.astype(DType::I32)]),
        &["the input `x` is i32[4,3], expected f32[batch,3]"],
    );
    assert_explained(
        || model.apply(&weights, &[x.t()]),
        &["the input `x` is f32[3,4], expected f32[batch,3]"],
    );
    assert_explained(
        || model.apply(&State::new(), std::slice::from_ref(&x)),
        &["the weight `w` is missing", "Model::weights"],
    );
    let with = |w: Array| State::from_iter([("w", w), ("b", weights["b"].clone())]);
    for (wrong, shown) in [
        (weights["w"].t(), "f32[2,3]"),
        (weights["w"].astype(DType::BF16), "bf16[3,2]"),
    ] {
        let part = format!("the weight `w` is {shown}, expected f32[3,2]");
        assert_explained(
            || model.apply(&with(wrong), std::slice::from_ref(&x)),
            &[part.as_str(), "astype"],
        );
    }
    assert_explained(
        || model.apply_named(&weights, &State::from_iter([("z", x.clone())])),
        &["got inputs [\"z\"], expected [\"x\"]"],
    );
}

#[test]
fn all_unsupported_operators_are_listed() {
    let nodes = [
        node("Blur", &["x"], "a"),
        node("Relu", &["a"], "b"),
        node("Blur", &["b"], "c"),
        node("Gelu", &["c"], "y").message(
            5,
            Message::default()
                .bytes(1, "approximate")
                .bytes(4, "cubic")
                .number(20, 3),
        ),
    ];
    let bytes = model(20, graph(&nodes));
    let message = rejected(&bytes);
    assert!(
        message.contains(
            "Blur: the operator is unknown (node with the output `a`, node with the output `c`)"
        ),
        "{message}"
    );
    let reason = "Gelu: `approximate` is \"cubic\", supported are none, tanh (node with the \
                  output `y`)";
    assert!(message.contains(reason), "{message}");
    let error = Model::from_bytes(bytes).expect_err("it is rejected");
    assert!(matches!(error, Error::Unsupported { nodes, .. } if nodes.len() == 2));
}

#[test]
fn damaged_models_are_explained() {
    let bytes = golden::bytes("onnx/dense.onnx");
    for length in 0..bytes.len() {
        // The metadata at the end can be missing without a trace.
        if let Err(error) = Model::from_bytes(&bytes[..length]) {
            assert!(error.to_string().starts_with("ONNX model: "), "{error}");
        }
    }
    assert!(rejected(b"").contains("has no graph"));
    assert!(rejected(b"\x89PNG\r\n\x1a\n").contains("ends within a field at byte 2"));
    assert!(rejected(&bytes[..100]).contains("does not fit into its message"));
    let relu = [node("Relu", &["x"], "y")];
    assert!(rejected(&model(6, graph(&relu))).contains("has version 6 of ONNX's operators"));
    assert!(rejected(&model(99, graph(&relu))).contains("versions 7 to 23 are supported"));
    let unknown = rejected(&model(17, graph(&[node("Relu", &["z"], "y")])));
    assert!(
        unknown.contains("the node `y` (Relu) uses `z`, which no earlier node"),
        "{unknown}"
    );
    let incomplete = rejected(&model(17, graph(&[node("Relu", &["x"], "a")])));
    assert!(
        incomplete.contains("no node computes the output `y`"),
        "{incomplete}"
    );
    let short = graph(&relu).message(5, tensor("w", FLOAT, &[2]).bytes(9, [0; 4]));
    let short = rejected(&model(17, short));
    assert!(
        short.contains("tensor `w`: has the type f32[2], which takes 8 bytes"),
        "{short}"
    );
    let missing = Model::open("missing.onnx").expect_err("no file");
    // `unwrap` prints the `Debug` form.
    assert_eq!(format!("{missing:?}"), missing.to_string());
    let missing = missing.to_string();
    assert!(
        missing.starts_with("missing.onnx: cannot be read: ")
            && missing.contains("\n  help: check the path"),
        "{missing}"
    );
}

#[test]
fn attributes_of_unsupported_dtypes_are_explained() {
    for (data_type, bytes, dtype) in [(14, 8, "c64"), (17, 1, "f8_e4m3fn")] {
        let one = tensor("", data_type, &[1]).bytes(9, vec![0u8; bytes]);
        let attribute = Message::default()
            .bytes(1, "value")
            .message(5, one)
            .number(20, 4);
        let fill = node("ConstantOfShape", &["shape"], "y").message(5, attribute);
        let shape = tensor("shape", INT64, &[1]).number(7, 2);
        let message = rejected(&model(20, graph(&[fill]).message(5, shape)));
        let part = format!("tensor `y.value`: has elements of {dtype}");
        assert!(message.contains(&part), "{message}");
    }
}

#[test]
fn mistakes_of_a_graph_name_the_node() {
    let attribute = Message::default()
        .bytes(1, "perm")
        .number(8, 5)
        .number(20, 7);
    let transpose = node("Transpose", &["x"], "y").message(5, attribute);
    let model = Model::from_bytes(model(17, graph(&[transpose]))).expect("a model");
    let x = Array::zeros(&[3], DType::F32);
    let message = panic_message(|| model.apply(&State::new(), &[x]));
    assert!(
        message.contains("axis 5 is out of range for 1 axes"),
        "{message}"
    );
    assert!(
        message.ends_with("in the ONNX node `y` (Transpose)"),
        "{message}"
    );
}

#[test]
fn known_reductions_follow_the_axes() {
    let x = [Array::from([3i64, -1, 5])];
    for sums in known_and_traced("ReduceSum", &[int("noop_with_empty_axes", 1)], &x) {
        assert_eq!(sums.to_vec::<i64>(), [3, -1, 5]);
    }
    for sums in known_and_traced("ReduceSum", &[], &x) {
        assert_eq!(sums.to_vec::<i64>(), [7]);
    }
    let model = single("ReduceMax", &[ints("axes", &[1])], &x);
    let message = panic_message(|| model.apply(&State::new(), &x));
    assert!(
        message.contains("axis 1 is out of range for 1 axes"),
        "{message}"
    );
}

#[test]
fn lists_of_the_wrong_length_are_explained() {
    let x = [1, 2].map(|n| Array::ones(&[1, 1, n, n], DType::F32));
    for (operator, name, numbers) in [
        ("Conv", "pads", &[1, 1][..]),
        ("Conv", "strides", &[1]),
        ("ConvTranspose", "output_padding", &[0]),
        ("ConvTranspose", "output_shape", &[2, 2, 2]),
    ] {
        let model = single(operator, &[ints(name, numbers)], &x);
        let message = panic_message(|| model.apply(&State::new(), &x));
        let part = format!("`{name}` has {} numbers for 2 axes", numbers.len());
        assert!(message.contains(&part), "{message}");
    }
}

#[test]
fn zeros_are_normalized_and_quantized_to_zeros() {
    let rows = [Array::from([[0.0f32, 0.0], [3.0, 4.0]])];
    for (p, unit) in [(1, [3.0f32 / 7.0, 4.0 / 7.0]), (2, [0.6, 0.8])] {
        let model = single("LpNormalization", &[int("p", p)], &rows);
        let y = model.apply(&State::new(), &rows).remove(0).to_vec::<f32>();
        assert_eq!(y[..2], [0.0, 0.0]);
        assert!((y[2] - unit[0]).abs() < 1e-6 && (y[3] - unit[1]).abs() < 1e-6);
    }
    let graph = graph(&[node("DynamicQuantizeLinear", &["x"], "y").bytes(2, "scale")])
        .message(12, value("scale", FLOAT, &[]));
    let model = Model::from_bytes(model(20, graph)).expect("a model");
    let quantized = model.apply(&State::new(), &[Array::zeros(&[3], DType::F32)]);
    assert_eq!(quantized[0].to_vec::<u8>(), [0, 0, 0]);
    assert_eq!(quantized[1].item::<f32>(), 1.0);
}

#[test]
fn an_output_that_an_operator_does_not_have_is_explained() {
    let x = [Array::zeros(&[3], DType::F32)];
    let relu = || node("Relu", &["x"], "a").bytes(2, "b");
    for nodes in [
        vec![relu().bytes(2, "y")],
        vec![relu(), node("Neg", &["b"], "y")],
    ] {
        let model = Model::from_bytes(model(17, graph(&nodes))).expect("a model");
        assert_explained(
            || model.apply(&State::new(), &x),
            &["is an output of a node whose operator has fewer outputs"],
        );
    }
}

#[test]
fn shapes_must_be_known_when_a_model_is_traced() {
    let reshape = Message::default()
        .message(1, node("Reshape", &["x", "shape"], "y"))
        .message(11, value("x", FLOAT, &[6]))
        .message(11, value("shape", INT64, &[2]))
        .message(12, value("y", FLOAT, &[]));
    let model = Model::from_bytes(model(17, reshape)).expect("a model");
    let inputs = &model.description().inputs;
    assert_eq!([inputs[0].is_static, inputs[1].is_static], [false, true]);
    let (x, shape) = (Array::zeros(&[6], DType::F32), Array::from([2i64, -1]));
    let reshaped = model.apply(&State::new(), &[x.clone(), shape.clone()]);
    assert_eq!(reshaped[0].shape(), [2, 3]);
    let known = {
        let (model, shape) = (model.clone(), shape.clone());
        move |x: Array| model.apply(&State::new(), &[x, shape.clone()]).remove(0)
    };
    assert_eq!(jit(known)(x.clone()).shape(), [2, 3]);
    let traced = move |x: Array, shape: Array| model.apply(&State::new(), &[x, shape]).remove(0);
    assert_explained(
        || jit(traced)(x, shape),
        &[
            "input 1 (`shape`, i64[2])",
            "shapes are static",
            "in the ONNX node `y` (Reshape)",
        ],
    );
}

#[test]
fn known_integers_of_64_bits_are_exact() {
    let odd = (1i64 << 53) + 1;
    let pair = [Array::from([1i64 << 53, 7]), Array::from([odd, 7])];
    for flags in known_and_traced("Equal", &[], &pair) {
        assert_eq!(flags.to_vec::<bool>(), [false, true]);
    }
    for operator in ["ReduceMax", "ReduceSum"] {
        for total in known_and_traced(operator, &[int("keepdims", 0)], &[Array::from([odd])]) {
            assert_eq!(total.item::<i64>(), odd, "{operator}");
        }
    }
    let large = u64::MAX - 1;
    let pair = [Array::from([large, 5]), Array::from([3, large])];
    for (operator, expected) in [
        ("Max", [large, large]),
        ("Min", [3, 5]),
        ("Div", [large / 3, 0]),
        ("Mod", [large % 3, 5]),
    ] {
        for result in known_and_traced(operator, &[], &pair) {
            assert_eq!(result.to_vec::<u64>(), expected, "{operator}");
        }
    }
    for flags in known_and_traced("Less", &[], &pair) {
        assert_eq!(flags.to_vec::<bool>(), [false, true]);
    }
    for most in known_and_traced("ReduceMax", &[], &pair[..1]) {
        assert_eq!(most.to_vec::<u64>(), [large]);
    }
    for signs in known_and_traced("Sign", &[], &pair[..1]) {
        assert_eq!(signs.to_vec::<u64>(), [1, 1]);
    }
}

#[test]
fn tensors_in_other_files_are_read_beside_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.onnx");
    let with = |entries: &[(&str, &str)]| {
        let w = external(tensor("w", FLOAT, &[3]), entries);
        let bytes = model(17, graph(&[node("Add", &["x", "w"], "y")]).message(5, w));
        fs::write(&path, &bytes).expect("written");
        bytes
    };
    let elements = [7.0f32, 1.0, 2.0, 3.0].map(f32::to_le_bytes).concat();
    fs::write(folder.path().join("w.bin"), &elements).expect("written");
    let place = [("location", "w.bin"), ("offset", "4"), ("length", "12")];
    let bytes = with(&place);
    let weights = Model::open(&path)
        .expect("a model")
        .weights()
        .expect("weights");
    assert_eq!(weights["w"].to_vec::<f32>(), [1.0, 2.0, 3.0]);

    let failed = |model: Model| {
        let message = model.weights().expect_err("no weights").to_string();
        assert!(message.contains("tensor `w`: is "), "{message}");
        assert!(message.contains("\n  help: "), "{message}");
        message
    };
    let from_bytes = failed(Model::from_bytes(bytes).expect("a model"));
    assert!(
        from_bytes.contains("the model was read from bytes"),
        "{from_bytes}"
    );
    with(&[("location", "w.bin"), ("offset", "8")]);
    let short = failed(Model::open(&path).expect("a model"));
    assert!(
        short.contains("has 12 bytes, but the file has 16"),
        "{short}"
    );
    with(&[("location", "absent.bin")]);
    let absent = Model::open(&path)
        .expect("a model")
        .weights()
        .expect_err("no file")
        .to_string();
    assert!(
        absent.contains("absent.bin") && absent.contains("\n  help: "),
        "{absent}"
    );
    for location in ["../w.bin", "/etc/passwd", ""] {
        with(&[("location", location)]);
        let outside = Model::open(&path).expect_err("it is rejected").to_string();
        assert!(
            outside.contains("not below the folder of the model"),
            "{outside}"
        );
    }
}

#[test]
fn tensors_are_read_in_every_form() {
    let floats = tensor("t", FLOAT, &[2]).bytes(4, [1.5f32, -2.0].map(f32::to_le_bytes).concat());
    assert_eq!(
        tensor_from_bytes(floats.0)
            .expect("a tensor")
            .to_vec::<f32>(),
        [1.5, -2.0]
    );
    let ints = tensor("t", 3, &[3])
        .number(5, -1)
        .number(5, 2)
        .number(5, 127);
    assert_eq!(
        tensor_from_bytes(ints.0).expect("a tensor").to_vec::<i8>(),
        [-1, 2, 127]
    );
    let packed = tensor("t", INT64, &[2]).bytes(7, [0x80, 0x01, 0x05]);
    assert_eq!(
        tensor_from_bytes(packed.0)
            .expect("a tensor")
            .to_vec::<i64>(),
        [128, 5]
    );
    // Two integers of four bits in a byte.
    let nibbles = tensor("t", 22, &[3]).bytes(9, [0x2f, 0x08]);
    let nibbles = tensor_from_bytes(nibbles.0).expect("a tensor");
    assert_eq!(nibbles.astype(DType::I32).to_vec::<i32>(), [-1, 2, -8]);
    // Floats of four bits, as raw bytes and as numbers.
    let raw = tensor("t", 23, &[3]).bytes(9, [0x2f, 0x08]);
    let numbers = tensor("t", 23, &[3]).number(5, 0x2f).number(5, 0x08);
    let [raw, numbers] = [raw, numbers].map(|t| tensor_from_bytes(t.0).expect("a tensor"));
    let [raw, numbers] = [raw, numbers].map(|x| x.try_to_bytes().expect("bytes"));
    assert_eq!(raw, numbers);
    let texts = tensor("t", 8, &[1]).bytes(6, "text");
    let message = tensor_from_bytes(texts.0)
        .expect_err("no numbers")
        .to_string();
    assert!(
        message.contains("tensor `t`: has elements of string"),
        "{message}"
    );
}

#[test]
fn gathered_elements_have_the_shape_of_the_indices() {
    let x = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    for (indices, expected) in [
        (Array::from([[2i64, 0]]), &[3i64, 1][..]),
        (Array::from([[1i64], [-1]]), &[2, 6]),
    ] {
        let shape = indices.shape().to_vec();
        let operands = [x.clone(), indices];
        for gathered in known_and_traced("GatherElements", &[int("axis", 1)], &operands) {
            assert_eq!(gathered.shape(), shape);
            assert_eq!(gathered.to_vec::<i64>(), expected);
        }
    }
}

#[test]
fn initializers_among_the_inputs_are_weights() {
    let w = tensor("w", FLOAT, &[3]).bytes(9, [0; 12]);
    let graph = graph(&[node("Add", &["x", "w"], "y")])
        .message(5, w)
        .message(11, value("w", FLOAT, &[3]));
    let model = Model::from_bytes(model(9, graph)).expect("a model");
    assert_eq!(model.description().inputs.len(), 1);
    assert_eq!(model.abstract_weights().paths().collect::<Vec<_>>(), ["w"]);
}

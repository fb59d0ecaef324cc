//! Values that are known while a model is traced.

#[allow(dead_code)]
mod common;

use common::message::{Message, model, node, of_arrays, value as value_info};
use ramie_core::{Array, DType, State};
use ramie_onnx::Model;

/// The output of one node.
#[track_caller]
fn run(operator: &str, inputs: &[Array]) -> Array {
    let model = Model::from_bytes(of_arrays(20, operator, &[], inputs)).expect("a model");
    model.apply(&State::new(), inputs).remove(0)
}

#[test]
fn ranges_of_large_integers_are_exact() {
    let large = 1i64 << 53;
    for [start, limit, step] in [
        [large + 1, large + 4, 1],
        [large + 4, large + 1, -2],
        [i64::MIN, i64::MAX, i64::MAX],
        [i64::MAX, i64::MIN, i64::MIN],
        [1, 1, 1],
        [3, 1, 1],
    ] {
        let numbers = [start, limit, step].map(Array::from);
        let range = run("Range", &numbers);
        let mut expected = Vec::new();
        let mut at = i128::from(start);
        while (step > 0 && at < limit.into()) || (step < 0 && at > limit.into()) {
            expected.push(at as i64);
            at += i128::from(step);
        }
        assert_eq!(range.to_vec::<i64>(), expected);
    }
}

#[test]
fn slices_backward_start_within_the_axis() {
    // The specification clamps the start to 0 to size - 1, and the end to -1 to size - 1.
    for (start, end, expected) in [
        (-9i64, -9i64, &[1i64][..]),
        (9, -9, &[3, 2, 1]),
        (0, 9, &[]),
        (-9, 0, &[]),
    ] {
        let bounds = [Array::from([start]), Array::from([end])];
        let steps = [Array::from([0i64]), Array::from([-1i64])];
        let slice = |x: Array| {
            let inputs = [&[x], &bounds[..], &steps].concat();
            run("Slice", &inputs)
        };
        let x = Array::from([1i64, 2, 3]);
        assert_eq!(slice(x.clone()).to_vec::<i64>(), expected);
        let floats = slice(x.astype(DType::F32)).astype(DType::I64);
        assert_eq!(floats.to_vec::<i64>(), expected);
        assert_eq!(slice(Array::zeros(&[0], DType::F32)).size(), 0);
    }
}

#[test]
fn constants_keep_the_signs_of_zeros() {
    let zeros = [0.0f32, -0.0, 0.0].map(f32::to_le_bytes).concat();
    let value = Message::default().bytes(1, "value_floats").number(20, 6);
    let constant = node("Constant", &[], "zeros").message(5, value.bytes(7, zeros));
    let graph = Message::default()
        .message(1, constant)
        .message(1, node("Div", &["x", "zeros"], "y"))
        .message(11, value_info("x", 1, &[3]))
        .message(12, value_info("y", 1, &[]));
    let model = Model::from_bytes(model(20, graph)).expect("a model");
    let y = model.apply(&State::new(), &[Array::ones(&[3], DType::F32)]);
    let infinity = f32::INFINITY;
    assert_eq!(y[0].to_vec::<f32>(), [infinity, -infinity, infinity]);
}

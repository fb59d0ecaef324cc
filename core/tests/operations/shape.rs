//! Primitives and functions that move elements: joining, padding, slicing,
//! splitting, reversing, repeating.

use ramie_core::numpy::{PadMode, hstack, vstack};
use ramie_core::*;
use ramie_testing::check;
use ramie_testing::numbers::Draw;
use ramie_testing::panic_message;

fn matrix() -> Array {
    Array::arange(6).reshape(&[2, 3])
}

/// Operations of which JAX recorded nothing: derivatives by differences, and
/// batching against a loop.
#[test]
fn parts_and_functions_differentiate_and_batch() {
    let mut draw = Draw::new(3);
    let x = draw.array(&[4, 3], DType::F64, -1.0, 1.0);
    let y = draw.array(&[4, 2], DType::F64, -1.0, 1.0);
    let operations: [(&str, Box<ramie_testing::apply::Operation>); 7] = [
        ("split", Box::new(|a| a[0].split_sizes(&[1, 0, 3], 0))),
        ("split last", Box::new(|a| a[0].split([2], 1))),
        (
            "reduce",
            Box::new(|a| vec![a[0].sin().reduce_precision(11, 52)]),
        ),
        ("roll", Box::new(|a| vec![a[0].roll(3, 0)])),
        ("repeat", Box::new(|a| vec![a[0].repeat(2, 1)])),
        ("tile", Box::new(|a| vec![a[0].tile(&[2, 2])])),
        ("stack", Box::new(|a| vec![stack(&[&a[0], &a[0].sin()], 1)])),
    ];
    for (label, f) in &operations {
        check::gradients(label, f, std::slice::from_ref(&x));
        check::batching(std::slice::from_ref(&x), f).unwrap_or_else(|e| panic!("{label}: {e}"));
    }
    let join: Box<ramie_testing::apply::Operation> = Box::new(|a| vec![hstack(&[&a[0], &a[1]])]);
    check::gradients("hstack", &join, &[x.clone(), y.clone()]);
    check::batching(&[x, y], &join).unwrap_or_else(|e| panic!("hstack: {e}"));
}

#[test]
fn joining() {
    let x = matrix();
    let both = concatenate(&[&x, &x.slice_in_dim(0, 1, 1, 0)], 0);
    assert_eq!(both.to_vec::<i32>(), [0, 1, 2, 3, 4, 5, 0, 1, 2]);
    let mixed = concatenate(&[Array::from([1i32]), Array::from([0.5f32])], -1);
    assert_eq!(mixed.to_vec::<f32>(), [1.0, 0.5]);
    let last = stack(&[Array::from([1, 2]), Array::from([3, 4])], -1);
    assert_eq!(last.to_vec::<i32>(), [1, 3, 2, 4]);
    assert_eq!(hstack(&[&x, &x]).shape(), [2, 6]);
    assert_eq!(
        hstack(&[Array::from(1), Array::from(2)]).to_vec::<i32>(),
        [1, 2]
    );
    assert_eq!(
        vstack(&[Array::from([1, 2]), Array::from([3, 4])]).shape(),
        [2, 2]
    );
}

#[test]
fn taking_apart() {
    let x = matrix();
    let columns = x.split(3, 1);
    assert_eq!(columns[1].to_vec::<i32>(), [1, 4]);
    let parts = x.split([1, 5], -1);
    assert_eq!(parts[1].to_vec::<i32>(), [1, 2, 4, 5]);
    assert_eq!(parts[2].shape(), [2, 0]);
    let f = |x: Array| {
        let parts = x.split_sizes(&[1, 2], 1);
        (&parts[0] * 2.0, parts[1].square())
    };
    let x = x.astype(DType::F32);
    let (_, pull) = vjp(f, x.clone());
    let ones = (
        Array::ones(&[2, 1], DType::F32),
        Array::ones(&[2, 2], DType::F32),
    );
    assert_eq!(pull(ones).to_vec::<f32>(), [2.0, 2.0, 4.0, 2.0, 8.0, 10.0]);
    // A part without a cotangent.
    let first = grad(|x: Array| x.split(3, 1)[0].reshape(&[2]).sum_over(0));
    assert_eq!(
        first(x.clone()).to_vec::<f32>(),
        [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    );
    let batched = vmap(|x: Array| x.split(3, 0)[2].clone())(x);
    assert_eq!(batched.to_vec::<f32>(), [2.0, 5.0]);
}

#[test]
fn moving_and_repeating() {
    let x = matrix();
    assert_eq!(x.flip(&[-1]).to_vec::<i32>(), [2, 1, 0, 5, 4, 3]);
    assert_eq!(x.flip(&[]).to_vec::<i32>(), [5, 4, 3, 2, 1, 0]);
    assert_eq!(x.roll(1, 1).to_vec::<i32>(), [2, 0, 1, 5, 3, 4]);
    assert_eq!(x.roll(-4, 1).to_vec::<i32>(), [1, 2, 0, 4, 5, 3]);
    assert_eq!(x.repeat(2, 0).shape(), [4, 3]);
    assert_eq!(x.repeat(2, 1).to_vec::<i32>()[..6], [0, 0, 1, 1, 2, 2]);
    assert_eq!(x.tile(&[2]).shape(), [2, 6]);
    assert_eq!(x.tile(&[2, 1, 1]).shape(), [2, 2, 3]);
    assert_eq!(x.tile(&[1, 2]).to_vec::<i32>()[..6], [0, 1, 2, 0, 1, 2]);
    assert_eq!(x.ravel().shape(), [6]);
}

#[test]
fn padding() {
    let x = Array::from([1.0f32, 2.0]);
    assert_eq!(x.pad(&[(1, 0)], 9).to_vec::<f32>(), [9.0, 1.0, 2.0]);
    assert_eq!(
        x.lax_pad(&[(-1, 1, 1)], 0.0).to_vec::<f32>(),
        [0.0, 2.0, 0.0]
    );
    // Each example pads with a value of its own.
    let each = vmap(|x: Array, v: Array| x.pad(&[(1, 1)], v));
    let padded = each(Array::from([[1.0f32], [2.0]]), Array::from([7.0f32, 8.0]));
    assert_eq!(padded.to_vec::<f32>(), [7.0, 1.0, 7.0, 8.0, 2.0, 8.0]);
}

#[test]
fn padding_with_own_elements() {
    let (x, one) = (Array::arange(3), Array::arange(1));
    let pad = |mode| x.pad_with(&[(5, 4)], mode).to_vec::<i32>();
    assert_eq!(pad(PadMode::Edge), [0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2]);
    assert_eq!(pad(PadMode::Reflect), [1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
    assert_eq!(
        pad(PadMode::Symmetric),
        [1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]
    );
    assert_eq!(pad(PadMode::Wrap), [1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
    for mode in [
        PadMode::Edge,
        PadMode::Reflect,
        PadMode::Symmetric,
        PadMode::Wrap,
    ] {
        assert_eq!(one.pad_with(&[(2, 1)], mode).to_vec::<i32>(), [0; 4]);
    }
    let both = matrix().pad_with(&[(1, 0), (0, 1)], PadMode::Wrap);
    assert_eq!(both.to_vec::<i32>(), [3, 4, 5, 3, 0, 1, 2, 0, 3, 4, 5, 3]);
    let f: Box<ramie_testing::apply::Operation> =
        Box::new(|a| vec![a[0].pad_with(&[(1, 2), (0, 3)], PadMode::Reflect)]);
    check::gradients(
        "reflect",
        &f,
        &[Draw::new(8).array(&[3, 2], DType::F64, -1.0, 1.0)],
    );
}

#[test]
fn triangles_and_diagonals() {
    let y = Array::arange(12).reshape(&[3, 4]);
    assert_eq!(
        y.tril(-1).to_vec::<i32>(),
        [0, 0, 0, 0, 4, 0, 0, 0, 8, 9, 0, 0]
    );
    assert_eq!(
        y.tril(0).to_vec::<i32>(),
        [0, 0, 0, 0, 4, 5, 0, 0, 8, 9, 10, 0]
    );
    assert_eq!(
        y.triu(0).to_vec::<i32>(),
        [0, 1, 2, 3, 0, 5, 6, 7, 0, 0, 10, 11]
    );
    assert_eq!(
        y.triu(2).to_vec::<i32>(),
        [0, 0, 2, 3, 0, 0, 0, 7, 0, 0, 0, 0]
    );
    let (diagonals, traces) = ([[4, 9].as_slice(), &[0, 5, 10], &[2, 7]], [13, 15, 9]);
    for ((k, diagonal), trace) in [-1, 0, 2].into_iter().zip(diagonals).zip(traces) {
        assert_eq!(y.diagonal(k).to_vec::<i32>(), diagonal);
        assert_eq!(y.trace(k).item::<i32>(), trace);
    }
    assert_eq!(y.diagonal(-5).shape(), [0]);
    assert_eq!(
        Array::zeros(&[2, 2, 5], DType::F32).diagonal(0).shape(),
        [5, 2]
    );
    let v = Array::from([1, 2]);
    assert_eq!(v.diag(-1).to_vec::<i32>(), [0, 0, 0, 1, 0, 0, 0, 2, 0]);
    assert_eq!(v.diag(1).to_vec::<i32>(), [0, 1, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(v.diag(1).diag(1).to_vec::<i32>(), [1, 2]);
    let tri = Array::tri(2, 3, -1, DType::F32);
    assert_eq!(tri.to_vec::<f32>(), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let text = panic_message(|| Array::from([1]).tril(0));
    assert!(text.contains("tril: i32[1] is not a matrix"), "{text}");
}

#[test]
fn bits_and_precision() {
    let x = Array::from([1.0f32, -0.0]);
    let bits = x.bitcast_convert_type(DType::I32);
    assert_eq!(bits.to_vec::<i32>(), [0x3F80_0000, i32::MIN]);
    assert_eq!(
        bits.bitcast_convert_type(DType::F32).to_vec::<f32>(),
        [1.0, -0.0]
    );
    let x = Array::from([1.0f32 + 1.0 / 1024.0]);
    assert_eq!(x.reduce_precision(8, 7).to_vec::<f32>(), [1.0]);
    let through = grad(|x: Array| x.reduce_precision(8, 7).sum_over(0));
    assert_eq!(through(x.clone()).to_vec::<f32>(), [1.0]);
    let each = vmap(|x: Array| x.reduce_precision(5, 10));
    assert_eq!(each(x.clone()).to_vec::<f32>(), x.to_vec::<f32>());
}

#[test]
fn mistakes_are_explained() {
    let x = matrix();
    let text = panic_message(|| concatenate(&[&x, &Array::arange(3).reshape(&[1, 3])], 1));
    assert!(
        text.contains("operand 1 of shape [1, 3] cannot be concatenated with [2, 3]"),
        "{text}"
    );
    let text = panic_message(|| concatenate::<Array>(&[], 0));
    assert!(text.contains("no arrays were passed"), "{text}");
    let text = panic_message(|| stack(&[&x, &Array::from(1)], 0));
    assert!(
        text.contains("array 1 has shape [], but the first array has [2, 3]"),
        "{text}"
    );
    let text = panic_message(|| x.split(2, 1)[0].clone());
    assert!(
        text.contains("does not divide into 2 equal parts"),
        "{text}"
    );
    let text = panic_message(|| x.split_sizes(&[1, 1], 1)[0].clone());
    assert!(
        text.contains("[1, 1] have 2 elements, but axis 1 has 3"),
        "{text}"
    );
    let text = panic_message(|| x.pad(&[(1, 1)], 0));
    assert!(
        text.contains("i32[2,3] has 2 axes, got padding for 1"),
        "{text}"
    );
    let text = panic_message(|| x.lax_pad(&[(-3, 0, 0), (0, 0, 0)], 0));
    assert!(
        text.contains("leaves axis 0 of size 2 with -1 elements"),
        "{text}"
    );
    let text = panic_message(|| x.pad(&[(0, 1), (0, 0)], 0.5));
    assert!(
        text.contains("a value of dtype f32 does not fit into an array of i32"),
        "{text}"
    );
    let text = panic_message(|| x.slice(&[0, 2], &[2, 1]));
    assert!(
        text.contains("axis 1 of size 3 does not contain the range 2..1"),
        "{text}"
    );
    let text = panic_message(|| Array::arange(0).pad_with(&[(1, 0)], PadMode::Edge));
    assert!(text.contains("axis 0 of i32[0] is empty"), "{text}");
    let text = panic_message(|| x.bitcast_convert_type(DType::F64));
    assert!(
        text.contains("2 elements of i32 are needed for one of f64, but the last axis"),
        "{text}"
    );
}

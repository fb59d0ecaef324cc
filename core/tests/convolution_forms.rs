//! The StableHLO that a small network of convolutions gives, which its speed depends
//! on.

use ramie_core::lax::{ConvLayout, Padding, conv_general_dilated, max_pool};
use ramie_core::options::Convolution;
use ramie_core::{Array, DType, NamedSharding, P, grad, jit, make_mesh};
use ramie_testing::cpu_devices;

/// Two layers of convolution and pooling, as image classifiers have them.
fn network((kernels, images): (Vec<Array>, Array)) -> Array {
    let how = Convolution::new()
        .layout(ConvLayout::ChannelsLast)
        .padding(Padding::Same);
    let layer = |x: Array, kernel: &Array| {
        let y = conv_general_dilated(&x, kernel, &how).relu();
        max_pool(&y, &[2, 2], &[2, 2], Padding::Valid)
    };
    kernels.iter().fold(images, layer).square().sum()
}

/// What JAX lowers the gradient of the same network to, in its order: the
/// operations, the axes of convolutions, and types.
const FORMS: [(&str, &str, &str); 10] = [
    (
        "convolution",
        FORWARD,
        "(tensor<64x28x28x1xf32>, tensor<3x3x1x32xf32>) -> tensor<64x28x28x32xf32>",
    ),
    (
        "reduce_window",
        "",
        "(tensor<64x28x28x32xf32>, tensor<f32>) -> tensor<64x14x14x32xf32>",
    ),
    (
        "convolution",
        FORWARD,
        "(tensor<64x14x14x32xf32>, tensor<3x3x32x64xf32>) -> tensor<64x14x14x64xf32>",
    ),
    (
        "reduce_window",
        "",
        "(tensor<64x14x14x64xf32>, tensor<f32>) -> tensor<64x7x7x64xf32>",
    ),
    (
        "select_and_scatter",
        "",
        "(tensor<64x14x14x64xf32>, tensor<64x7x7x64xf32>, tensor<f32>) -> tensor<64x14x14x64xf32>",
    ),
    (
        "convolution",
        KERNEL,
        "(tensor<64x14x14x32xf32>, tensor<64x14x14x64xf32>) -> tensor<3x3x32x64xf32>",
    ),
    (
        "reverse",
        "dimensions = array<i64: 0, 1>",
        "(tensor<3x3x32x64xf32>) -> tensor<3x3x32x64xf32>",
    ),
    (
        "convolution",
        IMAGE,
        "(tensor<64x14x14x64xf32>, tensor<3x3x32x64xf32>) -> tensor<64x14x14x32xf32>",
    ),
    (
        "select_and_scatter",
        "",
        "(tensor<64x28x28x32xf32>, tensor<64x14x14x32xf32>, tensor<f32>) -> tensor<64x28x28x32xf32>",
    ),
    (
        "convolution",
        KERNEL,
        "(tensor<64x28x28x1xf32>, tensor<64x28x28x32xf32>) -> tensor<3x3x1x32xf32>",
    ),
];
const FORWARD: &str = "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>";
const KERNEL: &str = "#stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>";
const IMAGE: &str = "#stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>";

/// The StableHLO of the network's gradient for arguments of these types.
fn gradient(kernels: Vec<Array>, images: Array) -> String {
    let gradient = |kernels: Vec<Array>, images: Array| {
        grad(|kernels: Vec<Array>| network((kernels, images.clone())))(kernels)
    };
    let lowered = jit(gradient).lower((kernels, images));
    lowered.unwrap().as_text()
}

/// The operations of these names in a program: name, line and types of each.
fn operations<'a>(text: &'a str, wanted: &[&str]) -> Vec<(&'a str, &'a str, String)> {
    // The types of an operation with regions are on the line that closes them.
    let mut found = Vec::new();
    let mut open: Option<(&str, &str)> = None;
    for line in text.lines() {
        let name = line
            .split("stablehlo.")
            .nth(1)
            .and_then(|s| s.split('"').next());
        if let Some(name) = name.filter(|n| wanted.contains(n)) {
            open = Some((name, line));
        }
        let types = line.split(" : (").nth(1).filter(|_| line.contains("->"));
        let Some((name, head)) = open else { continue };
        if let Some(types) = types.filter(|_| !line.trim_start().starts_with("%") || line == head) {
            found.push((name, head, format!("({types}")));
            open = None;
        }
    }
    found
}

/// Asserts that the program has these operations and no other ones of their kinds.
fn assert_forms(text: &str, forms: &[(&str, &str, &str)]) {
    let wanted = [
        "convolution",
        "reduce_window",
        "select_and_scatter",
        "reverse",
    ];
    let mut found = operations(text, &wanted);
    assert_eq!(found.len(), forms.len(), "{text}");
    // Independent parts of a gradient have no order of their own.
    for (name, detail, types) in forms {
        let place = found
            .iter()
            .position(|(n, head, t)| n == name && head.contains(detail) && t.starts_with(types));
        let place = place.unwrap_or_else(|| panic!("no {name} {detail} {types} in\n{text}"));
        found.remove(place);
    }
}

#[test]
fn a_network_lowers_to_the_forms_of_jax() {
    cpu_devices(2);
    let mesh = make_mesh(&[2], &["x"]).unwrap();
    let everywhere = NamedSharding::new(mesh, P![]);
    let on_mesh = |shape: &[usize]| Array::shape_dtype_struct_with(shape, DType::F32, everywhere);
    let kernels = vec![on_mesh(&[3, 3, 1, 32]), on_mesh(&[3, 3, 32, 64])];
    assert_forms(&gradient(kernels, on_mesh(&[64, 28, 28, 1])), &FORMS);

    let here = |shape: &[usize]| Array::shape_dtype_struct(shape, DType::F32);
    let kernels = vec![here(&[3, 3, 1, 32]), here(&[3, 3, 32, 64])];
    assert_forms(&gradient(kernels, here(&[64, 28, 28, 1])), &FORMS);
}

//! Linear algebra, Fourier transforms and random bits.

use crate::{buffer, elements, function, run};
use num_complex::Complex;
use ramie_cpu::ElementType::*;

#[test]
fn cholesky_factors_multiply_to_the_matrix() {
    let text = function(
        "(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)",
        "%0 = \"stablehlo.cholesky\"(%x) <{lower = true}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
         %1 = \"stablehlo.cholesky\"(%x) <{lower = false}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
         return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>",
    );
    let results = run(&text, &[buffer(&[2, 2], F32, &[4f32, 2., 2., 10.])]);
    assert_eq!(elements::<f32>(&results[0]), [2., 0., 1., 3.]);
    assert_eq!(elements::<f32>(&results[1]), [2., 1., 0., 3.]);
}

#[test]
fn triangular_systems_have_all_forms() {
    let a = buffer(&[2, 2], F64, &[2f64, 0., 1., 4.]);
    let b = buffer(&[2, 2], F64, &[2f64, 4., 9., 6.]);
    let solve = |left: bool, transpose: &str| -> Vec<f64> {
        let text = function(
            "(%a: tensor<2x2xf64>, %b: tensor<2x2xf64>) -> tensor<2x2xf64>",
            &format!(
                "%0 = \"stablehlo.triangular_solve\"(%a, %b) <{{left_side = {left}, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose {transpose}>}}> : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
                 return %0 : tensor<2x2xf64>"
            ),
        );
        elements(&run(&text, &[a.clone(), b.clone()])[0])
    };
    assert_eq!(solve(true, "NO_TRANSPOSE"), [1., 2., 2., 1.]);
    assert_eq!(solve(true, "TRANSPOSE"), [-0.125, 1.25, 2.25, 1.5]);
    assert_eq!(solve(false, "NO_TRANSPOSE"), [0.5, 1., 3.75, 1.5]);
    assert_eq!(solve(false, "ADJOINT"), [1., 0.75, 4.5, 0.375]);
}

#[test]
fn real_transforms_are_inverse() {
    let text = function(
        "(%x: tensor<2x5xf32>) -> (tensor<2x3xcomplex<f32>>, tensor<2x5xf32>)",
        "%0 = stablehlo.fft %x, type = RFFT, length = [2, 5] : (tensor<2x5xf32>) -> tensor<2x3xcomplex<f32>>
         %1 = stablehlo.fft %0, type = IRFFT, length = [2, 5] : (tensor<2x3xcomplex<f32>>) -> tensor<2x5xf32>
         return %0, %1 : tensor<2x3xcomplex<f32>>, tensor<2x5xf32>",
    );
    let x: Vec<f32> = (0..10).map(|i| ((i * i) % 7) as f32).collect();
    let results = run(&text, &[buffer(&[2, 5], F32, &x)]);
    let spectrum: Vec<Complex<f32>> = elements(&results[0]);
    assert_eq!(spectrum[0], Complex::new(x.iter().sum(), 0.0));
    let back: Vec<f32> = elements(&results[1]);
    assert!(x.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-6));
}

/// The vectors of Random123's known-answer tests.
#[test]
fn threefry_is_exact() {
    let text = function(
        "(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<1xui64>)",
        "%0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<1xui64>)
         return %0, %1 : tensor<2xui64>, tensor<1xui64>",
    );
    let vectors = [
        (0, 0, 0x99ba_4efe_6b20_0159u64),
        (u64::MAX, u64::MAX, 0xbb00_2be7_1cb9_96fc),
        (
            0x0370_7344_1319_8a2e,
            0x85a3_08d3_243f_6a88,
            0x483d_f7a0_c492_3a9c,
        ),
    ];
    for (key, counter, bits) in vectors {
        let results = run(&text, &[buffer(&[2], U64, &[key, counter])]);
        assert_eq!(elements::<u64>(&results[0]), [key, counter.wrapping_add(1)]);
        assert_eq!(elements::<u64>(&results[1]), [bits]);
    }
}

#[test]
fn reflectors_decompose_matrices() {
    let text = function(
        "(%x: tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)",
        "%0:2 = \"stablehlo.custom_call\"(%x) <{call_target_name = \"Qr\"}> : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>)
         %1 = \"stablehlo.custom_call\"(%0#0, %0#1) <{call_target_name = \"ProductOfElementaryHouseholderReflectors\"}> : (tensor<3x2xf64>, tensor<2xf64>) -> tensor<3x2xf64>
         return %0#0, %1 : tensor<3x2xf64>, tensor<3x2xf64>",
    );
    let x = [3f64, 1., 4., -2., 12., 5.];
    let results = run(&text, &[buffer(&[3, 2], F64, &x)]);
    let (r, q): (Vec<f64>, Vec<f64>) = (elements(&results[0]), elements(&results[1]));
    assert!(
        (r[0] + 13.0).abs() < 1e-14,
        "the first column has length 13"
    );
    for i in 0..3 {
        let row = [q[2 * i] * r[0], q[2 * i] * r[1] + q[2 * i + 1] * r[3]];
        assert!((row[0] - x[2 * i]).abs() < 1e-14 && (row[1] - x[2 * i + 1]).abs() < 1e-14);
    }
    let dot = |a: usize, b: usize| (0..3).map(|i| q[2 * i + a] * q[2 * i + b]).sum::<f64>();
    assert!(
        (dot(0, 0) - 1.0).abs() < 1e-14
            && dot(0, 1).abs() < 1e-14
            && (dot(1, 1) - 1.0).abs() < 1e-14
    );
}

//! Reductions, windows and products.

use crate::{buffer, elements, function, run};
use num_complex::Complex;
use ramie_cpu::ElementType::*;

#[test]
fn long_sums_are_accurate() {
    for (shape, axis, result) in [([1 << 22, 1], 0, "1"), ([1, 1 << 22], 1, "1")] {
        let text = function(
            &format!("(%x: tensor<{}x{}xf32>) -> tensor<{result}xf32>", shape[0], shape[1]),
            &format!(
                "%v = stablehlo.constant dense<0.0> : tensor<f32>
                 %0 = stablehlo.reduce(%x init: %v) applies stablehlo.add across dimensions = [{axis}] : (tensor<{}x{}xf32>, tensor<f32>) -> tensor<{result}xf32>
                 return %0 : tensor<{result}xf32>",
                shape[0], shape[1]
            ),
        );
        let sum: Vec<f32> =
            elements(&run(&text, &[buffer(&shape, F32, &vec![0.1f32; 1 << 22])])[0]);
        let exact = f64::from(0.1f32) * f64::from(1 << 22);
        assert!(
            (f64::from(sum[0]) - exact).abs() < exact * 1e-6,
            "{} is not {exact}",
            sum[0]
        );
    }
}

#[test]
fn regions_reduce_several_operands() {
    let text = function(
        "(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>) -> (tensor<2xf32>, tensor<2xi32>)",
        "%v = stablehlo.constant dense<0xFF800000> : tensor<f32>
         %w = stablehlo.constant dense<0> : tensor<i32>
         %0:2 = stablehlo.reduce(%x init: %v), (%i init: %w) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
         reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
           %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
           %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
           %3 = stablehlo.select %1, %c, %d : tensor<i1>, tensor<i32>
           stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
         }
         return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>",
    );
    let x = buffer(&[2, 3], F32, &[1f32, 5., 5., 7., 2., 3.]);
    let results = run(&text, &[x, buffer(&[2, 3], I32, &[0, 1, 2, 0, 1, 2])]);
    assert_eq!(elements::<f32>(&results[0]), [5., 7.]);
    assert_eq!(elements::<i32>(&results[1]), [1, 0]);
}

#[test]
fn padding_of_windows_does_not_count() {
    let text = function(
        "(%x: tensor<3xi32>, %v: tensor<i32>) -> tensor<4xi32>",
        "%0 = \"stablehlo.reduce_window\"(%x, %v) <{padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
         ^bb0(%a: tensor<i32>, %b: tensor<i32>):
           %1 = stablehlo.add %a, %b : tensor<i32>
           stablehlo.return %1 : tensor<i32>
         }) : (tensor<3xi32>, tensor<i32>) -> tensor<4xi32>
         return %0 : tensor<4xi32>",
    );
    let results = run(
        &text,
        &[buffer(&[3], I32, &[1, 2, 3]), buffer(&[], I32, &[10])],
    );
    assert_eq!(elements::<i32>(&results[0]), [11, 13, 15, 13]);
}

#[test]
fn products_contract_any_axes() {
    let text = function(
        "(%x: tensor<2x2x3xi32>, %y: tensor<3x2x2xi32>) -> tensor<2x2x2xi32>",
        "%0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<2x2x3xi32>, tensor<3x2x2xi32>) -> tensor<2x2x2xi32>
         return %0 : tensor<2x2x2xi32>",
    );
    let numbers: Vec<i32> = (0..12).collect();
    let results = run(
        &text,
        &[
            buffer(&[2, 2, 3], I32, &numbers),
            buffer(&[3, 2, 2], I32, &numbers),
        ],
    );
    let mut expected = Vec::new();
    for b in 0..2 {
        for i in 0..2 {
            for j in 0..2 {
                expected.push(
                    (0..3)
                        .map(|k| (6 * b + 3 * i + k) * (4 * k + 2 * b + j))
                        .sum::<i32>(),
                );
            }
        }
    }
    assert_eq!(elements::<i32>(&results[0]), expected);
}

/// Reversed operands have negative strides, and a large product goes to the library.
#[test]
fn large_products_of_complex_numbers() {
    let text = function(
        "(%x: tensor<30x20xcomplex<f32>>, %y: tensor<20x25xcomplex<f32>>) -> tensor<30x25xcomplex<f32>>",
        "%0 = stablehlo.reverse %x, dims = [0, 1] : tensor<30x20xcomplex<f32>>
         %1 = stablehlo.reverse %y, dims = [0, 1] : tensor<20x25xcomplex<f32>>
         %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<30x20xcomplex<f32>>, tensor<20x25xcomplex<f32>>) -> tensor<30x25xcomplex<f32>>
         return %2 : tensor<30x25xcomplex<f32>>",
    );
    let number = |i: usize| Complex::new((i % 7) as f32 - 3.0, (i % 5) as f32 - 2.0);
    let x: Vec<Complex<f32>> = (0..600).map(number).collect();
    let y: Vec<Complex<f32>> = (0..500).map(|i| number(3 * i + 1)).collect();
    let results = run(
        &text,
        &[buffer(&[30, 20], C64, &x), buffer(&[20, 25], C64, &y)],
    );
    let mut expected = Vec::new();
    for i in (0..30).rev() {
        for j in (0..25).rev() {
            expected.push(
                (0..20)
                    .map(|k| x[20 * i + k] * y[25 * k + j])
                    .sum::<Complex<f32>>(),
            );
        }
    }
    assert_eq!(elements::<Complex<f32>>(&results[0]), expected);
}

/// The region composes the functions `x ↦ a x + b`, whose order matters.
#[test]
fn long_windows_combine_in_order() {
    let (n, lanes) = (100usize, 3);
    let a: Vec<i32> = (0..n * lanes).map(|i| (i * i % 7) as i32 - 3).collect();
    let b: Vec<i32> = (0..n * lanes).map(|i| (i * 5 % 11) as i32 - 4).collect();
    for (size, stride, low, high) in [
        (100, 1, 99, 0),
        (100, 1, 0, 99),
        (40, 3, 20, 10),
        (64, 1, 0, 0),
        (90, 7, 80, 85),
        (150, 1, 100, 60),
    ] {
        let count = (n + low + high - size) / stride + 1;
        let text = function(
            &format!("(%a: tensor<{n}x{lanes}xi32>, %b: tensor<{n}x{lanes}xi32>) -> (tensor<{count}x{lanes}xi32>, tensor<{count}x{lanes}xi32>)"),
            &format!(
                "%one = stablehlo.constant dense<1> : tensor<i32>
                 %zero = stablehlo.constant dense<0> : tensor<i32>
                 %0:2 = \"stablehlo.reduce_window\"(%a, %b, %one, %zero) <{{padding = dense<[[{low}, {high}], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: {size}, 1>, window_strides = array<i64: {stride}, 1>}}> ({{
                 ^bb0(%a1: tensor<i32>, %b1: tensor<i32>, %a2: tensor<i32>, %b2: tensor<i32>):
                   %1 = stablehlo.multiply %a1, %a2 : tensor<i32>
                   %2 = stablehlo.multiply %b1, %a2 : tensor<i32>
                   %3 = stablehlo.add %2, %b2 : tensor<i32>
                   stablehlo.return %1, %3 : tensor<i32>, tensor<i32>
                 }}) : (tensor<{n}x{lanes}xi32>, tensor<{n}x{lanes}xi32>, tensor<i32>, tensor<i32>) -> (tensor<{count}x{lanes}xi32>, tensor<{count}x{lanes}xi32>)
                 return %0#0, %0#1 : tensor<{count}x{lanes}xi32>, tensor<{count}x{lanes}xi32>"
            ),
        );
        let shape = [n, lanes];
        let results = run(&text, &[buffer(&shape, I32, &a), buffer(&shape, I32, &b)]);
        let (mut expected_a, mut expected_b) = (Vec::new(), Vec::new());
        for window in 0..count {
            let first = (window * stride).saturating_sub(low);
            let end = (window * stride + size).saturating_sub(low).min(n);
            for lane in 0..lanes {
                let (mut p, mut q) = (1i32, 0i32);
                for i in (first..end).map(|i| i * lanes + lane) {
                    p = p.wrapping_mul(a[i]);
                    q = q.wrapping_mul(a[i]).wrapping_add(b[i]);
                }
                expected_a.push(p);
                expected_b.push(q);
            }
        }
        assert_eq!(elements::<i32>(&results[0]), expected_a);
        assert_eq!(elements::<i32>(&results[1]), expected_b);
    }
}

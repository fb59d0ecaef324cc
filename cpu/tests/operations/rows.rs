//! Reductions of rows and columns, which run together with elementwise operations.

use crate::{buffer, elements, function};
use ramie_cpu::ElementType::*;
use ramie_cpu::Program;

/// Returns the text of a softmax over the rows of a matrix `%x`: the array, the sums of rows, the sums of columns of
/// its product with `%x`, the sum of all sums, and the array in another shape.
fn softmax(rows: usize, columns: usize, element: &str) -> String {
    let (x, r, c) = (
        format!("tensor<{rows}x{columns}x{element}>"),
        format!("tensor<{rows}x{element}>"),
        format!("tensor<{columns}x{element}>"),
    );
    let (s, v) = (
        format!("tensor<{element}>"),
        format!("tensor<{}x1x{element}>", rows * columns),
    );
    let k = format!("tensor<{rows}x1x{element}>");
    function(
        &format!("(%x: {x}) -> ({x}, {k}, {c}, {s}, {v})"),
        &format!(
            "%low = stablehlo.constant dense<-1.0e30> : {s}
             %z = stablehlo.constant dense<0.0> : {s}
             %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : ({x}, {s}) -> {r}
             %mb = stablehlo.broadcast_in_dim %m, dims = [0] : ({r}) -> {x}
             %d = stablehlo.subtract %x, %mb : {x}
             %e = stablehlo.exponential %d : {x}
             %t = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : ({x}, {s}) -> {r}
             %tk = stablehlo.reshape %t : ({r}) -> {k}
             %tb = stablehlo.broadcast_in_dim %tk, dims = [0, 1] : ({k}) -> {x}
             %y = stablehlo.divide %e, %tb : {x}
             %w = stablehlo.multiply %y, %x : {x}
             %c = stablehlo.reduce(%w init: %z) applies stablehlo.add across dimensions = [0] : ({x}, {s}) -> {c}
             %a = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [0] : ({r}, {s}) -> {s}
             %v = stablehlo.reshape %y : ({x}) -> {v}
             %n = stablehlo.negate %v : {v}
             return %y, %tk, %c, %a, %n : {x}, {k}, {c}, {s}, {v}"
        ),
    )
}

/// Returns the results of [`softmax`].
fn expected(x: &[f64], columns: usize) -> [Vec<f64>; 5] {
    let (mut all, mut sums, mut weighted) = (Vec::new(), Vec::new(), vec![0.0; columns]);
    for row in x.chunks(columns) {
        let most = row.iter().copied().fold(f64::MIN, f64::max);
        let e: Vec<f64> = row.iter().map(|x| (x - most).exp()).collect();
        let sum: f64 = e.iter().sum();
        for (i, (e, x)) in e.iter().zip(row).enumerate() {
            all.push(e / sum);
            weighted[i] += e / sum * x;
        }
        sums.push(sum);
    }
    let (total, negated) = (vec![sums.iter().sum()], all.iter().map(|x| -x).collect());
    [all, sums, weighted, total, negated]
}

/// Rows shorter than a vector, of a few tiles and longer than those that run together; one row; a single column.
const SHAPES: &[(usize, usize)] = &[
    (1347, 10),
    (2000, 96),
    (300, 129),
    (5, 8192),
    (7, 8193),
    (1, 1000),
    (20_000, 1),
    (3, 17),
];

#[test]
fn rows_and_columns_reduce_in_one_operation() {
    for &(rows, columns) in SHAPES {
        let x: Vec<f32> = (0..rows * columns)
            .map(|i| (i * 7919 % 1013) as f32 / 200.0 - 2.0)
            .collect();
        let program = Program::compile(&softmax(rows, columns, "f32")).unwrap();
        let argument = || buffer(&[rows, columns], F32, &x);
        // The memory of an argument without other uses becomes that of a result.
        let results = program.run_owned(vec![argument()]).unwrap();
        let exact: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        for (i, (result, exact)) in results.iter().zip(expected(&exact, columns)).enumerate() {
            for (x, exact) in elements::<f32>(result).into_iter().zip(exact) {
                let error = (f64::from(x) - exact).abs();
                assert!(
                    error <= 1e-5 * exact.abs() + 1e-6,
                    "result {i} of {rows} rows of {columns}: {x} is not {exact}"
                );
            }
        }
        for threads in [1, 2, 8] {
            let program = Program::compile(&softmax(rows, columns, "f32")).unwrap();
            let others = program.with_threads(threads).run(&[&argument()]).unwrap();
            let bits = results
                .iter()
                .zip(&others)
                .all(|(a, b)| a.bytes() == b.bytes());
            assert!(
                bits,
                "{threads} threads give other bits: {rows} rows of {columns}"
            );
        }
    }
}

/// Sums of narrow floats are computed in `f32`.
#[test]
fn narrow_floats_reduce_in_one_operation() {
    let (rows, columns) = (200, 300);
    let exact: Vec<f64> = (0..rows * columns)
        .map(|i| (i * 7919 % 128) as f64 / 32.0 - 2.0)
        .collect();
    let bits = |x: &f64| ((*x as f32).to_bits() >> 16) as u16;
    let x: Vec<u16> = exact.iter().map(bits).collect();
    let program = Program::compile(&softmax(rows, columns, "bf16")).unwrap();
    let results = program.run(&[&buffer(&[rows, columns], Bf16, &x)]).unwrap();
    for (result, exact) in results.iter().zip(expected(&exact, columns)) {
        for (x, exact) in elements::<u16>(result).into_iter().zip(exact) {
            let x = f64::from(f32::from_bits(u32::from(x) << 16));
            assert!(
                (x - exact).abs() <= 0.02 * exact.abs() + 0.02,
                "{x} is not {exact}"
            );
        }
    }
}

//! Loops, branches and calls.

use crate::{buffer, elements, function, run, ty};
use ramie_cpu::ElementType::*;
use ramie_cpu::Program;

#[test]
fn loops_capture_values_and_update_in_place() {
    let text = function(
        "(%n: tensor<i32>, %step: tensor<i32>) -> (tensor<i32>, tensor<4xi32>)",
        "%zero = stablehlo.constant dense<0> : tensor<i32>
         %empty = stablehlo.constant dense<0> : tensor<4xi32>
         %0:2 = stablehlo.while(%i = %zero, %a = %empty) : tensor<i32>, tensor<4xi32>
         cond {
           %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %1 : tensor<i1>
         } do {
           %one = stablehlo.constant dense<1> : tensor<i32>
           %1 = stablehlo.multiply %i, %step : tensor<i32>
           %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
           %3 = stablehlo.dynamic_update_slice %a, %2, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
           %4 = stablehlo.add %i, %one : tensor<i32>
           stablehlo.return %4, %3 : tensor<i32>, tensor<4xi32>
         }
         return %0#0, %0#1 : tensor<i32>, tensor<4xi32>",
    );
    let results = run(&text, &[buffer(&[], I32, &[4]), buffer(&[], I32, &[3])]);
    assert_eq!(elements::<i32>(&results[0]), [4]);
    assert_eq!(elements::<i32>(&results[1]), [0, 3, 6, 9]);
}

/// The body multiplies by a transposed matrix, which it carries unchanged as JAX's loops do, and which the loop
/// rearranges before it starts.
#[test]
fn loops_multiply_by_matrices_that_they_carry() {
    let text = function(
        "(%x: tensor<2x2xf64>, %w: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>)",
        "%zero = stablehlo.constant dense<0> : tensor<i32>
         %two = stablehlo.constant dense<2> : tensor<i32>
         %0:3 = stablehlo.while(%i = %zero, %a = %x, %c = %w) : tensor<i32>, tensor<2x2xf64>, tensor<2x2xf64>
         cond {
           %1 = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %1 : tensor<i1>
         } do {
           %one = stablehlo.constant dense<1> : tensor<i32>
           %1 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [1] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
           %2 = stablehlo.add %i, %one : tensor<i32>
           stablehlo.return %2, %1, %c : tensor<i32>, tensor<2x2xf64>, tensor<2x2xf64>
         }
         return %0#1, %0#2 : tensor<2x2xf64>, tensor<2x2xf64>",
    );
    let w = [1.0, 2.0, 0.0, 3.0];
    let arguments = [
        buffer(&[2, 2], F64, &[1.0, 0.0, 2.0, 3.0]),
        buffer(&[2, 2], F64, &w),
    ];
    let results = run(&text, &arguments);
    assert_eq!(elements::<f64>(&results[0]), [1.0, 0.0, 26.0, 27.0]);
    assert_eq!(elements::<f64>(&results[1]), w);
}

/// The body multiplies by transposed captured matrices, which the loop rearranges before it starts, one of them not
/// if another operation reads it too.
#[test]
fn loops_multiply_by_captured_matrices() {
    let text = function(
        "(%x: tensor<2x3xf64>, %w: tensor<1x3x3xf64>, %v: tensor<3x3xf64>) -> tensor<2x3xf64>",
        "%zero = stablehlo.constant dense<0> : tensor<i32>
         %two = stablehlo.constant dense<2> : tensor<i32>
         %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2x3xf64>
         cond {
           %1 = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %1 : tensor<i1>
         } do {
           %one = stablehlo.constant dense<1> : tensor<i32>
           %1 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [2] : (tensor<2x3xf64>, tensor<1x3x3xf64>) -> tensor<2x1x3xf64>
           %2 = stablehlo.reshape %1 : (tensor<2x1x3xf64>) -> tensor<2x3xf64>
           %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [1] : (tensor<2x3xf64>, tensor<3x3xf64>) -> tensor<2x3xf64>
           %4 = stablehlo.dot_general %3, %v, contracting_dims = [1] x [0] : (tensor<2x3xf64>, tensor<3x3xf64>) -> tensor<2x3xf64>
           %5 = stablehlo.dot_general %one, %two, contracting_dims = [] x [] : (tensor<i32>, tensor<i32>) -> tensor<i32>
           %6 = stablehlo.subtract %5, %one : tensor<i32>
           %7 = stablehlo.add %i, %6 : tensor<i32>
           stablehlo.return %7, %4 : tensor<i32>, tensor<2x3xf64>
         }
         return %0#1 : tensor<2x3xf64>",
    );
    let w = [1.0, 2.0, 0.0, 0.0, 1.0, -1.0, 3.0, 0.0, 1.0];
    let v = [0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0, -1.0, 1.0];
    let x = [1.0, 0.0, 2.0, -1.0, 1.0, 0.0];
    let times = |a: &[f64], at: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        let element = |i: usize| (0..3).map(|k| a[i / 3 * 3 + k] * at(k, i % 3)).sum();
        (0..6).map(element).collect()
    };
    let mut expected = x.to_vec();
    for _ in 0..2 {
        expected = times(&expected, &|k, j| w[3 * j + k]);
        expected = times(&expected, &|k, j| v[3 * j + k]);
        expected = times(&expected, &|k, j| v[3 * k + j]);
    }
    let arguments = [
        buffer(&[2, 3], F64, &x),
        buffer(&[1, 3, 3], F64, &w),
        buffer(&[3, 3], F64, &v),
    ];
    assert_eq!(elements::<f64>(&run(&text, &arguments)[0]), expected);
}

#[test]
fn branches_out_of_range_are_the_last() {
    let text = function(
        "(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32>",
        "%0 = \"stablehlo.case\"(%i) ({
           stablehlo.return %x : tensor<f32>
         }, {
           %1 = stablehlo.negate %x : tensor<f32>
           stablehlo.return %1 : tensor<f32>
         }) : (tensor<i32>) -> tensor<f32>
         return %0 : tensor<f32>",
    );
    for (i, expected) in [(0, 2.0), (1, -2.0), (7, -2.0), (-1, -2.0)] {
        let results = run(&text, &[buffer(&[], I32, &[i]), buffer(&[], F32, &[2f32])]);
        assert_eq!(elements::<f32>(&results[0]), [expected]);
    }
}

#[test]
fn parameters_may_be_results() {
    let text = function(
        "(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)",
        "return %x, %x : tensor<2xi32>, tensor<2xi32>",
    );
    let results = run(&text, &[buffer(&[2], I32, &[1, 2])]);
    assert_eq!(elements::<i32>(&results[1]), [1, 2]);
}

#[test]
fn chains_of_calls_are_long() {
    let n = 5000;
    let mut text = String::from("module @test {\n");
    for i in 0..n {
        let callee = match i {
            0 => "stablehlo.negate %x : tensor<i32>".to_owned(),
            _ => format!("func.call @f{}(%x) : (tensor<i32>) -> tensor<i32>", i - 1),
        };
        let name = if i == n - 1 {
            "main".to_owned()
        } else {
            format!("f{i}")
        };
        text += &format!(
            "func.func @{name}(%x: tensor<i32>) -> tensor<i32> {{
               %0 = {callee}
               %1 = stablehlo.add %0, %x : tensor<i32>
               return %1 : tensor<i32>
             }}\n"
        );
    }
    let results = run(&(text + "}\n"), &[buffer(&[], I32, &[1])]);
    assert_eq!(elements::<i32>(&results[0]), [n - 1]);
}

#[test]
fn tokens_and_tuples_are_as_many_arrays_as_they_contain() {
    let text = function(
        "(%t: !stablehlo.token, %x: tensor<2xi32> {jax.buffer_donor = true}) -> tuple<tensor<i32>, tensor<2xi32>>",
        "%0 = stablehlo.constant dense<7> : tensor<i32>
         %1 = stablehlo.tuple %0, %x : tuple<tensor<i32>, tensor<2xi32>>
         return %1 : tuple<tensor<i32>, tensor<2xi32>>",
    );
    let program = Program::compile(&text).unwrap();
    assert_eq!(program.parameters(), [ty(&[2], I32)]);
    assert_eq!(program.results(), [ty(&[], I32), ty(&[2], I32)]);
    assert_eq!(program.aliases(), [Some(1)]);
    let results = program.run(&[&buffer(&[2], I32, &[1, 2])]).unwrap();
    assert_eq!(elements::<i32>(&results[1]), [1, 2]);
}

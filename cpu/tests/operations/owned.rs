//! Memory that the caller gives up is used again, and memory that is shared is not.

use crate::{buffer, elements, function};
use ramie_cpu::ElementType::*;
use ramie_cpu::Program;

#[test]
fn owned_memory_is_written_in_place_unless_it_is_shared() {
    let text = function(
        "(%x: tensor<4xi32>, %i: tensor<i32>) -> tensor<4xi32>",
        "%0 = stablehlo.constant dense<7> : tensor<1xi32>
         %1 = stablehlo.dynamic_update_slice %x, %0, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
         return %1 : tensor<4xi32>",
    );
    let program = Program::compile(&text).unwrap();
    let x = || buffer(&[4], I32, &[1i32, 2, 3, 4]);
    let i = || buffer(&[], I32, &[2i32]);

    let given = x();
    let memory = given.bytes().as_ptr();
    let result = program.run_owned(vec![given, i()]).unwrap().remove(0);
    assert_eq!(elements::<i32>(&result), [1, 2, 7, 4]);
    assert_eq!(result.bytes().as_ptr(), memory);

    let shared = x();
    let result = program
        .run_owned(vec![shared.clone(), i()])
        .unwrap()
        .remove(0);
    assert_eq!(elements::<i32>(&result), [1, 2, 7, 4]);
    assert_eq!(elements::<i32>(&shared), [1, 2, 3, 4]);
}

#[test]
fn elementwise_results_are_written_over_operands() {
    const N: usize = 100_000;
    let text = function(
        "(%x: tensor<100000xf32>, %y: tensor<100000xf32>) -> tensor<100000xf32>",
        "%0 = stablehlo.add %x, %x : tensor<100000xf32>
         %1 = stablehlo.subtract %y, %0 : tensor<100000xf32>
         return %1 : tensor<100000xf32>",
    );
    let program = Program::compile(&text).unwrap().with_threads(2);
    let numbers = |step: f32| (0..N).map(|i| i as f32 * step).collect::<Vec<f32>>();
    let x = buffer(&[N], F32, &numbers(1.0));
    let y = buffer(&[N], F32, &numbers(3.0));
    let shared = y.clone();
    let memory = x.bytes().as_ptr();
    let result = program.run_owned(vec![x, y]).unwrap().remove(0);
    assert_eq!(elements::<f32>(&result), numbers(1.0));
    assert_eq!(result.bytes().as_ptr(), memory);
    assert_eq!(elements::<f32>(&shared), numbers(3.0));
}

/// Returns the text of a sum over an array of 4096 numbers.
fn sum(result: &str, array: &str) -> String {
    format!(
        "{result} = stablehlo.reduce({array} init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>\n"
    )
}

const ARRAY: usize = 4096 * 4;

#[test]
fn one_array_is_finished_before_the_next() {
    let text = function(
        "(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> (tensor<f32>, tensor<f32>)",
        &format!(
            "%z = stablehlo.constant dense<0.0> : tensor<f32>
             %0 = stablehlo.sine %x : tensor<4096xf32>
             %1 = stablehlo.sine %y : tensor<4096xf32>
             {}{}return %2, %3 : tensor<f32>, tensor<f32>",
            sum("%2", "%0"),
            sum("%3", "%1"),
        ),
    );
    let peak = Program::compile(&text).unwrap().peak();
    assert!(peak < ARRAY + 64, "{peak} bytes");
}

#[test]
fn small_results_of_large_arrays_are_computed_early() {
    // Each array has two sums. If the sums moved to their use, both arrays would be in use at a time.
    let text = function(
        "(%x: tensor<4096xf32>) -> tensor<f32>",
        &format!(
            "%z = stablehlo.constant dense<0.0> : tensor<f32>
             %0 = stablehlo.sine %x : tensor<4096xf32>
             {}{}%3 = stablehlo.multiply %1, %2 : tensor<f32>
             %4 = stablehlo.cosine %x : tensor<4096xf32>
             {}{}%7 = stablehlo.multiply %5, %6 : tensor<f32>
             %8 = stablehlo.multiply %3, %7 : tensor<f32>
             return %8 : tensor<f32>",
            sum("%1", "%0"),
            sum("%2", "%0"),
            sum("%5", "%4"),
            sum("%6", "%4"),
        ),
    );
    let peak = Program::compile(&text).unwrap().peak();
    assert!(peak < ARRAY + 64, "{peak} bytes");
}

//! Results have the same bits for any number of threads.

use crate::{buffer, elements, function};
use ramie_cpu::ElementType::*;
use ramie_cpu::Program;

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let text = function(
        "(%x: tensor<300x1000xf32>) -> (tensor<f32>, tensor<300xf32>, tensor<1000xf32>, tensor<300x300xf32>)",
        "%v = stablehlo.constant dense<0.0> : tensor<f32>
         %0 = stablehlo.sine %x : tensor<300x1000xf32>
         %1 = stablehlo.reduce(%0 init: %v) applies stablehlo.add across dimensions = [0, 1] : (tensor<300x1000xf32>, tensor<f32>) -> tensor<f32>
         %2 = stablehlo.reduce(%0 init: %v) applies stablehlo.add across dimensions = [1] : (tensor<300x1000xf32>, tensor<f32>) -> tensor<300xf32>
         %3 = stablehlo.reduce(%0 init: %v) applies stablehlo.add across dimensions = [0] : (tensor<300x1000xf32>, tensor<f32>) -> tensor<1000xf32>
         %4 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [1] : (tensor<300x1000xf32>, tensor<300x1000xf32>) -> tensor<300x300xf32>
         return %1, %2, %3, %4 : tensor<f32>, tensor<300xf32>, tensor<1000xf32>, tensor<300x300xf32>",
    );
    let x: Vec<f32> = (0..300_000).map(|i| (i % 1013) as f32 * 0.37).collect();
    let x = buffer(&[300, 1000], F32, &x);
    let bits = |threads: usize| -> Vec<Vec<u32>> {
        let program = Program::compile(&text).unwrap().with_threads(threads);
        program.run(&[&x]).unwrap().iter().map(elements).collect()
    };
    let one = bits(1);
    for threads in [2, 3, 8] {
        assert!(bits(threads) == one, "{threads} threads give other bits");
    }
}

//! `debug_nans` with losses. The switch belongs to the process, so these tests are a program of their own.

use ramie_core::config::debug_nans;
use ramie_core::{Array, jit};
use ramie_optim::softmax_cross_entropy_with_integer_labels;
use ramie_testing::panic_message;

#[test]
fn a_label_out_of_range_is_reported_at_the_line_of_the_program() {
    debug_nans(true);
    let logits = Array::from([[1.0f32, 2.0], [1.0, 2.0]]);
    let loss = jit(|(logits, labels): (Array, Array)| {
        softmax_cross_entropy_with_integer_labels(&logits, &labels).mean()
    });
    // No constant of the loss is mistaken for a NaN of the program.
    let labels = Array::from([0i32, 1]);
    let fine = softmax_cross_entropy_with_integer_labels(&logits, &labels).mean();
    assert!((loss((logits.clone(), labels)).item::<f32>() - fine.item::<f32>()).abs() < 1e-6);
    let text = panic_message(|| loss((logits, Array::from([0i32, -1]))));
    assert!(text.contains("has NaN in "), "{text}");
    let line = "debug_nans.rs:13:";
    assert!(text.contains(line), "{text}");
}

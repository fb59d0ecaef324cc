//! Operands that are neither arrays nor numbers.
use ramie_core::{Array, where_};

fn main() {
    let x = Array::from([1.0f32]);
    // A text.
    let _ = &x + "1";
    // A list.
    x.maximum([1.0, 2.0]);
    // An option.
    where_(x.gt(0.0), Some(1.0), 0.0);
    // A number on the left that is neither `f64` nor `i64`.
    let rate = 0.5f32;
    let _ = rate * &x;
}

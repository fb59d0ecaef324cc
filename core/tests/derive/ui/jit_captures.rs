//! Closures that threads cannot share.
use ramie_core::{Array, jit};
use std::rc::Rc;

fn main() {
    let scale = Rc::new(2.0f32);
    jit(move |x: Array| x * *scale);
}

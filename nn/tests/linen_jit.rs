//! How often parts of models are compiled: alone in this process, which counts.

use ramie_core::{Array, DType, compilation_stats, jit, make_jaxpr, random};
use ramie_nn::linen::{self, Dense, Module, Scope};

fn x() -> Array {
    random::normal(&random::key(7), &[3, 4], DType::F32)
}

#[test]
fn parts_are_compiled_once() {
    let model = linen::method(|scope: &mut Scope, x: Array| {
        let x = scope.child(&linen::jit(Dense::new(4)), x);
        scope.child(&linen::jit(Dense::new(4)), x)
    });
    let made = model.init(0, x());
    let run = || model.apply(&made, x());
    let first = run().to_vec::<f32>();
    let before = compilation_stats();
    for _ in 0..3 {
        assert_eq!(run().to_vec::<f32>(), first);
    }
    assert_eq!(compilation_stats(), before);
    // Within a compiled function it is one function, called twice.
    let variables = Array::shape_dtype_struct(&[3, 4], DType::F32);
    let text = make_jaxpr(|x: Array| model.apply(&made, x))(variables).to_string();
    assert_eq!(text.matches("jit[").count(), 2, "{text}");
    let whole = jit(|x: Array| model.apply(&made, x))(x());
    for (a, b) in whole.to_vec::<f32>().iter().zip(&first) {
        assert!((a - b).abs() < 1e-6);
    }
}

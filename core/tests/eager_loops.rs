//! Control flow outside of `jit`: how often it is compiled. A test crate of its
//! own, since others compile at the same time.

use ramie_core::lax::scan;
use ramie_core::*;

fn numbers(values: &[f32]) -> Array {
    Array::from(values.to_vec())
}

/// Outside of `jit` one compiled loop serves all closures of one program.
#[test]
fn eager_loops_are_compiled_once() {
    let run = |w: f32| {
        let w = Array::from(vec![w, 1.0]);
        let step = |c: Array, x: Array| (c * &w + x, ());
        scan(step, numbers(&[1.0, 2.0]), numbers(&[1.0, 2.0, 3.0])).0
    };
    run(1.0);
    let before = compilation_stats();
    for w in [2.0, 3.0, 4.0] {
        run(w);
    }
    let after = compilation_stats();
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
}

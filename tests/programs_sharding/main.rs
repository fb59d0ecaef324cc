//! The reference programs, part E: programs on many devices, here on 8 virtual
//! ones. Explicit sharding has tests of its own.

#[path = "../../examples/collective_matmul/matmul.rs"]
mod matmul;
mod modes;
mod moe;
mod products;
#[path = "../../benches/steps/traffic.rs"]
mod traffic;

use ramie::*;
use ramie_testing::cpu_mesh as mesh;

/// Small whole numbers, whose products and sums are exact in any order.
fn whole(seed: usize, shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let at = |i: usize| ((i * 7 + seed * 3) % 11) as f32 - 5.0;
    Array::from_vec((0..n).map(at).collect(), shape)
}

fn on(mesh: Mesh, x: &Array, spec: PartitionSpec) -> Array {
    device_put(x, NamedSharding::new(mesh, spec))
}

#[track_caller]
fn assert_equal(got: &Array, want: &Array) {
    assert_eq!(got.shape(), want.shape());
    assert!(
        got.to_vec::<f32>() == want.to_vec::<f32>(),
        "the results differ"
    );
}

//! Programs with control flow: values, derivatives in both modes, and batches,
//! as JAX has them.

use ramie_testing::golden::Golden;

#[test]
fn control_flow_agrees_with_jax() {
    let golden = Golden::open("control");
    let ops = golden.ops();
    assert_eq!(ops.len(), 16);
    ramie_testing::walk(golden, &ops, &ramie_testing::control::apply);
}

//! Programs with control flow: values, derivatives in both modes, and batches,
//! as JAX has them.

use crate::common;

use common::golden::Golden;

#[test]
fn control_flow_agrees_with_jax() {
    let golden = Golden::open("control");
    let ops = golden.ops();
    assert_eq!(ops.len(), 16);
    common::walk(&golden, &ops, &common::control::apply);
}

//! Names of dimensions, and rules.

use crate::mesh;
use ramie::options::ShardMapOptions;
use ramie::sharding::{
    LogicalAxisRules, SpecEntry, logical_to_mesh, set_logical_axis_rules, with_logical_axis_rules,
    with_logical_constraint,
};
use ramie::*;

#[test]
fn rules_are_followed_in_order() {
    let rules = LogicalAxisRules::new()
        .rule("batch", "X")
        .rule("features", "X")
        .rule("heads", "Y")
        .rule("batch", "Z");
    let spec = |logical: PartitionSpec| rules.to_mesh(&logical);
    // What Flax's documentation gives.
    assert_eq!(
        spec(P!["batch", "length", "heads", "features"]),
        P!["X", None, "Y", None]
    );
    assert_eq!(spec(P!["features", "batch"]), P![None, "X"]);
    assert_eq!(spec(P!["features", None]), P!["X", None]);
    assert_eq!(spec(P![]), P![]);
    // A name that is taken is passed over, also as one of several.
    let rules = LogicalAxisRules::new()
        .rule("embed", ("X", "Y"))
        .rule("mlp", "Y")
        .rule("mlp", "Z");
    assert_eq!(rules.to_mesh(&P!["embed", "mlp"]), P![("X", "Y"), "Z"]);
    // None is a rule, too, and later ones do not count.
    let rules = LogicalAxisRules::new()
        .rule("mlp", SpecEntry::None)
        .rule("mlp", "Z");
    assert_eq!(rules.to_mesh(&P!["mlp"]), P![None]);
    assert_eq!(
        rules.to_mesh(&P![SpecEntry::Unconstrained]),
        P![SpecEntry::Unconstrained]
    );
}

#[test]
fn rules_are_current_in_a_scope_and_part_of_what_is_compiled() {
    let mesh = mesh(&[4, 2], &["x", "y"]);
    let f = jit(|x: Array| with_logical_constraint(&(x * 2.0), P!["batch", "embed"]));
    let x = Array::ones(&[8, 8], DType::F32);
    let spec = |out: Array| {
        out.sharding()
            .and_then(|s| s.named())
            .map(|n| n.spec().clone())
    };
    // Without a mesh or rules, nothing is said.
    assert_eq!(spec(f(x.clone())), None);
    let _mesh = set_mesh(mesh);
    let placed = device_put(&x, P![]);
    let rules = LogicalAxisRules::new().rule("batch", "x");
    let other = LogicalAxisRules::new().rule("embed", "y");
    assert_eq!(logical_to_mesh(&P!["batch"]), P![None]);
    let a = with_logical_axis_rules(rules, || {
        assert_eq!(logical_to_mesh(&P!["batch"]), P!["x"]);
        spec(f(placed.clone()))
    });
    let b = with_logical_axis_rules(other, || spec(f(placed.clone())));
    assert_eq!(a, Some(P!["x", None]));
    assert_eq!(b, Some(P![None, "y"]));
    // In the body of a shard_map, manual axes are no longer the compiler's matter.
    let _rules = set_logical_axis_rules(rules.rule("embed", "y"));
    let options = ShardMapOptions {
        axis_names: Some("x".into()),
        ..ShardMapOptions::new(P!["x"], P!["x"])
    };
    let part = |x: Array| with_logical_constraint(&x, P!["batch", "embed"]) + 1.0;
    let out = jit(shard_map_with(part, options))(placed);
    assert_eq!(out.to_vec::<f32>(), [2.0; 64]);
}

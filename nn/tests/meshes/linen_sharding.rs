//! Shardings of Linen's variables, from initializers to compiled programs over
//! 8 virtual devices.

use ramie_core::lax::pmean;
use ramie_core::options::{JitOptions, PmapOptions};
use ramie_core::sharding::{
    LogicalAxisRules, with_logical_axis_rules, with_logical_constraint, with_mesh,
};
use ramie_core::{
    Array, DType, Mesh, NamedSharding, P, State, device_put, eval_shape, jit_with, pmap_with,
    random,
};
use ramie_nn::init;
use ramie_nn::linen::{self, Dense, Module, Scope, Variables};
use ramie_nn::training::{get_metrics, shard, shard_prng_key};
use ramie_testing::cpu_mesh;

fn mesh() -> Mesh {
    cpu_mesh(&[2, 4], &["data", "model"])
}

/// Layers of a network whose dimensions have names.
#[derive(Clone)]
struct Block;

impl Module<(Array, ()), (Array, ())> for Block {
    fn call(&self, scope: &mut Scope, (x, ()): (Array, ())) -> (Array, ()) {
        let up = init::lecun_normal().with_partitioning(P!["embed", "mlp"]);
        let down = init::lecun_normal().with_partitioning(P!["mlp", "embed"]);
        let h = scope.named("up", &Dense::new(16).kernel_init(up), x.clone());
        let h = with_logical_constraint(&h.tanh(), P!["batch", "mlp"]);
        let y = scope.named("down", &Dense::new(8).kernel_init(down), h);
        (x + with_logical_constraint(&y, P!["batch", "embed"]), ())
    }
}

fn deep() -> linen::Scan<Block> {
    linen::scan(Block)
        .variable_axes("params", 0)
        .split_rngs("params", true)
        .partition_name("layers")
        .length(3)
}

#[test]
fn from_initializers_to_programs() {
    let mesh = mesh();
    let rules = LogicalAxisRules::new()
        .rule("batch", "data")
        .rule("mlp", "model");
    let x = Array::ones(&[4, 8], DType::F32);
    let make = |x: Array| deep().init(random::key(0), (x, ()));
    // Shardings are known from types alone.
    let types: Variables = eval_shape(make, Array::shape_dtype_struct(&[4, 8], DType::F32));
    let names = types.partition_spec();
    assert_eq!(names["params.up.kernel"], P!["layers", "embed", "mlp"]);
    assert_eq!(names["params.up.bias"], P![]);
    let specs = types.mesh_spec(rules);
    assert_eq!(specs["params.up.kernel"], P![None, None, "model"]);
    assert_eq!(specs["params.down.kernel"], P![None, "model", None]);

    // Parameters are made where they belong, with the numbers that they have anyway.
    let options = JitOptions {
        out_shardings: Some(types.sharding(mesh, Some(rules))),
        ..JitOptions::default()
    };
    let made = jit_with(make, options)(x.clone());
    let plain = make(x.clone());
    for (path, array) in State::of(&made).iter() {
        let sharding = array.sharding().expect("placed");
        let named = sharding.named().expect("over the mesh");
        assert_eq!(named.shard_shape(array.shape()), {
            let whole = NamedSharding::new(mesh, specs[path].clone());
            whole.shard_shape(array.shape())
        });
        let state = State::of(&plain);
        let expected = state.get(path).expect("the same paths").to_vec::<f32>();
        for (a, b) in array.to_vec::<f32>().iter().zip(expected) {
            assert!((a - b).abs() < 1e-6, "{path}");
        }
    }
    assert_eq!(made.partition_spec(), names);
    assert!(
        made.clone()
            .unbox()
            .partition_spec()
            .values()
            .all(|s| *s == P![])
    );

    // The model computes over the mesh what it computes on one device.
    let alone = deep().apply(&plain, (x.clone(), ())).0;
    let placed = device_put(&x, NamedSharding::new(mesh, P!["data"]));
    let forward = jit_with(
        |variables: Variables, x: Array| deep().apply(&variables, (x, ())).0,
        JitOptions::default(),
    );
    let out = with_mesh(mesh, || {
        with_logical_axis_rules(rules, || forward(made, placed))
    });
    for (a, b) in out.to_vec::<f32>().iter().zip(alone.to_vec::<f32>()) {
        assert!((a - b).abs() < 1e-5);
    }
}

#[test]
fn parameters_are_sharded_where_they_are_used() {
    let mesh = mesh();
    let kernel = init::lecun_normal().with_partitioning(P![None, "model"]);
    let dense = Dense::new(8).kernel_init(kernel);
    let x = Array::ones(&[4, 8], DType::F32);
    let variables = dense.init(random::key(0), x.clone());
    let program = |variables: Variables, x: Array| dense.apply(&variables, x);
    let text = |x: &Array| {
        let lowered =
            jit_with(program, JitOptions::default()).lower((variables.clone(), x.clone()));
        lowered.expect("lowered").as_text()
    };
    let placed = device_put(&x, NamedSharding::new(mesh, P!["data"]));
    let over_mesh = with_mesh(mesh, || text(&placed));
    let constraint = "sharding_constraint";
    assert!(over_mesh.contains(constraint), "{over_mesh}");
    assert!(!text(&x).contains(constraint));
    // The numbers are the same.
    let expected = dense.apply(&variables, x).to_vec::<f32>();
    let out = with_mesh(mesh, || {
        jit_with(program, JitOptions::default())(variables, placed)
    });
    for (a, b) in out.to_vec::<f32>().iter().zip(expected) {
        assert!((a - b).abs() < 1e-6);
    }
}

#[test]
fn metrics_of_devices() {
    mesh();
    let x = Array::from_vec((0..32).map(|i| i as f32).collect(), &[16, 2]);
    let parts = shard(&x);
    assert_eq!(parts.shape(), [8, 2, 2]);
    let step = pmap_with(
        |x: Array| (pmean(&x.mean(), "batch"),),
        PmapOptions {
            axis_name: Some("batch".into()),
            ..PmapOptions::default()
        },
    );
    let steps = [step(parts.clone()), step(parts * 2.0)];
    assert_eq!(steps[0].0.shape(), [8]);
    assert_eq!(get_metrics(&steps).0.to_vec::<f32>(), [15.5, 31.0]);
    assert_eq!(shard_prng_key(&random::key(0)).shape(), [8]);
}

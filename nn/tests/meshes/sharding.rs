//! Models over a mesh of 8 virtual devices, by the metadata of their variables.

use ramie_core::options::JitOptions;
use ramie_core::sharding::{
    AxisType, LogicalAxisRules, SpecEntry, make_mesh_with, reshard, with_logical_axis_rules,
};
use ramie_core::*;
use ramie_nn::linen::{self, Module, Scope};
use ramie_nn::{
    AttentionInputs, Embed, Linear, LinearGeneral, MultiHeadAttention, Rngs, get_named_sharding,
    get_partition_spec, init, logical_to_mesh_sharding, put_sharded, shardings_by_path,
};
use ramie_testing::cpu_devices;
use std::collections::BTreeMap;

fn mesh(axis_type: AxisType) -> Mesh {
    cpu_devices(8);
    make_mesh_with(&[2, 4], &["data", "model"], axis_type).unwrap()
}

/// Two dense layers, the first split over its outputs, the second over its
/// inputs.
#[derive(ramie_nn::Module)]
struct Mlp {
    up: Linear,
    down: Linear,
    table: Embed,
}

impl Mlp {
    fn new(rngs: &mut Rngs, [inner, outer]: [&str; 2]) -> Mlp {
        let kernel = |names| init::lecun_normal().with_partitioning(names);
        let bias = init::zeros().with_partitioning(P![inner]);
        Mlp {
            up: Linear::features(16)
                .kernel_init(kernel(P![outer, inner]))
                .bias_init(bias)
                .build(8, rngs),
            down: Linear::features(8)
                .kernel_init(kernel(P![inner, outer]))
                .without_bias()
                .build(16, rngs),
            table: Embed::new(4, 8, rngs),
        }
    }

    fn forward(&self, tokens: &Array) -> Array {
        let x = self.table.forward(tokens);
        self.down.forward(&self.up.forward(&x).relu())
    }
}

fn specs(of: &BTreeMap<String, NamedSharding>) -> Vec<(&str, PartitionSpec)> {
    let entries = of.iter();
    entries
        .map(|(path, s)| (path.as_str(), s.spec().clone()))
        .collect()
}

fn parts(array: &Array) -> Vec<usize> {
    let shards = array.addressable_shards();
    assert_eq!(shards.len(), 8);
    shards[0].data().shape().to_vec()
}

#[test]
fn parameters_are_put_where_their_metadata_say() {
    let mesh = mesh(AxisType::Auto);
    let model = Mlp::new(&mut Rngs::new(0), ["model", "data"]);
    let wanted = [
        ("down.kernel", P!["model", "data"]),
        ("table.embedding", P![]),
        ("up.bias", P!["model"]),
        ("up.kernel", P!["data", "model"]),
    ];
    let said = get_partition_spec(&model);
    let said: Vec<_> = said.iter().map(|(p, s)| (p.as_str(), s.clone())).collect();
    assert_eq!(said, wanted);
    let shardings = get_named_sharding(&model, mesh);
    assert_eq!(specs(&shardings), wanted);

    let tokens = Array::from([0i32, 3, 1, 2]);
    let alone = model.forward(&tokens);
    let placed = put_sharded(&model, &shardings);
    assert_eq!(parts(&placed.up.kernel), [4, 4]);
    assert_eq!(parts(&placed.down.kernel), [4, 4]);
    assert_eq!(parts(placed.up.bias.as_ref().unwrap()), [4]);
    assert_eq!(parts(&placed.table.embedding), [4, 8]);
    let near = placed.forward(&tokens).allclose_with(&alone, (1e-5, 1e-6));
    assert!(near.item::<bool>());
    // The metadata are still there.
    assert_eq!(
        get_partition_spec(&placed)["up.kernel"],
        P!["data", "model"]
    );
}

#[test]
fn logical_names_are_translated_by_rules() {
    let mesh = mesh(AxisType::Auto);
    let model = Mlp::new(&mut Rngs::new(0), ["mlp", "embed"]);
    let rules = LogicalAxisRules::new()
        .rule("mlp", "model")
        .rule("batch", "data");
    // `embed` has no rule, and is not sharded.
    let wanted = [
        ("down.kernel", P!["model", None]),
        ("table.embedding", P![]),
        ("up.bias", P!["model"]),
        ("up.kernel", P![None, "model"]),
    ];
    assert_eq!(
        specs(&logical_to_mesh_sharding(&model, mesh, rules)),
        wanted
    );
    let all = rules.rule("embed", SpecEntry::None);
    let ruled = with_logical_axis_rules(all, || get_named_sharding(&model, mesh));
    assert_eq!(specs(&ruled), wanted);
    // Axes of the mesh beside logical names.
    let mixed = Mlp::new(&mut Rngs::new(0), ["mlp", "data"]);
    let ruled = with_logical_axis_rules(rules, || get_named_sharding(&mixed, mesh));
    assert_eq!(ruled["up.kernel"].spec(), &P!["data", "model"]);
    let placed = put_sharded(&mixed, &ruled);
    assert_eq!(parts(&placed.up.kernel), [4, 4]);
}

#[test]
#[should_panic(expected = "embed")]
fn a_name_that_is_no_axis_is_refused() {
    let mesh = mesh(AxisType::Auto);
    let model = Mlp::new(&mut Rngs::new(0), ["model", "embed"]);
    get_named_sharding(&model, mesh);
}

/// Dense layers in the way of Linen.
struct Linen;

impl Module for Linen {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let kernel = |names| init::lecun_normal().with_partitioning(names);
        let heads =
            linen::DenseGeneral::new([4, 2]).kernel_init(kernel(P!["embed", "heads", "kv"]));
        let x = scope.child(&heads, x);
        let out = linen::DenseGeneral::new(8)
            .axis(&[-2, -1])
            .kernel_init(kernel(P!["heads", "kv", "embed"]))
            .without_bias();
        scope.child(&out, x)
    }
}

#[test]
fn variables_of_linen_are_put_by_the_same_functions() {
    let mesh = mesh(AxisType::Auto);
    let x = Array::ones(&[2, 8], DType::F32);
    let variables = Linen.init(random::key(0), x.clone());
    let said = variables.partition_spec();
    assert_eq!(
        said["params.DenseGeneral_0.kernel"],
        P!["embed", "heads", "kv"]
    );
    assert_eq!(said["params.DenseGeneral_0.bias"], P![]);
    let rules = LogicalAxisRules::new()
        .rule("heads", "model")
        .rule("embed", "data");
    let shardings = logical_to_mesh_sharding(&variables, mesh, rules);
    let spec = |name: &str| shardings[&format!("params.{name}")].spec().clone();
    assert_eq!(spec("DenseGeneral_0.kernel"), P!["data", "model", None]);
    assert_eq!(spec("DenseGeneral_1.kernel"), P!["model", None, "data"]);
    let placed = put_sharded(&variables, &shardings);
    let kernel = &placed["params"]["DenseGeneral_0.kernel"];
    assert_eq!(parts(kernel), [4, 1, 2]);
    let near = Linen.apply(&placed, x.clone());
    let near = near.allclose_with(Linen.apply(&variables, x), (1e-5, 1e-6));
    assert!(near.item::<bool>());
}

#[test]
fn a_model_is_made_where_it_is_to_be() {
    let mesh = mesh(AxisType::Auto);
    let make = |key: random::Key| Mlp::new(&mut Rngs::from_key(key), ["model", "data"]);
    let alone = make(random::key(0));
    let same = |model: &Mlp| {
        assert_eq!(parts(&model.up.kernel), [4, 4]);
        assert_eq!(parts(&model.down.kernel), [4, 4]);
        let near = model
            .up
            .kernel
            .allclose_with(&*alone.up.kernel, (1e-6, 1e-7));
        assert!(near.item::<bool>());
    };
    // Compiled, by the types of the model.
    let types = eval_shape(make, random::key(0));
    let options = JitOptions {
        out_shardings: Some(shardings_by_path(get_named_sharding(&types, mesh))),
        ..JitOptions::default()
    };
    same(&jit_with(make, options)(random::key(0)));
    // With the mesh current, value by value, or with the compiler told so.
    let _current = set_mesh(mesh);
    same(&make(random::key(0)));
    same(&jit(make)(random::key(0)));
    // The kernel of several axes is drawn as a matrix, and put as what it is.
    let names = init::lecun_normal().with_partitioning(P!["data", "model", None]);
    let heads = LinearGeneral::features([4, 3]).kernel_init(names);
    let heads = heads.build(8, &mut Rngs::new(0));
    assert_eq!(parts(&heads.kernel), [4, 1, 3]);
}

#[test]
fn results_are_sharded_over_explicit_axes() {
    let mesh = mesh(AxisType::Explicit);
    let _current = set_mesh(mesh);
    let model = Mlp::new(&mut Rngs::new(0), ["model", "data"]);
    assert_eq!(model.up.kernel.aval().to_string(), "f32[8@data,16@model]");
    let x = reshard(&Array::ones(&[4, 8], DType::F32), P!["data", None]);
    let up = Linear::features(16)
        .without_bias()
        .build(8, &mut Rngs::new(0));
    let y = up.forward_with(&x, P!["data", "model"]);
    assert_eq!(y.aval().to_string(), "f32[4@data,16@model]");
    let heads = LinearGeneral::features([4, 4]).without_bias();
    let heads = heads.build(8, &mut Rngs::new(0));
    let y = heads.forward_with(&x, P!["data", "model"]);
    assert_eq!(y.aval().to_string(), "f32[4@data,4@model,4]");
    let einsum = ramie_nn::Einsum::equation("bd,dhk->bhk", [8, 4, 4]).without_bias();
    let y = einsum
        .build(&mut Rngs::new(0))
        .forward_with(&x, P!["data", "model"]);
    assert_eq!(y.aval().to_string(), "f32[4@data,4@model,4]");
    let embed = Embed::new(8, 4, &mut Rngs::new(0));
    let tokens = reshard(&Array::from([1i32, 5, 2, 7]), P!["data"]);
    let y = embed.forward_with(&tokens, P!["data", "model"]);
    assert_eq!(y.aval().to_string(), "f32[4@data,4@model]");
    let whole = Embed::new(8, 4, &mut Rngs::new(0))
        .embedding
        .take(&Array::from([1i32, 5, 2, 7]), 0);
    assert_eq!(y.to_vec::<f32>(), whole.to_vec::<f32>());
    let logits = embed.attend_with(&reshard(&y, P!["data", None]), P!["data", "model"]);
    assert_eq!(logits.aval().to_string(), "f32[4@data,8@model]");
    let conv = ramie_nn::Conv::features(4, 3).without_bias();
    let conv = conv.build(8, &mut Rngs::new(0));
    let images = reshard(&Array::ones(&[2, 6, 8], DType::F32), P!["data"]);
    let y = conv.forward_with(&images, P!["data", None, "model"]);
    assert_eq!(y.aval().to_string(), "f32[2@data,6,4@model]");
}

#[test]
fn attention_is_sharded_over_explicit_axes() {
    let mesh = mesh(AxisType::Explicit);
    let x = random::normal(&random::key(0), &[4, 3, 8], DType::F32);
    let config = MultiHeadAttention::heads(4).use_bias(false);
    let whole = config.build(8, &mut Rngs::new(0)).forward(&x);
    let _current = set_mesh(mesh);
    let x = reshard(&x, P!["data"]);
    let mut layer = config.build(8, &mut Rngs::new(0));
    let call = AttentionInputs::of(&x)
        .qkv_sharding(P!["data", None, "model"])
        .out_sharding(P!["data", None, "model"]);
    let y = layer.forward_with(&call);
    assert_eq!(y.aval().to_string(), "f32[4@data,3,8@model]");
    let worst = (reshard(&y, P![]) - reshard(&whole, P![])).abs().max();
    assert!(worst.item::<f32>() < 1e-5);
}

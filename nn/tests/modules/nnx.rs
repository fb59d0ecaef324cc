//! Models are taken apart by filters and put together again, and what their
//! parts are can be asked and changed.

use ramie_checkpoint::serialization::StateDict;
use ramie_core::{Array, DType, P, State, jit};
use ramie_nn::nnx::{
    self, All, Any, Everything, Filter, HasTag, Kind, Leaf, Not, Nothing, PathContains,
    PathContainsPart, PathIn, RngState, StateAxes, VmapOptions, WithTag, of_type,
};
use ramie_nn::{
    BatchStat, Initializer, Linear, Metadata, ModelAndOptimizer, Module, Param, RngStream, Rngs,
    Tree, init, metadata_of,
};
use ramie_optim::sgd;

#[derive(Module)]
struct Block {
    linear: Linear,
    mean: BatchStat,
    rngs: RngStream,
}

#[derive(Module)]
struct Model {
    first: Block,
    rest: Vec<Block>,
    scale: Param,
    steps: Array,
}

fn block(seed: u64) -> Block {
    let mut rngs = Rngs::new(seed);
    Block {
        linear: Linear::new(2, 2, &mut rngs),
        mean: BatchStat::new(Array::zeros(&[2], DType::F32)),
        rngs: rngs.get("dropout").fork(),
    }
}

fn model() -> Model {
    let tag = Metadata::default().with("tag", "frozen");
    Model {
        first: block(0),
        rest: vec![block(1), block(2)],
        scale: Param::new(Array::from(2.0f32)).with_metadata(tag),
        steps: Array::from(0),
    }
}

fn paths<F: Filter>(filter: F) -> Vec<String> {
    let state = nnx::state(&model(), filter);
    state.paths().map(str::to_owned).collect()
}

#[test]
fn filters_choose_leaves() {
    assert_eq!(paths(of_type::<Param>()).len(), 7);
    assert_eq!(paths("batch_stat").len(), 3);
    assert_eq!(paths(Kind("batch_stat".into())).len(), 3);
    assert_eq!(paths(of_type::<RngState>()).len(), 6);
    assert_eq!(paths(PathContains("rest")).len(), 10);
    assert_eq!(paths(PathContains("res")), Vec::<String>::new());
    assert_eq!(paths(PathContainsPart("res")).len(), 10);
    assert_eq!(paths(PathIn::new(["steps", "scale"])), ["scale", "steps"]);
    assert_eq!(paths(HasTag), ["scale"]);
    assert_eq!(paths(WithTag("frozen")), ["scale"]);
    assert_eq!(paths("frozen"), ["scale"]);
    let kernels = All((of_type::<Param>(), PathContains("kernel")));
    assert_eq!(paths(kernels).len(), 3);
    let some = Any((WithTag("frozen"), PathContains("mean")));
    assert_eq!(paths(some).len(), 4);
    assert_eq!(paths(Not(PathContains("rest"))).len(), 7);
    assert_eq!(paths(Everything).len(), 17);
    assert_eq!(paths(true).len(), 17);
    assert!(paths(Nothing).is_empty() && paths(false).is_empty());
    assert_eq!(
        paths(nnx::predicate(
            |path, kind| path == "steps" && kind.is_none()
        )),
        ["steps"]
    );
    assert_eq!(
        paths(|path: &str, _: Option<&'static str>| path.ends_with("bias")).len(),
        3
    );
    struct Large;
    impl Filter for Large {
        fn accepts(&self, leaf: &Leaf<'_>) -> bool {
            leaf.array.size() >= 4
        }
    }
    assert_eq!(paths(Large).len(), 3);
}

#[test]
fn models_are_split_and_merged() {
    let model = model();
    let filters = (of_type::<Param>(), of_type::<RngState>(), Everything);
    let (graphdef, (params, keys, others)) = nnx::split(&model, filters);
    assert_eq!([params.len(), keys.len(), others.len()], [7, 6, 4]);
    // On another thread, in another order.
    let again: Model = std::thread::spawn(move || graphdef.merge((others, params, keys)))
        .join()
        .expect("no panic");
    for (a, b) in State::of(&model)
        .arrays()
        .iter()
        .zip(State::of(&again).arrays())
    {
        assert!(a.same(b));
    }
    // A state alone, and a structure as an argument of a compiled function.
    let (graphdef, state) = nnx::split(&model, ());
    let total = jit(|graphdef: nnx::GraphDef<Model>, state: State| {
        let mut model = nnx::merge(&graphdef, state);
        model.steps += 1;
        (model.scale.value() * &model.steps, nnx::state(&model, ()))
    });
    let (out, after) = total(graphdef, state.clone());
    assert_eq!(out.item::<f32>(), 2.0);
    assert_eq!(after["steps"].item::<i32>(), 1);

    let mut other = nnx::clone(&model);
    nnx::update(&mut other, State::from_iter([("steps", Array::from(7))]));
    assert_eq!(
        (model.steps.item::<i32>(), other.steps.item::<i32>()),
        (0, 7)
    );
}

#[test]
fn states_are_lists_and_dictionaries() {
    let mut state = nnx::state(&model(), of_type::<Param>());
    let flat = nnx::to_flat_state(&state);
    assert_eq!(flat[2].0, ["rest", "0", "linear", "kernel"]);
    assert_eq!(nnx::from_flat_state(flat).len(), 7);
    let dict = nnx::to_pure_dict(&state);
    assert!(matches!(dict.get("first.linear"), Some(StateDict::Dict(_))));
    let dict = StateDict::Dict(vec![(
        "scale".into(),
        StateDict::Array(Array::from(5.0f32)),
    )]);
    nnx::replace_by_pure_dict(&mut state, &dict);
    assert_eq!(state["scale"].item::<f32>(), 5.0);

    let (kernels, rest) = nnx::split_state(&state, (PathContains("kernel"), Everything));
    assert_eq!([kernels.len(), rest.len()], [3, 4]);
    assert_eq!(nnx::filter_state(&state, PathContains("scale")).len(), 1);
    let doubled = nnx::map_state(&kernels, |_, a| a * 2.0);
    let merged = nnx::merge_state((state, doubled));
    assert_eq!((merged.len(), merged.kind("scale")), (7, Some("param")));
}

#[test]
fn parts_are_found_by_type() {
    let mut model = model();
    let nodes = nnx::iter_modules(&model);
    let linears: Vec<&str> = nodes
        .iter()
        .filter(|n| n.type_name == "Linear")
        .map(|n| n.path.as_str())
        .collect();
    assert_eq!(linears, ["first.linear", "rest.0.linear", "rest.1.linear"]);
    assert_eq!((nodes[0].path.as_str(), nodes[0].type_name), ("", "Model"));
    let children = nnx::iter_children(&model);
    let names: Vec<&str> = children.iter().map(|n| n.path.as_str()).collect();
    assert_eq!(names, ["first", "rest.0", "rest.1"]);

    let parts = nnx::iter_graph(&model);
    let (modules, variables): (Vec<_>, Vec<_>) = parts.into_iter().partition(|p| p.1.is_none());
    assert!(modules.into_iter().map(|(node, _)| node).eq(nodes));
    let paths: Vec<&str> = variables.iter().map(|(n, _)| n.path.as_str()).collect();
    assert_eq!(paths, State::of(&model).paths().collect::<Vec<_>>());
    let found = |path: &str| variables.iter().find(|(n, _)| n.path == path).unwrap();
    let (node, array) = found("rest.0.linear.kernel");
    assert_eq!((node.type_name, node.depth), ("param", 3));
    assert!(array.as_ref().unwrap().same(&model.rest[0].linear.kernel));

    nnx::for_each_mut(&mut model, |path, linear: &mut Linear| {
        if path.starts_with("rest") {
            linear.config.dtype = Some(DType::BF16);
        }
    });
    let mut seen = Vec::new();
    nnx::for_each(&model, |_, linear: &Linear| seen.push(linear.config.dtype));
    assert_eq!(seen, [None, Some(DType::BF16), Some(DType::BF16)]);
    assert_eq!(
        nnx::set_attributes(&mut model, |l: &mut Linear| l.config.dtype = None),
        3
    );
}

#[test]
fn names_of_dimensions_follow_the_stacked_axis() {
    let config =
        Linear::features(4).kernel_init(init::lecun_normal().with_partitioning(P![None, "model"]));
    let mut rngs = Rngs::new(0).split(3);
    let options = || VmapOptions::from(0).partition_name("layers");
    let mut layers = nnx::vmap(&mut rngs, (), options(), |rngs, ()| config.build(2, rngs));
    let spec = |layers: &Linear| metadata_of(layers)["kernel"].sharding.clone();
    assert_eq!(spec(&layers), Some(P!["layers", None, "model"]));
    let x = Array::ones(&[3, 1, 2], DType::F32);
    nnx::vmap(&mut layers, x, options(), |layer, x| {
        assert_eq!(spec(layer), Some(P![None, "model"]));
        layer.forward(&x)
    });
    assert_eq!(spec(&layers), Some(P!["layers", None, "model"]));
    let x = Array::ones(&[1, 2], DType::F32);
    let scan = nnx::ScanOptions::from(0).partition_name("layers");
    nnx::scan(&mut layers, x, (), scan, |layer, x, ()| {
        assert_eq!(spec(layer), Some(P![None, "model"]));
        let y = layer.forward(&x);
        (x + y.sum() * 0.0, ())
    });
    assert_eq!(spec(&layers), Some(P!["layers", None, "model"]));
}

#[test]
fn state_leaves_every_transformation() {
    #[derive(Tree)]
    struct Counter {
        weight: Param,
        calls: BatchStat,
    }
    let counter = || Counter {
        weight: Param::new(Array::from([1.0f32, 2.0])),
        calls: BatchStat::new(Array::from(0)),
    };
    fn call(c: &mut Counter, x: &Array) -> Array {
        c.calls.set(&*c.calls + 1);
        &*c.weight * x
    }
    let x = Array::from([3.0f32, 4.0]);
    let calls = |c: &Counter| c.calls.item::<i32>();

    let mut c = counter();
    let (y, pull) = nnx::vjp(&mut c, |c| call(c, &x));
    assert_eq!(
        pull(Array::from([1.0f32, 10.0]))["weight"].to_vec::<f32>(),
        [3.0, 40.0]
    );
    let tangents = State::from_iter([("weight", Array::from([1.0f32, 0.0]))]);
    let (same, dy) = nnx::jvp(&mut c, tangents, |c| call(c, &x));
    assert_eq!(same.to_vec::<f32>(), y.to_vec::<f32>());
    assert_eq!(dy.to_vec::<f32>(), [3.0, 0.0]);
    nnx::while_loop(&mut c, |c| c.calls.lt(5), |c| drop(call(c, &x)));
    assert_eq!(calls(&c), 5);
    let axes = StateAxes::new()
        .with(of_type::<Param>(), 0)
        .with(Everything, None);
    nnx::vmap(&mut c, x.clone(), axes, |c, x| call(c, &x));
    assert_eq!(calls(&c), 6);
    let grads = nnx::grad(&mut c, |c| {
        nnx::custom_vjp(
            c,
            x.clone(),
            |c: &mut Counter, x| call(c, &x),
            |c, x| (call(c, &x), x),
            |x: Array, ct: Array| (State::from_iter([("weight", -(&ct * &x))]), ct),
        )
        .sum()
    });
    assert_eq!(grads["weight"].to_vec::<f32>(), [-3.0, -4.0]);
    assert_eq!(calls(&c), 7);
    let shapes = nnx::eval_shape(counter);
    assert_eq!(shapes.weight.aval().to_string(), "f32[2]");

    let mut both = ModelAndOptimizer::new(c, sgd(1.0));
    both.update(grads);
    assert_eq!(both.model.weight.to_vec::<f32>(), [4.0, 6.0]);
    assert_eq!(both.optimizer.paths(), ["weight"]);
}

#[test]
fn streams_draw_initial_values_as_in_flax() {
    use ramie_core::DType;
    use ramie_nn::init::{Distribution, FanMode};
    let golden: serde_json::Value = ramie_testing::golden::json("ports_nets.json");
    let mut rngs = ramie_nn::Rngs::new(7);
    let shape = &[2, 3];
    let drawn = [
        ("lecun_normal", rngs.lecun_normal(shape, DType::F32)),
        ("glorot_uniform", rngs.glorot_uniform(shape, DType::F32)),
        ("he_normal", rngs.he_normal(shape, DType::F32)),
        (
            "variance_scaling",
            rngs.variance_scaling(
                2.0,
                FanMode::FanOut,
                Distribution::Uniform,
                shape,
                DType::F32,
            ),
        ),
    ];
    for (name, array) in drawn {
        let expected = golden["initializers"][name].as_array().unwrap();
        assert_eq!(expected.len(), 6);
        for (x, y) in array.to_vec::<f32>().iter().zip(expected) {
            assert!((f64::from(*x) - y.as_f64().unwrap()).abs() < 1e-6, "{name}");
        }
    }
}

#[test]
fn only_the_options_of_calls_are_static_values() {
    let run = jit(|layer: &mut Linear, x: Array| layer.forward(&x));
    let build = |kernel: Initializer| {
        let options = Linear::features(3).kernel_init(kernel);
        options.build(2, &mut Rngs::new(0))
    };
    let x = Array::ones(&[4, 2], DType::F32);
    let mut layer = build(init::ones());
    run(&mut layer, x.clone());
    run(&mut build(init::zeros()), x.clone());
    assert_eq!(run.compilations(), 1);
    layer.config.dtype = Some(DType::BF16);
    assert_eq!(run(&mut layer, x).dtype(), DType::BF16);
    assert_eq!(run.compilations(), 2);
}

#[test]
fn entries_of_metadata_are_removed() {
    let tagged = Metadata::default().with("tag", "frozen").with("unit", "m");
    assert_eq!(
        tagged.clone().without("tag"),
        Metadata::default().with("unit", "m")
    );
    assert_eq!(tagged.clone().without("other"), tagged);
}

//! Sequential modules, learned slopes, batch application and low-rank adapters
//! against Flax.

use crate::common;

use common::Golden;
use ramie_core::{Array, DType, State, jit, tree};
use ramie_nn::linen::{self, Dense, Module, Scope};
use ramie_nn::{
    BatchNorm, Dropout, Forward, Linear, Lora, LoraLinear, LoraParam, Module as _, PReLU,
    PReLUConfig, Rngs, Sequential, batch_apply, init,
};

/// What rounding to eight bits of mantissa leaves.
const BF16: f64 = 1e-2;

fn one<M: Module + Sync>(module: M) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync {
    move |scope, inputs| vec![module.call(scope, inputs[0].clone())]
}

/// Dense layers are parts of this module.
struct Inline;

impl Module for Inline {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(3), x);
        let inner = linen::Sequential::new((Dense::new(4), Array::tanh));
        let layers = (Dense::new(4), Array::relu, inner, Dense::new(2));
        linen::Sequential::new(layers).inline(scope, x)
    }
}

struct Setup;

impl Module for Setup {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let layers = (Dense::new(4), |x: &Array| x.relu(), Dense::new(2));
        let mut body = scope.setup("body", &linen::Sequential::new(layers));
        body.call(x)
    }
}

#[test]
fn sequential_in_linen() {
    let golden = Golden::open("flax_sequential");
    let inner = linen::Sequential::new((Dense::new(2), Array::tanh));
    let layers = linen::Sequential::new((Dense::new(4), Array::relu, inner))
        .then(PReLUConfig::new())
        .then(Dense::new(2));
    golden.case("sequential").linen(one(layers));
    golden.case("inline").linen(one(Inline));
    golden.case("setup").linen(one(Setup));
}

fn nested() -> Sequential {
    let rngs = &mut Rngs::new(0);
    let inner = Sequential::new((Linear::new(4, 2, rngs), Array::tanh));
    Sequential::default()
        .then(Linear::new(3, 4, rngs))
        .function(|x| x.relu())
        .then(inner)
        .then(PReLU::new())
        .then(Linear::new(2, 2, rngs))
}

#[test]
fn sequential_in_nnx() {
    let golden = Golden::open("flax_sequential");
    let forward = |m: &mut Sequential, x: &[Array]| vec![m.forward(&x[0])];
    golden.case("nnx_sequential").nnx(nested(), forward);
    golden.case("nnx_empty").nnx(Sequential::default(), forward);
    let rngs = &mut Rngs::new(0);
    let changing = (
        // The gradient of a bias before normalization is zero.
        Linear::features(4).without_bias().build(3, rngs),
        BatchNorm::new(4, rngs),
        Dropout::new(0.5, rngs),
    );
    let changing = Sequential::new(changing);
    golden.case("nnx_changing").nnx(changing, forward);
}

#[test]
fn layers_of_a_sequential_are_parts_of_it() {
    let rngs = &mut Rngs::new(0);
    let mut net = Sequential::new((Linear::new(3, 4, rngs), Dropout::new(0.5, rngs)));
    let x = Array::ones(&[2, 3], DType::F32);
    net.eval();
    let y = net.forward(&x);
    assert!(
        net.layers[1]
            .downcast_ref::<Dropout>()
            .unwrap()
            .deterministic
            .0
    );
    assert!(net.layers[0].downcast_ref::<Dropout>().is_none());
    let linear: &mut Linear = net.layers[0].downcast_mut().unwrap();
    assert_eq!(linear.forward(&x).to_vec::<f32>(), y.to_vec::<f32>());
    linear.kernel.set(Array::zeros(&[3, 4], DType::F32));
    assert_eq!(net.forward(&x).to_vec::<f32>(), [0.0; 8]);
    assert_eq!(
        tree::paths(&net),
        [
            "layers.0.kernel",
            "layers.0.bias",
            "layers.1.rngs.key",
            "layers.1.rngs.count"
        ]
    );
    // The entry of another list, and a list of layers, stay what they are.
    let (a, b) = (net.clone(), net);
    let joined = Sequential::new([a.layers, b.layers].concat());
    assert_eq!(joined.layers.len(), 4);
    assert!(joined.layers[2].downcast_ref::<Linear>().is_some());
    let shown = format!("{:?}", nested());
    assert!(shown.contains("PReLU"), "{shown}");
}

#[test]
fn a_function_is_part_of_what_is_compiled_for() {
    let run = jit(|mut net: Sequential, x: Array| net.forward(&x));
    let x = || Array::from([4.0f32]);
    let net = |f: fn(&Array) -> Array| Sequential::default().function(f);
    let scaled = |by: f32| Sequential::default().function(move |x| x * by);
    assert_eq!(run(Sequential::new((Array::sqrt,)), x()).item::<f32>(), 2.0);
    assert_eq!(run(Sequential::new((Array::sqrt,)), x()).item::<f32>(), 2.0);
    assert_eq!(run.compilations(), 1);
    assert_eq!(
        run(Sequential::new((Array::square,)), x()).item::<f32>(),
        16.0
    );
    assert_eq!(run.compilations(), 2);
    // Functions of one type that capture different things.
    assert_eq!(run(net(Array::sqrt), x()).item::<f32>(), 2.0);
    assert_eq!(run(net(Array::square), x()).item::<f32>(), 16.0);
    let (twice, thrice) = (scaled(2.0), scaled(3.0));
    assert_eq!(run(twice.clone(), x()).item::<f32>(), 8.0);
    assert_eq!(run(thrice, x()).item::<f32>(), 12.0);
    let before = run.compilations();
    assert_eq!(run(twice, x()).item::<f32>(), 8.0);
    assert_eq!(run.compilations(), before);
}

#[test]
fn prelu() {
    let golden = Golden::open("flax_sequential");
    golden.case("prelu").linen(one(PReLUConfig::new()));
    let bf16 = PReLU::slope(0.3).param_dtype(DType::BF16);
    let case = golden.case("prelu_bf16").tolerance(BF16);
    case.linen(one(bf16));
    let rngs = || Rngs::new(0);
    let layer = PReLU::slope(0.25).build(&mut rngs());
    golden
        .case("nnx_prelu")
        .nnx(layer, |m, x| vec![m.forward(&x[0])]);
    let bf16 = PReLU::slope(0.25).dtype(DType::BF16).build(&mut rngs());
    let case = golden.case("nnx_prelu_bf16").tolerance(BF16);
    case.nnx(bf16, |m, x| vec![m.forward(&x[0])]);
}

#[test]
fn batches() {
    let golden = Golden::open("flax_sequential");
    golden.case("batch_apply").linen(|scope, inputs| {
        let mut dense = scope.setup("Dense_0", &Dense::new(2));
        let both = |(x, y): (Array, Array)| -> (Array, Array) {
            let sums = x.sum_over(1) + y;
            (dense.call(x), sums)
        };
        let (a, b) = batch_apply(2, both, (inputs[0].clone(), inputs[1].clone()));
        vec![a, b]
    });
}

#[test]
#[should_panic(expected = "batch_apply: none of the arguments has 3 axes: f32[2,3]")]
fn batch_apply_needs_the_axes() {
    batch_apply(3, |x: Array| x, Array::ones(&[2, 3], DType::F32));
}

#[test]
#[should_panic(expected = "batch_apply: a result is f32[], expected a first axis of 6")]
fn batch_apply_keeps_the_examples() {
    batch_apply(2, |x: Array| x.sum(), Array::ones(&[2, 3], DType::F32));
}

#[test]
fn adapters() {
    let golden = Golden::open("flax_sequential");
    let rngs = || Rngs::new(0);
    let check = |name: &str, layer: Lora, tolerance: f64| {
        let case = golden.case(name).tolerance(tolerance);
        case.nnx(layer, |m, x| vec![m.forward(&x[0])]);
    };
    check("lora", Lora::new(3, 2, 4, &mut rngs()), 1e-5);
    let ones = || Lora::rank(2, 4).b_initializer(init::ones());
    check("lora_inits", ones().build(3, &mut rngs()), 1e-5);
    let bf16 = ones().dtype(DType::BF16).param_dtype(DType::BF16);
    check("lora_bf16", bf16.build(3, &mut rngs()), BF16);
    let mut both = rngs();
    let base = Linear::new(3, 4, &mut both);
    check("lora_base", ones().build(3, &mut both).around(base), 1e-5);

    let linear = LoraLinear::features(4, 2).b_initializer(init::ones());
    let layer = linear.build(3, &mut rngs());
    let merged = layer.merged();
    let case = golden.case("lora_linear");
    let x = case.inputs().remove(0);
    assert!(
        layer
            .forward(&x)
            .allclose_with(merged.forward(&x), (1e-5, 1e-6))
            .item::<bool>()
    );
    case.nnx(layer, |m, x| vec![m.forward(&x[0])]);
    let plain = LoraLinear::features(4, 2).without_bias();
    let layer = plain.build(3, &mut rngs());
    let case = golden.case("lora_linear_no_bias");
    case.nnx(layer, |m, x| vec![m.forward(&x[0])]);
}

/// A layer may be wrapped whatever its type is.
#[test]
fn adapters_of_other_layers() {
    let rngs = &mut Rngs::new(0);
    let base = Sequential::new((Linear::new(3, 4, rngs), Array::relu));
    let mut adapted = Lora::wrap(base, 3, 2, 4, rngs);
    let x = Array::ones(&[2, 3], DType::F32);
    // The second matrix is zero at first.
    let before = adapted.base_module.as_mut().unwrap().forward(&x);
    assert_eq!(
        Forward::forward(&mut adapted, &x).to_vec::<f32>(),
        before.to_vec::<f32>()
    );
    let adapters = State::of(&adapted).of_kind(LoraParam::KIND);
    let paths: Vec<&str> = adapters.paths().collect();
    assert_eq!(paths, ["lora_a", "lora_b"]);
    let in_linen = linen::LoraLinear::new(4, 2);
    let variables = in_linen.init(0u64, x.clone());
    assert_eq!(variables["lora_params"]["lora.lora_a"].shape(), [3, 2]);
    assert_eq!(in_linen.apply(&variables, x).shape(), [2, 4]);
}

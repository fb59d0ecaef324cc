//! Normalizations and dropout against Flax.

use crate::common;

use common::Golden;
use ramie_core::options::VmapOptions;
use ramie_core::{Array, DType, Tree, random, vmap_with};
use ramie_nn::linen::{
    self, Apply, BatchNorm, Dense, Dropout, GroupNorm, InstanceNorm, LayerNorm, Module, RMSNorm,
    Scope,
};
use ramie_nn::{Deterministic, Module as _, Rngs, UseRunningAverage, init};
use ramie_testing::is_linked;

/// What rounding to eight bits of mantissa leaves.
const BF16: f64 = 1e-2;
const TRAIN: UseRunningAverage = UseRunningAverage(false);

/// A module called with the input and something else.
fn with<M, A>(
    module: M,
    arguments: impl Fn(Array) -> A + Sync,
) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync
where
    M: Module<A> + Sync,
    A: Tree,
{
    move |scope, x| vec![module.call(scope, arguments(x[0].clone()))]
}

fn one(module: impl Module + Sync) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync {
    with(module, |x| x)
}

fn train(module: BatchNorm) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync {
    with(module, |x| (x, TRAIN))
}

fn masks(golden: &Golden) -> [Array; 2] {
    golden.case("masks").inputs().try_into().expect("two masks")
}

#[test]
fn batch() {
    let golden = Golden::open("flax_norm");
    let case = |name: &str| golden.case(name);
    let new = BatchNorm::new;
    let normal = || init::normal(1.0);
    case("batch").linen(train(new()));
    case("batch_image").linen(train(
        new()
            .momentum(0.9)
            .epsilon(1e-3)
            .scale_init(normal())
            .bias_init(normal()),
    ));
    case("batch_running").linen(one(new().use_running_average(true)));
    case("batch_axis").linen(train(new().axis(1).momentum(0.5)));
    case("batch_no_affine").linen(train(new().use_scale(false).use_bias(false)));
    case("batch_slow").linen(train(new().use_fast_variance(false).use_bias(false)));
    let [mask, _] = masks(golden);
    case("batch_mask").linen(with(new(), move |x| (x, TRAIN, mask.clone())));
    let bf16 = new().dtype(DType::BF16);
    case("batch_bf16").tolerance(BF16).linen(train(bf16));
    let narrow = new()
        .param_dtype(DType::BF16)
        .force_float32_reductions(false)
        .use_fast_variance(false);
    case("batch_narrow").tolerance(2e-2).linen(train(narrow));
}

#[test]
fn layer_and_rms() {
    let golden = Golden::open("flax_norm");
    let case = |name: &str| golden.case(name);
    let normal = || init::normal(1.0);
    let new = LayerNorm::new;
    let [mask, _] = &masks(golden);
    case("layer").linen(one(new()));
    let inits = new().epsilon(0.1).scale_init(normal()).bias_init(normal());
    case("layer_inits").linen(one(inits));
    let axes = new().reduction_axes(&[1, 2, 3]).feature_axes(&[1, -1]);
    case("layer_axes").linen(one(axes.scale_init(normal())));
    case("layer_slow").linen(one(new().use_fast_variance(false).use_scale(false)));
    case("layer_mask").linen(with(new(), |x| (x, mask.clone())));
    let bf16 = new().dtype(DType::BF16);
    case("layer_bf16").tolerance(BF16).linen(one(bf16));
    let half = new().param_dtype(DType::BF16);
    case("layer_half").tolerance(BF16).linen(one(half));

    let new = RMSNorm::new;
    case("rms").linen(one(new().scale_init(normal())));
    let axes = new().reduction_axes(&[-2, -1]).feature_axes(&[2, 3]);
    case("rms_axes").linen(one(axes.epsilon(0.01)));
    case("rms_mask").linen(with(new().use_scale(false), |x| (x, mask.clone())));
    let bf16 = new().dtype(DType::BF16);
    case("rms_bf16").tolerance(BF16).linen(one(bf16));
}

#[test]
fn group_and_instance() {
    let golden = Golden::open("flax_norm");
    let case = |name: &str| golden.case(name);
    let normal = || init::normal(1.0);
    let [_, mask] = &masks(golden);
    let groups = |n: usize| GroupNorm::new().num_groups(n);
    case("group").linen(one(groups(3).scale_init(normal()).bias_init(normal())));
    case("group_size").linen(one(GroupNorm::new().group_size(3)));
    case("group_axes").linen(one(groups(2).reduction_axes(vec![0, 2, -1])));
    let slow = groups(2).use_fast_variance(false);
    case("group_mask").linen(with(slow, |x| (x, mask.clone())));
    let bf16 = groups(2).dtype(DType::BF16);
    case("group_bf16").tolerance(BF16).linen(one(bf16));
    let new = InstanceNorm::new;
    case("instance").linen(one(new().scale_init(normal()).bias_init(normal())));
    // The derivatives are what is left of sums of large numbers that cancel.
    case("instance_axes")
        // JAX's are 6.2e-3 of the greatest from exact ones, and those of the linked backend as far.
        .tolerance(if is_linked() { 7e-3 } else { 5e-5 })
        .linen(one(new().feature_axes(&[1, 3]).use_bias(false)));
    case("instance_mask").linen(with(new(), |x| (x, mask.clone())));
}

#[test]
fn dropout() {
    let golden = Golden::open("flax_norm");
    let case = |name: &str| golden.case(name);
    let new = Dropout::new;
    case("dropout").linen(one(new(0.3).deterministic(false)));
    let broadcast = new(0.5).broadcast_dims(&[1, -2]);
    case("dropout_broadcast").linen(with(broadcast, |x| (x, Deterministic(false))));
    case("dropout_off").linen(with(new(0.5), |x| (x, Deterministic(true))));
    case("dropout_all").linen(one(new(1.0).deterministic(false)));
    let key = random::key(7);
    let given = new(0.5).deterministic(false);
    case("dropout_key").linen(with(given, |x| (x, key.clone())));
}

struct Noisy {
    train: bool,
}

impl Module for Noisy {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let norm = BatchNorm::new().use_running_average(!self.train);
        let off = Deterministic(!self.train);
        let x = scope.child(&Dense::new(4).without_bias(), x);
        let x = scope.child(&norm, x);
        let x = scope.child(&Dropout::new(0.25), (x, off));
        let x = scope.child(&LayerNorm::new(), x);
        let x = scope.child(&Dropout::new(0.25), (x, off));
        scope.child(&norm, x.tanh())
    }
}

#[test]
fn layers_in_a_module() {
    let golden = Golden::open("flax_norm");
    golden.case("noisy").linen(one(Noisy { train: true }));
    golden.case("noisy_eval").linen(one(Noisy { train: false }));
}

#[test]
fn nnx() {
    let golden = Golden::open("flax_norm");
    let case = |name: &str| golden.case(name);
    let rngs = || Rngs::new(0);
    let normal = || init::normal(1.0);
    let [mask, _] = &masks(golden);
    {
        use ramie_nn::BatchNorm;
        let forward = |m: &mut BatchNorm, x: &[Array]| vec![m.forward(&x[0])];
        case("nnx_batch").nnx(BatchNorm::new(5, &mut rngs()), forward);
        let mut running = BatchNorm::new(5, &mut rngs());
        running.eval();
        case("nnx_batch_running").nnx(running, forward);
        let image = BatchNorm::config()
            .momentum(0.9)
            .scale_init(normal())
            .bias_init(normal());
        case("nnx_batch_image").nnx(image.build(6, &mut rngs()), forward);
        let slow = BatchNorm::config().use_fast_variance(false);
        case("nnx_batch_mask").nnx(slow.build(5, &mut rngs()), |m, x| {
            vec![m.forward_with(&x[0], None, Some(mask))]
        });
        // NNX rounds the input before statistics are taken; here it is not.
        let bf16 = BatchNorm::config().dtype(DType::BF16);
        let bf16 = bf16.build(5, &mut rngs());
        case("nnx_batch_bf16").tolerance(BF16).nnx(bf16, forward);
    }
    {
        use ramie_nn::LayerNorm;
        let forward = |m: &mut LayerNorm, x: &[Array]| vec![m.forward(&x[0])];
        let config = LayerNorm::config().scale_init(normal()).bias_init(normal());
        case("nnx_layer").nnx(config.build(5, &mut rngs()), forward);
        let config = LayerNorm::config().use_scale(false);
        case("nnx_layer_mask").nnx(config.build(5, &mut rngs()), |m, x| {
            vec![m.forward_masked(&x[0], Some(mask))]
        });
        let bf16 = LayerNorm::config().dtype(DType::BF16);
        let bf16 = bf16.build(5, &mut rngs());
        case("nnx_layer_bf16").tolerance(BF16).nnx(bf16, forward);
    }
    {
        use ramie_nn::{GroupNorm, InstanceNorm, RMSNorm};
        let rms = RMSNorm::config().scale_init(normal());
        case("nnx_rms").nnx(rms.build(5, &mut rngs()), |m, x| vec![m.forward(&x[0])]);
        let group = GroupNorm::new(6, 3, &mut rngs());
        case("nnx_group").nnx(group, |m, x| vec![m.forward(&x[0])]);
        let instance = InstanceNorm::config().scale_init(normal());
        case("nnx_instance").nnx(instance.build(6, &mut rngs()), |m, x| {
            vec![m.forward(&x[0])]
        });
    }
    {
        use ramie_nn::Dropout;
        let new = || Dropout::new(0.3, &mut rngs());
        case("nnx_dropout").nnx(new(), |m, x| vec![m.forward(&x[0])]);
        case("nnx_dropout_twice").nnx(new(), |m, x| vec![m.forward(&x[0]), m.forward(&x[0])]);
        case("nnx_dropout_off").nnx(new(), |m, x| vec![m.forward_with(&x[0], Some(true), None)]);
    }
}

#[test]
fn statistics_over_a_mapped_axis() {
    let golden = Golden::open("flax_norm");
    let case = golden.case("mapped");
    let x = case.inputs()[0].clone();
    let mapped = || VmapOptions {
        axis_name: Some("i".into()),
        ..VmapOptions::default()
    };
    let norm = BatchNorm::new()
        .axis_name("i")
        .use_running_average(false)
        .momentum(0.9);
    let variables = norm.init(random::key(0), x.index_in_dim(0, 0).squeeze(&[0]));
    let options = Apply::new().mutable("batch_stats");
    let (out, updates) = vmap_with(
        move |x: Array| norm.apply_with(&variables, x, &options),
        mapped(),
    )(x.clone());
    let close = |got: &Array, expected: &Array| {
        assert_eq!(got.shape(), expected.shape());
        let worst = (got - expected).abs().max().item::<f32>();
        assert!(worst < 1e-5, "{worst}");
    };
    let expected = case.below("out");
    close(&out, &expected["0"]);
    let after = case.below("after");
    for name in ["mean", "var"] {
        close(&updates["batch_stats"][name], &after[name]);
    }
    let layer = ramie_nn::LayerNorm::config()
        .axis_name("i")
        .use_fast_variance(false)
        .build(5, &mut Rngs::new(0));
    let out = vmap_with(move |x: Array| layer.forward(&x), mapped())(x);
    close(&out, &expected["1"]);
}

#[test]
fn nothing_is_drawn_without_need() {
    let x = Array::ones(&[2, 3], DType::F32);
    let (y, _) = linen::apply(&linen::Variables::new(), &Apply::new(), |s| {
        Dropout::new(0.0).deterministic(false).call(s, x.clone())
    });
    assert!(y.same(&x));
}

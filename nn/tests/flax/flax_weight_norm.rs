//! Normalizations of a layer's weights against Flax.

use crate::common;

use common::Golden;
use ramie_core::{Array, DType, State};
use ramie_nn::linen::{self, Apply, Conv, Dense, Module, Scope};
use ramie_nn::linen::{SpectralNorm, Variables, WeightNorm};
use ramie_nn::{Linear, Rngs, UseRunningAverage, init};
use ramie_testing::is_linked;

const TRAIN: UseRunningAverage = UseRunningAverage(false);

fn one(module: impl Module + Sync) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync {
    move |s, x| vec![module.call(s, x[0].clone())]
}

fn in_mode<M>(
    module: M,
    mode: UseRunningAverage,
) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync
where
    M: Module<(Array, UseRunningAverage)> + Sync,
{
    move |s, x| vec![module.call(s, (x[0].clone(), mode))]
}

#[test]
fn weight() {
    let golden = Golden::open("flax_weight_norm");
    // A new module keeps normalized kernels, whose last bits are those of a
    // root.
    let case = |name: &str| golden.case(name).init_tolerance(1e-6);
    let dense = || WeightNorm::new(Dense::new(4));
    let normal = || init::normal(1.0);
    case("weight").linen(one(dense()));
    case("weight_inits").linen(one(dense().scale_init(normal()).epsilon(1e-3)));
    case("weight_no_scale").linen(one(dense().use_scale(false)));
    case("weight_whole").linen(one(dense().feature_axes(&[])));
    let all = WeightNorm::new(Dense::new(4).bias_init(normal())).variable_filter(None);
    // A bias divided by its own length is 1 or -1: the gradient is rounding, and another one on another backend.
    let rounding = if is_linked() { 2e-7 } else { 0.0 };
    case("weight_all").rounding(rounding).linen(one(all));
    let conv = WeightNorm::new(Conv::new(4, [3, 3])).feature_axes(&[-2, -1]);
    case("weight_conv").linen(one(conv));
    let bf16 = dense().dtype(DType::BF16);
    let bf16_case = golden.case("weight_bf16").init_tolerance(1e-2);
    bf16_case.tolerance(2e-2).linen(one(bf16));
}

#[test]
fn spectral() {
    let golden = Golden::open("flax_weight_norm");
    let case = |name: &str| golden.case(name).init_tolerance(1e-6);
    let dense = || SpectralNorm::new(Dense::new(4));
    case("spectral").linen(in_mode(dense(), TRAIN));
    case("spectral_fixed").linen(in_mode(dense(), UseRunningAverage(true)));
    let steps = dense().n_steps(3).epsilon(1e-3);
    case("spectral_steps").linen(in_mode(steps, TRAIN));
    case("spectral_none").linen(in_mode(dense().n_steps(0), TRAIN));
    let conv = SpectralNorm::new(Conv::new(4, [3, 3]));
    case("spectral_conv").linen(in_mode(conv, TRAIN));
}

#[derive(Clone)]
struct Gated;

impl Module for Gated {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let a = scope.named("a", &Dense::new(4), x.clone());
        a * scope.named("b", &Dense::new(4), x)
    }
}

#[test]
fn names_are_those_of_flax() {
    let golden = Golden::open("flax_weight_norm");
    golden.case("inline").init_tolerance(1e-6).linen(|s, x| {
        let x: Array = s.child(&WeightNorm::new(Dense::new(4)), x[0].clone());
        let x = s.child(&Dense::new(5), x).tanh();
        let x: Array = s.child(&SpectralNorm::new(Gated), (x, TRAIN));
        let gated = WeightNorm::new(Gated).scale_init(init::normal(1.0));
        vec![s.child(&gated, x)]
    });
}

#[test]
fn nnx() {
    use ramie_nn::{Conv, SpectralNorm, WeightNorm};
    let golden = Golden::open("flax_weight_norm");
    // Kernels of convolutions are Flax's but for the last bits.
    let case = |name: &str| golden.case(name).init_tolerance(1e-6);
    let rngs = &mut Rngs::new(0);
    let weight = WeightNorm::new(Linear::new(3, 4, rngs), rngs);
    case("nnx_weight").nnx(weight, |m, x| vec![m.forward(&x[0])]);
    let rngs = &mut Rngs::new(0);
    let plain = WeightNorm::of(Linear::new(3, 4, rngs)).use_scale(false);
    case("nnx_weight_no_scale").nnx(plain.build(rngs), |m, x| vec![m.forward(&x[0])]);
    let rngs = &mut Rngs::new(0);
    let conv = WeightNorm::new(Conv::new(3, 4, [3, 3], rngs), rngs);
    case("nnx_weight_conv").nnx(conv, |m, x| vec![m.forward(&x[0])]);
    let rngs = &mut Rngs::new(0);
    let spectral = SpectralNorm::new(Linear::new(3, 4, rngs), rngs);
    case("nnx_spectral").nnx(spectral.clone(), |m, x| vec![m.forward(&x[0])]);
    case("nnx_spectral_eval").nnx(spectral, |m, x| {
        vec![m.with(Some(false), |layer| layer.forward(&x[0]))]
    });
    let rngs = &mut Rngs::new(0);
    let conv = SpectralNorm::new(Conv::new(3, 4, [3, 3], rngs), rngs);
    case("nnx_spectral_conv").nnx(conv, |m, x| vec![m.forward(&x[0])]);
}

#[test]
fn kernels_stay_as_they_are_learned() {
    let rngs = &mut Rngs::new(0);
    let mut layer = ramie_nn::WeightNorm::new(Linear::new(3, 4, rngs), rngs);
    let before = State::of(&layer);
    layer.forward(&Array::ones(&[2, 3], DType::F32));
    for (path, a) in State::of(&layer).iter() {
        assert!(a.same(&before[path]), "{path}");
    }
}

#[test]
#[should_panic(
    expected = "SpectralNorm: `layer_instance/kernel` is f32[3,3,3,4], expected a matrix"
)]
fn spectral_norm_refuses_other_than_matrices() {
    let module = SpectralNorm::new(Conv::new(4, [3, 3])).error_on_non_matrix(true);
    let x = Array::ones(&[2, 5, 5, 3], DType::F32);
    module.init(ramie_core::random::key(0), (x, TRAIN));
}

/// A transformation around the module changes nothing.
#[test]
fn kernels_are_normalized_inside_of_transformations() {
    let x = Array::arange(6).astype(DType::F32).reshape(&[2, 3]);
    let module = || WeightNorm::new(Dense::new(4));
    let plain = |s: &mut Scope| -> Array { s.setup("norm", &module()).call(x.clone()) };
    let again = |s: &mut Scope| -> Array { s.named("norm", &linen::remat(module()), x.clone()) };
    // Others than at first, when kernels are of length one.
    let params = linen::init(0, plain).params();
    let longer = |path: &str, p: &Array| {
        if path.ends_with("kernel") {
            p * 3.0
        } else {
            p.clone()
        }
    };
    let variables = Variables::from_params(params.map_with_path(longer));
    let apply = |f: &dyn Fn(&mut Scope) -> Array| linen::apply(&variables, &Apply::new(), f).0;
    let (expected, got) = (apply(&plain), apply(&again));
    assert_eq!(got.to_vec::<f32>(), expected.to_vec::<f32>());
}

//! Dense layers, alone and in nested modules, against Flax.

use crate::common;

use common::Golden;
use ramie_core::{Array, DType};
use ramie_nn::linen::{self, Dense, Module, Scope};
use ramie_nn::{Forward, Linear, Module as _, Rngs, Sequential, SwiGLU, init};
use ramie_testing::panic_message;

#[derive(Clone)]
struct Block {
    features: usize,
}

impl Module for Block {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(self.features), x).tanh();
        let scale = scope.param("scale", &init::ones(), &[self.features], DType::F32);
        scope.named("out", &Dense::new(self.features), x) * &scale
    }
}

#[derive(Clone)]
struct Nested;

impl Module for Nested {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(5), x);
        let x = scope.child(&Block { features: 4 }, x);
        let x = scope.child(&Block { features: 4 }, x);
        scope.child(&Dense::new(2), x)
    }
}

#[derive(ramie_nn::Module)]
struct Mlp {
    hidden: Linear,
    out: Linear,
}

/// What rounding to eight bits of mantissa leaves.
const BF16: f64 = 1e-2;

#[test]
fn linen() {
    let golden = Golden::open("flax_linear");
    let one = |module: Dense| move |s: &mut Scope, x: &[Array]| vec![module.call(s, x[0].clone())];
    golden.case("dense").linen(one(Dense::new(6)));
    golden.case("dense_vector").linen(one(Dense::new(6)));
    golden.case("dense_deep").linen(one(Dense::new(6)));
    golden
        .case("dense_no_bias")
        .linen(one(Dense::new(6).without_bias()));
    let inits = Dense::new(6)
        .kernel_init(init::he_uniform())
        .bias_init(init::normal(1.0));
    golden.case("dense_inits").linen(one(inits));
    let bf16 = Dense::new(6).dtype(DType::BF16);
    golden.case("dense_bf16").tolerance(BF16).linen(one(bf16));
    let params = Dense::new(6).param_dtype(DType::BF16);
    golden
        .case("dense_bf16_params")
        .tolerance(BF16)
        .linen(one(params));
    let nested = golden.case("nested");
    nested.linen(|s, x| vec![Nested.call(s, x[0].clone())]);
}

#[test]
fn nnx() {
    let golden = Golden::open("flax_linear");
    let forward = |m: &mut Linear, x: &[Array]| vec![m.forward(&x[0])];
    let config = || Linear::features(6);
    let rngs = || Rngs::new(0);
    golden
        .case("linear")
        .nnx(config().build(3, &mut rngs()), forward);
    golden
        .case("linear_no_bias")
        .nnx(config().without_bias().build(3, &mut rngs()), forward);
    let bf16 = config().dtype(DType::BF16).build(3, &mut rngs());
    golden
        .case("linear_bf16")
        .tolerance(BF16)
        .nnx(bf16, forward);
    let mut rngs = rngs();
    let mut mlp = Mlp {
        hidden: Linear::new(3, 8, &mut rngs),
        out: Linear::new(8, 2, &mut rngs),
    };
    mlp.train();
    golden.case("mlp").nnx(mlp, |m, x| {
        vec![m.out.forward(&m.hidden.forward(&x[0]).tanh())]
    });
}

#[test]
fn swiglu() {
    let golden = Golden::open("flax_linear");
    let one = |m: linen::SwiGLU| move |s: &mut Scope, x: &[Array]| vec![m.call(s, x[0].clone())];
    let new = || linen::SwiGLU::new(6);
    golden.case("swiglu").linen(one(new()));
    golden.case("swiglu_deep").linen(one(new()));
    let inits = new()
        .use_bias(true)
        .kernel_init(init::he_uniform())
        .bias_init(init::normal(1.0));
    golden.case("swiglu_inits").linen(one(inits));
    let bf16 = one(new().dtype(DType::BF16));
    golden.case("swiglu_bf16").tolerance(BF16).linen(bf16);
    let forward = |m: &mut SwiGLU, x: &[Array]| vec![m.forward(&x[0])];
    let rngs = &mut Rngs::new(0);
    golden
        .case("nnx_swiglu")
        .nnx(SwiGLU::new(3, 6, rngs), forward);
    let bias = SwiGLU::features(6).use_bias(true).param_dtype(DType::BF16);
    let bias = bias.build(3, &mut Rngs::new(0));
    golden.case("nnx_swiglu_bias").nnx(bias, forward);
}

#[test]
fn swiglu_is_a_layer_with_a_last_axis_of_its_features() {
    let mut net = Sequential::new((SwiGLU::new(3, 4, &mut Rngs::new(0)), Array::tanh));
    assert_eq!(
        net.forward(&Array::ones(&[2, 3], DType::F32)).shape(),
        [2, 4]
    );
    let text = panic_message(|| drop(net.forward(&Array::ones(&[2, 5], DType::F32))));
    assert!(
        text.contains("f32[2,5], expected a last axis of 3"),
        "{text}"
    );
    assert!(text.contains("help: create the layer"), "{text}");
}

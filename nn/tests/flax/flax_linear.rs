//! Dense layers, alone and in nested modules, against Flax.

use crate::common;

use common::Golden;
use ramie_core::{Array, DType};
use ramie_nn::linen::{Dense, Module, Scope};
use ramie_nn::{Linear, Module as _, Rngs, init};

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

//! Dense layers of several axes, einsums and embeddings against Flax.

use crate::common;

use common::Golden;
use ramie_core::{Array, DType};
use ramie_nn::linen::{Dense, DenseGeneral, Einsum, Embed, Module, Scope};
use ramie_nn::{Linear, LinearGeneral, Rngs, init};

/// What rounding to eight bits of mantissa leaves.
const BF16: f64 = 1e-2;

fn one<M: Module + Sync>(module: M) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync {
    move |scope, inputs| vec![module.call(scope, inputs[0].clone())]
}

#[test]
fn dense_general() {
    let golden = Golden::open("flax_dense");
    let check = |name: &str, module: DenseGeneral| golden.case(name).linen(one(module));
    check("dense_general", DenseGeneral::new(5));
    check("dense_general_features", DenseGeneral::new([2, 4]));
    check(
        "dense_general_axes",
        DenseGeneral::new([5, 2]).axis(&[1, -1]),
    );
    check("dense_general_first", DenseGeneral::new(5).axis(&[0, 2]));
    check(
        "dense_general_batch",
        DenseGeneral::new([2, 3]).batch_dims(1),
    );
    let batches = DenseGeneral::new(2).axis(&[2, -1]).batch_dims(2);
    check("dense_general_batches", batches);
    check(
        "dense_general_no_bias",
        DenseGeneral::new([2, 4]).without_bias(),
    );
    let inits = DenseGeneral::new([2, 4])
        .axis(&[-2, -1])
        .kernel_init(init::he_uniform())
        .bias_init(init::normal(1.0));
    check("dense_general_inits", inits);
    let bf16 = DenseGeneral::new([2, 4]).dtype(DType::BF16);
    let one_case = golden.case("dense_general_bf16").tolerance(BF16);
    one_case.linen(one(bf16));
}

#[test]
fn linear_general() {
    let golden = Golden::open("flax_dense");
    let rngs = || Rngs::new(0);
    let check = |name: &str, layer: LinearGeneral| {
        let one_case = golden.case(name);
        one_case.nnx(layer, |m, x| vec![m.forward(&x[0])]);
    };
    check("linear_general", LinearGeneral::new(3, 5, &mut rngs()));
    let axes = LinearGeneral::features([4, 5]).axis(&[1, -1]);
    check("linear_general_axes", axes.build([2, 3], &mut rngs()));
    let batch = LinearGeneral::features([2, 4]).batch_dims(2);
    let batch = batch.build_batched(&[4, 2], 3, &mut rngs());
    check("linear_general_batch", batch);
    let plain = LinearGeneral::features([2, 4]).without_bias();
    check("linear_general_no_bias", plain.build(3, &mut rngs()));
    let preferred = LinearGeneral::features(5)
        .dtype(DType::BF16)
        .preferred_element_type(DType::F32)
        .build(3, &mut rngs());
    let one_case = golden.case("linear_general_preferred").tolerance(BF16);
    one_case.nnx(preferred, |m, x| vec![m.forward(&x[0])]);
    let preferred = Linear::features(5)
        .dtype(DType::BF16)
        .preferred_element_type(DType::F32)
        .build(3, &mut rngs());
    let one_case = golden.case("linear_preferred").tolerance(BF16);
    one_case.nnx(preferred, |m, x| vec![m.forward(&x[0])]);
}

#[test]
fn einsum() {
    let golden = Golden::open("flax_dense");
    let normal = init::normal(1.0);
    let heads = Einsum::new("nta,hab->nthb", [6, 2, 3]).bias_init(normal);
    golden.case("einsum").linen(one(heads));
    let dots = Einsum::new("...a,ab->b...", [2, 3]);
    golden.case("einsum_dots").linen(one(dots));
    let plain = Einsum::new("nta, ab -> ntb", [2, 3]).without_bias();
    golden.case("einsum_no_bias").linen(one(plain));
    let bf16 = Einsum::new("nta,ab->ntb", [2, 3]).dtype(DType::BF16);
    let one_case = golden.case("einsum_bf16").tolerance(BF16);
    one_case.linen(one(bf16.clone()));

    let mut rngs = Rngs::new(0);
    let heads = ramie_nn::Einsum::new("nta,hab->nthb", [6, 2, 3], &mut rngs);
    let one_case = golden.case("nnx_einsum");
    one_case.nnx(heads, |m, x| vec![m.forward(&x[0])]);
    let plain = Einsum::new("nta,ab->ntb", [2, 3]).without_bias();
    let one_case = golden.case("nnx_einsum_no_bias");
    let layer = plain.build(&mut Rngs::new(0));
    one_case.nnx(layer, |m, x| vec![m.forward_by("nta,ab->ntb", &x[0])]);
    let preferred = bf16.preferred_element_type(DType::F32);
    let one_case = golden.case("nnx_einsum_preferred").tolerance(BF16);
    let layer = preferred.build(&mut Rngs::new(0));
    one_case.nnx(layer, |m, x| vec![m.forward(&x[0])]);
}

#[test]
fn embed() {
    let golden = Golden::open("flax_dense");
    golden.case("embed").linen(one(Embed::new(7, 4)));
    let outside = golden.case("embed_out_of_bounds");
    outside.linen(one(Embed::new(7, 4)));
    golden.case("embed_one").linen(one(Embed::new(1, 4)));
    let bf16 = Embed::new(7, 4).dtype(DType::BF16);
    let one_case = golden.case("embed_bf16").tolerance(BF16);
    one_case.linen(one(bf16.clone()));
    let small = Embed::new(7, 4).embedding_init(init::normal(0.02));
    golden.case("embed_init").linen(one(small));

    let attend = |m: Embed| move |s: &mut Scope, x: &[Array]| vec![m.attend(s, &x[0])];
    golden.case("attend").linen(attend(Embed::new(7, 4)));
    let one_case = golden.case("attend_bf16").tolerance(BF16);
    one_case.linen(attend(bf16));
    let mixed = Embed::new(7, 4).param_dtype(DType::BF16);
    let one_case = golden.case("attend_mixed").tolerance(BF16);
    one_case.linen(attend(mixed.clone()));

    let layer = || ramie_nn::Embed::new(7, 4, &mut Rngs::new(0));
    let one_case = golden.case("nnx_embed");
    one_case.nnx(layer(), |m, x| vec![m.forward(&x[0])]);
    let one_case = golden.case("nnx_attend");
    one_case.nnx(layer(), |m, x| vec![m.attend(&x[0])]);
    let mixed = mixed.build(&mut Rngs::new(0));
    let one_case = golden.case("nnx_attend_mixed").tolerance(BF16);
    one_case.nnx(mixed, |m, x| vec![m.attend(&x[0])]);
}

/// The first and the last layer of a model with one table.
struct Tied;

impl Module for Tied {
    fn call(&self, scope: &mut Scope, tokens: Array) -> Array {
        let mut embed = scope.setup("embed", &Embed::new(7, 4));
        let x: Array = embed.call(tokens);
        let x = scope.named("hidden", &Dense::new(4), x).tanh();
        embed.with(|embed, scope| embed.attend(scope, &x))
    }
}

#[derive(ramie_nn::Module)]
struct TiedNnx {
    embed: ramie_nn::Embed,
    hidden: Linear,
}

#[test]
fn tied_weights_have_the_gradients_of_both_uses() {
    let golden = Golden::open("flax_dense");
    golden.case("tied").linen(one(Tied));
    let mut rngs = Rngs::new(0);
    let model = TiedNnx {
        embed: ramie_nn::Embed::new(7, 4, &mut rngs),
        hidden: Linear::new(4, 4, &mut rngs),
    };
    golden.case("nnx_tied").nnx(model, |m, x| {
        let x = m.hidden.forward(&m.embed.forward(&x[0])).tanh();
        vec![m.embed.attend(&x)]
    });
}

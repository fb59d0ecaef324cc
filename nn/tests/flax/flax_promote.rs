//! Layers of NNX with a custom `promote_dtype` and custom products, against Flax.

use crate::common::{Case, Golden};
use ramie_core::lax::conv_general_dilated;
use ramie_core::numpy::einsum_with;
use ramie_core::{Array, DType, Tree, tree};
use ramie_nn::*;
use ramie_testing::panic_message;

/// The numbers that the script computes for a shape.
fn waves(shape: &[usize]) -> Array {
    let size: usize = shape.iter().product();
    let wave = |i: usize| ((i * 7919) % 1009) as f32 / 1009.0 - 0.5;
    Array::from_vec((0..size).map(wave).collect(), shape)
}

fn filled<T: Tree>(layer: &T) -> T {
    tree::map(layer, |a| waves(a.shape()) + 1.0)
}

/// Rounds all operands to `bf16` and computes in `f32`.
fn rounded() -> PromoteDtypeFn {
    PromoteDtypeFn::new(|arrays, _| {
        let round = |a: &&Array| a.astype(DType::BF16).astype(DType::F32);
        arrays.iter().map(round).collect()
    })
}

fn doubled() -> DotGeneralFn {
    DotGeneralFn::new(|x, kernel, axes, how| x.dot_general_with(kernel, axes.clone(), how) * 2.0)
}

#[track_caller]
fn check(golden: &Case, name: &str, got: &Array) {
    let expected = golden.array(name);
    assert_eq!(
        got.aval().to_string(),
        expected.aval().to_string(),
        "{name}"
    );
    let (got, expected) = (got.to_vec::<f32>(), expected.to_vec::<f32>());
    let greatest = expected.iter().fold(1e-6f32, |m, v| m.max(v.abs()));
    for (g, e) in got.iter().zip(&expected) {
        assert!(
            (g - e).abs() <= 1e-5 * greatest,
            "{name}: {got:?}\n{expected:?}"
        );
    }
}

#[test]
fn affine_layers_promote_by_their_rule() {
    let golden = Golden::open("flax_promote").case("layers");
    let (x, image, rngs) = (waves(&[2, 3, 8]), waves(&[2, 5, 5, 8]), &mut Rngs::new(0));
    let is = |name: &str, y: Array| check(&golden, name, &y);
    let layer = Linear::features(4).promote_dtype(rounded()).build(8, rngs);
    is("linear", filled(&layer).forward(&x));
    let layer = LinearGeneral::features([2, 4]).axis(&[-2, -1]);
    let layer = layer.promote_dtype(rounded()).build([3, 8], rngs);
    is("linear_general", filled(&layer).forward(&x));
    let twice = EinsumFn::new(|eq, operands, how| einsum_with(eq, &operands, how) * 2.0);
    let layer = Einsum::equation("btf,fo->bto", [8, 4]).einsum_op(twice);
    let layer = layer.promote_dtype(rounded()).build(rngs);
    is("einsum", filled(&layer).forward(&x));
    let twice = ConvGeneralDilatedFn::new(|x, k, how| conv_general_dilated(x, k, how) * 2.0);
    let layer = Conv::features(4, [3, 3]).conv_general_dilated(twice);
    let layer = layer.promote_dtype(rounded()).build(8, rngs);
    is("conv", filled(&layer).forward(&image));
    let layer = ConvTranspose::features(4, [3, 3]).promote_dtype(rounded());
    is(
        "conv_transpose",
        filled(&layer.build(8, rngs)).forward(&image),
    );
    let embed = Embed::features(5, 8).promote_dtype(rounded());
    let embed = filled(&embed.build(rngs));
    is("embed", embed.forward(&Array::from([[3i32, 1], [0, 2]])));
    is("attend", embed.attend(&x));
    let prelu = PReLU::slope(0.01)
        .dtype(DType::F16)
        .promote_dtype(rounded());
    is("prelu", filled(&prelu.build(rngs)).forward(&x));
    let lora = Lora::rank(2, 4).promote_dtype(rounded()).build(8, rngs);
    is("lora", filled(&lora).forward(&x));
}

#[test]
fn normalizations_cells_and_attention_promote_by_their_rule() {
    let golden = Golden::open("flax_promote").case("layers");
    let (x, rngs) = (waves(&[2, 3, 8]), &mut Rngs::new(0));
    let is = |name: &str, y: Array| check(&golden, name, &y);
    let batch = BatchNorm::config().promote_dtype(rounded());
    is("batch_norm", filled(&batch.build(8, rngs)).forward(&x));
    let running = batch.use_running_average(true).build(8, rngs);
    is("batch_norm_running", filled(&running).forward(&x));
    let layer = LayerNorm::config().promote_dtype(rounded());
    is("layer_norm", filled(&layer.build(8, rngs)).forward(&x));
    let layer = RMSNorm::config().promote_dtype(rounded());
    is("rms_norm", filled(&layer.build(8, rngs)).forward(&x));
    let layer = GroupNorm::config().num_groups(2).promote_dtype(rounded());
    is("group_norm", filled(&layer.build(8, rngs)).forward(&x));
    let layer = InstanceNorm::config().promote_dtype(rounded());
    is("instance_norm", filled(&layer.build(8, rngs)).forward(&x));
    let cell = GRUCell::features(4).promote_dtype(rounded()).build(8, rngs);
    let first = x.slice_in_dim(0, 1, 1, 1).squeeze(&[1]);
    is("gru", filled(&cell).step(waves(&[2, 4]), &first).1);
    let attention = MultiHeadAttention::heads(2)
        .normalize_qk(true)
        .qkv_dot_general(doubled())
        .out_dot_general(doubled())
        .qkv_promote_dtype(rounded())
        .out_promote_dtype(rounded())
        .ln_promote_dtype(rounded());
    is("attention", filled(&attention.build(8, rngs)).forward(&x));
}

#[test]
fn a_rule_returns_an_array_for_each_operand() {
    let short = PromoteDtypeFn::new(|arrays, _| vec![arrays[0].clone()]);
    let layer = Linear::features(4).promote_dtype(short);
    let layer = layer.build(8, &mut Rngs::new(0));
    let message = panic_message(|| layer.forward(&waves(&[2, 8])));
    assert!(
        message.contains("promote_dtype: the function returned"),
        "{message}"
    );
    assert!(message.contains("help: convert the arrays"), "{message}");
}

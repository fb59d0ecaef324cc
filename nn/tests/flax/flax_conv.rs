//! Convolutions and pooling against Flax.

use crate::common;

use common::Golden;
use ramie_core::lax::Padding;
use ramie_core::options::ExcludePadding;
use ramie_core::{Array, DType};
use ramie_nn::linen::{Conv, ConvLocal, ConvTranspose, Module, Scope};
use ramie_nn::{ConvPadding, Rngs, avg_pool, avg_pool_with, init, max_pool, min_pool};

/// What rounding to eight bits of mantissa leaves.
const BF16: f64 = 1e-2;

fn one<M: Module + Sync>(module: M) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync {
    move |scope, inputs| vec![module.call(scope, inputs[0].clone())]
}

/// Ones at and below the diagonal of the last two of three axes.
fn triangle() -> Array {
    Array::ones(&[3, 3, 4], DType::F32).tril(0)
}

#[test]
fn conv() {
    let golden = Golden::open("flax_conv");
    let check = |name: &str, module: Conv| golden.case(name).linen(one(module));
    let normal = || init::normal(1.0);
    check("conv1d", Conv::new(4, 3));
    check(
        "conv1d_number",
        Conv::new(4, 3).strides(2).bias_init(normal()),
    );
    check("conv2d", Conv::new(3, [3, 3]));
    check("conv2d_even", Conv::new(3, [2, 4]));
    check("conv3d", Conv::new(3, [2, 3, 2]));
    check("valid", Conv::new(3, [3, 2]).padding(Padding::Valid));
    check("strides", Conv::new(3, [3, 3]).strides([2, 1]));
    check("input_dilation", {
        let pads = [(1, 2), (0, 1)];
        Conv::new(3, [3, 3]).padding(pads).input_dilation([2, 1])
    });
    check("kernel_dilation", Conv::new(3, [2, 2]).kernel_dilation(2));
    check("groups", Conv::new(6, [3, 3]).feature_group_count(2));
    check("depthwise", Conv::new(8, [3, 3]).feature_group_count(4));
    check("no_bias", Conv::new(3, [3, 3]).without_bias());
    check("mask", Conv::new(4, 3).mask(triangle()));
    check("no_batch", Conv::new(3, [3, 3]));
    check("batches", Conv::new(3, 3));
    let inits = Conv::new(3, [3, 3]).kernel_init(init::he_uniform());
    check("inits", inits.bias_init(normal()));
    let bf16 = golden.case("conv_bf16").tolerance(BF16);
    bf16.linen(one(Conv::new(3, [3, 3]).dtype(DType::BF16)));
    let bf16 = golden.case("conv_bf16_params").tolerance(BF16);
    bf16.linen(one(Conv::new(3, [3, 3]).param_dtype(DType::BF16)));
}

#[test]
fn padding() {
    let golden = Golden::open("flax_conv");
    let check = |name: &str, module: Conv| golden.case(name).linen(one(module));
    let circular = Conv::new(3, [3, 2]).padding(ConvPadding::Circular);
    check("circular", circular.clone());
    check(
        "circular_dilated",
        circular.kernel_dilation([2, 1]).strides(2),
    );
    check(
        "reflect",
        Conv::new(3, [3, 3]).padding(ConvPadding::Reflect),
    );
    let causal = Conv::new(4, 3).padding(ConvPadding::Causal);
    check("causal", causal.clone());
    check("causal_dilated", causal.kernel_dilation(2));
    check("padding_number", Conv::new(3, [3, 3]).padding(2));
    check("padding_numbers", Conv::new(3, [3, 3]).padding([1, 0]));
    check(
        "padding_pairs",
        Conv::new(3, [3, 3]).padding([(2, 0), (0, 1)]),
    );
}

#[test]
fn local() {
    let golden = Golden::open("flax_conv");
    let check = |name: &str, module: ConvLocal| golden.case(name).linen(one(module));
    check("local1d", ConvLocal::new(4, 3).bias_init(init::normal(1.0)));
    let valid = ConvLocal::new(3, [3, 2]).strides([2, 1]);
    check("local2d", valid.padding(Padding::Valid));
    let dilated = ConvLocal::new(3, [2, 2]).kernel_dilation(2);
    check("local_no_batch", dilated.without_bias());
}

#[test]
fn transpose() {
    let golden = Golden::open("flax_conv");
    let check = |name: &str, module: ConvTranspose| golden.case(name).linen(one(module));
    check("transpose1d", ConvTranspose::new(4, 3));
    let twice = || ConvTranspose::new(3, [3, 3]).strides(2);
    check("transpose2d", twice().bias_init(init::normal(1.0)));
    let valid = ConvTranspose::new(3, [3, 2]).padding(Padding::Valid);
    check("transpose_valid", valid.strides([2, 3]));
    check("transpose_numbers", twice().padding([(1, 2), (0, 1)]));
    let dilated = ConvTranspose::new(3, [3, 3]).kernel_dilation([2, 1]);
    check("transpose_dilated", dilated);
    check("transpose_kernel", twice().transpose_kernel(true));
    let circular = |size| ConvTranspose::new(3, size).padding(ConvPadding::Circular);
    check("transpose_circular", circular([3, 4]).strides([2, 1]));
    let kernel = circular([6, 5]).strides(2).transpose_kernel(true);
    check("transpose_circular_kernel", kernel);
    let masked = ConvTranspose::new(4, 3).mask(triangle());
    check("transpose_mask", masked.padding(Padding::Valid));
    check("transpose_no_batch", twice());
    let one_case = golden.case("transpose_bf16").tolerance(BF16);
    one_case.linen(one(twice().dtype(DType::BF16)));
}

#[test]
fn nnx() {
    let golden = Golden::open("flax_conv");
    let check = |name: &str, tolerance: f64, layer: ramie_nn::Conv| {
        let one_case = golden.case(name).tolerance(tolerance);
        one_case.nnx(layer, |m, x| vec![m.forward(&x[0])]);
    };
    let rngs = || Rngs::new(0);
    let conv = ramie_nn::Conv::new(4, 3, [3, 3], &mut rngs());
    check("nnx_conv", 1e-5, conv);
    let causal = Conv::new(4, 3).strides(2).padding(ConvPadding::Causal);
    check("nnx_conv_number", 1e-5, causal.build(3, &mut rngs()));
    let groups = Conv::new(6, [3, 3]).feature_group_count(2).without_bias();
    check("nnx_groups", 1e-5, groups.build(4, &mut rngs()));
    let masked = Conv::new(4, 3).mask(triangle());
    check("nnx_mask", 1e-5, masked.build(3, &mut rngs()));
    let preferred = Conv::new(3, [3, 3])
        .dtype(DType::BF16)
        .preferred_element_type(DType::F32)
        .without_bias();
    check("nnx_preferred", BF16, preferred.build(4, &mut rngs()));

    let check = |name: &str, config: ConvTranspose| {
        let layer = config.build(4, &mut rngs());
        golden.case(name).nnx(layer, |m, x| vec![m.forward(&x[0])]);
    };
    check("nnx_transpose", ConvTranspose::new(3, [3, 3]).strides(2));
    let circular = ConvTranspose::new(3, [6, 5]).strides(2);
    let circular = circular.padding(ConvPadding::Circular);
    check("nnx_transpose_circular", circular.transpose_kernel(true));
}

#[test]
fn pools() {
    let golden = Golden::open("flax_conv");
    let check = |name: &str, f: &(dyn Fn(&Array) -> Array + Sync)| {
        golden.case(name).linen(|_, x| vec![f(&x[0])]);
    };
    use Padding::{Same, Valid};
    let pads = || Padding::from([(1, 0), (0, 1)]);
    check("max_pool", &|x| max_pool(x, &[2, 2], &[1, 1], Valid));
    check("max_pool_strides", &|x| max_pool(x, &[2, 3], &[2, 1], Same));
    check("max_pool_no_batch", &|x| {
        max_pool(x, &[2, 2], &[2, 2], Valid)
    });
    check("min_pool", &|x| min_pool(x, &[2, 2], &[2, 2], pads()));
    check("avg_pool", &|x| avg_pool(x, &[3, 2], &[2, 2], Valid));
    check("avg_pool_same", &|x| avg_pool(x, &[3, 2], &[1, 1], Same));
    let inside = |x: &Array| avg_pool_with(x, &[3, 2], &[1, 1], Same, ExcludePadding);
    check("avg_pool_inside", &inside);
    check("avg_pool_pairs", &|x| {
        avg_pool_with(x, &[3, 2], &[1, 1], pads(), ExcludePadding)
    });
    check("avg_pool_no_batch", &inside);
    check("avg_pool_1d", &|x| avg_pool(x, &[2], &[2], Same));
    check("avg_pool_batches", &|x| {
        avg_pool_with(x, &[2], &[1], Same, ExcludePadding)
    });
}

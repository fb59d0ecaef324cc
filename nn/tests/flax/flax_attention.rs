//! Attention against Flax: layers, functions and masks.

use crate::common;

use common::{Case, Golden};
use ramie_core::{Array, DType, State, random};
use ramie_nn::linen::{
    Apply, Module, MultiHeadAttention as Linen, MultiHeadDotProductAttention as Mha, Scope,
    SelfAttention, Variables,
};
use ramie_nn::{
    AttentionFn, AttentionInputs, AttentionOptions, Deterministic, Module as _, MultiHeadAttention,
    MultiHeadAttentionConfig, Param, Rngs, combine_masks, dot_product_attention,
    dot_product_attention_weights, init, make_attention_mask, make_attention_mask_with,
    make_causal_mask, make_causal_mask_with, nnx,
};

/// What rounding to eight bits of mantissa leaves, of products that are summed.
const BF16: f64 = 3e-2;

/// A case. The bias of keys changes all products of a query alike, so that its gradient is zero but
/// for rounding.
fn case(golden: &Golden, name: &str) -> Case {
    golden.case(name).rounding(2e-6)
}

fn inputs(x: &[Array]) -> AttentionInputs {
    let mut inputs = AttentionInputs::of(&x[0]);
    inputs.inputs_k = x.get(1).cloned();
    inputs.inputs_v = x.get(2).cloned();
    inputs
}

#[test]
fn linen() {
    let golden = Golden::open("flax_attention");
    let one = |config: MultiHeadAttentionConfig| {
        move |s: &mut Scope, x: &[Array]| vec![config.call(s, inputs(x))]
    };
    case(golden, "self").linen(|s, x| vec![Mha::new(2).call(s, x[0].clone())]);
    case(golden, "deep").linen(one(Mha::new(2)));
    case(golden, "cross").linen(one(Mha::new(3).qkv_features(12).out_features(5)));
    case(golden, "keys").linen(one(Mha::new(2)));
    case(golden, "mask")
        .linen(|s, x| vec![Mha::new(2).call(s, AttentionInputs::of(&x[0]).mask(&x[1]))]);
    let inits = Mha::new(2)
        .kernel_init(init::he_uniform())
        .bias_init(init::normal(1.0))
        .out_kernel_init(init::xavier_normal())
        .out_bias_init(init::ones());
    case(golden, "inits").linen(one(inits));
    case(golden, "no_bias").linen(one(Mha::new(2).use_bias(false)));
    case(golden, "normalize_qk").linen(one(Mha::new(2).normalize_qk(true)));
    let dropout = || Mha::new(2).dropout_rate(0.4);
    case(golden, "dropout").linen(one(dropout().deterministic(false)));
    case(golden, "dropout_each").linen(|s, x| {
        let config = dropout().broadcast_dropout(false);
        vec![config.call(s, inputs(x).deterministic(false))]
    });
    case(golden, "evaluated").linen(one(dropout().deterministic(true)));
    let bf16 = Mha::new(2).dtype(DType::BF16);
    case(golden, "bf16")
        .tolerance(BF16)
        .rounding(2e-2)
        .linen(one(bf16.clone()));
    let softmax = bf16.force_fp32_for_softmax(true);
    case(golden, "bf16_softmax")
        .tolerance(BF16)
        .rounding(2e-2)
        .linen(one(softmax));
    let params = Mha::new(2).param_dtype(DType::BF16);
    case(golden, "bf16_params")
        .tolerance(BF16)
        .rounding(2e-2)
        .linen(one(params));
    case(golden, "named").linen(|s, x| {
        let parts = [
            Linen::new(2),
            Mha::new(2),
            SelfAttention::new(2),
            Mha::new(2),
        ];
        let outputs = parts.map(|part| s.child(&part, x[0].clone()));
        vec![
            outputs
                .into_iter()
                .reduce(|a: Array, b| a + b)
                .expect("four"),
        ]
    });
}

#[test]
fn linen_decodes() {
    let golden = Golden::open("flax_attention");
    let step = |config: MultiHeadAttentionConfig| {
        let whole = config.clone();
        (
            move |s: &mut Scope, _: &[Array]| {
                vec![whole.call(s, Array::zeros(&[2, 6, 8], DType::F32))]
            },
            move |s: &mut Scope, x: &[Array]| vec![config.call(s, inputs(x))],
        )
    };
    let (start, next) = step(Mha::new(2).decode(true));
    case(golden, "decode_first").linen_from(start, next);
    let (start, next) = step(Mha::new(2).decode(true).normalize_qk(true));
    case(golden, "decode_next").linen_from(start, next);
}

#[test]
fn nnx() {
    let golden = Golden::open("flax_attention");
    let forward = |m: &mut MultiHeadAttention, x: &[Array]| vec![m.forward_with(&inputs(x))];
    let heads = MultiHeadAttention::heads;
    let make = |config: MultiHeadAttentionConfig| config.build(8, &mut Rngs::new(0));
    case(golden, "nnx_self").nnx(make(heads(2)), forward);
    let cross = heads(3).qkv_features(12).out_features(5).in_kv_features(6);
    case(golden, "nnx_cross").nnx(make(cross), forward);
    let grouped = make(heads(4).num_kv_heads(2));
    case(golden, "nnx_grouped").nnx(grouped, |m, x| vec![m.forward_with(&inputs(x).causal())]);
    case(golden, "nnx_mask").nnx(make(heads(2)), |m, x| {
        vec![m.forward_with(&AttentionInputs::of(&x[0]).mask(&x[1]).causal())]
    });
    case(golden, "nnx_normalize_qk").nnx(make(heads(2).normalize_qk(true)), forward);
    case(golden, "nnx_no_bias").nnx(make(heads(2).use_bias(false)), forward);
    case(golden, "nnx_dropout").nnx(make(heads(2).dropout_rate(0.4)), forward);
    let bf16 = make(heads(2).dtype(DType::BF16));
    case(golden, "nnx_bf16")
        .tolerance(BF16)
        .rounding(2e-2)
        .nnx(bf16, forward);
    let decoding = || {
        let mut layer = make(heads(4).num_kv_heads(2).decode(true));
        layer.init_cache(&[2, 6, 8], DType::F32);
        layer
    };
    case(golden, "nnx_decode_first").nnx(decoding(), forward);
    case(golden, "nnx_decode_next").nnx(decoding(), forward);
}

#[test]
fn options_of_a_call() {
    let golden = Golden::open("flax_attention");
    let decoding = |decode| {
        let config = MultiHeadAttention::heads(4).num_kv_heads(2);
        let mut layer = config.build(8, &mut Rngs::new(0));
        layer.init_cache(&[2, 6, 8], DType::F32);
        layer.decode = decode;
        layer
    };
    case(golden, "nnx_call_decode").nnx(decoding(false), |m, x| {
        vec![m.forward_with(&inputs(x).decode(true))]
    });
    case(golden, "nnx_call_whole").nnx(decoding(true), |m, x| {
        vec![m.forward_with(&inputs(x).decode(false))]
    });
    let close = |name: &str, got: &Array| {
        let expected = golden.case(name).array("weights");
        let worst = (got - &expected).abs().max().item::<f32>();
        assert!(got.shape() == expected.shape() && worst < 1e-5, "{worst}");
    };
    let x = golden.case("nnx_self").inputs()[0].clone();
    let call = AttentionInputs::of(&x).sow_weights(true);
    let mut layer = MultiHeadAttention::new(2, 8, &mut Rngs::new(0));
    let (_, kept) = nnx::capture(&mut layer, |layer| layer.forward_with(&call));
    close("nnx_call_sow", &kept["intermediates.attention_weights.0"]);
    let config = Mha::new(2);
    let variables = config.init(random::key(0), x.clone());
    let options = Apply::new().mutable("intermediates");
    let (_, updates) = config.apply_with(&variables, call, &options);
    close("call_sow", &updates["intermediates"]["attention_weights.0"]);
    // A Linen call decodes, with the cache of a module that does.
    let token = x.slice_in_dim(0, 1, 1, 1);
    let decodes = config.clone().decode(true);
    let variables = decodes.init(random::key(0), x.clone());
    let cache = Apply::new().mutable("cache");
    let (expected, _) = decodes.apply_with(&variables, token.clone(), &cache);
    let call = AttentionInputs::of(&token).decode(true);
    let (got, _) = config.apply_with(&variables, call, &cache);
    assert_eq!(Array::to_vec::<f32>(&got), expected.to_vec::<f32>());
    // A call without weights overrides the option.
    let call = AttentionInputs::of(&x).sow_weights(false);
    let (_, updates) = config
        .sow_weights(true)
        .apply_with(&variables, call, &options);
    assert!(updates.get("intermediates").is_none_or(State::is_empty));
}

#[test]
fn other_ways_to_attend_are_equal() {
    let golden = Golden::open("flax_attention");
    let blockwise = |n| MultiHeadAttention::heads(n).attention_fn(AttentionFn::blockwise(2));
    case(golden, "nnx_grouped").nnx(
        blockwise(4).num_kv_heads(2).build(8, &mut Rngs::new(0)),
        |m, x| vec![m.forward_with(&inputs(x).causal())],
    );
    case(golden, "nnx_mask").nnx(blockwise(2).build(8, &mut Rngs::new(0)), |m, x| {
        vec![m.forward_with(&AttentionInputs::of(&x[0]).mask(&x[1]).causal())]
    });
    case(golden, "deep").linen(move |s, x| vec![blockwise(2).call(s, inputs(x))]);
    let own = AttentionFn::new(dot_product_attention);
    let layer = MultiHeadAttention::heads(2)
        .attention_fn(own)
        .build(8, &mut Rngs::new(0));
    case(golden, "nnx_self").nnx(layer, |m, x| vec![m.forward(&x[0])]);
    // With the weights.
    let layer = MultiHeadAttention::new(2, 8, &mut Rngs::new(0));
    case(golden, "nnx_self").nnx(layer, |m, x| {
        let (out, weights) = m.forward_and_weights(&inputs(x));
        assert_eq!(weights.shape(), [2, 2, 5, 5]);
        vec![out]
    });
}

#[test]
fn functions() {
    let golden = Golden::open("flax_attention");
    let with = |x: &[Array]| AttentionOptions {
        bias: Some(x[0].clone()),
        mask: Some(x[1].clone()),
        ..AttentionOptions::default()
    };
    case(golden, "function").linen(|_, x| {
        let how = AttentionOptions::default();
        vec![dot_product_attention(&x[0], &x[1], &x[2], &how)]
    });
    case(golden, "function_bias_mask")
        .linen(|_, x| vec![dot_product_attention(&x[0], &x[1], &x[2], &with(&x[3..]))]);
    case(golden, "weights")
        .linen(|_, x| vec![dot_product_attention_weights(&x[0], &x[1], &with(&x[2..]))]);
    case(golden, "function_grouped").linen(|_, x| {
        let how = AttentionOptions {
            is_causal: true,
            ..AttentionOptions::default()
        };
        vec![dot_product_attention(&x[0], &x[1], &x[2], &how)]
    });
    case(golden, "attention_mask").linen(|_, x| {
        let real = x[0].gt(0);
        vec![make_attention_mask(&real, &real)]
    });
    case(golden, "attention_mask_with").linen(|_, x| {
        let keys = x[0].slice_in_dim(0, 2, 1, 1);
        let greater = |q: &Array, k: &Array| q.gt(k);
        vec![make_attention_mask_with(
            &x[0],
            &keys,
            greater,
            2,
            DType::I32,
        )]
    });
    case(golden, "causal_mask").linen(|_, x| vec![make_causal_mask_with(&x[0], 1, DType::F32)]);
    case(golden, "combined_masks").linen(|_, x| {
        let real = x[0].gt(0);
        let masks = [make_causal_mask(&x[0]), make_attention_mask(&real, &real)];
        vec![combine_masks(&[None, Some(&masks[0]), Some(&masks[1])]).expect("a mask")]
    });
    assert!(combine_masks(&[None, None]).is_none());
}

#[test]
fn cases_are_all_compared() {
    assert_eq!(Golden::open("flax_attention").cases().len(), 39);
}

#[test]
fn evaluation_drops_nothing() {
    let mut layer = MultiHeadAttention::heads(2)
        .dropout_rate(0.5)
        .build(8, &mut Rngs::new(0));
    let x = Array::ones(&[1, 3, 8], DType::F32);
    let dropped = layer.forward(&x).to_vec::<f32>();
    assert_ne!(dropped, layer.forward(&x).to_vec::<f32>());
    layer.eval();
    assert_eq!(layer.deterministic, Deterministic(true));
    let all = layer.forward(&x).to_vec::<f32>();
    assert_eq!(all, layer.forward(&x).to_vec::<f32>());
}

#[test]
fn weights_are_kept_for_inspection() {
    let x = random::normal(&random::key(0), &[2, 5, 8], DType::F32);
    let config = MultiHeadAttention::heads(2).sow_weights(true);
    let mut layer = config.build(8, &mut Rngs::new(0));
    let (out, weights) = layer.forward_and_weights(&AttentionInputs::of(&x));
    assert_eq!(layer.forward(&x).to_vec::<f32>(), out.to_vec::<f32>());
    let (_, kept) = nnx::capture(&mut layer, |layer| layer.forward(&x));
    let kept = &kept["intermediates.attention_weights.0"];
    assert_eq!(kept.to_vec::<f32>(), weights.to_vec::<f32>());
    let rows = weights.sum_over(-1).to_vec::<f32>();
    assert!(rows.iter().all(|row| (row - 1.0).abs() < 1e-5), "{rows:?}");

    // Linen, with the variables of the layer above.
    let params = State::of(&layer).of_kind(Param::KIND);
    let variables = Variables::new().with("params", params);
    let options = Apply::new().mutable("intermediates");
    let (y, updates) = config.apply_with(&variables, x.clone(), &options);
    assert_eq!(Array::to_vec::<f32>(&y), out.to_vec::<f32>());
    let kept = &updates["intermediates"]["attention_weights.0"];
    assert_eq!(kept.to_vec::<f32>(), weights.to_vec::<f32>());
    let silent: Array = config.apply(&variables, x);
    assert_eq!(silent.to_vec::<f32>(), out.to_vec::<f32>());
}

//! Options of attention that Flax does not have: RMS normalization of queries and keys, the
//! initializers of its scales, windows, and a bias of the output projection alone.

use ramie_core::options::Reduction;
use ramie_core::{Array, DType, State, random};
use ramie_nn::{
    AttentionFn, AttentionInputs, AttentionOptions, HeadNorm, Metadata, MultiHeadAttention,
    MultiHeadAttentionConfig, Param, QkNorm, Rngs, RotaryEmbedding, dot_product_attention, init,
    metadata_of, value_and_grad,
};

fn normal(seed: u64, shape: &[usize]) -> Array {
    random::normal(&random::key(seed), shape, DType::F32)
}

#[track_caller]
fn close(what: &str, got: &Array, expected: &Array) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let difference = (got - expected).abs().max().item::<f32>();
    assert!(difference < 2e-6, "{what}: {difference}");
}

fn heads() -> MultiHeadAttentionConfig {
    MultiHeadAttention::heads(4).num_kv_heads(2)
}

/// A mask `[1, 1, length, length]` of the keys in a window.
fn in_window(length: usize, before: i32, after: i32) -> Array {
    let positions = Array::arange(length).astype(DType::I32);
    let distance = positions.expand_dims(&[1]) - positions.expand_dims(&[0]);
    let near = distance.le(before).bitwise_and(distance.ge(-after));
    near.expand_dims(&[0, 1])
}

#[test]
fn queries_and_keys_are_normalized() {
    let rotary = RotaryEmbedding::new(2);
    let config = heads().normalize_qk(QkNorm::RMSNorm { epsilon: 0.3 });
    let config = config.rotary(rotary.clone());
    let mut layer = config.build(8, &mut Rngs::new(0));
    let (query_scale, key_scale) = (normal(1, &[2]), normal(2, &[2]));
    for (norm, scale) in [
        (&mut layer.query_ln, &query_scale),
        (&mut layer.key_ln, &key_scale),
    ] {
        let Some(HeadNorm::RMSNorm(norm)) = norm else {
            panic!("another normalization: {norm:?}")
        };
        norm.scale = Some(Param::new(scale.clone()));
    }
    let x = normal(3, &[2, 5, 8]);
    let normalized = |x: Array, scale: &Array| {
        let square = x.square().mean_over(Reduction::over(-1).keepdims());
        rotary.forward(&(x / (square + 0.3).sqrt() * scale), &Array::arange(5))
    };
    let query = normalized(layer.query.forward(&x), &query_scale);
    let key = normalized(layer.key.forward(&x), &key_scale);
    let value = layer.value.forward(&x);
    let how = AttentionOptions::default();
    let means = dot_product_attention(&query, &key, &value, &how);
    let expected = layer.out.forward(&means);
    close("normalized", &layer.forward(&x), &expected);

    // The names are those of Flax's normalization.
    let names = |norm: QkNorm| -> Vec<String> {
        let layer = heads().normalize_qk(norm).build(8, &mut Rngs::new(0));
        State::of(&layer).paths().map(str::to_owned).collect()
    };
    let rms = names(QkNorm::RMSNorm { epsilon: 1e-6 });
    assert_eq!(rms, names(true.into()));
    assert!(rms.contains(&"query_ln.scale".to_owned()), "{rms:?}");
    assert_eq!(names(false.into()).len(), rms.len() - 2);
}

#[test]
fn scales_of_norms_have_initializers_and_metadata() {
    let frozen = Metadata::default().with("tag", "frozen");
    let config = heads()
        .query_ln_scale_init(init::constant(0.5))
        .key_ln_scale_init(init::ones().with_metadata(frozen.clone()));
    for norm in [QkNorm::LayerNorm, QkNorm::RMSNorm { epsilon: 1e-6 }] {
        let config = config.clone().normalize_qk(norm);
        let layer = config.build(8, &mut Rngs::new(0));
        let state = State::of(&layer);
        assert_eq!(state["query_ln.scale"].to_vec::<f32>(), [0.5, 0.5]);
        assert_eq!(state["key_ln.scale"].to_vec::<f32>(), [1.0, 1.0]);
        let metadata = metadata_of(&layer);
        assert_eq!(metadata.get("key_ln.scale"), Some(&frozen));
        assert_eq!(metadata.get("query_ln.scale"), None);
    }
}

/// The output of a layer and the gradient of its parameters.
fn both(layer: &mut MultiHeadAttention, inputs: &AttentionInputs) -> Vec<Array> {
    let out = layer.forward_with(inputs);
    let loss = |layer: &mut MultiHeadAttention| layer.forward_with(inputs).square().sum();
    let (_, grads) = value_and_grad(layer, loss);
    let grads = grads.arrays();
    // Of similar size for all parameters.
    let scaled = grads.iter().map(|g| g / (g.abs().max() + 1e-3));
    [out].into_iter().chain(scaled).collect()
}

#[test]
fn windows_are_masks() {
    let x = normal(0, &[2, 9, 8]);
    let padding = Array::arange(9).astype(DType::I32).ge(2);
    let segments = Array::from([[0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1, 1, 2, 2]]);
    let same = (segments.expand_dims(&[2])).eq(segments.expand_dims(&[1]));
    let causal = AttentionInputs::of(&x).causal();
    let cases = [
        ("causal", causal.clone(), None),
        (
            "padded",
            causal.clone(),
            Some(padding.expand_dims(&[0, 1, 2])),
        ),
        ("packed", causal, Some(same.expand_dims(&[1]))),
        ("both sides", AttentionInputs::of(&x), None),
    ];
    for attention in [AttentionFn::dot_product(), AttentionFn::blockwise(4)] {
        let layer = |window: Option<(usize, usize)>| {
            let config = heads().attention_fn(attention.clone()).window(window);
            config.build(8, &mut Rngs::new(0))
        };
        for (name, inputs, mask) in &cases {
            let near = in_window(9, 2, 1);
            let explicit = match mask {
                Some(mask) => near.bitwise_and(mask),
                None => near,
            };
            let expected = both(&mut layer(None), &inputs.clone().mask(&explicit));
            let inputs = match mask {
                Some(mask) => inputs.clone().mask(mask),
                None => inputs.clone(),
            };
            let got = both(&mut layer(Some((2, 1))), &inputs);
            for (got, expected) in got.iter().zip(&expected) {
                close(name, got, expected);
            }
            // All keys.
            let wide = layer(Some((usize::MAX, usize::MAX))).forward_with(&inputs);
            close(name, &wide, &layer(None).forward_with(&inputs));
        }
    }
}

#[test]
fn caches_have_windows() {
    let config = heads().rotary(RotaryEmbedding::new(2)).window((3, 0));
    let x = normal(0, &[2, 9, 8]);
    for attention in [AttentionFn::dot_product(), AttentionFn::blockwise(4)] {
        let config = config.clone().attention_fn(attention);
        let mut layer = config.build(8, &mut Rngs::new(0));
        let whole = layer.forward_with(&AttentionInputs::of(&x).causal());
        let parts = [(0, 3), (3, 4), (4, 6), (6, 9)];
        let expected = |from: usize, to: usize| whole.slice_in_dim(from, to, 1, 1);
        layer.start_decoding(2, 12);
        for (from, to) in parts {
            let part = layer.forward(&x.slice_in_dim(from, to, 1, 1));
            close("one index", &part, &expected(from, to));
        }
        // Sequences of different lengths.
        layer.rewind(&Array::from([7, 5]));
        let rows = [(0, 7), (1, 5)];
        let next = rows.map(|(row, at)| {
            x.slice_in_dim(row, row + 1, 1, 0)
                .slice_in_dim(at, at + 2, 1, 1)
        });
        let part = layer.forward(&ramie_core::concatenate(&next, 0));
        for (row, at) in rows {
            let row = |x: &Array| x.slice_in_dim(row, row + 1, 1, 0);
            close("two indices", &row(&part), &row(&expected(at, at + 2)));
        }
    }
}

#[test]
fn the_output_can_have_no_bias() {
    let biases = |config: MultiHeadAttentionConfig| {
        let layer = config.build(8, &mut Rngs::new(0));
        [&layer.query, &layer.key, &layer.value, &layer.out].map(|part| part.bias.is_some())
    };
    assert_eq!(
        biases(heads().out_use_bias(false)),
        [true, true, true, false]
    );
    assert_eq!(biases(heads().use_bias(false)), [false; 4]);
    assert_eq!(biases(heads()), [true; 4]);
}

//! Mistakes with attention are explained.

use ramie_core::{Array, DType, random};
use ramie_nn::linen::{Module, MultiHeadAttention as Linen};
use ramie_nn::{
    AttentionFn, AttentionInputs, AttentionOptions, MultiHeadAttention, Rngs, RotaryEmbedding,
    combine_masks, dot_product_attention,
};
use ramie_testing::assert_explained;

fn zeros(shape: &[usize]) -> Array {
    Array::zeros(shape, DType::F32)
}

fn layer() -> MultiHeadAttention {
    MultiHeadAttention::new(2, 8, &mut Rngs::new(0))
}

/// Checks that the function panics with this part and a remedy.
#[track_caller]
fn says<R>(what: &str, f: impl FnOnce() -> R) {
    assert_explained(f, &[what]);
}

#[test]
fn sizes() {
    let rngs = || Rngs::new(0);
    says("8 features cannot be divided into 3 heads", || {
        MultiHeadAttention::new(3, 8, &mut rngs())
    });
    says("4 query heads cannot share 3 key and value heads", || {
        MultiHeadAttention::heads(4)
            .num_kv_heads(3)
            .build(8, &mut rngs())
    });
    says("expected [batch.., length, 8]", || {
        layer().forward(&zeros(&[2, 5, 6]))
    });
    says("inputs of keys are f32[2,7,6]", || {
        layer().forward_with(&AttentionInputs::of(&zeros(&[2, 5, 8])).keys(&zeros(&[2, 7, 6])))
    });
    says("inputs of values, but no inputs of keys", || {
        let x = zeros(&[2, 5, 8]);
        layer().forward_with(&AttentionInputs::of(&x).values(&x))
    });
    let q = |heads: usize, h: usize| zeros(&[1, 4, heads, h]);
    let how = AttentionOptions::default();
    says("3 query heads cannot share 2", || {
        dot_product_attention(&q(3, 4), &q(2, 4), &q(2, 4), &how)
    });
    says("different head sizes", || {
        dot_product_attention(&q(2, 4), &q(2, 6), &q(2, 4), &how)
    });
}

#[test]
fn masks() {
    let x = zeros(&[2, 5, 8]);
    says(
        "which does not broadcast to [batch.., heads, queries, keys] = [2, 2, 5, 5]",
        || layer().forward_with(&AttentionInputs::of(&x).mask(&zeros(&[5, 4]))),
    );
    says("add an axis for the heads", || {
        layer().forward_with(&AttentionInputs::of(&zeros(&[3, 5, 8])).mask(&zeros(&[3, 5, 5])))
    });
    says("different numbers of axes: f32[5,5], f32[2,1,5,5]", || {
        combine_masks(&[Some(&zeros(&[5, 5])), Some(&zeros(&[2, 1, 5, 5]))])
    });
}

#[test]
fn caches() {
    let step = zeros(&[2, 1, 8]);
    let mut without = layer();
    without.decode = true;
    says("the layer decodes, but has no cache", || {
        without.forward(&step)
    });
    let mut full = layer();
    full.decode = true;
    full.init_cache(&[2, 3, 8], DType::F32);
    full.forward(&zeros(&[2, 2, 8]));
    full.forward(&step);
    says(
        "room for 3 positions, 3 are in use, and the call adds 1",
        || full.forward(&step),
    );
    says("the batch that the cache was created for", || {
        full.forward(&zeros(&[4, 1, 8]))
    });
    // Variables without the collection.
    let model = Linen::new(2).decode(true);
    let variables = model.init(random::key(0), zeros(&[2, 3, 8]));
    let params = ramie_nn::linen::Variables::new().with("params", variables.params());
    says("cached_key", || model.apply(&params, step.clone()));
    says("cannot change `cached_key` in the outermost module", || {
        model.apply(&variables, step.clone())
    });
}

#[test]
fn modes() {
    let x = zeros(&[2, 5, 8]);
    let model = Linen::new(2).dropout_rate(0.5);
    says("`deterministic` is not set", || {
        model.init(random::key(0), x.clone())
    });
    let blockwise = MultiHeadAttention::heads(2)
        .attention_fn(AttentionFn::blockwise(2))
        .dropout_rate(0.5);
    says("attention weights cannot be dropped", || {
        blockwise.build(8, &mut Rngs::new(0)).forward(&x)
    });
    says("does not compute the matrix of attention weights", || {
        let inputs = AttentionInputs::of(&x).deterministic(true);
        blockwise
            .build(8, &mut Rngs::new(0))
            .forward_and_weights(&inputs)
    });
    let mut scoped = MultiHeadAttention::heads(2)
        .dropout_rate(0.5)
        .build(8, &mut Rngs::new(0));
    scoped.rngs = None;
    says("neither the layer nor the call provides an RNG key", || {
        scoped.forward(&x)
    });
}

#[test]
fn rotary() {
    says("3 features cannot be rotated in pairs", || {
        RotaryEmbedding::new(3)
    });
    let rotary = RotaryEmbedding::new(8);
    says("with a size of 8 or more", || {
        rotary.forward(&zeros(&[2, 5, 2, 4]), &Array::arange(5))
    });
    says("do not broadcast to the [batch.., length]", || {
        rotary.forward(&zeros(&[2, 5, 2, 8]), &Array::arange(4))
    });
}

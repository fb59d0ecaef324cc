//! Streams of keys and layers draw what Flax 0.12.8 draws for the same seeds.

use ramie_core::config::{RankPromotion, numpy_rank_promotion};
use ramie_core::{Array, DType, State, random, tree};
use ramie_nn::{
    Conv, ConvLocal, ConvTranspose, DotGeneralFn, Linear, Param, RngCount, RngKey, Rngs,
};
use ramie_testing::is_linked;
use std::hash::BuildHasher;

fn words(key: &random::Key) -> Vec<u32> {
    random::key_data(key).to_vec()
}

#[test]
fn streams_give_the_keys_of_flax() {
    let mut rngs = Rngs::new(0).stream("dropout", 7);
    assert_eq!(words(&rngs.params()), [1797259609, 2579123966]);
    assert_eq!(words(&rngs.params()), [928981903, 3453687069]);
    assert_eq!(words(&rngs.params()), [4146024105, 2718843009]);
    assert_eq!(words(&rngs.dropout()), [3625411723, 1954958720]);
    // A stream that is not there draws from the default one.
    assert_eq!(words(&rngs.key("noise")), [2467461003, 3840466878]);
    let fork = Rngs::new(0).get("params").fork();
    assert_eq!(words(&fork.key.0), [1797259609, 2579123966]);
}

#[test]
fn streams_are_trees() {
    let rngs = Rngs::from_key(random::key(0)).stream("dropout", 1);
    let state = State::of(&rngs);
    let expected = [
        "default.key",
        "default.count",
        "dropout.key",
        "dropout.count",
    ];
    assert_eq!(tree::paths(&rngs), expected);
    assert_eq!(state.of_kind(RngKey::KIND).len(), 2);
    assert_eq!(state.of_kind(RngCount::KIND).len(), 2);
}

#[test]
#[should_panic(expected = "existing streams: dropout")]
fn a_missing_stream_is_named() {
    Rngs::empty().stream("dropout", 1).params();
}

#[test]
fn linear_is_that_of_flax() {
    let layer = Linear::new(3, 2, &mut Rngs::new(0));
    let kernel = [
        0.6178674101829529,
        -0.5598721504211426,
        -0.46445077657699585,
        -0.7150554656982422,
        -0.5388410091400146,
        0.3668934404850006,
    ];
    let kernel = Array::from(kernel.map(|x: f64| x as f32)).reshape(&[3, 2]);
    // The plugin's inverse error function rounds as that of Flax does, the linked backend's is exact.
    let tolerance = if is_linked() { 5e-7 } else { 0.0 };
    let near = layer.kernel.allclose_with(&kernel, (tolerance, 0.0));
    assert!(near.item::<bool>(), "{} instead of {kernel}", layer.kernel);
    assert_eq!(
        layer.bias.as_ref().map(|b| b.to_vec::<f32>()),
        Some(vec![0.0, 0.0])
    );
    let x = Array::from([[0.0f32, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    let expected = [
        -1.54213285446167,
        0.018731415271759033,
        -2.6984059810638428,
        -2.705371141433716,
    ];
    for (y, e) in layer.forward(&x).to_vec::<f32>().iter().zip(expected) {
        assert!((f64::from(*y) - e).abs() < 1e-6);
    }
    let state = State::of(&layer);
    assert_eq!(
        state.of_kind(Param::KIND).paths().collect::<Vec<_>>(),
        ["kernel", "bias"]
    );
}

#[test]
fn linear_has_options() {
    let config = Linear::features(2).without_bias().param_dtype(DType::BF16);
    let layer = config.build(3, &mut Rngs::new(0));
    let kernel = [
        0.70703125,
        -0.225_585_94,
        0.84765625,
        0.5,
        0.7421875,
        -0.76953125,
    ];
    assert!(layer.bias.is_none());
    assert_eq!(layer.kernel.astype(DType::F32).to_vec::<f32>(), kernel);
    let x = Array::ones(&[4, 5, 3], DType::F32);
    let y = layer.forward(&x);
    assert_eq!((y.shape(), y.dtype()), (&[4, 5, 2][..], DType::F32));
    let y = config
        .dtype(DType::BF16)
        .build(3, &mut Rngs::new(0))
        .forward(&x);
    assert_eq!(y.dtype(), DType::BF16);
}

#[test]
fn layers_work_without_promotion_of_ranks() {
    let rngs = &mut Rngs::new(0);
    let (x, image) = (
        Array::ones(&[2, 3], DType::F32),
        Array::ones(&[1, 4, 4, 3], DType::F32),
    );
    let (dense, conv) = (
        Linear::new(3, 2, rngs),
        Conv::features(2, [3, 3]).build(3, rngs),
    );
    let transposed = ConvTranspose::features(2, [3, 3]).build(3, rngs);
    let local = ConvLocal::features(2, [3, 3]).build(&[4, 4, 3], rngs);
    let results = || {
        let one = dense.forward(&x.slice_in_dim(0, 1, 1, 0).squeeze(&[0]));
        let of_image = [
            conv.forward(&image),
            transposed.forward(&image),
            local.forward(&image),
        ];
        [vec![one, dense.forward(&x)], of_image.to_vec()].concat()
    };
    let strict = numpy_rank_promotion(RankPromotion::Raise, results);
    for (strict, y) in strict.iter().zip(results()) {
        assert_eq!(strict.to_vec::<f32>(), y.to_vec::<f32>());
    }
}

#[test]
#[should_panic(expected = "expected a last axis of 3")]
fn linear_refuses_other_features() {
    Linear::new(3, 2, &mut Rngs::new(0)).forward(&Array::ones(&[2, 4], DType::F32));
}

#[test]
fn parameters_are_operands_on_both_sides() {
    let scale = Param::new(Array::from([2.0f32, 4.0]));
    let x = Array::from([1.0f32, 3.0]);
    let values = |y: Array| y.to_vec::<f32>();
    assert_eq!(values(&scale * &x), [2.0, 12.0]);
    assert_eq!(values(&scale - 1.0), [1.0, 3.0]);
    assert_eq!(values(&scale % &scale), [0.0, 0.0]);
    assert_eq!(values(1.0 / &scale), [0.5, 0.25]);
    assert_eq!(values(3 + -&scale), [1.0, -1.0]);
    assert_eq!((1.0 - &scale).sum().item::<f32>(), -4.0);
    assert_eq!(format!("{scale:.1}"), format!("{:.1}", *scale));
}

#[test]
fn a_function_differs_from_earlier_ones_at_its_address() {
    let state = std::hash::RandomState::new();
    let mut seen = std::collections::HashSet::new();
    for scale in 0..100 {
        let product = DotGeneralFn::new(move |x, y, _, _| x.matmul(y) * f64::from(scale));
        assert_eq!(product, product.clone());
        // Compiled programs keep the hash after the function is dropped.
        assert!(seen.insert(state.hash_one(&product)), "function {scale}");
    }
}

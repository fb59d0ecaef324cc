//! Rotary embeddings: rotations of pairs by place.

use ramie_core::{Array, DType, random};
use ramie_nn::{
    AttentionInputs, MultiHeadAttention, Rngs, RotaryEmbedding, RotaryScaling, RotaryStyle,
};

fn normal(seed: u64, shape: &[usize]) -> Array {
    random::normal(&random::key(seed), shape, DType::F32)
}

fn close(got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= tolerance, "{g} and {e}");
    }
}

/// Complex numbers of two features, multiplied by `e^(i m θ)`.
fn expected(x: &[f32], place: f64, base: f64, pair: impl Fn(usize) -> (usize, usize)) -> Vec<f32> {
    let dim = x.len();
    let mut out = x.to_vec();
    for i in 0..dim / 2 {
        let (a, b) = pair(i);
        let (sin, cos) = (place * base.powf(-2.0 * i as f64 / dim as f64)).sin_cos();
        let (re, im) = (f64::from(x[a]), f64::from(x[b]));
        out[a] = (re * cos - im * sin) as f32;
        out[b] = (re * sin + im * cos) as f32;
    }
    out
}

#[test]
fn pairs_are_rotated_by_the_place() {
    let x = normal(0, &[3, 1, 8]);
    let places = [0.0, 7.0, 100.0];
    let positions = Array::from([0, 7, 100]);
    let numbers = x.to_vec::<f32>();
    let rows = || numbers.chunks(8).zip(places);
    let half = RotaryEmbedding::new(8);
    let e: Vec<f32> = rows()
        .flat_map(|(r, m)| expected(r, m, 1e4, |i| (i, i + 4)))
        .collect();
    close(&half.forward(&x, &positions).to_vec::<f32>(), &e, 1e-5);
    let pairs = RotaryEmbedding::new(8)
        .base(500.0)
        .style(RotaryStyle::Interleaved);
    let e: Vec<f32> = rows()
        .flat_map(|(r, m)| expected(r, m, 500.0, |i| (2 * i, 2 * i + 1)))
        .collect();
    close(&pairs.forward(&x, &positions).to_vec::<f32>(), &e, 2e-5);
    // Of a larger head the first features.
    let part = RotaryEmbedding::new(4).forward(&x, &positions);
    let kept = |x: &Array| x.slice_in_dim(4, 8, 1, -1).to_vec::<f32>();
    assert_eq!(kept(&part), kept(&x));
    assert_eq!(
        half.forward(&x.astype(DType::BF16), &positions).dtype(),
        DType::BF16
    );
}

#[test]
fn products_depend_on_the_distance() {
    let (q, k) = (normal(1, &[1, 1, 8]), normal(2, &[1, 1, 8]));
    for style in [RotaryStyle::Half, RotaryStyle::Interleaved] {
        let rotary = RotaryEmbedding::new(8).style(style);
        let product = |m: i32, n: i32| {
            let q = rotary.forward(&q, &Array::from([m]));
            let k = rotary.forward(&k, &Array::from([n]));
            (q * k).sum().item::<f32>()
        };
        close(
            &[product(3, 1), product(12, 4)],
            &[product(22, 20), product(8, 0)],
            1e-5,
        );
        assert!((product(3, 1) - product(3, 2)).abs() > 1e-3);
    }
}

#[test]
fn frequencies_are_scaled() {
    let plain = RotaryEmbedding::new(4).base(100.0);
    assert_eq!(plain.frequencies(), [1.0, 0.1]);
    let linear = plain.clone().scaling(RotaryScaling::Linear { factor: 4.0 });
    assert_eq!(linear.frequencies(), [0.25, 0.025]);
    let llama3 = |original| RotaryScaling::Llama3 {
        factor: 4.0,
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_max_position_embeddings: original,
    };
    // Of a length of 40, 6.4 turns and 0.64.
    let got = plain.clone().scaling(llama3(40)).frequencies();
    assert_eq!(got, [1.0, 0.025]);
    // Between one turn and four both count: 2.5 turns are in the middle.
    let middle = RotaryEmbedding::new(2).scaling(llama3(16)).frequencies()[0];
    let high = (16.0 / std::f64::consts::TAU - 1.0) / 3.0;
    assert!((middle - (high + (1.0 - high) / 4.0)).abs() < 1e-12);
}

#[test]
fn attention_counts_places_on_from_its_cache() {
    let config = MultiHeadAttention::heads(2).rotary(RotaryEmbedding::new(4));
    let mut layer = config.build(8, &mut Rngs::new(0));
    let x = normal(3, &[2, 6, 8]);
    let whole = layer.forward_with(&AttentionInputs::of(&x).causal());
    layer.init_cache(&[2, 6, 8], DType::F32);
    layer.decode = true;
    // Three places, one and two.
    for (from, to) in [(0, 3), (3, 4), (4, 6)] {
        let part = layer.forward(&x.slice_in_dim(from, to, 1, 1));
        let expected = whole.slice_in_dim(from, to, 1, 1);
        close(&part.to_vec::<f32>(), &expected.to_vec::<f32>(), 1e-5);
    }
}

//! Public reports about masks, lengths, caches and metrics. Right values come from mathematics.

use ramie_core::options::Attention;
use ramie_core::{Array, DType, grad, jit, random};
use ramie_nn::metrics::{Accuracy, Average, Metric, MetricArgs, Welford};
use ramie_nn::{
    AttentionDropout, AttentionOptions, Bidirectional, Embed, GRUCell, LSTMCell,
    MultiHeadAttention, RNN, RNNInput, Rngs, SimpleCell, dot_product_attention_weights,
};
use ramie_testing::panics::panic_message;

fn close(got: &Array, expected: &Array) {
    assert!(
        got.allclose(expected).item::<bool>(),
        "{got}, expected {expected}"
    );
}

fn normal(seed: u64, shape: &[usize]) -> Array {
    random::normal(&random::key(seed), shape, DType::F32)
}

/// pytorch/pytorch#50192: the carry after no step is the initial one. An index of -1 would read that
/// after all padding.
#[test]
fn the_carry_of_an_empty_sequence_is_the_initial_one() {
    let x = normal(1, &[3, 4, 2]);
    let lengths = Array::from([0i32, 2, 4]);
    let start = normal(2, &[3, 5]);
    let rngs = &mut Rngs::new(0);
    fn input<C>(x: &Array, lengths: &Array, start: C) -> RNNInput<C> {
        RNNInput::new(x.clone())
            .seq_lengths(lengths.clone())
            .initial_carry(start)
    }
    let mut gru = RNN::new(GRUCell::new(2, 5, rngs));
    let (carry, _) = gru.forward_and_carry(input(&x, &lengths, start.clone()));
    close(&carry.index(0), &start.index(0));
    let cut = RNNInput::new(x.index((.., ..2))).initial_carry(start.clone());
    close(&carry.index(1), &gru.forward_and_carry(cut).0.index(1));
    let mut simple = RNN::new(SimpleCell::new(2, 5, rngs));
    let (carry, _) = simple.forward_and_carry(input(&x, &lengths, start.clone()));
    close(&carry.index(0), &start.index(0));
    let mut lstm = RNN::new(LSTMCell::new(2, 5, rngs));
    let both = (start.clone(), &start * 2.0);
    let ((c, h), _) = lstm.forward_and_carry(input(&x, &lengths, both.clone()));
    close(&c.index(0), &both.0.index(0));
    close(&h.index(0), &both.1.index(0));
    let mut two_ways = Bidirectional::new(
        RNN::new(GRUCell::new(2, 5, rngs)),
        RNN::new(GRUCell::new(2, 5, rngs)),
    );
    let starts = (start.clone(), &start * 3.0);
    let ((a, b), _) = two_ways.forward_and_carry(input(&x, &lengths, starts.clone()));
    close(&a.index(0), &starts.0.index(0));
    close(&b.index(0), &starts.1.index(0));
}

#[test]
fn lengths_of_sequences_are_checked() {
    let x = normal(1, &[2, 4, 2]);
    let mut rnn = RNN::new(GRUCell::new(2, 5, &mut Rngs::new(0)));
    for length in [-1i32, 5] {
        let input = RNNInput::new(x.clone()).seq_lengths(Array::from([4, length]));
        let message = panic_message(|| rnn.forward_and_carry(input.clone()));
        assert!(
            message.contains(&format!("the length {length}")),
            "{message}"
        );
        let run = jit(|rnn: &mut RNN<GRUCell>, x: Array, lengths: Array| {
            rnn.forward_and_carry(RNNInput::new(x).seq_lengths(lengths))
                .0
        });
        let carry = run(&mut rnn, x.clone(), Array::from([4, length]));
        assert!(carry.index(0).is_finite().all().item::<bool>(), "{carry}");
        assert!(carry.index(1).is_nan().all().item::<bool>(), "{carry}");
    }
}

/// karpathy/nanochat#627: positions beyond a key-value cache overwrite others without a word. A
/// compiled step cannot panic, so its results are NaN.
#[test]
fn a_full_cache_is_noticed_by_a_compiled_step() {
    let token = |i: u64| normal(i, &[1, 1, 8]);
    let layer = || {
        let mut layer = MultiHeadAttention::new(2, 8, &mut Rngs::new(0));
        layer.start_decoding(1, 4);
        layer
    };
    let mut eager = layer();
    let mut model = layer();
    let step = jit(|layer: &mut MultiHeadAttention, x: Array| layer.forward(&x));
    for i in 0..4 {
        close(&step(&mut model, token(i)), &eager.forward(&token(i)));
    }
    let message = panic_message(|| eager.forward(&token(4)));
    assert!(message.contains("the cache is full"), "{message}");
    for i in 4..6 {
        assert!(step(&mut model, token(i)).is_nan().all().item::<bool>());
    }
}

#[test]
fn only_positions_in_the_cache_are_kept() {
    let mut layer = MultiHeadAttention::new(2, 8, &mut Rngs::new(0));
    layer.start_decoding(2, 4);
    layer.forward(&normal(0, &[2, 3, 8]));
    for lengths in [Array::from(-1i32), Array::from([1i32, 4])] {
        let message = panic_message(|| layer.rewind(&lengths));
        assert!(message.contains("previous inputs filled 3"), "{message}");
    }
    layer.rewind(&Array::from([1i32, 3]));
    // A length that is only known in the program.
    let step = jit(|layer: &mut MultiHeadAttention, length: Array, x: Array| {
        layer.rewind(&length);
        layer.forward(&x)
    });
    let y = step(&mut layer, Array::from([-1i32, 3]), normal(1, &[2, 1, 8]));
    assert!(y.index(0).is_nan().all().item::<bool>(), "{y}");
    assert!(y.index(1).is_finite().all().item::<bool>(), "{y}");
}

#[test]
fn all_attention_weights_can_be_dropped() {
    let (q, k) = (normal(0, &[1, 3, 2, 4]), normal(1, &[1, 3, 2, 4]));
    let with = |rate: f64| AttentionOptions {
        dropout: Some(AttentionDropout {
            rate,
            key: random::key(0),
            broadcast: false,
        }),
        ..AttentionOptions::default()
    };
    let weights = dot_product_attention_weights(&q, &k, &with(1.0));
    assert!(weights.eq(0).all().item::<bool>(), "{weights}");
    for rate in [-0.1, 1.5, 50.0, f64::NAN] {
        let message = panic_message(|| dot_product_attention_weights(&q, &k, &with(rate)));
        assert!(message.contains("expected a probability"), "{message}");
    }
}

/// google/flax#5588: the mask was counted before it broadcast.
/// keras-team/keras#592: a hidden value was multiplied by 0.
#[test]
fn metrics_count_what_a_mask_keeps() {
    let values = Array::from([[0.0f32, 1.0, 2.0], [3.0, f32::NAN, 5.0]]);
    for (mask, expected) in [
        (Array::from([true, false, true]), 2.5f32),
        (Array::from([[true], [false]]), 1.0),
        (Array::from([1.0f32, 0.0, 1.0]), 2.5),
        (Array::from([[0i32], [0]]), f32::NAN),
    ] {
        let args = MetricArgs::new().values(&values).mask(&mask);
        let (mut average, mut statistics) = (Average::new(), Welford::new());
        average.update(&args);
        statistics.update(&args);
        // A batch of which nothing is kept.
        let none = Array::from([[false], [false]]);
        statistics.update(&MetricArgs::new().values(&values).mask(&none));
        let got = average.compute().item::<f32>();
        assert!(
            got == expected || got.is_nan() && expected.is_nan(),
            "{mask}: {got}"
        );
        if !expected.is_nan() {
            assert_eq!(statistics.compute().mean.item::<f32>(), expected, "{mask}");
        }
    }
    let message = panic_message(|| {
        let mask = Array::from([true, false]);
        Average::new().update(&MetricArgs::new().values(&values).mask(&mask));
    });
    assert!(message.contains("does not broadcast"), "{message}");
    // Two sequences of three tokens, whose last token is padding.
    let logits = Array::from([
        [[1.0f32, 0.0], [1.0, 0.0], [0.0, 0.0]],
        [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]],
    ]);
    let labels = Array::from([[0i32, 1, 0], [1, 1, 0]]);
    let mut accuracy = Accuracy::new();
    let args = MetricArgs::new().logits(&logits).labels(&labels);
    accuracy.update(&args.mask(&Array::from([true, true, false])));
    assert_eq!(accuracy.compute().item::<f32>(), 0.75);
}

#[test]
fn padding_that_is_nan_has_no_influence() {
    // A query of padding.
    let q = Array::from([[[[1.0f32]], [[f32::NAN]]]]);
    let k = Array::from([[[[1.0f32]], [[2.0]]]]);
    let attention = Attention::new().query_lengths(&Array::from([1i32]));
    let y = attention.of(&q, &k, &k).to_vec::<f32>();
    assert!(y[0].is_finite() && y[1] == 0.0, "{y:?}");
    // The gradient of a variance with a mask.
    let slopes = grad(|x: Array| {
        let mask = Array::from([true, true, false]);
        x.var_over(ramie_core::options::Reduction::all().mask(&mask))
    })(Array::from([1.0f32, 3.0, f32::NAN]));
    assert_eq!(slopes.to_vec::<f32>(), [-1.0, 1.0, 0.0]);
}

#[test]
fn a_table_of_one_row_has_one_row() {
    let embed = Embed::new(1, 4, &mut Rngs::new(0));
    let look_up = jit(|embed: &Embed, i: Array| embed.forward(&i));
    let rows = look_up(&embed, Array::from([0i32, 1, -1]));
    close(&rows.index(0), &embed.embedding.value().index(0));
    close(&rows.index(2), &embed.embedding.value().index(0));
    assert!(rows.index(1).is_nan().all().item::<bool>(), "{rows}");
}

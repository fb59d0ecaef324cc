//! Calls that people write first, coming from Flax.

use ramie_core::checkify::{Errors, checkify};
use ramie_core::{Array, DType, jit, random};
use ramie_nn::linen::{self, Apply, Module, Scope};
use ramie_nn::{
    Bidirectional, Conv, ConvPadding, Embed, GRUCell, LSTMCell, RNN, RNNCell, RNNCellConfig,
    RNNInput, Rngs, Sizes, UseRunningAverage,
};

fn draw(seed: u64, shape: &[usize]) -> Array {
    random::normal(&random::key(seed), shape, DType::F32)
}

#[test]
fn windows_and_paddings_as_in_flax() {
    let x = draw(0, &[2, 6, 6, 3]);
    let build = |config: ramie_nn::ConvConfig| config.build(3, &mut Rngs::new(0));
    let valid = build(Conv::features(4, (3, 3)).padding("VALID")).forward(&x);
    assert_eq!(valid.shape(), [2, 4, 4, 4]);
    let same = build(Conv::features(4, (3, 3)).padding("same")).forward(&x);
    assert_eq!(same.shape(), [2, 6, 6, 4]);
    let pairs = [((1, 1), (0, 2)), ((2, 0), (1, 0))];
    for (first, second) in pairs {
        let tuples = build(Conv::features(4, (3, 3)).padding((first, second)));
        let arrays = build(Conv::features(4, [3, 3]).padding([first, second]));
        assert_eq!(
            tuples.forward(&x).to_vec::<f32>(),
            arrays.forward(&x).to_vec::<f32>()
        );
    }
    assert_eq!(ConvPadding::from((1, 0)), ConvPadding::from([1, 0]));
    assert_eq!(ConvPadding::from("CIRCULAR"), ConvPadding::Circular);
    assert_eq!(Sizes::from((3,)), Sizes::from([3]));
    let conv = linen::Conv::new(4, (3, 3)).padding("SAME").strides((2, 1));
    let variables = conv.init(random::key(0), x.clone());
    assert_eq!(conv.apply(&variables, x.clone()).shape(), [2, 3, 6, 4]);
    let pooled = ramie_nn::max_pool(&x, &[4, 4], &[4, 4], "SAME");
    assert_eq!(pooled.shape(), [2, 2, 2, 3]);
}

#[test]
fn a_mask_and_the_flag_of_a_module() {
    let (x, mask) = (
        draw(0, &[4, 3]),
        Array::from([[true], [true], [false], [true]]),
    );
    let norm = linen::BatchNorm::new();
    let in_call = (x.clone(), UseRunningAverage(false), mask.clone());
    let variables = norm.init(random::key(0), in_call.clone());
    let options = Apply::new().mutable("batch_stats");
    let (expected, of_call) = norm.apply_with(&variables, in_call, &options);
    let set = norm.use_running_average(false);
    let (y, of_module) = set.apply_with(&variables, (x, mask), &options);
    assert_eq!(y.to_vec::<f32>(), expected.to_vec::<f32>());
    let mean = |v: &linen::Variables| v["batch_stats"]["mean"].to_vec::<f32>();
    assert_eq!(mean(&of_module), mean(&of_call));
}

/// A loop over time written by hand, as the documentation of Flax's cells shows it.
struct ByHand;

impl Module for ByHand {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let mut cell = scope.setup("cell", &linen::LSTMCell::new(4));
        let mut carry = cell.module().initialize_carry(&random::key(0), &[2, 3]);
        let mut y = carry.1.clone();
        for t in 0..x.shape()[1] {
            (carry, y) = cell.call((carry, x.index_in_dim(t as isize, 1).squeeze(&[1])));
        }
        y
    }
}

#[test]
fn cells_create_their_first_carry() {
    let x = draw(1, &[2, 5, 3]);
    let rnn = linen::RNN::new(linen::LSTMCell::new(4));
    let variables = rnn.init(random::key(0), x.clone());
    let all = rnn.apply(&variables, x.clone());
    let by_hand = jit(|v: linen::Variables, x: Array| ByHand.apply(&v, x))(variables, x);
    let last = all.slice_in_dim(4, 5, 1, 1).squeeze(&[1]);
    for (a, b) in by_hand.to_vec::<f32>().iter().zip(last.to_vec::<f32>()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    // The carry is drawn as the built cell draws it.
    let drawn = linen::GRUCell::new(4).carry_init(ramie_nn::init::normal(1.0));
    let key = random::key(3);
    let carry = drawn.initialize_carry(&key, &[2, 3]);
    let cell = drawn.build(3, &mut Rngs::new(0));
    let built = cell.initialize_carry_from(&[2, 3], &key);
    assert_eq!(carry.to_vec::<f32>(), built.to_vec::<f32>());
    let images = linen::ConvLSTMCell::new(4, (3, 3));
    let (c, h) = images.initialize_carry(&key, &[2, 8, 8, 3]);
    assert_eq!(
        (c.shape(), h.shape()),
        (&[2, 8, 8, 4][..], &[2, 8, 8, 4][..])
    );
}

#[test]
fn lengths_do_not_change_the_result_of_a_layer_of_sequences() {
    let (x, lengths) = (draw(2, &[2, 5, 3]), Array::from([5, 3]));
    let input = || RNNInput::new(x.clone()).seq_lengths(lengths.clone());
    let rngs = &mut Rngs::new(0);
    let mut rnn = RNN::new(LSTMCell::new(3, 4, rngs));
    let y: Array = rnn.forward_with(input());
    let ((_, h), again) = rnn.forward_and_carry(input());
    assert_eq!(y.to_vec::<f32>(), again.to_vec::<f32>());
    let last = y
        .index_in_dim(1, 0)
        .squeeze(&[0])
        .index_in_dim(2, 0)
        .squeeze(&[0]);
    assert_eq!(
        h.index_in_dim(1, 0).squeeze(&[0]).to_vec::<f32>(),
        last.to_vec::<f32>()
    );
    let gru = |rngs: &mut Rngs| RNN::new(GRUCell::new(3, 4, rngs));
    let mut both = Bidirectional::new(gru(rngs), gru(rngs));
    assert_eq!(
        both.forward_with(RNNInput::new(x.clone())).shape(),
        [2, 5, 8]
    );

    let rnn = linen::RNN::new(linen::LSTMCell::new(4));
    let variables = rnn.init(random::key(0), RNNInput::new(x.clone()));
    let plain: Array = rnn.apply(&variables, input());
    let ((_, carry), y) = rnn.apply(&variables, input().return_carry());
    assert_eq!(plain.to_vec::<f32>(), y.to_vec::<f32>());
    assert_eq!(carry.shape(), [2, 4]);
}

#[test]
fn indices_outside_a_table_are_found_in_compiled_functions() {
    let embed = Embed::new(10, 4, &mut Rngs::new(0));
    let last = embed.forward(&Array::from([-1i32, 9]));
    assert_eq!(
        last.index_in_dim(0, 0).squeeze(&[0]).to_vec::<f32>(),
        last.index_in_dim(1, 0).squeeze(&[0]).to_vec::<f32>()
    );
    assert_eq!(
        embed.forward(&Array::zeros(&[0], DType::I32)).shape(),
        [0, 4]
    );
    let wide = Array::from([9u8, 0]);
    assert_eq!(embed.forward(&wide).shape(), [2, 4]);
    let table = embed.clone();
    let traced = jit(move |i: Array| table.forward(&i));
    assert!(traced(Array::from([10i32])).to_vec::<f32>()[0].is_nan());
    let checked = checkify(move |i: Array| embed.forward(&i), Errors::INDEX);
    assert!(checked(Array::from([9i32])).0.get().is_none());
    let (error, _) = checked(Array::from([10i32]));
    assert!(error.get().is_some_and(|text| text.contains("10")));
}

//! Recurrent layers against Flax.

use crate::common;

use common::{Case, Golden};
use ramie_core::{Array, DType, random};
use ramie_nn::linen::{
    Bidirectional, ConvLSTMCell, GRUCell, LSTMCell, MGUCell, Module, OptimizedLSTMCell, RNN, Scope,
    SimpleCell,
};
use ramie_nn::{Initializer, RNNCell, RNNCellConfig, RNNInput, RNNOptions, Rngs, init};

/// Orthogonal kernels come from a QR decomposition, which LAPACK rounds in
/// another way than the one here.
fn case(golden: &Golden, name: &str) -> Case {
    golden.case(name).init_tolerance(1e-6)
}

fn normal() -> Initializer {
    init::normal(0.5)
}

fn lengths(golden: &Golden) -> Array {
    golden.case("lengths").inputs()[0].clone()
}

/// A step of a cell whose carry is one array.
fn step<M>(cell: M) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync
where
    M: Module<(Array, Array), (Array, Array)> + Sync,
{
    move |s, x| {
        let (h, y) = cell.call(s, (x[0].clone(), x[1].clone()));
        vec![h, y]
    }
}

/// A step of a cell whose carry is memory and output.
fn step_of_two<M>(cell: M) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync
where
    M: Module<((Array, Array), Array), ((Array, Array), Array)> + Sync,
{
    move |s, x| {
        let carry = (x[0].clone(), x[1].clone());
        let ((c, h), y) = cell.call(s, (carry, x[2].clone()));
        vec![c, h, y]
    }
}

fn outputs(module: impl Module + Sync) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync {
    move |s, x| vec![module.call(s, x[0].clone())]
}

fn options(reverse: bool, keep_order: bool, time_major: bool) -> RNNOptions {
    RNNOptions {
        reverse,
        keep_order,
        time_major,
        ..RNNOptions::default()
    }
}

#[test]
fn cells() {
    let golden = Golden::open("flax_recurrent");
    let case = |name: &str| case(golden, name);
    let simple = SimpleCell::new(4).residual(true).bias_init(normal());
    case("simple_step").linen(step(simple));
    let lstm = LSTMCell::new(4).bias_init(normal());
    case("lstm_step").linen(step_of_two(lstm));
    let optimized = OptimizedLSTMCell::new(4).bias_init(normal());
    case("optimized_lstm_step").linen(step_of_two(optimized));
    case("gru_step").linen(step(GRUCell::new(4).bias_init(normal())));
    let mgu = MGUCell::new(4).activation_bias_init(normal());
    case("mgu_step").linen(step(mgu));
    let plain = MGUCell::new(4).reset_gate(false).forget_bias_init(normal());
    case("mgu_step_plain").linen(step(plain));
    let relu = GRUCell::new(4)
        .activation_fn(|x| x.relu())
        .gate_fn(|x| x.hard_sigmoid());
    case("gru_step_relu").linen(step(relu));
}

#[test]
fn sequences() {
    let golden = Golden::open("flax_recurrent");
    let case = |name: &str| case(golden, name);
    case("rnn").linen(outputs(RNN::new(SimpleCell::new(4))));
    case("lstm").linen(outputs(RNN::new(LSTMCell::new(4))));
    case("optimized_lstm").linen(outputs(RNN::new(OptimizedLSTMCell::new(4))));
    case("gru").linen(outputs(RNN::new(GRUCell::new(4))));
    case("mgu").linen(outputs(RNN::new(MGUCell::new(4))));
    case("rnn_no_batch").linen(outputs(RNN::new(GRUCell::new(4))));
    case("rnn_deep_batch").linen(outputs(RNN::new(GRUCell::new(4))));
    let bf16 = RNN::new(LSTMCell::new(4).dtype(DType::BF16));
    case("rnn_bf16").tolerance(2e-2).linen(outputs(bf16));
    let gru = |options| RNN::new(GRUCell::new(4)).options(options);
    case("rnn_reverse").linen(outputs(gru(options(true, false, false))));
    let unrolled = RNNOptions {
        unroll: 2,
        ..options(true, true, false)
    };
    case("rnn_reverse_order").linen(outputs(gru(unrolled)));
    case("rnn_major").linen(outputs(gru(options(false, false, true))));
}

#[test]
fn options_of_the_call_replace_those_of_the_layer() {
    let golden = Golden::open("flax_recurrent");
    let case = |name: &str| case(golden, name);
    let called = |set: fn(RNNInput<Array>) -> RNNInput<Array>| {
        let rnn = RNN::new(GRUCell::new(4)).options(options(false, true, true));
        move |s: &mut Scope, x: &[Array]| vec![rnn.call(s, set(RNNInput::new(x[0].clone())))]
    };
    case("rnn_reverse").linen(called(|x| {
        x.time_major(false).reverse(true).keep_order(false)
    }));
    case("rnn_reverse_order").linen(called(|x| x.time_major(false).reverse(true)));
    case("rnn_major").linen(called(|x| x));
}

/// A layer called with an input made of arrays; carry of one array.
fn one_carry<K>(
    rnn: RNN<K>,
    input: impl Fn(&[Array]) -> RNNInput<Array> + Sync,
) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync
where
    K: RNNCellConfig,
    K::Cell: RNNCell<Carry = Array>,
{
    move |s, x| {
        let (h, y) = rnn.call(s, input(x).return_carry());
        vec![h, y]
    }
}

/// A layer called with an input made of arrays; carry of two arrays.
fn two_carries<K>(
    rnn: RNN<K>,
    input: impl Fn(&[Array]) -> RNNInput<(Array, Array)> + Sync,
) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync
where
    K: RNNCellConfig,
    K::Cell: RNNCell<Carry = (Array, Array)>,
{
    move |s, x| {
        let ((c, h), y) = rnn.call(s, input(x).return_carry());
        vec![c, h, y]
    }
}

#[test]
fn carries_and_lengths() {
    let golden = Golden::open("flax_recurrent");
    let case = |name: &str| case(golden, name);
    let lengths = &lengths(golden);
    let plain = |x: &[Array]| RNNInput::new(x[0].clone());
    let cut = |x: &[Array]| RNNInput::new(x[0].clone()).seq_lengths(lengths.clone());
    case("rnn_carry").linen(two_carries(RNN::new(LSTMCell::new(4)), plain));
    let drawn = RNN::new(LSTMCell::new(4).carry_init(normal()));
    case("rnn_carry_init").linen(two_carries(drawn, |x| {
        RNNInput::new(x[0].clone()).init_key(random::key(5))
    }));
    let gru = |options| RNN::new(GRUCell::new(4)).options(options);
    case("rnn_lengths").linen(one_carry(gru(RNNOptions::default()), |x| {
        RNNInput::new(x[0].clone()).seq_lengths(lengths.clone())
    }));
    let back = RNN::new(LSTMCell::new(4)).options(options(true, true, false));
    case("rnn_reverse_lengths").linen(two_carries(back, cut));
    let major = gru(options(true, true, true));
    case("rnn_major_lengths").linen(one_carry(major, |x| {
        RNNInput::new(x[0].clone()).seq_lengths(lengths.clone())
    }));
    let given = |x: &[Array]| {
        let carry = (x[0].clone(), x[1].clone());
        RNNInput::new(x[2].clone()).initial_carry(carry)
    };
    case("rnn_initial").linen(two_carries(RNN::new(LSTMCell::new(4)), given));
}

#[test]
fn images() {
    let golden = Golden::open("flax_recurrent");
    let rnn = RNN::new(ConvLSTMCell::new(3, [3, 2]));
    let film = |x: &[Array]| RNNInput::new(x[0].clone());
    case(golden, "conv_lstm").linen(two_carries(rnn, film));
}

#[test]
fn both_directions() {
    let golden = Golden::open("flax_recurrent");
    let gru = || RNN::new(GRUCell::new(4));
    let both = Bidirectional::new(gru(), gru());
    case(golden, "bidirectional").linen(outputs(both));
    let lengths = &lengths(golden);
    let both = Bidirectional::new(RNN::new(LSTMCell::new(4)), gru()).merge_fn(|a, b| a + b);
    case(golden, "bidirectional_lengths").linen(|s, x| {
        let input = RNNInput::new(x[0].clone()).seq_lengths(lengths.clone());
        let (((c, h), back), y) = both.call(s, input.return_carry());
        vec![c, h, back, y]
    });
}

fn pair() -> Bidirectional<SimpleCell, SimpleCell> {
    let simple = || RNN::new(SimpleCell::new(2));
    Bidirectional::new(simple(), simple())
}

#[test]
fn names_are_those_of_flax() {
    let golden = Golden::open("flax_recurrent");
    case(golden, "inline").linen(|s, x| {
        let gru = |n| RNN::new(GRUCell::new(n));
        let x: Array = s.child(&gru(4), x[0].clone());
        let x: Array = s.named("second", &gru(3), x);
        let x: Array = s.child(&pair(), x);
        vec![s.child(&gru(2), x)]
    });
    case(golden, "held").linen(|s, x| {
        let mut rnn = s.setup("rnn", &RNN::new(GRUCell::new(4)));
        let mut both = s.setup("both", &pair());
        let x: Array = rnn.call(x[0].clone());
        vec![both.call(x)]
    });
}

#[test]
fn nnx() {
    use ramie_nn::{Bidirectional, GRUCell, LSTMCell, OptimizedLSTMCell, RNN, SimpleCell};
    let golden = Golden::open("flax_recurrent");
    let case = |name: &str| case(golden, name);
    let rngs = || Rngs::new(0);
    let simple = SimpleCell::features(4).residual(true);
    case("nnx_simple_step").nnx(simple.build(3, &mut rngs()), |m, x| {
        let (h, y) = m.step(x[0].clone(), &x[1]);
        vec![h, y]
    });
    let lstm = LSTMCell::features(4).bias_init(normal());
    case("nnx_lstm_step").nnx(lstm.build(3, &mut rngs()), |m, x| {
        let ((c, h), y) = m.step((x[0].clone(), x[1].clone()), &x[2]);
        vec![c, h, y]
    });
    let lstm = OptimizedLSTMCell::features(4).bias_init(normal());
    case("nnx_optimized_lstm_step").nnx(lstm.build(3, &mut rngs()), |m, x| {
        let ((c, h), y) = m.step((x[0].clone(), x[1].clone()), &x[2]);
        vec![c, h, y]
    });
    let gru = GRUCell::features(4).bias_init(normal());
    case("nnx_gru_step").nnx(gru.build(3, &mut rngs()), |m, x| {
        let (h, y) = m.step(x[0].clone(), &x[1]);
        vec![h, y]
    });
    case("nnx_lstm").nnx(RNN::new(LSTMCell::new(3, 4, &mut rngs())), |m, x| {
        vec![m.forward(&x[0])]
    });
    let optimized = RNN::new(OptimizedLSTMCell::new(3, 4, &mut rngs()));
    case("nnx_optimized_lstm").nnx(optimized, |m, x| vec![m.forward(&x[0])]);
    let lengths = &lengths(golden);
    let gru = RNN::new(GRUCell::new(3, 4, &mut rngs())).options(options(true, true, false));
    case("nnx_gru_lengths").nnx(gru, |m, x| {
        let input = RNNInput::new(x[0].clone()).seq_lengths(lengths.clone());
        let (h, y) = m.forward_and_carry(input);
        vec![h, y]
    });
    let major = RNN::new(SimpleCell::new(3, 4, &mut rngs())).options(options(false, false, true));
    case("nnx_simple_major").nnx(major, |m, x| vec![m.forward(&x[0])]);
    let mut rngs = rngs();
    let forward = RNN::new(LSTMCell::new(3, 4, &mut rngs));
    let both = Bidirectional::new(forward, RNN::new(GRUCell::new(3, 4, &mut rngs)));
    case("nnx_bidirectional").nnx(both, |m, x| vec![m.forward(&x[0])]);
}

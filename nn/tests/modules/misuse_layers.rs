//! Mistakes with normalizations, dropout and recurrent layers are explained:
//! what was given, what was expected, and a remedy.

use ramie_core::{Array, DType, random};
use ramie_nn::linen::{self, Module, Variables};
use ramie_nn::{
    BatchNorm, Conv, Deterministic, Dropout, Embed, GRUCell, GroupNorm, InstanceNorm, LSTMCell,
    LayerNorm, RMSNorm, RNN, RNNCell, RNNInput, Rngs, UseRunningAverage, flip_sequences,
};
use ramie_testing::assert_explained;

/// Checks that the call panics with all of these parts and a remedy.
#[track_caller]
fn explains<R>(parts: &[&str], call: impl FnOnce() -> R) {
    assert_explained(call, parts);
}

fn x(shape: &[usize]) -> Array {
    Array::ones(shape, DType::F32)
}

fn rngs() -> Rngs {
    Rngs::new(0)
}

const TRAIN: UseRunningAverage = UseRunningAverage(false);

#[test]
fn modes_are_forgotten_or_given_twice() {
    let none = Variables::new();
    explains(
        &[
            "Dropout: `deterministic` is not set",
            "Deterministic(!train)",
        ],
        || linen::Dropout::new(0.5).apply(&none, x(&[2])),
    );
    explains(
        &["Dropout: `deterministic` is set both on the module and in the call"],
        || {
            let module = linen::Dropout::new(0.5).deterministic(true);
            module.apply(&none, (x(&[2]), Deterministic(false)))
        },
    );
    explains(
        &["BatchNorm: `use_running_average` is not set", "(!train)"],
        || linen::BatchNorm::new().init(random::key(0), x(&[2, 3])),
    );
    explains(&["set both on the module and in the call"], || {
        let module = linen::BatchNorm::new().use_running_average(false);
        module.init(random::key(0), (x(&[2, 3]), TRAIN))
    });
}

#[test]
fn streams_of_dropout_are_missing() {
    explains(
        &[
            "needs a key of the stream `dropout`",
            "the streams are: none",
            "rngs([(\"dropout\"",
        ],
        || {
            let module = linen::Dropout::new(0.5).deterministic(false);
            module.apply(&Variables::new(), x(&[2]))
        },
    );
    explains(
        &["Dropout: dropout is active, but neither the layer nor the call provides an RNG key"],
        || {
            Dropout::with_rate(0.5)
                .build_without_keys()
                .forward(&x(&[2]))
        },
    );
    explains(&["existing streams: params"], || {
        Dropout::new(0.5, &mut Rngs::empty().stream("params", 0))
    });
}

#[test]
fn dropout_is_no_share_and_has_no_such_axis() {
    explains(
        &["Dropout: the rate is 1.5, expected a probability"],
        || Dropout::new(1.5, &mut rngs()).forward(&x(&[2])),
    );
    explains(&["broadcast_dims contains 2", "f32[2,3]"], || {
        let config = Dropout::with_rate(0.5).broadcast_dims(&[2]);
        config.build(&mut rngs()).forward(&x(&[2, 3]))
    });
}

#[test]
fn statistics_cannot_be_written() {
    let module = linen::BatchNorm::new();
    let variables = module.init(random::key(0), (x(&[4, 3]), TRAIN));
    explains(
        &[
            "cannot change",
            "collection `batch_stats` is immutable",
            "mutable(\"batch_stats\")",
        ],
        || module.apply(&variables, (x(&[4, 3]), TRAIN)),
    );
    // Evaluation writes nothing.
    module.apply(&variables, (x(&[4, 3]), UseRunningAverage(true)));
    explains(
        &[
            "`mean` of the collection `batch_stats`",
            "the collections: params",
        ],
        || {
            let params = Variables::from_params(variables.params());
            module.apply(&params, (x(&[4, 3]), UseRunningAverage(true)))
        },
    );
}

#[test]
fn features_are_others() {
    explains(
        &[
            "LayerNorm: the input is f32[2,4]",
            "[4] features along [1], expected [3]",
            "scale f32[3]",
        ],
        || LayerNorm::new(3, &mut rngs()).forward(&x(&[2, 4])),
    );
    explains(&["RMSNorm: the input is f32[2,4]", "scale f32[3]"], || {
        RMSNorm::new(3, &mut rngs()).forward(&x(&[2, 4]))
    });
    explains(
        &[
            "BatchNorm: the input is f32[2,4]",
            "expected [3]",
            "mean f32[3]",
        ],
        || BatchNorm::new(3, &mut rngs()).forward(&x(&[2, 4])),
    );
    explains(&["`scale` has shape [3]", "expected [4]"], || {
        let module = linen::LayerNorm::new();
        let variables = module.init(random::key(0), x(&[2, 3]));
        module.apply(&variables, x(&[2, 4]))
    });
    explains(&["BatchNorm: the input f32[2,3] has no axis 2"], || {
        let norm = BatchNorm::config().axis(2).build(3, &mut rngs());
        { norm }.forward(&x(&[2, 3]))
    });
}

#[test]
fn groups_do_not_divide() {
    explains(
        &["GroupNorm: 6 channels cannot be divided into 4 groups"],
        || GroupNorm::new(6, 4, &mut rngs()),
    );
    explains(
        &["6 channels are not a multiple of the group size 4"],
        || GroupNorm::config().group_size(4).build(6, &mut rngs()),
    );
    explains(&["num_groups and group_size are both set"], || {
        let config = GroupNorm::config().group_size(3).num_groups(2);
        config.build(6, &mut rngs())
    });
    explains(&["must include the last axis"], || {
        let config = GroupNorm::config().num_groups(2);
        let config = config.reduction_axes(vec![1]);
        config.build(4, &mut rngs()).forward(&x(&[2, 3, 4]))
    });
    explains(
        &["the mask is bool[2,1], expected a last axis of 4"],
        || {
            let mask = Array::ones(&[2, 1], DType::Bool);
            GroupNorm::new(4, 2, &mut rngs()).forward_masked(&x(&[2, 4]), Some(&mask))
        },
    );
    explains(
        &[
            "InstanceNorm: the first axis of the input",
            "the first one is the batch",
        ],
        || {
            let config = InstanceNorm::config().feature_axes(&[0]);
            config.build(4, &mut rngs()).forward(&x(&[4, 3]))
        },
    );
}

#[test]
fn carries_and_sequences_do_not_fit() {
    let zeros = |shape: &[usize]| Array::zeros(shape, DType::F32);
    let gru = || GRUCell::new(3, 4, &mut rngs());
    explains(
        &[
            "GRUCell: the carry is f32[2,5], expected shape [2, 4]",
            "initialize_carry",
        ],
        || gru().step(zeros(&[2, 5]), &x(&[2, 3])),
    );
    explains(
        &["LSTMCell: the carry is f32[1,4], expected shape [2, 4]"],
        || {
            let mut rnn = RNN::new(LSTMCell::new(3, 4, &mut rngs()));
            let carry = (zeros(&[2, 4]), zeros(&[1, 4]));
            rnn.forward_with(RNNInput::new(x(&[2, 5, 3])).initial_carry(carry))
        },
    );
    explains(
        &["GRUCell: the input of a step is f32[2,6], expected a last axis of 3"],
        || RNN::new(gru()).forward(&x(&[2, 5, 6])),
    );
    explains(
        &["RNN: the input is f32[3]", "[batch, time, features]"],
        || RNN::new(gru()).forward(&x(&[3])),
    );
    explains(
        &[
            "RNN: the sequence lengths are f32[2]",
            "integers of shape [2]",
        ],
        || {
            let input = RNNInput::new(x(&[2, 5, 3])).seq_lengths(x(&[2]));
            RNN::new(gru()).forward_with(input)
        },
    );
    explains(&["are i32[3]", "integers of shape [2]"], || {
        flip_sequences(&x(&[2, 5, 3]), Some(&Array::arange(3)), 1, false)
    });
    // A carry of another size in Linen is a parameter of another shape.
    explains(&["GRUCell: the carry is f32[2,5]", "features 4"], || {
        let carry_and_x = (zeros(&[2, 5]), x(&[2, 3]));
        linen::GRUCell::new(4).init(random::key(0), carry_and_x)
    });
}

#[test]
fn indices_are_outside_a_table() {
    let embed = Embed::new(10, 4, &mut rngs());
    explains(
        &[
            "Embed: the index 10 is outside the table, which has 10 rows",
            "indices i32[2], table f32[10,4]",
            "from 0 to 9",
            "Embed::new(11, 4, rngs)",
        ],
        || embed.forward(&Array::from([3, 10])),
    );
    explains(&["the index -11 is outside"], || {
        embed.forward(&Array::from([-11i8, 0]))
    });
    // Known indices are also checked while a function is traced.
    explains(&["the index 300 is outside"], || {
        let tokens = Array::from([300u16]);
        ramie_nn::grad(&mut embed.clone(), |m| m.forward(&tokens).sum())
    });
}

#[test]
fn paddings_without_a_meaning() {
    explains(
        &["unknown padding \"SMAE\"", "\"CIRCULAR\"", "padding(1)"],
        || Conv::features(4, (3, 3)).padding("SMAE"),
    );
    explains(&["unknown padding \"CAUSAL\"", "\"SAME_LOWER\""], || {
        ramie_nn::max_pool(&x(&[1, 4, 4, 1]), &[2, 2], &[2, 2], "CAUSAL")
    });
}

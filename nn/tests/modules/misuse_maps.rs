//! What dense layers, convolutions and adapters say to wrong calls: the operation, what it got, what it expected,
//! and a remedy.

use ramie_core::{Array, DType};
use ramie_nn::linen::{self, Module};
use ramie_nn::{
    Conv, ConvLocal, ConvPadding, ConvTranspose, Einsum, Embed, Linear, LinearGeneral, Lora,
    LoraLinear, Rngs, Sequential,
};
use ramie_testing::panic_message;

fn x(shape: &[usize]) -> Array {
    Array::zeros(shape, DType::F32)
}

fn rngs() -> Rngs {
    Rngs::new(0)
}

/// A wrong call, and what its message has.
type Row = (Box<dyn Fn()>, &'static [&'static str]);

fn row(call: impl Fn() + 'static, parts: &'static [&'static str]) -> Row {
    (Box::new(call), parts)
}

fn rows() -> Vec<Row> {
    vec![
        row(
            || drop(Linear::new(3, 4, &mut rngs()).forward(&x(&[2, 5]))),
            &[
                "Linear: the input is f32[2,5]",
                "a last axis of 3",
                "flatten",
            ],
        ),
        row(
            || drop(LinearGeneral::new(3, [2, 2], &mut rngs()).forward(&x(&[2, 5]))),
            &[
                "LinearGeneral: the input is f32[2,5]",
                "[1] have sizes [5]",
                "[3]",
            ],
        ),
        row(
            || {
                let twice = LinearGeneral::features(4).axis(&[1, -1]);
                drop(twice.build([3, 3], &mut rngs()).forward(&x(&[2, 3])));
            },
            &[
                "axis -1 of f32[2,3] cannot be mapped",
                "list each axis once",
            ],
        ),
        row(
            || drop(LinearGeneral::features(4).build([3, 3], &mut rngs())),
            &[
                "got 2 input features",
                "expected 1",
                "one number for each of the axes",
            ],
        ),
        row(
            || drop(Einsum::new("ab,bc", [2, 3], &mut rngs())),
            &["the equation \"ab,bc\"", "two operands and the result"],
        ),
        row(
            || drop(Einsum::new("ab,bcd->acd", [2, 3], &mut rngs())),
            &["has 3 axes for the kernel", "[2, 3]", "one letter per axis"],
        ),
        row(
            || drop(Embed::new(5, 4, &mut rngs()).forward(&x(&[2]))),
            &[
                "Embed: the input is f32[2]",
                "expected integers",
                "astype(DType::I32)",
            ],
        ),
        row(
            || drop(Embed::new(5, 4, &mut rngs()).attend(&x(&[2, 5]))),
            &["Embed::attend: the input is f32[2,5]", "a last axis of 4"],
        ),
        row(
            || drop(Conv::new(3, 4, [3, 3], &mut rngs()).forward(&x(&[2, 8, 8, 4]))),
            &[
                "Conv: the input is f32[2,8,8,4]",
                "a last axis of 3",
                "put features last",
            ],
        ),
        row(
            || drop(Conv::new(3, 4, [3, 3], &mut rngs()).forward(&x(&[8, 3]))),
            &["Conv: the input is f32[8,3]", "2 spatial axes"],
        ),
        row(
            || {
                let groups = Conv::features(4, 3).feature_group_count(2);
                drop(groups.build(3, &mut rngs()));
            },
            &[
                "Conv: 2 groups do not divide 3 input features and 4 output features",
                "divides both",
            ],
        ),
        row(
            || {
                drop(
                    Conv::features(4, [3, 3])
                        .strides([2, 2, 2])
                        .build(3, &mut rngs()),
                )
            },
            &[
                "Conv: strides is [2, 2, 2], but the window has 2 axes",
                "one for all",
            ],
        ),
        row(
            || {
                let pads = Conv::features(4, [3, 3]).padding([1, 1, 1]);
                drop(pads.build(3, &mut rngs()).forward(&x(&[1, 8, 8, 3])));
            },
            &[
                "Conv: the padding is for 3 axes, but the window has 2",
                "padding(1)",
            ],
        ),
        row(
            || {
                let causal = Conv::features(4, [3, 3]).padding(ConvPadding::Causal);
                drop(causal.build(3, &mut rngs()).forward(&x(&[1, 8, 8, 3])));
            },
            &[
                "Conv: causal padding of 2 spatial axes",
                "use it for one axis",
            ],
        ),
        row(
            || {
                let masked = Conv::features(4, 3).mask(x(&[3, 3]));
                drop(masked.build(3, &mut rngs()).forward(&x(&[1, 8, 3])));
            },
            &[
                "Conv: the mask is f32[3,3], but the kernel is f32[3,3,4]",
                "the kernel's shape",
            ],
        ),
        row(
            || {
                let layer = ConvLocal::features(4, 3).build(&[8, 3], &mut rngs());
                drop(layer.forward(&x(&[1, 9, 3])));
            },
            &[
                "ConvLocal: the input f32[1,9,3] has [9] window positions",
                "[8]",
                "the size that the layer was built for",
            ],
        ),
        row(
            || drop(ConvLocal::features(4, 3).build(&[8, 8, 3], &mut rngs())),
            &[
                "ConvLocal: an image of shape [8, 8, 3]",
                "build(&[28, 28, 3], rngs)",
            ],
        ),
        row(
            || {
                let mirror = ConvTranspose::features(4, 3).padding(ConvPadding::Reflect);
                drop(mirror.build(3, &mut rngs()).forward(&x(&[1, 8, 3])));
            },
            &[
                "ConvTranspose: Reflect padding is not supported",
                "Circular",
            ],
        ),
        row(
            || drop(Lora::new(3, 2, 4, &mut rngs()).forward(&x(&[2, 5]))),
            &["Lora: the input is f32[2,5]", "a last axis of 3"],
        ),
        row(
            || drop(LoraLinear::new(3, 4, 2, &mut rngs()).forward(&x(&[2, 5]))),
            &["LoraLinear: the input is f32[2,5]", "a last axis of 3"],
        ),
        row(
            || {
                let mut net = Sequential::new((Linear::new(3, 4, &mut rngs()), Array::relu));
                drop(net.forward(&x(&[2, 5])));
            },
            &["Linear: the input is f32[2,5]"],
        ),
        row(
            || drop(linen::Sequential::default().init(0u64, x(&[2, 3]))),
            &["Sequential: the sequence has no layers", "Dense::new(8)"],
        ),
    ]
}

#[test]
fn wrong_calls_are_explained() {
    let mut silent = Vec::new();
    for (i, (call, parts)) in rows().into_iter().enumerate() {
        let message = panic_message(call);
        for part in parts.iter().chain(&["help: "]) {
            if !message.contains(part) {
                silent.push(format!("row {i} lacks {part:?}: {message}"));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

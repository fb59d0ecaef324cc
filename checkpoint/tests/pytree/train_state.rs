//! The tree of Flax's `TrainState` with Optax's Adam.

use ramie_core::*;
use ramie_derive::Tree;

#[derive(Tree)]
pub struct Layer {
    pub kernel: Array,
    pub bias: Array,
}

#[derive(Tree)]
pub struct Params {
    pub hid: Layer,
    pub out: Layer,
}

#[derive(Tree)]
pub struct Adam {
    pub count: Array,
    pub mu: Params,
    pub nu: State,
}

#[derive(Tree)]
pub struct Train {
    pub step: Array,
    pub params: Params,
    pub opt_state: (Adam, ()),
    pub extra: (),
    /// No part of the tree.
    #[tree(fixed)]
    pub name: String,
}

/// Parameters whose arrays are made of their shapes, those of each layer in a way of its
/// own.
pub fn params(hid: impl Fn(&[usize]) -> Array, out: impl Fn(&[usize]) -> Array) -> Params {
    let layer = |n: usize, m: usize, array: &dyn Fn(&[usize]) -> Array| Layer {
        kernel: array(&[n, m]),
        bias: array(&[m]),
    };
    Params {
        hid: layer(4, 3, &hid),
        out: layer(3, 2, &out),
    }
}

/// The state of a step.
pub fn train(step: i32, params: Params, mu: Params, nu: &Params) -> Train {
    Train {
        step: Array::scalar(step, DType::I32),
        params,
        opt_state: (
            Adam {
                count: Array::scalar(step, DType::I32),
                mu,
                nu: State::of(nu),
            },
            (),
        ),
        extra: (),
        name: "run".into(),
    }
}

/// Numbers that count from `start`.
pub fn ramp(shape: &[usize], start: f32) -> Array {
    let n: usize = shape.iter().product();
    Array::from_vec((0..n).map(|i| i as f32 + start).collect(), shape)
}

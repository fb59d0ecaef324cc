//! `MGUCell`: a minimal gated unit.

use super::cell::{CellFunction, RNNCell, RNNCellConfig, cell_hyperparameters, linen_cell};
use crate::{Initializer, Linear, Module, Vars, init};
use ramie_core::Array;
use ramie_core::random::Key;

/// A minimal gated unit (`nn.MGUCell`; Zhou et al., 2016). The carry is the output.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{MGUCell, RNN, Rngs};
/// let mut rnn = RNN::new(MGUCell::new(3, 8, &mut Rngs::new(0)));
/// let x = Array::zeros(&[2, 20, 3], DType::F32);
/// assert_eq!(rnn.forward(&x).shape(), [2, 20, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct MGUCell {
    /// The map of the input, to forget gate and new value.
    pub dense_i: Linear,
    /// The map of the carry, to the same values.
    pub dense_h: Linear,
    /// The options of the cell. Changes of their public fields apply to later calls.
    pub config: MGUCellConfig,
}

cell_hyperparameters! {
    /// Options of an [`MGUCell`].
    ///
    /// As a Linen module, its argument is the pair of carry and input, and its parameters are
    /// those of `if`, `in`, `hf` and `hn`.
    MGUCellConfig of MGUCell as "MGUCell" {
        /// Sets the initializer of the gate's bias. Defaults to ones.
        forget_bias_init: [Initializer] = init::ones(),
        /// Sets the initializer of the new value's biases. Defaults to zeros.
        activation_bias_init: [Initializer] = init::zeros(),
    } calls {
        /// Sets the activation of the gate. Defaults to `sigmoid`.
        gate_fn: [CellFunction] = |x| x.sigmoid(),
        /// Sets whether the gate is applied to the carry in the new value. Defaults to `true`.
        reset_gate: [bool] = true,
    }
}

impl RNNCellConfig for MGUCellConfig {
    type Cell = MGUCell;

    fn class(&self) -> &'static str {
        MGUCellConfig::CLASS
    }

    fn cell(&self, input_shape: &[usize], vars: &mut Vars<'_>) -> MGUCell {
        let inputs = input_shape.last().copied().unwrap_or(1);
        let of_new = Some(&self.activation_bias_init);
        let of_input = [("if", Some(&self.forget_bias_init)), ("in", of_new)];
        // A sum needs only one bias, unless the gate scales the second summand.
        let of_carry = [("hf", None), ("hn", of_new.filter(|_| self.reset_gate))];
        MGUCell {
            dense_i: self.of_input().side_by_side(&of_input, inputs, vars),
            dense_h: self.of_carry().side_by_side(&of_carry, self.features, vars),
            config: self.clone(),
        }
    }
}

impl RNNCell for MGUCell {
    type Carry = Array;

    fn step(&self, h: Array, x: &Array) -> (Array, Array) {
        let config = &self.config;
        config.expect(x, &self.dense_i, &[&h]);
        let two = |y: Array| -> [Array; 2] { y.split(2, -1).try_into().expect("two parts") };
        let [i_f, i_n] = two(self.dense_i.forward(x));
        let [h_f, mut h_n] = two(self.dense_h.forward(&h));
        let f = (config.gate_fn)(&(i_f + h_f));
        if config.reset_gate {
            h_n *= &f;
        }
        let n = (config.activation_fn)(&(i_n + h_n));
        let h = (1.0 - &f) * n + f * h;
        (h.clone(), h)
    }

    fn first_carry(&self, input_shape: &[usize], next_key: &mut dyn FnMut() -> Key) -> Array {
        self.config.carry(input_shape, next_key)
    }
}

linen_cell!(MGUCellConfig, MGUCell, Array);

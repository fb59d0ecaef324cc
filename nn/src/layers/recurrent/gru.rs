//! `GRUCell`: a gated recurrent unit.

use super::cell::{CellFunction, RNNCell, RNNCellConfig, cell_hyperparameters, linen_cell};
use crate::{Initializer, Linear, Module, Vars, init};
use ramie_core::Array;
use ramie_core::random::Key;

/// A gated recurrent unit (`nnx.GRUCell`, `nn.GRUCell`). The carry is the output.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{GRUCell, RNN, Rngs};
/// let mut rnn = RNN::new(GRUCell::new(3, 8, &mut Rngs::new(0)));
/// let x = Array::zeros(&[2, 20, 3], DType::F32);
/// assert_eq!(rnn.forward(&x).shape(), [2, 20, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct GRUCell {
    /// The map of the input, to reset gate, update gate and new value.
    pub dense_i: Linear,
    /// The map of the carry, to the same values. It has a bias, for the new value, only in
    /// Linen style.
    pub dense_h: Linear,
    /// The options of the cell. Changes of their public fields apply to later calls.
    pub config: GRUCellConfig,
}

cell_hyperparameters! {
    /// Options of a [`GRUCell`].
    ///
    /// As a Linen module, its argument is the pair of carry and input, and its parameters are
    /// those of `ir`, `iz`, `in`, `hr`, `hz` and `hn`.
    GRUCellConfig of GRUCell as "GRUCell" {
        /// Sets the initializer of the biases. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
    } calls {
        /// Sets the activation of the gates. Defaults to `sigmoid`.
        gate_fn: [CellFunction] = |x| x.sigmoid(),
    }
}

impl RNNCellConfig for GRUCellConfig {
    type Cell = GRUCell;

    fn class(&self) -> &'static str {
        GRUCellConfig::CLASS
    }

    fn cell(&self, input_shape: &[usize], vars: &mut Vars<'_>) -> GRUCell {
        let inputs = input_shape.last().copied().unwrap_or(1);
        let bias = Some(&self.bias_init);
        // NNX's cell has no bias for the carry. Linen's has one for the new value, where it is
        // not added to that of the input.
        let of_new = bias.filter(|_| vars.in_scope());
        let of_input = ["ir", "iz", "in"].map(|name| (name, bias));
        let of_carry = [("hr", None), ("hz", None), ("hn", of_new)];
        GRUCell {
            dense_i: self.of_input().side_by_side(&of_input, inputs, vars),
            dense_h: self.of_carry().side_by_side(&of_carry, self.features, vars),
            config: self.clone(),
        }
    }
}

impl RNNCell for GRUCell {
    type Carry = Array;

    fn step(&self, h: Array, x: &Array) -> (Array, Array) {
        let config = &self.config;
        config.expect(x, &self.dense_i, &[&h]);
        let three = |y: Array| -> [Array; 3] { y.split(3, -1).try_into().expect("three parts") };
        let [ir, iz, i] = three(self.dense_i.forward(x));
        let [hr, hz, n] = three(self.dense_h.forward(&h));
        let r = (config.gate_fn)(&(ir + hr));
        let z = (config.gate_fn)(&(iz + hz));
        let n = (config.activation_fn)(&(i + r * n));
        let h = (1.0 - &z) * n + z * h;
        (h.clone(), h)
    }

    fn first_carry(&self, input_shape: &[usize], next_key: &mut dyn FnMut() -> Key) -> Array {
        self.config.carry(input_shape, next_key)
    }
}

linen_cell!(GRUCellConfig, GRUCell, Array);

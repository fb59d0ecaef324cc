//! `OptimizedLSTMCell`: an LSTM cell with fused products.

use super::cell::{CellFunction, RNNCell, RNNCellConfig, cell_hyperparameters, linen_cell};
use super::lstm::remember;
use crate::{Initializer, Linear, Module, Vars, init};
use ramie_core::Array;
use ramie_core::random::Key;

/// A long short-term memory cell with one product for all gates (`nnx.OptimizedLSTMCell`,
/// `nn.OptimizedLSTMCell`). The carry is `(memory, output)`.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{OptimizedLSTMCell, RNN, Rngs};
/// let mut rnn = RNN::new(OptimizedLSTMCell::new(3, 8, &mut Rngs::new(0)));
/// let x = Array::zeros(&[2, 20, 3], DType::F32);
/// assert_eq!(rnn.forward(&x).shape(), [2, 20, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct OptimizedLSTMCell {
    /// The map of the input, to input gate, forget gate, new memory and output gate.
    pub dense_i: Linear,
    /// The map of the carry, to the same values.
    pub dense_h: Linear,
    /// The options of the cell. Changes of their public fields apply to later calls.
    pub config: OptimizedLSTMCellConfig,
}

cell_hyperparameters! {
    /// Options of an [`OptimizedLSTMCell`].
    ///
    /// As a Linen module, its argument is the pair of carry and input, and it has the
    /// parameters of an [`LSTMCell`](super::LSTMCell).
    OptimizedLSTMCellConfig of OptimizedLSTMCell as "OptimizedLSTMCell" {
        /// Sets the initializer of the biases. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
    } calls {
        /// Sets the activation of the gates. Defaults to `sigmoid`.
        gate_fn: [CellFunction] = |x| x.sigmoid(),
    }
}

impl RNNCellConfig for OptimizedLSTMCellConfig {
    type Cell = OptimizedLSTMCell;

    fn class(&self) -> &'static str {
        OptimizedLSTMCellConfig::CLASS
    }

    fn cell(&self, input_shape: &[usize], vars: &mut Vars<'_>) -> OptimizedLSTMCell {
        let inputs = input_shape.last().copied().unwrap_or(1);
        let of_input = ["ii", "if", "ig", "io"].map(|name| (name, None));
        let of_carry = ["hi", "hf", "hg", "ho"].map(|name| (name, Some(&self.bias_init)));
        OptimizedLSTMCell {
            dense_i: self.of_input().side_by_side(&of_input, inputs, vars),
            dense_h: self.of_carry().side_by_side(&of_carry, self.features, vars),
            config: self.clone(),
        }
    }
}

impl RNNCell for OptimizedLSTMCell {
    type Carry = (Array, Array);
    const CARRIES: usize = 2;

    fn step(&self, (c, h): (Array, Array), x: &Array) -> ((Array, Array), Array) {
        self.config.expect(x, &self.dense_i, &[&c, &h]);
        let y = self.dense_i.forward(x) + self.dense_h.forward(&h);
        let sums = y.split(4, -1).try_into().expect("four parts");
        remember(&c, sums, self.config.gate_fn, self.config.activation_fn)
    }

    fn first_carry(
        &self,
        input_shape: &[usize],
        next_key: &mut dyn FnMut() -> Key,
    ) -> (Array, Array) {
        let memory = self.config.carry(input_shape, next_key);
        (memory, self.config.carry(input_shape, next_key))
    }
}

linen_cell!(OptimizedLSTMCellConfig, OptimizedLSTMCell, (Array, Array));

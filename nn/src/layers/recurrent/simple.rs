//! `SimpleCell`: a plain recurrent cell.

use super::cell::{RNNCell, RNNCellConfig, cell_hyperparameters, linen_cell};
use crate::{Initializer, Linear, Module, Vars, init};
use ramie_core::Array;
use ramie_core::random::Key;

/// A plain recurrent cell (`nnx.SimpleCell`, `nn.SimpleCell`): an affine map of input and
/// carry, followed by an activation. The carry is the output.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{RNN, Rngs, SimpleCell};
/// let mut rnn = RNN::new(SimpleCell::new(3, 8, &mut Rngs::new(0)));
/// let x = Array::zeros(&[2, 20, 3], DType::F32);
/// assert_eq!(rnn.forward(&x).shape(), [2, 20, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct SimpleCell {
    /// The map of the carry.
    pub dense_h: Linear,
    /// The map of the input.
    pub dense_i: Linear,
    /// The options of the cell. Changes of their public fields apply to later calls.
    pub config: SimpleCellConfig,
}

cell_hyperparameters! {
    /// Options of a [`SimpleCell`].
    ///
    /// As a Linen module, its argument is the pair of carry and input.
    SimpleCellConfig of SimpleCell as "SimpleCell" {
        /// Sets the initializer of the bias. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
    } calls {
        /// Sets whether the carry is added before the activation. Defaults to `false`.
        residual: [bool] = false,
    }
}

impl RNNCellConfig for SimpleCellConfig {
    type Cell = SimpleCell;

    fn class(&self) -> &'static str {
        SimpleCellConfig::CLASS
    }

    fn cell(&self, input_shape: &[usize], vars: &mut Vars<'_>) -> SimpleCell {
        let inputs = input_shape.last().copied().unwrap_or(1);
        let bias = Some(&self.bias_init);
        SimpleCell {
            dense_h: self.of_carry().one("h", self.features, None, vars),
            dense_i: self.of_input().one("i", inputs, bias, vars),
            config: self.clone(),
        }
    }
}

impl RNNCell for SimpleCell {
    type Carry = Array;

    fn step(&self, carry: Array, x: &Array) -> (Array, Array) {
        self.config.expect(x, &self.dense_i, &[&carry]);
        let mut new = self.dense_i.forward(x) + self.dense_h.forward(&carry);
        if self.config.residual {
            new += &carry;
        }
        let new = (self.config.activation_fn)(&new);
        (new.clone(), new)
    }

    fn first_carry(&self, input_shape: &[usize], next_key: &mut dyn FnMut() -> Key) -> Array {
        self.config.carry(input_shape, next_key)
    }
}

linen_cell!(SimpleCellConfig, SimpleCell, Array);

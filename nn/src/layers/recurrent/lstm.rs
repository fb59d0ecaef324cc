//! `LSTMCell`: a long short-term memory cell.

use super::cell::{CellFunction, RNNCell, RNNCellConfig, cell_hyperparameters, linen_cell};
use crate::{Initializer, Linear, Module, Vars, init};
use ramie_core::Array;
use ramie_core::random::Key;

/// A long short-term memory cell (`nnx.LSTMCell`, `nn.LSTMCell`) with a kernel for each gate.
/// The carry is `(memory, output)`.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{LSTMCell, RNN, Rngs};
/// let mut rnn = RNN::new(LSTMCell::new(3, 8, &mut Rngs::new(0)));
/// let x = Array::zeros(&[2, 20, 3], DType::F32);
/// assert_eq!(rnn.forward(&x).shape(), [2, 20, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct LSTMCell {
    /// The map of the input to the input gate.
    pub ii: Linear,
    /// The map of the input to the forget gate.
    pub if_: Linear,
    /// The map of the input to the new memory.
    pub ig: Linear,
    /// The map of the input to the output gate.
    pub io: Linear,
    /// The map of the carry to the input gate.
    pub hi: Linear,
    /// The map of the carry to the forget gate.
    pub hf: Linear,
    /// The map of the carry to the new memory.
    pub hg: Linear,
    /// The map of the carry to the output gate.
    pub ho: Linear,
    /// The options of the cell. Changes of their public fields apply to later calls.
    pub config: LSTMCellConfig,
}

cell_hyperparameters! {
    /// Options of an [`LSTMCell`].
    ///
    /// As a Linen module, its argument is the pair of carry and input.
    LSTMCellConfig of LSTMCell as "LSTMCell" {
        /// Sets the initializer of the biases. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
    } calls {
        /// Sets the activation of the gates. Defaults to `sigmoid`.
        gate_fn: [CellFunction] = |x| x.sigmoid(),
    }
}

/// Computes memory and output after a step, from the pre-activations of the gates and the new
/// memory.
pub(super) fn remember(
    c: &Array,
    [i, f, g, o]: [Array; 4],
    gate: CellFunction,
    activation: CellFunction,
) -> ((Array, Array), Array) {
    let (i, f, g, o) = (gate(&i), gate(&f), activation(&g), gate(&o));
    let c = f * c + i * g;
    let h = o * activation(&c);
    ((c, h.clone()), h)
}

impl RNNCellConfig for LSTMCellConfig {
    type Cell = LSTMCell;

    fn class(&self) -> &'static str {
        LSTMCellConfig::CLASS
    }

    fn cell(&self, input_shape: &[usize], vars: &mut Vars<'_>) -> LSTMCell {
        let inputs = input_shape.last().copied().unwrap_or(1);
        let bias = Some(&self.bias_init);
        let [ii, if_, ig, io] =
            ["ii", "if", "ig", "io"].map(|name| self.of_input().one(name, inputs, None, vars));
        let [hi, hf, hg, ho] = ["hi", "hf", "hg", "ho"]
            .map(|name| self.of_carry().one(name, self.features, bias, vars));
        LSTMCell {
            ii,
            if_,
            ig,
            io,
            hi,
            hf,
            hg,
            ho,
            config: self.clone(),
        }
    }
}

impl RNNCell for LSTMCell {
    type Carry = (Array, Array);
    const CARRIES: usize = 2;

    fn step(&self, (c, h): (Array, Array), x: &Array) -> ((Array, Array), Array) {
        self.config.expect(x, &self.ii, &[&c, &h]);
        let sum = |i: &Linear, of_h: &Linear| i.forward(x) + of_h.forward(&h);
        let sums = [
            sum(&self.ii, &self.hi),
            sum(&self.if_, &self.hf),
            sum(&self.ig, &self.hg),
            sum(&self.io, &self.ho),
        ];
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

linen_cell!(LSTMCellConfig, LSTMCell, (Array, Array));

//! `ConvLSTMCell`: a convolutional LSTM cell.

use super::cell::{RNNCell, RNNCellConfig, carry_shape, linen_cell};
use super::lstm::remember;
use crate::layers::hyperparameters::hyperparameters;
use crate::{
    Conv, ConvConfig, ConvPadding, Initializer, Module, Rngs, Sizes, VarSource, Vars, init,
};
use ramie_core::random::Key;
use ramie_core::{Array, DType};

/// A long short-term memory cell for images, with convolutions instead of matrix products
/// (`nn.ConvLSTMCell`; Shi et al., 2015). The carry is `(memory, output)`.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{ConvLSTMCell, RNN, Rngs};
/// let mut rnn = RNN::new(ConvLSTMCell::new(3, 8, [3, 3], &mut Rngs::new(0)));
/// let x = Array::zeros(&[2, 20, 16, 16, 3], DType::F32);
/// assert_eq!(rnn.forward(&x).shape(), [2, 20, 16, 16, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct ConvLSTMCell {
    /// The convolution of the input, to input gate, new memory, forget gate and output gate.
    pub ih: Conv,
    /// The convolution of the carry, to the same values.
    pub hh: Conv,
    /// The options of the cell. Changes of their public fields apply to later calls.
    pub config: ConvLSTMCellConfig,
}

hyperparameters! {
    /// Options of a [`ConvLSTMCell`].
    ///
    /// As a Linen module, its argument is the pair of carry and input.
    ConvLSTMCellConfig as "ConvLSTMCell" (features: usize, kernel_size: Sizes as into) {
        /// Sets the stride along each spatial axis. Defaults to 1.
        strides: [Sizes] = Sizes::One(1),
        /// Sets the padding of the spatial axes. Defaults to [`ConvPadding::Same`]. Outputs
        /// must have the spatial size of the inputs.
        padding: [ConvPadding] = ConvPadding::Same,
        /// Sets whether the layer has a bias. Defaults to `true`.
        use_bias: [bool] = true,
        /// Sets the dtype of the computation. Defaults to the dtype that the input, the carry
        /// and the parameters promote to.
        dtype: [Option<DType>] = None,
    } calls {
        /// Sets the dtype of the parameters and the initial carry. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets the initializer of the initial carry. Defaults to zeros.
        carry_init: [Initializer] = init::zeros(),
    }
}

impl ConvLSTMCell {
    /// Creates a cell from images of `in_features` to images of `features`.
    #[track_caller]
    pub fn new(
        in_features: usize,
        features: usize,
        kernel_size: impl Into<Sizes>,
        rngs: &mut Rngs,
    ) -> ConvLSTMCell {
        ConvLSTMCell::features(features, kernel_size).build(in_features, rngs)
    }

    /// Returns the options of a cell with `features` output features.
    pub fn features(features: usize, kernel_size: impl Into<Sizes>) -> ConvLSTMCellConfig {
        ConvLSTMCellConfig::new(features, kernel_size)
    }
}

impl ConvLSTMCellConfig {
    /// Builds the cell for images of `in_features`.
    #[track_caller]
    pub fn build(&self, in_features: usize, vars: &mut impl VarSource) -> ConvLSTMCell {
        self.cell(&[in_features], &mut vars.vars())
    }

    fn conv(&self) -> ConvConfig {
        Conv::features(4 * self.features, self.kernel_size.clone())
            .strides(self.strides.clone())
            .padding(self.padding.clone())
            .use_bias(self.use_bias)
            .dtype(self.dtype)
            .param_dtype(self.param_dtype)
    }
}

impl RNNCellConfig for ConvLSTMCellConfig {
    type Cell = ConvLSTMCell;

    fn class(&self) -> &'static str {
        ConvLSTMCellConfig::CLASS
    }

    fn cell(&self, input_shape: &[usize], vars: &mut Vars<'_>) -> ConvLSTMCell {
        let inputs = input_shape.last().copied().unwrap_or(1);
        let conv = self.conv();
        ConvLSTMCell {
            ih: vars.child("ih", |vars| conv.build(inputs, vars)),
            hh: vars.child("hh", |vars| conv.build(self.features, vars)),
            config: self.clone(),
        }
    }

    fn num_feature_axes(&self) -> usize {
        self.kernel_size.list().len() + 1
    }
}

impl RNNCell for ConvLSTMCell {
    type Carry = (Array, Array);
    const CARRIES: usize = 2;

    fn step(&self, (c, h): (Array, Array), x: &Array) -> ((Array, Array), Array) {
        let features = self.config.features;
        let shape = carry_shape(x.shape(), features);
        for carry in [&c, &h] {
            assert!(
                carry.shape() == shape,
                "ConvLSTMCell: the carry is {}, expected shape {shape:?}\n  input {}, features \
                 {features}\n  \
                 help: start with cell.initialize_carry(x.shape(), &mut stream)",
                carry.aval(),
                x.aval()
            );
        }
        let gates = (self.ih.forward(x) + self.hh.forward(&h)).split(4, -1);
        let [i, g, f, o] = gates.try_into().expect("four parts");
        remember(&c, [i, f + 1.0, g, o], |x| x.sigmoid(), |x| x.tanh())
    }

    fn first_carry(
        &self,
        input_shape: &[usize],
        next_key: &mut dyn FnMut() -> Key,
    ) -> (Array, Array) {
        let config = &self.config;
        let shape = carry_shape(input_shape, config.features);
        let mut draw = || {
            config
                .carry_init
                .draw(&next_key(), &shape, config.param_dtype)
        };
        let c = draw();
        (c, draw())
    }

    fn num_feature_axes(&self) -> usize {
        self.ih.kernel.ndim() - 1
    }
}

linen_cell!(ConvLSTMCellConfig, ConvLSTMCell, (Array, Array));

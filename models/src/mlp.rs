//! A multi-layer perceptron.

use crate::activation::Activation;
use ramie_core::{Array, DType};
use ramie_nn::{Dropout, Linear, Module, Rngs};

/// Linear layers with an activation between them, and optional dropout after each activation.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::Rngs;
/// use ramie_models::{Mlp, MlpConfig};
/// let mut model = Mlp::new(&MlpConfig::new(&[784, 256, 10]), &mut Rngs::new(0));
/// let x = Array::zeros(&[32, 784], DType::F32);
/// assert_eq!(model.forward(&x).shape(), [32, 10]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Mlp {
    /// The layers, in order.
    pub layers: Vec<Linear>,
    /// The dropout after each activation, if any.
    pub dropout: Option<Dropout>,
    /// The activation after each layer but the last.
    #[tree(fixed)]
    pub activation: Activation,
}

/// Options of an [`Mlp`].
#[derive(Clone, Debug)]
pub struct MlpConfig {
    /// The numbers of features of the input, of each hidden layer and of the output.
    pub features: Vec<usize>,
    /// The activation after each layer but the last. Defaults to `relu`.
    pub activation: Activation,
    /// Dropout rate of hidden features. Defaults to 0.
    pub dropout_rate: f64,
    /// The dtype of the computation. Defaults to the dtype that the input and the parameters
    /// promote to.
    pub dtype: Option<DType>,
    /// The dtype of the parameters. Defaults to `f32`.
    pub param_dtype: DType,
}

impl MlpConfig {
    /// Creates the options of a model with these numbers of features: of the input, of each
    /// hidden layer, and of the output.
    pub fn new(features: &[usize]) -> MlpConfig {
        MlpConfig {
            features: features.to_vec(),
            activation: |x| x.relu(),
            dropout_rate: 0.0,
            dtype: None,
            param_dtype: DType::F32,
        }
    }
}

impl Mlp {
    /// Creates a model with random weights.
    ///
    /// # Panics
    /// Panics if there are fewer than two numbers of features.
    #[track_caller]
    pub fn new(config: &MlpConfig, rngs: &mut Rngs) -> Mlp {
        assert!(
            config.features.len() >= 2,
            "Mlp: the features {:?} do not define a layer\n  help: pass the features of the \
             input, of each hidden layer and of the output",
            config.features
        );
        let layer = |pair: &[usize]| {
            Linear::features(pair[1])
                .dtype(config.dtype)
                .param_dtype(config.param_dtype)
                .build(pair[0], rngs)
        };
        let layers = config.features.windows(2).map(layer).collect();
        let dropout = (config.dropout_rate > 0.0).then(|| Dropout::new(config.dropout_rate, rngs));
        Mlp {
            layers,
            dropout,
            activation: config.activation,
        }
    }

    /// Maps an array `[.., input features]` to `[.., output features]`.
    ///
    /// # Panics
    /// Panics if the last axis of the input has another size.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        let mut x = x.clone();
        let last = self.layers.len() - 1;
        for (i, layer) in self.layers.iter().enumerate() {
            x = layer.forward(&x);
            if i == last {
                break;
            }
            x = (self.activation)(&x);
            if let Some(dropout) = &mut self.dropout {
                x = dropout.forward(&x);
            }
        }
        x
    }
}

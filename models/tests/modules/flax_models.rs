//! The perceptron and the residual network against the same of Flax's layers.

use crate::common;

use common::Golden;
use ramie_models::{Mlp, MlpConfig, ResNet, ResNetConfig};
use ramie_nn::Rngs;

#[test]
fn mlp() {
    let mut config = MlpConfig::new(&[5, 7, 6, 3]);
    config.dropout_rate = 0.3;
    let model = Mlp::new(&config, &mut Rngs::new(0));
    let case = Golden::open("flax_models").case("mlp");
    case.nnx(model, |m, x| vec![m.forward(&x[0])]);
}

#[test]
fn resnet() {
    let config = ResNetConfig {
        in_features: 2,
        features: 4,
        stages: vec![1, 2],
        classes: 3,
    };
    let model = ResNet::new(&config, &mut Rngs::new(0));
    let case = Golden::open("flax_models").case("resnet");
    // Twelve normalizations, each of which divides by a root of a few numbers.
    let case = case.tolerance(3e-5).rounding(1e-6);
    case.nnx(model, |m, x| vec![m.forward(&x[0])]);
}

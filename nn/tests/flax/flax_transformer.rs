//! A language model of Linen modules against Flax: first variables, logits and
//! gradients.

use crate::common;

use common::Golden;
use ramie_core::{Array, DType};
use ramie_nn::linen::{Dense, Embed, LayerNorm, Module, MultiHeadDotProductAttention, Scope};
use ramie_nn::{AttentionInputs, combine_masks, init, make_attention_mask, make_causal_mask};

#[derive(Clone)]
struct Block {
    heads: usize,
}

impl Module<(Array, Array)> for Block {
    fn call(&self, scope: &mut Scope, (x, mask): (Array, Array)) -> Array {
        let features = x.shape()[2];
        let y: Array = scope.child(&LayerNorm::new(), x.clone());
        let attention = MultiHeadDotProductAttention::new(self.heads);
        let x = x + scope.child::<_, _, Array>(&attention, AttentionInputs::of(&y).mask(&mask));
        let y: Array = scope.child(&LayerNorm::new(), x.clone());
        let y = scope.child(&Dense::new(4 * features), y).gelu();
        x + scope.child(&Dense::new(features), y)
    }
}

#[derive(Clone)]
struct Transformer {
    vocabulary: usize,
    features: usize,
    heads: usize,
    layers: usize,
}

impl Module for Transformer {
    fn call(&self, scope: &mut Scope, tokens: Array) -> Array {
        let mut embed = scope.setup("embed", &Embed::new(self.vocabulary, self.features));
        let places = scope.param(
            "places",
            &init::normal(0.02),
            &[16, self.features],
            DType::F32,
        );
        let x: Array = embed.call(tokens.clone());
        let mut x = x + places.slice_in_dim(0, tokens.shape()[1], 1, 0);
        let real = tokens.gt(0);
        let (causal, padding) = (make_causal_mask(&tokens), make_attention_mask(&real, &real));
        let mask = combine_masks(&[Some(&causal), Some(&padding)]).expect("a mask");
        for _ in 0..self.layers {
            x = scope.child(&Block { heads: self.heads }, (x, mask.clone()));
        }
        let x: Array = scope.named("norm", &LayerNorm::new(), x);
        embed.with(|embed, scope| embed.attend(scope, &x))
    }
}

#[test]
fn logits_and_gradients() {
    let model = Transformer {
        vocabulary: 11,
        features: 12,
        heads: 3,
        layers: 2,
    };
    let case = Golden::open("flax_transformer").case("transformer");
    // The bias of keys changes all products of a query alike: its gradient is zero.
    let case = case.rounding(1e-5);
    case.linen(|s, x| vec![model.call(s, x[0].clone())]);
}

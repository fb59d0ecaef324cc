//! A decoder of plain functions: pre-LayerNorm, causal attention, an MLP of four times the width
//! with GELU, learned positions and tied embeddings.

use ramie::core::options::Reduction;
use ramie::core::{Array, DType, State, einsum, tree, value_and_grad, where_};
use ramie::nn::Tree;
use ramie::optim::{
    GradientTransformation, OptState, adamw, apply_updates,
    softmax_cross_entropy_with_integer_labels,
};

/// The sizes of a decoder.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub vocabulary: usize,
    pub width: usize,
    pub heads: usize,
    pub layers: usize,
    pub length: usize,
}

#[derive(Tree)]
pub struct Norm {
    scale: Array,
    bias: Array,
}

#[derive(Tree)]
pub struct Dense {
    kernel: Array,
    bias: Array,
}

#[derive(Tree)]
pub struct Block {
    norm1: Norm,
    query: Dense,
    key: Dense,
    value: Dense,
    out: Dense,
    norm2: Norm,
    up: Dense,
    down: Dense,
}

#[derive(Tree)]
pub struct Params {
    embed: Array,
    positions: Array,
    blocks: Vec<Block>,
    norm: Norm,
}

fn parameter(shape: &[usize]) -> Array {
    Array::shape_dtype_struct(shape, DType::F32)
}

impl Norm {
    fn new(width: usize) -> Norm {
        let (scale, bias) = (parameter(&[width]), parameter(&[width]));
        Norm { scale, bias }
    }

    fn forward(&self, x: &Array) -> Array {
        let mean = x.mean_over(Reduction::over(-1).keepdims());
        let variance = x.square().mean_over(Reduction::over(-1).keepdims()) - mean.square();
        (x - mean) * (variance + 1e-6).rsqrt() * &self.scale + &self.bias
    }
}

impl Dense {
    fn new(inputs: usize, outputs: usize) -> Dense {
        let (kernel, bias) = (parameter(&[inputs, outputs]), parameter(&[outputs]));
        Dense { kernel, bias }
    }

    fn forward(&self, x: &Array) -> Array {
        x.matmul(&self.kernel) + &self.bias
    }
}

impl Block {
    fn new(width: usize) -> Block {
        Block {
            norm1: Norm::new(width),
            query: Dense::new(width, width),
            key: Dense::new(width, width),
            value: Dense::new(width, width),
            out: Dense::new(width, width),
            norm2: Norm::new(width),
            up: Dense::new(width, 4 * width),
            down: Dense::new(4 * width, width),
        }
    }

    fn attention(&self, x: &Array, heads: usize) -> Array {
        let (batch, length, width) = (x.shape()[0], x.shape()[1], x.shape()[2]);
        let depth = width / heads;
        let split = |dense: &Dense| dense.forward(x).reshape(&[batch, length, heads, depth]);
        let (query, key, value) = (split(&self.query), split(&self.key), split(&self.value));
        let scores = einsum("bqhd,bkhd->bhqk", &[&query, &key]) / (depth as f64).sqrt();
        let place = Array::arange(length);
        let causal = place.expand_dims(&[1]).ge(place.expand_dims(&[0]));
        let weights = where_(&causal, scores, f64::from(f32::MIN)).softmax(-1);
        let mixed = einsum("bhqk,bkhd->bqhd", &[&weights, &value]);
        self.out.forward(&mixed.reshape(&[batch, length, width]))
    }

    fn forward(&self, x: &Array, heads: usize) -> Array {
        let x = x + self.attention(&self.norm1.forward(x), heads);
        let hidden = self.up.forward(&self.norm2.forward(&x)).gelu();
        &x + self.down.forward(&hidden)
    }
}

impl Params {
    /// Returns the types of the parameters, without elements.
    pub fn new(sizes: Sizes) -> Params {
        Params {
            embed: parameter(&[sizes.vocabulary, sizes.width]),
            positions: parameter(&[sizes.length, sizes.width]),
            blocks: (0..sizes.layers).map(|_| Block::new(sizes.width)).collect(),
            norm: Norm::new(sizes.width),
        }
    }

    fn forward(&self, tokens: &Array, heads: usize) -> Array {
        let mut x = self.embed.take(tokens, 0) + &self.positions;
        for block in &self.blocks {
            x = block.forward(&x, heads);
        }
        self.norm.forward(&x).matmul(self.embed.t())
    }
}

/// The state of a train step.
#[derive(Tree)]
pub struct Trainer {
    params: Params,
    moments: OptState,
}

impl Trainer {
    /// Returns the types of a trainer's arrays, without elements.
    pub fn new(sizes: Sizes, optimizer: &GradientTransformation) -> Trainer {
        let params = Params::new(sizes);
        let moments = ramie::core::eval_shape(|s| optimizer.init(&s), State::of(&params));
        Trainer { params, moments }
    }
}

/// Returns a train step: loss, gradient, AdamW.
pub fn train_step(
    heads: usize,
    optimizer: GradientTransformation,
) -> impl Fn(&mut Trainer, Array, Array) -> Array {
    move |t, tokens, targets| {
        let loss = |params: Params| {
            let logits = params.forward(&tokens, heads);
            softmax_cross_entropy_with_integer_labels(&logits, &targets).mean()
        };
        let params = tree::copy(&t.params);
        let (loss, gradient) = value_and_grad(loss)(params);
        let params = State::of(&t.params);
        let moments = std::mem::replace(&mut t.moments, OptState::new(()));
        let (updates, moments) = optimizer.update(State::of(&gradient), moments, Some(&params));
        t.moments = moments;
        let params = apply_updates(&params, &updates);
        t.params = tree::with_leaves(&t.params, params.arrays().iter().cloned());
        loss
    }
}

/// Returns AdamW with the options of the workloads.
pub fn optimizer() -> GradientTransformation {
    adamw(1e-3).into()
}

//! A decoder whose dimensions have logical names, so that rules can determine its sharding.

use ramie::core::random::{self, Key};
use ramie::nn::{Module, Optimizer, Param, Tree, value_and_grad};
use ramie::optim::{adamw, softmax_cross_entropy_with_integer_labels};
use ramie::options::Reduction;
use ramie::sharding::{LogicalAxisRules, Shardings, with_logical_constraint};
use ramie::{Array, DType, Mesh, NamedSharding, P, PartitionSpec, einsum, where_};

/// Sizes of a decoder.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub vocabulary: usize,
    pub embed: usize,
    pub heads: usize,
    pub depth: usize,
    pub mlp: usize,
    pub layers: usize,
    pub length: usize,
}

/// Returns the names of a parameter's dimensions, given its path. Optimizer moments have the names
/// of their parameters, and step counts have none.
pub fn dimensions(path: &str) -> PartitionSpec {
    let name = path.rsplit('.').next().unwrap_or(path);
    match name {
        "embedding" => P!["vocab", "embed"],
        "positions" => P!["position", "embed"],
        "query" | "key" | "value" => P!["embed", "heads", "depth"],
        "out" => P!["heads", "depth", "embed"],
        "up" => P!["embed", "mlp"],
        "down" => P!["mlp", "embed"],
        "scale" => P!["norm"],
        _ => P![],
    }
}

/// Returns the sharding of each array of a model or of its optimizer.
pub fn shardings(mesh: Mesh, rules: LogicalAxisRules) -> Shardings {
    Shardings::by_path(move |path| {
        let spec = rules.to_mesh(&dimensions(path));
        Some(NamedSharding::new(mesh, spec).into())
    })
}

#[derive(Module)]
struct Block {
    norm1: Norm,
    query: Param,
    key: Param,
    value: Param,
    out: Param,
    norm2: Norm,
    up: Param,
    down: Param,
}

#[derive(Module)]
struct Norm {
    scale: Param,
}

/// Decoder with RMS normalization, causal attention and tied embeddings.
#[derive(Module)]
pub struct Decoder {
    embedding: Param,
    positions: Param,
    blocks: Vec<Block>,
    norm: Norm,
}

fn draw(key: &mut Key, shape: &[usize], fan_in: usize) -> Param {
    let [next, mine] = key.split_into();
    *key = next;
    let scale = 1.0 / (fan_in as f64).sqrt();
    Param::new(random::normal(&mine, shape, DType::F32) * scale)
}

impl Norm {
    fn new(width: usize) -> Norm {
        let scale = Param::new(Array::ones(&[width], DType::F32));
        Norm { scale }
    }

    fn forward(&self, x: &Array) -> Array {
        let size = (x.square().mean_over(Reduction::over(-1).keepdims()) + 1e-6).sqrt();
        x / size * &self.scale
    }
}

impl Block {
    fn new(sizes: Sizes, key: &mut Key) -> Block {
        let (embed, heads, depth) = (sizes.embed, sizes.heads, sizes.depth);
        Block {
            norm1: Norm::new(embed),
            query: draw(key, &[embed, heads, depth], embed),
            key: draw(key, &[embed, heads, depth], embed),
            value: draw(key, &[embed, heads, depth], embed),
            out: draw(key, &[heads, depth, embed], heads * depth),
            norm2: Norm::new(embed),
            up: draw(key, &[embed, sizes.mlp], embed),
            down: draw(key, &[sizes.mlp, embed], sizes.mlp),
        }
    }

    fn attention(&self, x: &Array) -> Array {
        let heads = P!["batch", "length", "heads", "depth"];
        let split = |kernel: &Param| {
            let split = einsum("ble,ehd->blhd", &[x, kernel]);
            with_logical_constraint(&split, heads.clone())
        };
        let (query, key) = (split(&self.query), split(&self.key));
        let depth = query.shape()[3] as f64;
        let scores = einsum("bqhd,bkhd->bhqk", &[&query, &key]) / depth.sqrt();
        let place = Array::arange(x.shape()[1]);
        let causal = place.expand_dims(&[1]).ge(place.expand_dims(&[0]));
        let weights = where_(&causal, scores, f64::from(f32::MIN)).softmax(-1);
        let mixed = einsum("bhqk,bkhd->bqhd", &[&weights, &split(&self.value)]);
        einsum("blhd,hde->ble", &[&mixed, &self.out])
    }

    fn forward(&self, x: &Array) -> Array {
        let residual = |x: Array| with_logical_constraint(&x, P!["batch", "sequence", "features"]);
        let x = residual(x + self.attention(&self.norm1.forward(x)));
        let hidden = self.norm2.forward(&x).matmul(&*self.up).gelu();
        let hidden = with_logical_constraint(&hidden, P!["batch", "length", "mlp"]);
        residual(&x + hidden.matmul(&*self.down))
    }
}

impl Decoder {
    pub fn new(sizes: Sizes, mut key: Key) -> Decoder {
        Decoder {
            embedding: draw(&mut key, &[sizes.vocabulary, sizes.embed], sizes.embed),
            positions: draw(&mut key, &[sizes.length, sizes.embed], sizes.embed),
            blocks: (0..sizes.layers)
                .map(|_| Block::new(sizes, &mut key))
                .collect(),
            norm: Norm::new(sizes.embed),
        }
    }

    /// Returns the mean loss of predicting each token from those before it; `tokens` is
    /// `i32[batch, length + 1]`.
    pub fn loss(&self, tokens: &Array) -> Array {
        let length = tokens.shape()[1] - 1;
        let inputs = tokens.slice_in_dim(0, length, 1, 1);
        let targets = tokens.slice_in_dim(1, length + 1, 1, 1);
        let x = self.embedding.take(&inputs, 0) + &self.positions;
        let mut x = with_logical_constraint(&x, P!["batch", "sequence", "features"]);
        for block in &self.blocks {
            x = block.forward(&x);
        }
        let logits = einsum("ble,ve->blv", &[&self.norm.forward(&x), &self.embedding]);
        let logits = with_logical_constraint(&logits, P!["batch", "length", "vocab"]);
        softmax_cross_entropy_with_integer_labels(&logits, &targets).mean()
    }
}

/// State of a training step.
#[derive(Tree)]
pub struct Trainer {
    pub model: Decoder,
    pub optimizer: Optimizer,
}

impl Trainer {
    pub fn new(sizes: Sizes, key: Key) -> Trainer {
        let model = Decoder::new(sizes, key);
        let optimizer = Optimizer::new(&model, adamw(3e-3));
        Trainer { model, optimizer }
    }
}

/// Runs one training step. Returns the loss before the update.
pub fn train_step(t: &mut Trainer, tokens: Array) -> Array {
    let (loss, grads) = value_and_grad(&mut t.model, |m| m.loss(&tokens));
    t.optimizer.update(&mut t.model, grads);
    loss
}

/// Returns a token sequence of `length + 1` tokens that can be learned: the difference between
/// consecutive tokens is constant.
pub fn sequence(sizes: Sizes, row: usize) -> Vec<i32> {
    let token = |column| ((row * 13 + column * (1 + row % 5)) % sizes.vocabulary) as i32;
    (0..=sizes.length).map(token).collect()
}

/// Returns a batch of sequences, `i32[batch, length + 1]`.
pub fn sequences(sizes: Sizes, batch: usize, index: usize) -> Array {
    let rows = index * batch..(index + 1) * batch;
    let tokens = rows.flat_map(|row| sequence(sizes, row)).collect();
    Array::from_vec(tokens, &[batch, sizes.length + 1])
}

//! The sizes of the workloads `gpt` and `gpt2`, shared by the programs of other frameworks.

/// The sizes of a model and its input.
pub struct Sizes {
    pub vocabulary: usize,
    pub width: usize,
    pub heads: usize,
    pub layers: usize,
    /// The number of learned positions.
    pub positions: usize,
    /// The constant that normalizations add to the variance.
    pub epsilon: f64,
    /// The number of sequences per step.
    pub batch: usize,
    /// The number of tokens per sequence.
    pub length: usize,
}

pub const GPT: Sizes = Sizes {
    vocabulary: 96,
    width: 128,
    heads: 4,
    layers: 4,
    positions: 128,
    epsilon: 1e-6,
    batch: 16,
    length: 128,
};

pub const GPT2: Sizes = Sizes {
    vocabulary: 50_257,
    width: 768,
    heads: 12,
    layers: 12,
    positions: 1024,
    epsilon: 1e-5,
    batch: 4,
    length: 64,
};

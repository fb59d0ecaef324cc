//! Fine-tunes a published text encoder, all-MiniLM-L6-v2, to find spam among text messages. It trains
//! low-rank adapters and a linear layer. The first run downloads the model (84 MB) and the messages
//! (0.2 MB).
//!
//! `cargo run --release --features tokenizers --example finetune`
#![forbid(unsafe_code)]

mod data;

use clap::Parser;
use ramie::checkpoint::safetensors::{load_into, save};
use ramie::data::DataLoader;
use ramie::data::readers::tokenizers::Tokenizer;
use ramie::models::{Bert, Pretrained, mean_pooling};
use ramie::nn::nnx::{Any, Filter, PathContains, of_type};
use ramie::nn::{
    Linear, LoraOptions, LoraParam, Optimizer, Rngs, apply_lora_with, value_and_grad_wrt,
};
use ramie::optim::{adamw, softmax_cross_entropy_with_integer_labels};
use ramie::train::{Trainer, Training};
use ramie::{Array, Module, jit};
use ramie_examples::files::{MESSAGES, MINILM};
use ramie_examples::{Result, Run, RunOptions, print_trained, score};
use std::path::Path;
use std::process::ExitCode;

/// Fine-tune a text encoder to find spam.
#[derive(Parser)]
struct Options {
    /// Training steps, each on 32 messages.
    #[arg(long, default_value_t = 60)]
    steps: u64,
    /// Rank of the adapters.
    #[arg(long, default_value_t = 8)]
    rank: usize,
    /// Learning rate.
    #[arg(long, default_value_t = 0.002)]
    learning_rate: f64,
    /// Seed of the adapters, the linear layer and the data order.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: RunOptions,
}

/// An encoder, and a linear classifier of the mean of its features.
#[derive(Module)]
struct Classifier {
    bert: Bert,
    head: Linear,
}

impl Classifier {
    /// Loads the encoder from the folder of a checkpoint.
    fn new(folder: &Path, rngs: &mut Rngs) -> Result<Classifier> {
        let bert = Bert::from_pretrained(folder)?;
        let features = bert.embeddings.word_embeddings.embedding.shape()[1];
        let head = Linear::new(features, 2, rngs);
        Ok(Classifier { bert, head })
    }

    /// Maps tokens `[batch, length]` to logits `[batch, 2]`: ham and spam.
    fn forward(&mut self, tokens: &Array) -> Array {
        let mask = tokens.ne(data::PAD);
        let features = self.bert.forward(tokens, &mask);
        self.head.forward(&mean_pooling(&features, &mask))
    }
}

/// Selects the parameters that are trained.
fn tuned() -> impl Filter {
    Any((of_type::<LoraParam>(), PathContains("head")))
}

/// Runs one step. Returns the loss and the accuracy before the update.
fn step(state: &mut Training<Classifier>, tokens: Array, labels: Array) -> (Array, Array) {
    let (metrics, grads) = value_and_grad_wrt(&mut state.model, tuned(), |model| {
        let logits = model.forward(&tokens);
        let loss = softmax_cross_entropy_with_integer_labels(&logits, &labels).mean();
        (loss, logits.argmax(-1).eq(&labels).mean())
    });
    state.optimizer.update(&mut state.model, grads);
    metrics
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    if options.rank == 0 {
        return Err("--rank must be at least 1".into());
    }
    let (model, messages) = (MINILM.fetch()?, MESSAGES.fetch()?);
    let base = model.parent().ok_or("the model has no folder")?;
    let run = Run::new("finetune", &options.run, options.steps)?;
    let tokenizer = Tokenizer::load(base.join("tokenizer.json"))?;
    let [train, test] = data::open(&messages, tokenizer, options.seed)?;

    // ANCHOR: adapt
    let rngs = &mut Rngs::new(options.seed);
    let mut model = Classifier::new(base, rngs)?;
    let lora = LoraOptions {
        rank: options.rank,
        alpha: Some(2.0 * options.rank as f64),
        ..LoraOptions::default()
    };
    let selected = |path: &str| path.ends_with("query") || path.ends_with("value");
    apply_lora_with(&mut model.bert, &lora, selected, rngs);
    let optimizer = Optimizer::wrt(&model, adamw(options.learning_rate), tuned());
    let mut state = Training { model, optimizer };
    // ANCHOR_END: adapt
    print_trained(&state.model, tuned());
    let trainer = Trainer::from_step(step).metrics(["loss", "accuracy"]);
    run.fit(trainer, &mut state, train)?;

    // The encoder's adapters and the classifier are two small files.
    // ANCHOR: save
    let (adapter, head) = (
        run.folder.join("adapter"),
        run.folder.join("head.safetensors"),
    );
    state.model.bert.save_adapter(&adapter)?;
    save(&head, &state.model.head)?;
    let mut model = Classifier::new(base, rngs)?;
    model.bert.load_adapter(&adapter)?;
    load_into(&head, &mut model.head)?;
    // ANCHOR_END: save
    println!("Wrote {} and {}", adapter.display(), head.display());
    let (correct, ham) = evaluate(&mut model, &test)?;
    println!("Without spam: {}", score(ham, data::TEST));
    println!("Test accuracy: {}", score(correct, data::TEST));
    Ok(())
}

/// Counts the messages that the model classifies correctly, and those that are no spam.
fn evaluate(model: &mut Classifier, messages: &DataLoader<data::Batch>) -> Result<(usize, usize)> {
    let classify = jit(|model: &mut Classifier, tokens: Array| model.forward(&tokens).argmax(-1));
    let (mut correct, mut ham) = (0, 0);
    for batch in messages.iter() {
        let (tokens, labels) = batch?;
        let classes = classify(model, Array::from(&tokens)).to_vec::<i32>();
        correct += classes.iter().zip(&labels).filter(|(a, b)| a == b).count();
        ham += labels.iter().filter(|label| **label == 0).count();
    }
    Ok((correct, ham))
}

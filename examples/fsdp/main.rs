//! Trains a decoder on 8 virtual CPU devices. Parameters, gradients and moments are
//! fully sharded along one mesh axis, heads and hidden layers along the other. The
//! losses are compared with those of one device.
//!
//! `cargo run --release --example fsdp -- --steps 20`
#![forbid(unsafe_code)]

mod model;

use clap::Parser;
use model::{Sizes, sequence, sequences, shardings, train_step};
use ramie::data::{DataLoader, IntoSource, SourceExt};
use ramie::options::{JitOptions, RuntimeOptions};
use ramie::sharding::{LogicalAxisRules, set_logical_axis_rules};
use ramie::train::{Context, Error, Trainer};
use ramie::{NamedSharding, P, Tree, jit, jit_with, make_mesh, random, set_mesh, tree};
use ramie_examples::{Result, Run, RunOptions};
use std::process::ExitCode;

/// Train a decoder sharded over 8 devices.
#[derive(Parser)]
struct Options {
    /// Training steps.
    #[arg(long, default_value_t = 20)]
    steps: u64,
    /// Sequences per batch; must be a multiple of 4.
    #[arg(long, default_value_t = 16)]
    batch: usize,
    /// Number of decoder blocks.
    #[arg(long, default_value_t = 2)]
    layers: usize,
    #[command(flatten)]
    run: RunOptions,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    if options.batch == 0 || !options.batch.is_multiple_of(4) {
        return Err("--batch must be a multiple of 4, the size of the mesh axis".into());
    }
    let runtime = RuntimeOptions {
        cpu_devices: Some(8),
        ..Default::default()
    };
    let run = Run::on("fsdp", &options.run, options.steps, runtime)?;
    let sizes = Sizes {
        vocabulary: 64,
        embed: 32,
        heads: 4,
        depth: 8,
        mlp: 128,
        layers: options.layers,
        length: 16,
    };
    let (alone, expected) = on_one_device(options, sizes);
    let init = move |key| model::Trainer::new(sizes, key);

    let mesh = make_mesh(&[4, 2], &["data", "model"])?;
    // ANCHOR: sharded
    let rules = LogicalAxisRules::new()
        .rule("batch", "data")
        .rule("heads", "model")
        .rule("mlp", "model")
        .rule("vocab", "model")
        .rule("position", "model")
        .rule("embed", "data")
        .rule("norm", ("data", "model"));
    let _mesh = set_mesh(mesh);
    let _rules = set_logical_axis_rules(rules);
    // Each device initializes only its own shards.
    let sharded = JitOptions {
        out_shardings: Some(shardings(mesh, rules)),
        ..JitOptions::default()
    };
    let mut state = jit_with(init, sharded)(random::key(0));
    // ANCHOR_END: sharded
    let (whole, part) = (bytes(&alone.model), bytes(&state.model));
    println!("Parameters: {whole} bytes, {part} bytes per device");

    // Restored arrays get the shardings of the new state.
    let trainer = Trainer::from_step(train_step)
        .placement(NamedSharding::new(mesh, P!["data"]))
        .every(1, move |context| compare(context, &expected));
    // Endless data, so that a run can be resumed for more steps.
    let rows = 0..usize::MAX;
    let data = rows.into_source().map(move |row| sequence(sizes, row));
    let loader = DataLoader::new(data).batch_size(options.batch);
    run.fit(trainer, &mut state, loader)?;
    Ok(())
}

/// Trains on one device. Returns the last state and the losses of all steps.
fn on_one_device(options: &Options, sizes: Sizes) -> (model::Trainer, Vec<f32>) {
    let mut state = jit(move |key| model::Trainer::new(sizes, key))(random::key(0));
    let step = jit(train_step);
    let batches = (0..options.steps).map(|i| sequences(sizes, options.batch, i as usize));
    let losses = batches.map(|batch| step(&mut state, batch).item());
    let losses = losses.collect();
    (state, losses)
}

/// Returns the size of the arrays on the first device.
fn bytes(arrays: &impl Tree) -> usize {
    let arrays = tree::leaves(arrays);
    arrays.iter().map(|a| a.addressable_bytes()[0].1).sum()
}

/// Prints the loss of a step beside that of one device, which must be the same.
fn compare<S>(context: &mut Context<'_, S>, expected: &[f32]) -> ramie::train::Result {
    let step = context.status.step - 1;
    let loss = context.history.last("loss").unwrap_or(f64::NAN);
    let alone = f64::from(expected[step as usize]);
    context.message(format!(
        "Step {step}: loss {loss:.5}, on one device {alone:.5}"
    ));
    if (loss - alone).abs() <= 1e-4 * alone.abs() {
        Ok(())
    } else {
        Err(Error::other(format!(
            "step {step}: the losses differ: {loss} and {alone}"
        )))
    }
}

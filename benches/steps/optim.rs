//! `optim`: one update of 50 million parameters by an optimizer, with given gradients. Each
//! optimizer runs in a separate process and prints a line.
//!
//! `held_mb` is the size of parameters, state and gradients. `peak_mb` adds the outputs and
//! intermediate values that do not reuse the memory of donated inputs, as planned by the
//! compiler.

use crate::measure::{Plan, timed};
use crate::report::{Line, Times};
use ramie::core::{Array, DType, Result, State, jit, random, tree};
use ramie::nn::Tree;
use ramie::optim::{
    GradientTransformation, OptState, adafactor, adam, adamw, apply_updates, contrib, lion, sgd,
};

pub const OPTIMIZERS: [&str; 6] = ["sgd", "adam", "adamw", "lion", "adafactor", "muon"];

fn optimizer(name: &str) -> GradientTransformation {
    match name {
        "sgd" => sgd(1e-3).into(),
        "adam" => adam(1e-3).into(),
        "adamw" => adamw(1e-3).into(),
        "lion" => lion(1e-3).into(),
        "adafactor" => adafactor().learning_rate(1e-3).into(),
        "muon" => contrib::muon(1e-3).into(),
        other => {
            eprintln!(
                "steps: unknown optimizer `{other}`; known are {}",
                OPTIMIZERS.join(", ")
            );
            std::process::exit(2)
        }
    }
}

/// Creates 12 blocks of four matrices and two vectors.
fn shapes() -> Vec<(String, Vec<usize>)> {
    let block = [
        ("bias", vec![4096]),
        ("in", vec![256, 4096]),
        ("out", vec![4096, 256]),
        ("scale", vec![1024]),
        ("up", vec![256, 4096]),
        ("down", vec![4096, 256]),
    ];
    let blocks = (0..12).flat_map(|i| {
        let block = block.clone().into_iter();
        block.map(move |(name, shape)| (format!("block_{i:02}.{name}"), shape))
    });
    blocks.collect()
}

fn normal(seed: u64) -> State {
    let draw = jit(move |key: random::Key| -> State {
        let draw = |(i, (name, shape)): (usize, (String, Vec<usize>))| {
            (
                name,
                random::normal(&key.fold_in(i as u32), &shape, DType::F32) * 0.02,
            )
        };
        shapes().into_iter().enumerate().map(draw).collect()
    });
    draw(random::key(seed))
}

#[derive(Tree)]
struct Training {
    params: State,
    state: OptState,
}

pub fn measure(plan: &Plan, name: &str) -> Result<()> {
    ramie::core::configure(ramie::options::RuntimeOptions {
        compilation_cache: Some(false),
        ..Default::default()
    })?;
    let tx = optimizer(name);
    let grads = normal(1);
    let params = normal(0);
    let init = tx.clone();
    let state = jit(move |params: State| init.init(&params))(params.clone());
    let mut training = Training { params, state };
    tree::block_until_ready(&training);
    let bytes = |arrays: Vec<Array>| arrays.iter().map(Array::nbytes).sum::<usize>();
    let held = bytes(tree::leaves(&training)) + bytes(tree::leaves(&grads));

    let step = jit(move |t: &mut Training, grads: State| {
        let state = std::mem::replace(&mut t.state, OptState::new(()));
        let (updates, state) = tx.update(grads, state, Some(&t.params));
        t.params = apply_updates(&t.params, &updates);
        t.state = state;
        t.params["block_00.bias"].index(0)
    });
    let (lowered, trace_lower_s) = timed(|| step.lower_with(&training, (grads.clone(),)))?;
    let (compiled, compile_s) = timed(|| lowered.compile())?;
    let memory = compiled.memory_analysis()?;
    let peak = memory.argument + memory.output - memory.alias + memory.temp;
    let mut last = step(&mut training, grads.clone());
    tree::block_until_ready(&training);
    for _ in 1..plan.warmup.max(1) {
        last = step(&mut training, grads.clone());
    }
    tree::block_until_ready(&training);
    let steps = plan.steps.unwrap_or(2);
    let times = Times::sample(plan, steps, || {
        for _ in 0..steps {
            last = step(&mut training, grads.clone());
        }
        tree::block_until_ready(&training);
    });
    let megabytes = |bytes: f64| format!("{:.1}", bytes / 1048576.0);
    Line::of("optim")
        .text("optimizer", name)
        .text("platform", ramie::core::runtime()?.client().platform_name())
        .times(&times)
        .value("steps", steps)
        .seconds("trace_lower_s", trace_lower_s)
        .seconds("compile_s", compile_s)
        .value("held_mb", megabytes(held as f64))
        .value("peak_mb", megabytes(peak as f64))
        .value("loss", last.item::<f32>())
        .print();
    Ok(())
}

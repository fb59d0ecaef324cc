//! Measures the workloads that `benches/compare` measures in JAX; prints a JSON line for each.
//!
//! `cargo bench --bench steps -- [WORKLOAD…] [--steps N] [--samples N] [--warmup N]`
//!
//! Every workload runs in a separate process, so that its peak memory can be measured. This also
//! holds for every optimizer of `optim`; `optim/adamw` selects a single one.

mod checkpoint;
mod cnn;
mod collectives;
mod decoder;
mod digits;
mod feed;
mod first_step;
mod generate;
mod gpt;
mod leaves;
mod linen_step;
mod loader;
mod lstm;
#[path = "../../examples/collective_matmul/matmul.rs"]
mod matmul;
mod measure;
mod ops;
mod optim;
mod report;
mod sample;
mod scalar;
mod trace;
mod traffic;
mod xor;

use measure::{Plan, measure};
use std::process::Command;

const WORKLOADS: [&str; 17] = [
    "scalar",
    "xor",
    "digits",
    "cnn",
    "gpt",
    "gpt2",
    "lstm",
    "sample",
    "leaves",
    "ops",
    "optim",
    "trace",
    "collectives",
    "first_step",
    "loader",
    "feed",
    "checkpoint",
];

fn run(name: &str, plan: &Plan) -> ramie::core::Result<()> {
    match name {
        "scalar" => measure(name, plan, 2000, scalar::build),
        "xor" => measure(name, plan, 1000, xor::build),
        "digits" => measure(name, plan, 100, digits::build),
        "cnn" => measure(name, plan, 15, cnn::build),
        "gpt" => measure(name, plan, 5, || gpt::build(gpt::LAYERS, gpt::BATCH)),
        "gpt2" => measure(name, plan, 1, gpt::build_gpt2),
        "lstm" => measure(name, plan, 10, lstm::build),
        "sample" => measure(name, plan, 60, sample::build),
        "ops" => ops::measure(plan),
        name if name.starts_with("optim/") => optim::measure(plan, &name["optim/".len()..]),
        "trace" => trace::measure(plan),
        "collectives" => collectives::measure(plan),
        "feed" => feed::measure(plan),
        "checkpoint" => checkpoint::measure(name, plan, 60, 1 << 22),
        // Not one of `WORKLOADS`, because it downloads a model.
        "generate" => {
            generate::measure(plan);
            Ok(())
        }
        "first_step" => {
            first_step::inside();
            Ok(())
        }
        "loader" => {
            loader::measure(plan);
            Ok(())
        }
        other => scaled(other, plan),
    }
}

/// Runs a workload whose name ends with its size.
fn scaled(name: &str, plan: &Plan) -> ramie::core::Result<()> {
    let (kind, size) = name.rsplit_once('_').unwrap_or_else(|| unknown(name));
    let size: usize = size.parse().unwrap_or_else(|_| unknown(name));
    match kind {
        "leaves" => measure(name, plan, leaves::steps(size), || leaves::build(size)),
        "layers" => measure(name, plan, 1, || gpt::build(size, gpt::BATCH)),
        "batch" => measure(name, plan, 1, || gpt::build(gpt::LAYERS, size)),
        // Of 16 arrays, and of arrays of 1 KiB.
        "save_megabytes" => checkpoint::measure(name, plan, 16, size << 14),
        "save_arrays" => checkpoint::measure(name, plan, size, 1 << 8),
        _ => unknown(name),
    }
}

fn unknown(name: &str) -> ! {
    let known = WORKLOADS.join(", ");
    eprintln!("steps: unknown workload `{name}`; known are {known}");
    std::process::exit(2);
}

fn main() {
    let mut plan = Plan::default();
    let mut names = Vec::new();
    let mut inside = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = |what: &str| {
            args.next().and_then(|v| v.parse().ok()).unwrap_or_else(|| {
                eprintln!("steps: {what} needs a number");
                std::process::exit(2)
            })
        };
        match arg.as_str() {
            "--bench" => {}
            "--steps" => plan.steps = Some(number("--steps")),
            "--samples" => plan.samples = number("--samples"),
            "--warmup" => plan.warmup = number("--warmup"),
            "--inside" => inside = true,
            name => names.push(name.to_string()),
        }
    }
    if names.is_empty() {
        names = WORKLOADS.map(String::from).to_vec();
    }
    names = names
        .into_iter()
        .flat_map(|name| match name.as_str() {
            "optim" => optim::OPTIMIZERS.map(|o| format!("optim/{o}")).to_vec(),
            "leaves" => leaves::COUNTS.map(|n| format!("leaves_{n}")).to_vec(),
            _ => vec![name],
        })
        .collect();
    if inside {
        for name in &names {
            if let Err(e) = run(name, &plan) {
                eprintln!("steps: {name}: {e}");
                std::process::exit(1);
            }
        }
        return;
    }
    let program = std::env::current_exe().expect("the path of this program");
    for name in &names {
        if name == "first_step" {
            if let Err(e) = first_step::measure(plan.samples) {
                eprintln!("steps: first_step: {e}");
                std::process::exit(1);
            }
            continue;
        }
        let status = Command::new(&program)
            .args(["--inside", name])
            .args(plan.arguments())
            .status()
            .expect("this program starts");
        if !status.success() {
            std::process::exit(status.code().unwrap_or(1));
        }
    }
}

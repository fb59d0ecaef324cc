//! A mixture-of-experts layer on 8 virtual CPU devices. Each device stores some of
//! the experts and some of the tokens.
//!
//! `cargo run --release --example moe -- --tokens 4096 --experts 16 --top-k 2`
#![forbid(unsafe_code)]

mod experts;

use clap::Parser;
use experts::{
    moe_all_gather, moe_all_to_all, moe_buffer, moe_exchange, moe_grouped, moe_masked, top_k,
};
use ramie::options::RuntimeOptions;
use ramie::{
    Array, DType, Mesh, NamedSharding, P, configure, device_put, jit, make_mesh, random, shard_map,
};
use ramie_plot::Plot;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Route tokens to experts in six ways.
#[derive(Parser)]
struct Options {
    /// Number of tokens; must be a multiple of 8.
    #[arg(long, default_value_t = 1024)]
    tokens: usize,
    /// Number of experts; must be a multiple of 8.
    #[arg(long, default_value_t = 16)]
    experts: usize,
    /// Experts per token.
    #[arg(long, default_value_t = 2)]
    top_k: usize,
    /// Features of a token and of an expert's output.
    #[arg(long, default_value_t = 64)]
    width: usize,
    /// Tokens that a device sends to each other device per round.
    #[arg(long, default_value_t = 32)]
    chunk: usize,
    /// Output folder.
    #[arg(long, default_value = "out/moe")]
    out: PathBuf,
    /// Write no picture.
    #[arg(long)]
    no_plots: bool,
}

impl Options {
    fn check(&self) -> Result<(), Box<dyn Error>> {
        let parts = |n: usize| n > 0 && n.is_multiple_of(8);
        if !parts(self.tokens) || !parts(self.experts) {
            return Err(
                "--tokens and --experts must be multiples of 8, the number of devices".into(),
            );
        }
        if !(1..=self.experts).contains(&self.top_k) || self.chunk == 0 || self.width == 0 {
            return Err(
                "--top-k must be from 1 to --experts; --chunk and --width must be at least 1"
                    .into(),
            );
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    options.check()?;
    if !options.no_plots {
        ramie_examples::create_folder(&options.out)?;
    }
    configure(RuntimeOptions {
        cpu_devices: Some(8),
        ..Default::default()
    })?;
    let mesh = make_mesh(&[8], &["X"])?;
    let (tokens, width, chunk) = (options.tokens, options.width, options.chunk);
    let key = random::key(0);
    let w = random::normal(&key, &[options.experts, width, width], DType::F32);
    let a = random::normal(&key.fold_in(1), &[tokens, width], DType::F32);
    // The router is another product; each token goes to the experts with the highest scores.
    let router = random::normal(&key.fold_in(2), &[width, options.experts], DType::F32);
    let (_, b) = a.matmul(&router).top_k(options.top_k);
    let load = b.one_hot(options.experts, DType::I32).sum_over([0, 1]);
    show_load(options, &load.to_vec())?;

    let one_device = top_k(moe_masked)(w.clone(), a.clone(), b.clone()).to_vec::<f32>();
    let sharded = NamedSharding::new(mesh, P!["X"]);
    let (w, a, b) = device_put(&(w, a, b), sharded);
    let exchanging = top_k(move |w, a, b| moe_all_to_all(w, a, b, chunk));
    let differentiable = top_k(move |w, a, b| moe_exchange(w, a, b, chunk));
    let programs = [
        ("compiler, masked", jit(top_k(moe_masked))),
        ("compiler, buffer", jit(top_k(moe_buffer))),
        ("compiler, grouped", jit(top_k(moe_grouped))),
        ("all_gather", jit(over(mesh, top_k(moe_all_gather)))),
        ("all_to_all", jit(over(mesh, exchanging))),
        ("all_to_all, known rounds", jit(over(mesh, differentiable))),
    ];
    for (name, moe) in &programs {
        if ramie_examples::compiled_ahead(name, || moe.lower((w.clone(), a.clone(), b.clone())))? {
            continue;
        }
        moe(w.clone(), a.clone(), b.clone()).block_until_ready();
        let start = Instant::now();
        let out: Array = moe(w.clone(), a.clone(), b.clone());
        out.block_until_ready();
        let seconds = start.elapsed().as_secs_f64();
        let apart = largest_difference(&out.to_vec(), &one_device);
        println!(
            "{name:<24} {:8.3} ms, at most {apart:.1e} from one device",
            seconds * 1e3
        );
        if apart > 1e-3 {
            return Err(format!("{name}: the results differ by {apart}").into());
        }
    }
    Ok(())
}

/// Returns a function of one device's experts and tokens, mapped over the mesh.
fn over(
    mesh: Mesh,
    moe: impl Fn(Array, Array, Array) -> Array + Send + Sync + 'static,
) -> Box<dyn Fn(Array, Array, Array) -> Array + Send + Sync> {
    shard_map(moe, mesh, P!["X"], P!["X"])
}

fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    let each = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    each.fold(0.0, f32::max)
}

/// Prints and plots the number of tokens per expert. The routing is not balanced, and the fullest
/// expert determines the time.
fn show_load(options: &Options, load: &[i32]) -> Result<(), Box<dyn Error>> {
    let each = (options.tokens * options.top_k) as f64 / load.len() as f64;
    let (least, most) = (load.iter().min(), load.iter().max());
    println!(
        "Tokens per expert: {} to {}, {each:.0} on average",
        least.unwrap_or(&0),
        most.unwrap_or(&0)
    );
    if options.no_plots {
        return Ok(());
    }
    let path = options.out.join("load.png");
    Plot::new()
        .x_label("expert")
        .y_label("tokens")
        .bars("tokens of each expert", load)
        .horizontal_line("average", each)
        .save(&path)?;
    println!("Wrote {}", path.display());
    Ok(())
}

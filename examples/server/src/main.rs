//! Serves a language model with the interface of OpenAI, by default SmolLM2-135M-Instruct, which the
//! first run downloads (93 MB).
//!
//! `cargo run --release` in this folder, then
//!
//! ```sh
//! curl http://localhost:8080/v1/chat/completions \
//!     -d '{"messages": [{"role": "user", "content": "What is the capital of France?"}]}'
//! ```
#![forbid(unsafe_code)]

#[path = "../../common/src/files/smollm2.rs"]
mod smollm2;

use clap::Parser;
use ramie::options::RuntimeOptions;
use ramie::{configure, runtime, Platform};
use server::{Engine, Limits, Model, serve};
use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;

/// Serve a language model with the interface of OpenAI.
#[derive(Parser)]
struct Options {
    /// GGUF file of a Llama model; defaults to SmolLM2-135M-Instruct, which is downloaded once.
    #[arg(long)]
    file: Option<PathBuf>,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1:8080")]
    address: SocketAddr,
    /// Number of requests that are decoded together.
    #[arg(long, default_value_t = 8)]
    slots: usize,
    /// Number of requests that can wait; others are answered with status 503.
    #[arg(long, default_value_t = 256)]
    queue: usize,
    /// Maximum number of tokens of a prompt and its answer.
    #[arg(long, default_value_t = 1024)]
    length: usize,
    /// Platform: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the best one available.
    #[arg(long)]
    platform: Option<Platform>,
}

fn main() -> ExitCode {
    ramie::train::exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.slots == 0 || options.queue == 0 || options.length < 2 {
        return Err("--slots and --queue must be at least 1, and --length at least 2".into());
    }
    let path = match &options.file {
        Some(path) => path.clone(),
        None => smollm2::SMOLLM2.fetch()?,
    };
    configure(RuntimeOptions {
        platform: options.platform,
        ..Default::default()
    })?;
    runtime()?;
    let start = Instant::now();
    let model = Model::load(&path)?;
    let name = model.name.clone();
    let limits = Limits {
        slots: options.slots,
        queue: options.queue,
        max_length: options.length,
    };
    let engine = Arc::new(Engine::start(model, limits)?);
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("Loaded and compiled {name} in {seconds:.1} s");
    let threads = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    threads.block_on(async {
        let listener = TcpListener::bind(options.address).await?;
        eprintln!("Listening on http://{}", listener.local_addr()?);
        serve(listener, engine.clone(), interrupted()).await
    })?;
    engine.stop()
}

/// Waits for Ctrl-C. A second one ends the program at once.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    eprintln!("Finishing the requests in flight; press Ctrl-C again to stop at once");
    tokio::spawn(async {
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(130);
        }
    });
}

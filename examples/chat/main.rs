//! Chats with a language model. Its weights, configuration, tokenizer and chat template are in one
//! GGUF file, by default that of SmolLM2-135M-Instruct, which the first run downloads (93 MB).
//!
//! `cargo run --release --example chat -- --prompt "What is the capital of France?"`
#![forbid(unsafe_code)]

mod chat;

use chat::{Answer, Chat};
use clap::Parser;
use ramie::Platform;
use ramie::checkpoint::gguf::GgufFile;
use ramie::models::Sampling;
use ramie_examples::{Result, files::SMOLLM2};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Chat with a language model, one message per line.
#[derive(Parser)]
struct Options {
    /// Message to answer; without it, the program reads messages from stdin.
    #[arg(long)]
    prompt: Option<String>,
    /// System message, which precedes the chat; defaults to that of the chat template.
    #[arg(long)]
    system: Option<String>,
    /// GGUF file of a Llama model; defaults to SmolLM2-135M-Instruct, which is downloaded once.
    #[arg(long)]
    file: Option<PathBuf>,
    /// Maximum number of tokens of a chat.
    #[arg(long, default_value_t = 1024)]
    length: usize,
    /// Maximum number of tokens of an answer.
    #[arg(long, default_value_t = 256)]
    max_tokens: usize,
    /// Sampling temperature; 0 selects the most likely token.
    #[arg(long, default_value_t = 0.0)]
    temperature: f64,
    /// Least probability of a random token, relative to the most likely one; 0 for none.
    #[arg(long, default_value_t = 0.05)]
    min_p: f64,
    /// Penalty of tokens that the chat already contains; 1 for none.
    #[arg(long, default_value_t = 1.0)]
    repetition_penalty: f64,
    /// Seed of the random choices.
    #[arg(long, default_value_t = 0)]
    seed: i64,
    /// Platform: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the best one available.
    #[arg(long)]
    platform: Option<Platform>,
}

impl Options {
    fn sampling(&self) -> Result<Sampling> {
        if self.temperature < 0.0 || self.repetition_penalty <= 0.0 {
            return Err("--temperature and --repetition-penalty must be positive".into());
        }
        if !(0.0..=1.0).contains(&self.min_p) {
            return Err("--min-p must be from 0 to 1".into());
        }
        let sampling = match self.temperature {
            0.0 => Sampling::greedy(),
            temperature => Sampling::greedy()
                .temperature(temperature)
                .min_p(self.min_p),
        };
        Ok(match self.repetition_penalty {
            1.0 => sampling,
            penalty => sampling.repetition_penalty(penalty),
        })
    }
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    let path = match &options.file {
        Some(path) => path.clone(),
        None => SMOLLM2.fetch()?,
    };
    ramie_examples::start(options.platform)?;
    let start = Instant::now();
    let sampling = options.sampling()?;
    let file = GgufFile::open(&path)?;
    let mut chat = Chat::new(&file, sampling, options)?;
    let name = file.get("general.name").and_then(|name| name.as_str());
    let (name, seconds) = (name.unwrap_or("the model"), start.elapsed().as_secs_f64());
    eprintln!("Loaded and compiled {name} in {seconds:.1} s");
    if let Some(system) = &options.system {
        chat.say("system", system);
    }
    let answer = match &options.prompt {
        Some(prompt) => chat.answer(prompt, &mut io::stdout())?,
        None => talk(&mut chat)?,
    };
    println!("\n{answer}");
    Ok(())
}

/// Answers the lines of stdin. Returns the sum of all answers.
fn talk(chat: &mut Chat) -> Result<Answer> {
    let mut all = Answer::default();
    eprint!("> ");
    for line in io::stdin().lock().lines() {
        let line = line?;
        if !line.trim().is_empty() {
            all += chat.answer(&line, &mut io::stdout())?;
            println!();
        }
        eprint!("> ");
        io::stderr().flush()?;
    }
    Ok(all)
}

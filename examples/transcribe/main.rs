//! Transcribes speech with a published model, Whisper base. The first run downloads the model
//! (133 MB) and, without a file, ten seconds of speech (20 MB).
//!
//! `cargo run --release --features tokenizers --example transcribe -- speech.wav`
#![forbid(unsafe_code)]

mod weights;

use clap::Parser;
use ramie::data::audio::WhisperFeatures;
use ramie::data::readers::tokenizers::Tokenizer;
use ramie::data::readers::wav;
use ramie::models::{Generator, Pretrained, Sampling, Whisper};
use ramie::{Array, Platform, jit, random};
use ramie_examples::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Transcribe speech in English.
#[derive(Parser)]
struct Options {
    /// WAV file with 16,000 samples per second; defaults to ten seconds of speech, which are
    /// downloaded once.
    file: Option<PathBuf>,
    /// Directory of the converted model.
    #[arg(long, default_value = "out/transcribe")]
    out: PathBuf,
    /// Platform: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the best one available.
    #[arg(long)]
    platform: Option<Platform>,
}

/// The start of a transcript: English, transcription instead of translation, no times.
const PROMPT: [i32; 4] = [50258, 50259, 50359, 50363];

/// The token that ends a transcript.
const END: i32 = 50257;

/// Seconds of sound that the model encodes.
const WINDOW: usize = 30;

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    let file = match &options.file {
        Some(file) => file.clone(),
        None => weights::SPEECH.fetch()?,
    };
    let sound = wav::load(&file)?;
    let rate = WhisperFeatures::SAMPLE_RATE;
    if sound.sample_rate != rate {
        let (file, other) = (file.display(), sound.sample_rate);
        return Err(format!(
            "{file}: the sound has {other} samples per second, expected {rate}\n  help: convert it: \
             ffmpeg -i {file} -ar {rate} speech.wav"
        )
        .into());
    }
    ramie_examples::start(options.platform)?;
    let folder = &options.out;
    if !folder.join("model.safetensors").exists() {
        weights::convert(&weights::WHISPER.fetch()?, folder)?;
    }
    // ANCHOR: transcribe
    let tokenizer = Tokenizer::load(folder.join("tokenizer.json"))?;
    let mut model = Whisper::from_pretrained(folder)?;
    let encode = jit(|model: &mut Whisper, features: Array| model.encode(&features));
    let generator = Generator::new(Sampling::greedy(), 224).eos_token_id(END);
    let samples = sound.mono();
    let start = Instant::now();
    for window in samples.chunks(WINDOW * rate as usize) {
        let features = Array::from(WhisperFeatures::new(80).of(window)).expand_dims(&[0]);
        let encoded = encode(&mut model, features);
        model.decoder.listen(&encoded);
        let texts = generator.generate_prompts(&model.decoder, &[PROMPT], &random::key(0));
        println!("{}", tokenizer.decode(&texts[0])?.trim());
    }
    // ANCHOR_END: transcribe
    let seconds = samples.len() as f64 / f64::from(rate);
    let taken = start.elapsed().as_secs_f64();
    println!("Transcribed {seconds:.1} s of sound in {taken:.1} s");
    Ok(())
}

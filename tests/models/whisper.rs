//! Whisper base: values and a transcript equal those of the reference.

#[path = "../../examples/transcribe/weights.rs"]
pub mod weights;

use super::same_logits;
use ramie::checkpoint::safetensors;
use ramie::data::audio::WhisperFeatures;
use ramie::data::readers::wav;
use ramie::models::{Decoding, LanguageModel, Pretrained, Sampling, Whisper};
use ramie::{Array, jit, random, s};
use ramie_testing::examples::example_with;
use ramie_testing::models::fetched;

#[test]
fn whisper_is_that_of_the_reference() {
    let Some([first, speech]) = fetched([&weights::WHISPER, &weights::SPEECH]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    weights::convert(&first, folder.path()).expect("converted");
    let mut model = Whisper::from_pretrained(folder.path()).expect("a model");
    let recorded = ramie_testing::golden::path("hf_whisper/beckett.safetensors");
    let recorded = safetensors::load_state(recorded).expect("the recording");

    let sound = wav::load(&speech).expect("a sound");
    let features = WhisperFeatures::new(80).of(&sound.mono());
    let encode = jit(|model: &mut Whisper, features: Array| model.encode(&features));
    let encoded = encode(&mut model, Array::from(features).expand_dims(&[0]));
    let every = encoded.squeeze(&[0]).index((s(..).step(40), ..));
    same_logits(&every, &recorded["encoded"]);

    // All tokens but the last at once.
    let tokens = recorded["tokens"].to_vec::<i32>();
    model.decoder.listen(&encoded);
    let run = jit(|model: &mut Whisper, tokens: Array| model.decoder.logits(&tokens));
    let inputs = Array::from(&tokens[..tokens.len() - 1]).expand_dims(&[0]);
    let logits = run(&mut model, inputs).squeeze(&[0]);
    same_logits(&logits.index((.., s(..).step(64))), &recorded["logits"]);

    // One by one, with a cache.
    let mut decoding = Decoding::new(&model.decoder, Sampling::greedy(), 448).eos_token_id(50257);
    decoding.set_tokens(&tokens[..4]);
    decoding.generate(60, &random::key(0)).for_each(drop);
    assert_eq!(decoding.tokens(), tokens);
}

#[test]
fn transcribe_writes_what_is_said() {
    if fetched([&weights::WHISPER, &weights::SPEECH]).is_none() {
        return;
    }
    let (_, text) = super::run(&example_with("transcribe", "tokenizers"), &[]);
    let (transcript, rest) = text.split_once('\n').expect("two lines");
    assert_eq!(
        transcript,
        "Never tried, ever failed. No matter. Try again. Fail again. Fail better."
    );
    assert!(
        rest.starts_with("Transcribed 10.0 s of sound in "),
        "{text}"
    );
}

//! Resemblyzer's speaker encoder: embeddings of speech equal those of the reference.

use super::{same_logits, whisper::weights::SPEECH};
use ramie::checkpoint::safetensors;
use ramie::data::audio::{MelConfig, MelSpectrogram};
use ramie::data::readers::wav;
use ramie::models::{Pretrained, SpeakerEncoder, SpeakerEncoderConfig};
use ramie::plugins::{PinnedFile, Wheel};
use ramie::{Array, jit, stack};
use ramie_testing::models::fetched;

/// Resemblyzer's weights, in PyTorch's legacy form.
static RESEMBLYZER: PinnedFile = PinnedFile {
    title: "model Resemblyzer",
    file: "resemblyzer/pretrained.pt",
    wheels: &[Wheel {
        name: "resemblyzer",
        version: "0.1.4",
        sha256: "8f12eb2f1a9982d32e8db7856de754709b59c93a77bcf0ff536584b619a9dd1f",
        bytes: 15_747_704,
        keep: &["resemblyzer/pretrained.pt"],
        selector: &[],
    }],
};

#[test]
fn the_speaker_encoder_is_that_of_the_reference() {
    let Some([path, speech]) = fetched([&RESEMBLYZER, &SPEECH]) else {
        return;
    };
    let config = SpeakerEncoderConfig::default();
    let mut model = SpeakerEncoder::from_weights(path, &config).expect("a model");
    let recorded = ramie_testing::golden::path("speaker_encoder/beckett.safetensors");
    let recorded = safetensors::load_state(recorded).expect("the recording");

    let mel = MelSpectrogram::new(&MelConfig {
        sample_rate: 16000,
        n_fft: 400,
        hop_length: 160,
        n_mels: 40,
        ..MelConfig::default()
    });
    let samples = wav::load(&speech).expect("a sound").mono();
    let embed = jit(|model: &mut SpeakerEncoder, x: Array| model.embed_utterance(&x));
    let mut embedding = |samples: &[f32]| embed(&mut model, Array::from(&mel.power(samples)));
    // The frame after the last is silence here. In the reference it overlaps the end of the sound.
    same_logits(&embedding(&samples), &recorded["whole"]);
    let (first, last) = samples.split_at(samples.len() / 2);
    let (first, last) = (embedding(first), embedding(last));
    same_logits(&stack(&[&first, &last], 0), &recorded["halves"]);
    // Both halves are by the same speaker.
    assert!(first.dot(last).item::<f32>() > 0.75);

    // The windows by themselves.
    let mut padded = samples.clone();
    padded.resize(samples.len() + 160 * 160, 0.0);
    let spectrogram = Array::from(&mel.power(&padded));
    let window = |i: usize| spectrogram.slice_in_dim(77 * i, 77 * i + 160, 1, 0);
    let windows: Vec<Array> = (0..12).map(window).collect();
    let run = jit(|model: &mut SpeakerEncoder, x: Array| model.forward(&x));
    same_logits(&run(&mut model, stack(&windows, 0)), &recorded["windows"]);
}

//! Sound: WAV files, and mel spectrograms, which are those of librosa and transformers.

use crate::common::wav;
use ndarray::{Array2, Axis, array};
use ramie_core::files::DAMAGED;
use ramie_data::audio::{MelConfig, MelSpectrogram, WhisperFeatures};
use ramie_data::readers::safetensors::Safetensors;
use ramie_data::readers::wav::{self, Wav};
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("audio").join(name)
}

/// Compares an array with a recorded one. `allowed` is relative to the greatest value.
#[track_caller]
fn agrees(name: &str, values: &Array2<f32>, allowed: f32) {
    let file = Safetensors::open(golden("log_mel.safetensors")).unwrap();
    let recorded = file.get(name).unwrap();
    assert_eq!(values.shape(), recorded.shape());
    let recorded = recorded.to_vec::<f32>().unwrap();
    let greatest = recorded.iter().fold(0.0f32, |a, b| a.max(b.abs()));
    let differences = values.iter().zip(&recorded).map(|(a, b)| (a - b).abs());
    let difference = differences.fold(0.0, f32::max) / greatest;
    println!("{name}: relative difference {difference:e}");
    assert!(difference < allowed, "{difference}");
}

#[test]
fn spectrograms_are_those_of_librosa_and_transformers() {
    let sound = wav::load(golden("sound.wav")).unwrap();
    assert_eq!(
        (sound.sample_rate, sound.samples.dim()),
        (16000, (19200, 1))
    );
    let samples = sound.mono();
    let defaults = MelConfig {
        sample_rate: 16000,
        ..MelConfig::default()
    };
    let small = MelSpectrogram::new(&MelConfig {
        n_fft: 512,
        hop_length: 128,
        n_mels: 40,
        ..defaults.clone()
    });
    agrees("power", &small.power(&samples), 1e-6);
    let decibels = MelSpectrogram::new(&defaults).decibels(&samples);
    agrees("decibels", &decibels, 1e-6);
    let frames: Vec<usize> = (0..126).step_by(2).chain([2999]).collect();
    for (name, bands) in [("whisper", 80), ("whisper_128", 128)] {
        let features = WhisperFeatures::new(bands).of(&samples);
        assert_eq!(features.dim(), (3000, bands));
        agrees(name, &features.select(Axis(0), &frames), 1e-5);
    }
}

#[test]
fn sound_of_any_length_has_features() {
    let spectrogram = MelSpectrogram::new(&MelConfig {
        n_fft: 8,
        hop_length: 2,
        n_mels: 2,
        reflect: true,
        ..MelConfig::default()
    });
    for length in [0, 1, 2, 5] {
        let power = spectrogram.power(&vec![0.0; length]);
        assert_eq!(power, Array2::<f32>::zeros((1 + length / 2, 2)));
    }
    // A minute of silence is truncated.
    let features = WhisperFeatures::new(4).of(&vec![0.0; 60 * 16000]);
    assert_eq!(features, Array2::from_elem((3000, 4), -1.5));
}

#[test]
#[should_panic(expected = "help: start with the defaults: MelConfig { sample_rate: 8000, ..")]
fn frequencies_above_half_the_rate_are_refused() {
    let _ = MelSpectrogram::new(&MelConfig {
        sample_rate: 8000,
        max_frequency: Some(8000.0),
        ..MelConfig::default()
    });
}

#[test]
fn samples_of_every_format_are_read() {
    let float = |x: f32| x.to_le_bytes();
    let bytes: [(u16, u16, Vec<u8>); 6] = [
        (1, 8, vec![0, 128, 192, 64]),
        (1, 16, vec![0, 128, 0, 0, 0, 64, 0, 192]),
        (1, 24, vec![0, 0, 128, 0, 0, 0, 0, 0, 64, 0, 0, 192]),
        (
            1,
            32,
            [i32::MIN, 0, 1 << 30, -1 << 30]
                .map(i32::to_le_bytes)
                .concat(),
        ),
        (3, 32, [-1.0, 0.0, 0.5, -0.5].map(float).concat()),
        (3, 64, [-1.0, 0.0, 0.5, -0.5].map(f64::to_le_bytes).concat()),
    ];
    let expected = Wav {
        sample_rate: 8000,
        samples: array![[-1.0, 0.0], [0.5, -0.5]],
    };
    for (format, bits, samples) in bytes {
        let sound = wav::parse("f", &wav(format, bits, &samples)).unwrap();
        assert_eq!(sound, expected, "{format}, {bits}");
    }
    assert_eq!(expected.mono(), [-0.5, 0.0]);
    let none = wav::parse("f", &wav(1, 16, &[])).unwrap();
    assert_eq!((none.samples.dim(), none.mono()), ((0, 2), vec![]));
}

#[test]
fn damaged_files_are_named() {
    let said = |bytes: &[u8]| wav::parse("f.wav", bytes).unwrap_err().to_string();
    let whole = wav(1, 16, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        said(&whole[..whole.len() - 3]),
        format!(
            "f.wav: has 5 of the 8 bytes of the chunk `data`; the file is cut short\n  help: {DAMAGED}"
        )
    );
    let short = "has 6 bytes of samples, expected a multiple of 4; the file is cut short";
    assert_eq!(
        said(&wav(1, 16, &[1, 2, 3, 4, 5, 6])),
        format!("f.wav: {short}\n  help: {DAMAGED}")
    );
    // Half a sample at the end, as a recording that was cut off leaves it.
    let half = said(&wav(1, 16, &[1, 2, 3, 4, 5]));
    assert!(half.contains("has 5 bytes of samples"), "{half}");
    assert!(said(b"OggS and other bytes").contains(
        "is not a WAV file\n  help: convert it, for example with `ffmpeg -i FILE -c:a pcm_s16le \
         out.wav`"
    ));
    assert!(said(&wav(85, 0, &[])).contains(
        "has samples of format 85 and 0 bits, expected format 1 (integers) and 8, 16, 24 or 32 bits"
    ));
    let mut silent = whole.clone();
    silent[32] = 0;
    assert!(
        said(&silent).contains("has 0 channels"),
        "{}",
        said(&silent)
    );
    let mut renamed = whole.clone();
    renamed[25] = b'x';
    assert!(
        said(&renamed).contains("no chunk `fmt `"),
        "{}",
        said(&renamed)
    );
}

//! Features of audio for models of speech: mel spectrograms.
//!
//! ```
//! use ramie_data::audio::{MelConfig, MelSpectrogram, WhisperFeatures};
//! // A second of a tone of 440 Hz.
//! let tone = |i| (i as f32 * 440.0 / 16000.0 * std::f32::consts::TAU).sin();
//! let samples: Vec<f32> = (0..16000).map(tone).collect();
//! let spectrogram = MelSpectrogram::new(&MelConfig {
//!     sample_rate: 16000,
//!     ..MelConfig::default()
//! });
//! assert_eq!(spectrogram.decibels(&samples).dim(), (32, 128));
//! let features = WhisperFeatures::new(80);
//! assert_eq!(features.of(&samples).dim(), (3000, 80));
//! ```
//!
//! [`readers::wav`](crate::readers::wav) reads samples from files.

mod fft;

use fft::Fft;
use ndarray::{Array2, Axis};
use num_complex::Complex64;
use std::f64::consts::TAU;

/// Options of a [`MelSpectrogram`], with the names of the Python library librosa, except for those
/// of the frequencies. Defaults to those of `librosa.feature.melspectrogram`.
#[derive(Clone, Debug, PartialEq)]
pub struct MelConfig {
    /// Number of samples per second.
    pub sample_rate: u32,
    /// Number of samples of each frame.
    pub n_fft: usize,
    /// Number of samples between the middles of frames.
    pub hop_length: usize,
    /// Number of bands.
    pub n_mels: usize,
    /// The lowest frequency of the bands in Hz.
    pub min_frequency: f64,
    /// The highest frequency of the bands in Hz. Defaults to half the sample rate.
    pub max_frequency: Option<f64>,
    /// Whether the sound is mirrored at both ends. Defaults to `false`: it is continued by silence.
    pub reflect: bool,
}

impl Default for MelConfig {
    fn default() -> MelConfig {
        MelConfig {
            sample_rate: 22050,
            n_fft: 2048,
            hop_length: 512,
            n_mels: 128,
            min_frequency: 0.0,
            max_frequency: None,
            reflect: false,
        }
    }
}

/// Computes the power of sound in bands of frequencies, for overlapping frames. The bands are
/// triangles at equal distances on Slaney's mel scale, divided by their width; the window is Hann's.
#[derive(Clone, Debug)]
pub struct MelSpectrogram {
    hop_length: usize,
    reflect: bool,
    window: Vec<f64>,
    fft: Fft,
    /// The first frequency with a weight in each band, and the weights.
    bands: Vec<(usize, Vec<f64>)>,
}

impl MelSpectrogram {
    /// Computes the window and the bands.
    ///
    /// # Panics
    /// Panics if a number of the options is 0, or if the frequencies are not between 0 and half the
    /// sample rate, in this order.
    #[track_caller]
    pub fn new(config: &MelConfig) -> MelSpectrogram {
        let sizes = [config.n_fft, config.hop_length, config.n_mels];
        let highest = f64::from(config.sample_rate) / 2.0;
        let [from, to] = [
            config.min_frequency,
            config.max_frequency.unwrap_or(highest),
        ];
        assert!(
            !sizes.contains(&0) && 0.0 <= from && from < to && to <= highest,
            "MelSpectrogram: the options are {config:?}, expected sizes of at least 1 and \
             frequencies from 0 to {highest}\n  help: start with the defaults: MelConfig {{ \
             sample_rate: {}, ..MelConfig::default() }}",
            config.sample_rate
        );
        let angle = |i: usize| TAU * i as f64 / config.n_fft as f64;
        MelSpectrogram {
            hop_length: config.hop_length,
            reflect: config.reflect,
            window: (0..config.n_fft)
                .map(|i| 0.5 - 0.5 * angle(i).cos())
                .collect(),
            fft: Fft::new(config.n_fft),
            bands: bands(config, from, to),
        }
    }

    /// Computes the power of samples in each band: `[1 + length / hop_length, n_mels]`. The first
    /// frame is around the first sample.
    pub fn power(&self, samples: &[f32]) -> Array2<f32> {
        let (size, frames) = (self.window.len(), 1 + samples.len() / self.hop_length);
        let mut powers = Vec::with_capacity(frames * self.bands.len());
        let (mut frame, mut spectrum) = (vec![0.0; size], vec![Complex64::ZERO; size]);
        for i in 0..frames {
            let start = (i * self.hop_length) as isize - (size / 2) as isize;
            for (j, (x, window)) in frame.iter_mut().zip(&self.window).enumerate() {
                *x = window * self.sample(samples, start + j as isize);
            }
            self.fft.transform(&frame, &mut spectrum);
            let band = |(first, weights): &(usize, Vec<f64>)| -> f32 {
                let lines = weights.iter().zip(&spectrum[*first..]);
                lines.map(|(w, x)| w * x.norm_sqr()).sum::<f64>() as f32
            };
            powers.extend(self.bands.iter().map(band));
        }
        Array2::from_shape_vec((frames, self.bands.len()), powers).expect("a power for each band")
    }

    /// Computes the power in decibels, of the shape of [`power`](MelSpectrogram::power), at least 80
    /// decibels below the greatest (`librosa.power_to_db`).
    pub fn decibels(&self, samples: &[f32]) -> Array2<f32> {
        let mut power = self.power(samples);
        decibels(&mut power);
        power
    }

    /// Returns a sample, or one of the padding at both ends.
    fn sample(&self, samples: &[f32], at: isize) -> f64 {
        let last = samples.len() as isize - 1;
        let at = if self.reflect && last > 0 {
            last - (last - at.rem_euclid(2 * last)).abs()
        } else {
            at
        };
        let sample = usize::try_from(at).ok().and_then(|at| samples.get(at));
        sample.map_or(0.0, |sample| f64::from(*sample))
    }
}

/// Converts powers to decibels, at least 80 below the greatest.
fn decibels(powers: &mut Array2<f32>) {
    // `f32::max` returns the other number for NaN, which would become silence.
    let at_least = |x: f32, least: f32| if x.is_nan() { x } else { x.max(least) };
    powers.mapv_inplace(|power| 10.0 * at_least(power, 1e-10).log10());
    let greatest = powers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    powers.mapv_inplace(|decibels| at_least(decibels, greatest - 80.0));
}

/// Returns the bands: the first frequency with a weight in each, and the weights.
fn bands(config: &MelConfig, from: f64, to: f64) -> Vec<(usize, Vec<f64>)> {
    let [low, high] = [from, to].map(mel);
    let step = (high - low) / (config.n_mels + 1) as f64;
    let edges: Vec<f64> = (0..config.n_mels + 2)
        .map(|i| hertz(low + step * i as f64))
        .collect();
    let line = f64::from(config.sample_rate) / config.n_fft as f64;
    let band = |edges: &[f64]| {
        let weight = |i: usize| {
            let f = i as f64 * line;
            let (up, down) = (
                (f - edges[0]) / (edges[1] - edges[0]),
                (edges[2] - f) / (edges[2] - edges[1]),
            );
            up.min(down).max(0.0) * 2.0 / (edges[2] - edges[0])
        };
        let lines = 0..config.n_fft / 2 + 1;
        let first = lines.clone().find(|i| weight(*i) > 0.0);
        let first = first.unwrap_or(lines.end);
        let weights = (first..lines.end).map(weight);
        (first, weights.take_while(|w| *w > 0.0).collect())
    };
    edges.windows(3).map(band).collect()
}

/// The frequency in Hz where Slaney's mel scale changes from linear to logarithmic, and its mel.
const BREAK: (f64, f64) = (1000.0, 15.0);

/// Returns the natural logarithm of the ratio of two frequencies one mel apart, above the break.
fn log_step() -> f64 {
    6.4f64.ln() / 27.0
}

/// Converts a frequency in Hz to Slaney's mel scale.
fn mel(hertz: f64) -> f64 {
    if hertz < BREAK.0 {
        hertz * BREAK.1 / BREAK.0
    } else {
        BREAK.1 + (hertz / BREAK.0).ln() / log_step()
    }
}

/// Converts a number on Slaney's mel scale to a frequency in Hz.
fn hertz(mel: f64) -> f64 {
    if mel < BREAK.1 {
        mel * BREAK.0 / BREAK.1
    } else {
        BREAK.0 * ((mel - BREAK.1) * log_step()).exp()
    }
}

/// Computes the input of the speech recognition model Whisper from sound of up to 30 seconds
/// (`transformers.WhisperFeatureExtractor`).
#[derive(Clone, Debug)]
pub struct WhisperFeatures(MelSpectrogram);

impl WhisperFeatures {
    /// Number of samples per second.
    pub const SAMPLE_RATE: u32 = 16000;

    /// Number of samples of 30 seconds.
    const LENGTH: usize = 30 * Self::SAMPLE_RATE as usize;

    /// Computes the window and the bands. Most versions of the model have 80 bands, the third large
    /// one has 128.
    ///
    /// # Panics
    /// Panics if the number of bands is 0.
    #[track_caller]
    pub fn new(n_mels: usize) -> WhisperFeatures {
        WhisperFeatures(MelSpectrogram::new(&MelConfig {
            sample_rate: Self::SAMPLE_RATE,
            n_fft: 400,
            hop_length: 160,
            n_mels,
            reflect: true,
            ..MelConfig::default()
        }))
    }

    /// Computes the features of 100 frames per second, `[3000, n_mels]`. The samples have a rate of
    /// [`SAMPLE_RATE`](WhisperFeatures::SAMPLE_RATE). They are continued by silence, or truncated.
    pub fn of(&self, samples: &[f32]) -> Array2<f32> {
        let mut samples = samples.to_vec();
        samples.resize(Self::LENGTH, 0.0);
        let mut features = self.0.power(&samples);
        // The frame around the end.
        let last = features.nrows() - 1;
        features.remove_index(Axis(0), last);
        decibels(&mut features);
        features.mapv_inplace(|decibels| decibels / 40.0 + 1.0);
        features
    }
}

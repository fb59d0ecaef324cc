//! An LSTM that recognizes speakers.

use crate::bert::unit;
use crate::{Pretrained, PretrainedError, Weights};
use ramie_core::{Array, concatenate};
use ramie_nn::{Linear, Module, OptimizedLSTMCell, Param, RNN, Rngs};

/// Options of a [`SpeakerEncoder`]. Defaults to those of the published model with 1.4 million
/// parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpeakerEncoderConfig {
    /// Number of bands of the mel spectrograms.
    pub bands: usize,
    /// Number of features of each LSTM layer.
    pub features: usize,
    /// Number of LSTM layers.
    pub layers: usize,
    /// Number of features of the embeddings.
    pub embedding_features: usize,
}

impl Default for SpeakerEncoderConfig {
    fn default() -> SpeakerEncoderConfig {
        SpeakerEncoderConfig {
            bands: 40,
            features: 256,
            layers: 3,
            embedding_features: 256,
        }
    }
}

/// An encoder of voices (Wan et al., *Generalized End-to-End Loss for Speaker Verification*, 2018): it
/// computes similar embeddings for utterances of the same speaker.
///
/// [`from_weights`](Pretrained::from_weights) loads the weights that the Python library
/// Resemblyzer publishes. They expect mel spectrograms of 100 frames per second, as
/// `ramie_data::audio::MelSpectrogram` computes their power from 16,000 samples per second with an
/// `n_fft` of 400, a `hop_length` of 160 and 40 bands. That library first amplifies quiet sound to
/// −30 dB of full scale, and shortens long silences.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_models::{SpeakerEncoder, SpeakerEncoderConfig, Pretrained};
/// # fn main() -> Result<(), ramie_models::PretrainedError> {
/// let config = SpeakerEncoderConfig::default();
/// let mut model = SpeakerEncoder::from_weights("resemblyzer/pretrained.pt", &config)?;
/// let first = model.embed_utterance(&Array::ones(&[400, 40], DType::F32));
/// let second = model.embed_utterance(&Array::ones(&[300, 40], DType::F32));
/// let similarity = first.dot(second); // about 0.8 for the same speaker
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Module)]
pub struct SpeakerEncoder {
    /// The LSTM layers.
    pub layers: Vec<RNN<OptimizedLSTMCell>>,
    /// The linear layer from the last output to the embedding.
    pub linear: Linear,
}

/// Number of frames of each window of an utterance.
const WINDOW: usize = 160;

/// Number of frames from the beginning of a window to that of the next.
const STEP: usize = 77;

/// A window after the first one needs more than this number of frames.
const COVERED: usize = 120;

impl SpeakerEncoder {
    /// Creates a model with random weights, in training mode.
    ///
    /// # Panics
    /// Panics if there are no layers.
    #[track_caller]
    pub fn new(config: &SpeakerEncoderConfig, rngs: &mut Rngs) -> SpeakerEncoder {
        assert!(
            config.layers > 0,
            "SpeakerEncoder: the number of layers is 0, expected at least 1\n  help: use 3 layers, as \
             the published model does"
        );
        let features = config.features;
        let layer = |i: usize| {
            let inputs = if i == 0 { config.bands } else { features };
            let mut cell = OptimizedLSTMCell::new(inputs, features, rngs);
            // PyTorch's LSTM has a bias of the input, too.
            cell.dense_i.bias = cell
                .dense_h
                .bias
                .as_ref()
                .map(|b| Param::new(b.zeros_like()));
            RNN::new(cell)
        };
        SpeakerEncoder {
            layers: (0..config.layers).map(layer).collect(),
            linear: Linear::new(features, config.embedding_features, rngs),
        }
    }

    /// Computes the embedding of the voice in each spectrogram: from `[batch, frames, bands]` to
    /// `[batch, embedding_features]`. Embeddings have a norm of 1, so that the product of two of them
    /// is the cosine of their angle. The published model was trained with 160 frames.
    ///
    /// # Panics
    /// Panics if the spectrograms have no frames, or another number of axes or bands.
    #[track_caller]
    pub fn forward(&mut self, spectrograms: &Array) -> Array {
        self.expect(spectrograms, 3, "batch, frames");
        let mut x = spectrograms.clone();
        for layer in &mut self.layers {
            x = layer.forward(&x);
        }
        let last = x.index_in_dim(-1, 1).squeeze(&[1]);
        unit(&self.linear.forward(&last).relu())
    }

    /// Computes the embedding of the voice in a whole utterance: from its spectrogram, `[frames,
    /// bands]`, to `[embedding_features]`. It is the mean of the embeddings of overlapping windows of
    /// 1.6 seconds, divided by its norm. Silence continues the spectrogram to the end of the last
    /// window.
    ///
    /// # Panics
    /// Panics if the spectrogram has no frames, or another number of axes or bands.
    #[track_caller]
    pub fn embed_utterance(&mut self, spectrogram: &Array) -> Array {
        self.expect(spectrogram, 2, "frames");
        let frames = spectrogram.shape()[0];
        let starts = (0..).step_by(STEP);
        let starts = starts.take_while(|start| *start == 0 || start + COVERED < frames);
        let padded = spectrogram.pad(&[(0, WINDOW), (0, 0)], 0).expand_dims(&[0]);
        let window = |start| padded.slice_in_dim(start, start + WINDOW, 1, 1);
        let windows: Vec<Array> = starts.map(window).collect();
        unit(&self.forward(&concatenate(&windows, 0)).mean_over(0))
    }

    /// Checks the number of axes and the bands of a spectrogram, whose first axes have these names.
    #[track_caller]
    fn expect(&self, x: &Array, axes: usize, names: &str) {
        let bands = self.layers[0].cell.dense_i.kernel.shape()[0];
        assert!(
            x.ndim() == axes && x.shape()[axes - 1] == bands && x.shape()[axes - 2] > 0,
            "SpeakerEncoder: the spectrogram is {}, expected [{names}, {bands}] with at least one \
             frame\n  help: compute it with ramie::data::audio::MelSpectrogram, with n_mels: {bands}",
            x.aval()
        );
    }
}

/// The tensors have Resemblyzer's names: `model_state.lstm.weight_ih_l0` or `lstm.weight_ih_l0`, and so
/// on. The gates have the same order in PyTorch.
impl Pretrained for SpeakerEncoder {
    type Config = SpeakerEncoderConfig;

    fn new(config: &SpeakerEncoderConfig, rngs: &mut Rngs) -> SpeakerEncoder {
        SpeakerEncoder::new(config, rngs)
    }

    fn exchange(&mut self, w: &mut Weights) -> Result<(), PretrainedError> {
        w.read_below("model_state.");
        for (i, layer) in self.layers.iter_mut().enumerate() {
            let cell = &mut layer.cell;
            for (name, map) in [("ih", &mut cell.dense_i), ("hh", &mut cell.dense_h)] {
                w.matrix(&format!("lstm.weight_{name}_l{i}"), &mut map.kernel, 1)?;
                w.optional(&format!("lstm.bias_{name}_l{i}"), &mut map.bias)?;
            }
        }
        w.linear("linear", &mut self.linear)
    }

    /// Ignores the number of training steps, the state of the optimizer, and the factor and the offset
    /// of similarities in the loss.
    fn ignores(&self, name: &str) -> bool {
        let loss = ["similarity_weight", "similarity_bias"];
        name == "step"
            || name.starts_with("optimizer_state.")
            || loss.contains(&name.trim_start_matches("model_state."))
    }
}

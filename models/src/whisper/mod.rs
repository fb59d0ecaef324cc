//! Whisper, a model that transcribes speech.

mod config;
mod weights;

pub use config::WhisperConfig;

use crate::activation::{self, Activation};
use crate::layers::Layers;
use crate::{LanguageModel, Places};
use ramie_core::{Array, DType, concatenate};
use ramie_nn::{
    AttentionInputs, AttentionOptions, Cache, Conv, Dropout, Embed, LayerNorm, Linear, Module,
    MultiHeadAttention, Rngs, init,
};

/// Whisper (Radford et al., *Robust Speech Recognition via Large-Scale Weak Supervision*, 2022): an
/// encoder of sound, and a decoder that generates its text.
///
/// [`from_pretrained`](crate::Pretrained::from_pretrained) loads published checkpoints. The features of sound
/// are those of `ramie_data::audio::WhisperFeatures`. The decoder is a
/// [`LanguageModel`](crate::LanguageModel) that continues the tokens of a language and a task:
///
/// ```no_run
/// use ramie_core::{Array, DType, jit, random};
/// use ramie_models::{Decoding, Pretrained, Sampling, Whisper};
/// # fn main() -> Result<(), ramie_models::PretrainedError> {
/// let mut model = Whisper::from_pretrained("checkpoints/whisper-base")?;
/// let encode = jit(|model: &mut Whisper, features: Array| model.encode(&features));
/// let features = Array::zeros(&[1, 3000, 80], DType::F32);
/// let encoded = encode(&mut model, features);
/// model.decoder.listen(&encoded);
/// let mut decoding = Decoding::new(&model.decoder, Sampling::greedy(), 448).eos_token_id(50257);
/// // Start of a transcript, English, transcription, no times.
/// decoding.set_tokens(&[50258, 50259, 50359, 50363]);
/// let tokens: Vec<i32> = decoding.generate(444, &random::key(0)).collect();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Module)]
pub struct Whisper {
    /// The encoder of sound.
    pub encoder: WhisperEncoder,
    /// The decoder of text.
    pub decoder: WhisperDecoder,
}

/// The encoder of sound.
#[derive(Clone, Debug, Module)]
pub struct WhisperEncoder {
    /// The first convolution, over three frames.
    pub conv1: Conv,
    /// The second convolution, which halves the number of frames.
    pub conv2: Conv,
    /// The position embedding: sines and cosines that are not trained.
    pub embed_positions: Embed,
    /// The blocks.
    pub layers: Vec<WhisperBlock>,
    /// The final normalization.
    pub layer_norm: LayerNorm,
    /// The dropout of the sum of convolutions and positions.
    pub dropout: Dropout,
    /// The activation of the convolutions.
    #[tree(fixed)]
    pub activation: Activation,
}

/// The decoder of text, a [`LanguageModel`](crate::LanguageModel) after
/// [`listen`](WhisperDecoder::listen). Its output layer shares the weights of the embedding.
#[derive(Clone, Debug, Module)]
pub struct WhisperDecoder {
    /// The token embedding.
    pub embed_tokens: Embed,
    /// The position embedding.
    pub embed_positions: Embed,
    /// The blocks.
    pub layers: Vec<WhisperBlock>,
    /// The final normalization.
    pub layer_norm: LayerNorm,
    /// The dropout of the sum of tokens and positions.
    pub dropout: Dropout,
}

/// A block: attention, in the decoder also attention to the encoded sound, and an MLP, each with a
/// normalization of its input and a residual connection.
#[derive(Clone, Debug, Module)]
pub struct WhisperBlock {
    /// The normalization before attention.
    pub self_attn_layer_norm: LayerNorm,
    /// The attention, which is causal in the decoder.
    pub self_attn: MultiHeadAttention,
    /// The attention of the decoder to the encoded sound.
    pub encoder_attn: Option<WhisperCrossAttention>,
    /// The normalization before the MLP.
    pub final_layer_norm: LayerNorm,
    /// The linear layer to the hidden features.
    pub fc1: Linear,
    /// The linear layer back to the input's features.
    pub fc2: Linear,
    /// The dropout of each output.
    pub dropout: Dropout,
    /// The activation of the hidden features.
    #[tree(fixed)]
    pub activation: Activation,
}

/// Attention to encoded sound, with a normalization of its input.
#[derive(Clone, Debug, Module)]
pub struct WhisperCrossAttention {
    /// The normalization.
    pub layer_norm: LayerNorm,
    /// The attention. Its cache contains the keys and values of the sound after
    /// [`listen`](WhisperDecoder::listen).
    pub attention: MultiHeadAttention,
}

impl WhisperConfig {
    fn layers(&self) -> Layers {
        Layers {
            features: self.d_model,
            epsilon: 1e-5,
            deviation: self.init_std,
            attention_dropout: self.attention_dropout,
            attention_fn: self.attention_fn.clone(),
            compute_dtype: self.compute_dtype,
            param_dtype: self.param_dtype,
        }
    }

    #[track_caller]
    fn activation(&self) -> Activation {
        activation::named("Whisper", &self.activation_function)
    }

    #[track_caller]
    fn attention(&self, heads: usize, rngs: &mut Rngs) -> MultiHeadAttention {
        let mut attention = self.layers().attention(heads, rngs);
        // A bias of the keys changes no attention weight.
        attention.key.bias = None;
        attention
    }

    #[track_caller]
    fn conv(&self, inputs: usize, strides: usize, rngs: &mut Rngs) -> Conv {
        let layers = self.layers();
        Conv::features(self.d_model, [3])
            .strides(strides)
            .padding(1)
            .dtype(layers.dtype())
            .param_dtype(self.param_dtype)
            .kernel_init(layers.weights())
            .build(inputs, rngs)
    }
}

/// Returns the initial position embedding of the encoder, `[length, features]`: sines of falling
/// frequencies, then cosines.
fn sinusoids(shape: &[usize], dtype: DType) -> Array {
    let (length, half) = (shape[0], shape[1] / 2);
    let step = -(10000f64.ln()) / (half.max(2) - 1) as f64;
    let frequencies = (Array::arange(half).astype(DType::F32) * step).exp();
    let positions = Array::arange(length).astype(DType::F32).expand_dims(&[1]);
    let angles = positions * frequencies;
    concatenate(&[angles.sin(), angles.cos()], 1).astype(dtype)
}

impl WhisperBlock {
    #[track_caller]
    fn new(
        config: &WhisperConfig,
        [heads, inner]: [usize; 2],
        crosses: bool,
        rngs: &mut Rngs,
    ) -> WhisperBlock {
        let layers = config.layers();
        WhisperBlock {
            self_attn_layer_norm: layers.norm(rngs),
            self_attn: config.attention(heads, rngs),
            encoder_attn: crosses.then(|| WhisperCrossAttention {
                layer_norm: layers.norm(rngs),
                attention: config.attention(heads, rngs),
            }),
            final_layer_norm: layers.norm(rngs),
            fc1: layers.linear(config.d_model, inner, rngs),
            fc2: layers.linear(inner, config.d_model, rngs),
            dropout: Dropout::new(config.dropout, rngs),
            activation: config.activation(),
        }
    }

    /// Computes a block of the encoder, or one of the decoder at the places of its tokens.
    #[track_caller]
    fn forward(&mut self, x: &Array, places: Option<&Places>, encoded: Option<&Array>) -> Array {
        let y = self.self_attn_layer_norm.forward(x);
        let inputs = match places {
            Some(places) => places.attend(&y),
            None => AttentionInputs::of(&y),
        };
        let y = self.self_attn.forward_with(&inputs);
        let mut x = x + self.dropout.forward(&y);
        if let Some(cross) = &mut self.encoder_attn {
            let y = cross.forward(&x, encoded);
            x += self.dropout.forward(&y);
        }
        let y = self.fc1.forward(&self.final_layer_norm.forward(&x));
        let y = self.fc2.forward(&(self.activation)(&y));
        &x + self.dropout.forward(&y)
    }
}

impl WhisperCrossAttention {
    /// Attends to encoded sound, or without it to that in the cache.
    #[track_caller]
    fn forward(&mut self, x: &Array, encoded: Option<&Array>) -> Array {
        let x = self.layer_norm.forward(x);
        let attention = &mut self.attention;
        if let Some(encoded) = encoded {
            return attention.forward_with(&AttentionInputs::of(&x).keys(encoded));
        }
        let (Some(keys), Some(values)) = (&attention.cached_key, &attention.cached_value) else {
            panic!(
                "WhisperDecoder: there is no sound to transcribe\n  help: pass it first: \
                 model.decoder.listen(&model.encode(&features))"
            )
        };
        let how = AttentionOptions {
            dtype: attention.config.dtype,
            force_fp32_for_softmax: true,
            ..AttentionOptions::default()
        };
        let query = attention.query.forward(&x);
        let attend = &attention.config.attention_fn;
        attention
            .out
            .forward(&attend.attend(&query, keys, values, &how))
    }
}

impl WhisperEncoder {
    /// Computes the features of sound in its context, as [`Whisper::encode`] does.
    #[track_caller]
    fn forward(&mut self, features: &Array) -> Array {
        let [positions, bands] = [&*self.embed_positions.embedding, &*self.conv1.kernel]
            .map(|param| param.shape()[param.ndim() - 2]);
        let expected = [2 * positions, bands];
        assert!(
            features.ndim() == 3 && features.shape()[1..] == expected,
            "Whisper: the features are {}, expected [batch, {}, {bands}]\n  help: compute them with \
             ramie::data::audio::WhisperFeatures::new({bands}), and add a batch axis",
            features.aval(),
            expected[0]
        );
        let x = (self.activation)(&self.conv1.forward(features));
        let x = (self.activation)(&self.conv2.forward(&x));
        let positions = self.embed_positions.embedding.stop_gradient();
        let mut x = self.dropout.forward(&(&x + positions.astype(x.dtype())));
        for layer in &mut self.layers {
            x = layer.forward(&x, None, None);
        }
        self.layer_norm.forward(&x)
    }
}

impl WhisperDecoder {
    /// Caches the keys and values of encoded sound, `[batch, length, features]`, which later calls
    /// of [`logits`](crate::LanguageModel::logits) transcribe.
    ///
    /// # Panics
    /// Panics if the sound has another number of features.
    #[track_caller]
    pub fn listen(&mut self, encoded: &Array) {
        for layer in &mut self.layers {
            let Some(cross) = &mut layer.encoder_attn else {
                continue;
            };
            let attention = &mut cross.attention;
            attention.cached_key = Some(Cache::new(attention.key.forward(encoded)));
            attention.cached_value = Some(Cache::new(attention.value.forward(encoded)));
        }
    }

    #[track_caller]
    fn compute(
        &mut self,
        tokens: &Array,
        padding: Option<&Array>,
        encoded: Option<&Array>,
    ) -> Array {
        let (length, room) = (
            tokens.shape().last().copied(),
            self.embed_positions.embedding.shape()[0],
        );
        assert!(
            tokens.ndim() == 2 && length <= Some(room),
            "Whisper: the tokens are {}, expected [batch, length] with a length of {room} or \
             less\n  help: transcribe at most 30 seconds at a time",
            tokens.aval()
        );
        let attention = self.layers.first().map(|layer| &layer.self_attn);
        let places = Places::of(attention, length.unwrap_or(0), padding);
        let x = self.embed_tokens.forward(tokens) + self.embed_positions.forward(&places.positions);
        let mut x = self.dropout.forward(&x);
        for layer in &mut self.layers {
            x = layer.forward(&x, Some(&places), encoded);
        }
        self.embed_tokens.attend(&self.layer_norm.forward(&x))
    }
}

impl Whisper {
    /// Creates a model with random weights, in training mode.
    ///
    /// # Panics
    /// Panics if a number of heads does not divide the number of features, or if the activation is
    /// unknown.
    #[track_caller]
    pub fn new(config: &WhisperConfig, rngs: &mut Rngs) -> Whisper {
        let layers = config.layers();
        let positions = init::Initializer::new(|_, shape, dtype| sinusoids(shape, dtype));
        let sizes = [config.encoder_attention_heads, config.encoder_ffn_dim];
        let encoder = WhisperEncoder {
            conv1: config.conv(config.num_mel_bins, 1, rngs),
            conv2: config.conv(config.d_model, 2, rngs),
            embed_positions: layers.embed(config.max_source_positions, positions, rngs),
            layers: (0..config.encoder_layers)
                .map(|_| WhisperBlock::new(config, sizes, false, rngs))
                .collect(),
            layer_norm: layers.norm(rngs),
            dropout: Dropout::new(config.dropout, rngs),
            activation: config.activation(),
        };
        let sizes = [config.decoder_attention_heads, config.decoder_ffn_dim];
        let decoder = WhisperDecoder {
            embed_tokens: layers.embed(config.vocab_size, layers.weights(), rngs),
            embed_positions: layers.embed(config.max_target_positions, layers.weights(), rngs),
            layers: (0..config.decoder_layers)
                .map(|_| WhisperBlock::new(config, sizes, true, rngs))
                .collect(),
            layer_norm: layers.norm(rngs),
            dropout: Dropout::new(config.dropout, rngs),
        };
        Whisper { encoder, decoder }
    }

    /// Encodes sound: from `[batch, 2 * max_source_positions, num_mel_bins]`, the features of 30
    /// seconds, to `[batch, max_source_positions, d_model]`.
    ///
    /// # Panics
    /// Panics if the features have another shape.
    #[track_caller]
    pub fn encode(&mut self, features: &Array) -> Array {
        self.encoder.forward(features)
    }

    /// Computes the logits of the next token after each token of the sound's transcript, for
    /// training: from features as for [`encode`](Whisper::encode) and integers `[batch, length]` to
    /// `[batch, length, vocab_size]`.
    ///
    /// # Panics
    /// Panics if the features have another shape, if the tokens do not have two axes, or if there are
    /// more of them than positions.
    #[track_caller]
    pub fn forward(&mut self, features: &Array, tokens: &Array) -> Array {
        let encoded = self.encode(features);
        self.decoder.compute(tokens, None, Some(&encoded))
    }
}

impl LanguageModel for WhisperDecoder {
    #[track_caller]
    fn logits(&mut self, tokens: &Array) -> Array {
        self.compute(tokens, None, None)
    }
    #[track_caller]
    fn logits_padded(&mut self, tokens: &Array, padding: &Array) -> Array {
        self.compute(tokens, Some(padding), None)
    }
    fn vocab_size(&self) -> usize {
        self.embed_tokens.embedding.shape()[0]
    }
    fn max_length(&self) -> Option<usize> {
        Some(self.embed_positions.embedding.shape()[0])
    }
    fn attentions(&mut self) -> impl Iterator<Item = &mut MultiHeadAttention> {
        self.layers.iter_mut().map(|layer| &mut layer.self_attn)
    }
}

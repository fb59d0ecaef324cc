//! Complete models built from the layers of [`ramie_nn`]: a multi-layer perceptron, a residual
//! network, EfficientNet-Lite, MobileNetV2, ViT, ALBERT, BERT, GPT-2, Llama, Whisper and a speaker
//! encoder. The latter nine load published checkpoints. EfficientNet-Lite, MobileNetV2 and ViT
//! classify images, ALBERT and BERT encode sentences, GPT-2 and Llama generate text, Whisper
//! transcribes speech, and the speaker encoder recognizes voices. Llama also computes Mistral and Qwen
//! models.
//!
//! ```no_run
//! use ramie_core::{Array, random};
//! use ramie_models::{Generator, Llama, Sampling};
//! # fn main() -> Result<(), ramie_models::PretrainedError> {
//! let model = Llama::from_pretrained("checkpoints/llama")?;
//! let prompt = Array::from([[1i32, 306, 4658]]);
//! let generator = Generator::new(Sampling::greedy().temperature(0.8).top_p(0.95), 50);
//! let tokens = generator.generate(&model, &prompt, &random::key(0));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod activation;
mod adapters;
mod albert;
mod batch_decoding;
mod bert;
mod bert_weights;
mod decoding;
mod efficientnet_lite;
mod generate;
mod gpt2;
mod gpt2_weights;
mod language_model;
mod layers;
mod llama;
mod llama_config;
mod llama_family;
mod llama_gguf;
mod llama_weights;
mod mlp;
mod mobilenet_v2;
mod places;
mod pretrained;
mod resnet;
mod sampling;
mod speaker_encoder;
mod stops;
mod vit;
mod vit_config;
mod vit_positions;
mod vit_weights;
mod whisper;
mod whisper_config;
mod whisper_weights;

pub use albert::{Albert, AlbertConfig, AlbertPredictions};
pub use batch_decoding::BatchDecoding;
pub use bert::{Bert, BertBlock, BertConfig, BertEmbeddings, mean_pooling};
pub use decoding::Decoding;
pub use efficientnet_lite::{EfficientNetLite, EfficientNetLiteConfig};
pub use generate::Generator;
pub use gpt2::{Gpt2, Gpt2Block, Gpt2Config, Gpt2Mlp};
pub use language_model::LanguageModel;
pub use llama::{Llama, LlamaBlock, LlamaMlp};
pub use llama_config::LlamaConfig;
pub use llama_family::LlamaFamily;
pub use mlp::{Mlp, MlpConfig};
pub use mobilenet_v2::{ConvNorm, InvertedResidual, MobileNetV2, MobileNetV2Config};
pub use places::Places;
pub use pretrained::PretrainedError;
pub use resnet::{ResNet, ResNetBlock, ResNetConfig};
pub use sampling::Sampling;
pub use speaker_encoder::{SpeakerEncoder, SpeakerEncoderConfig};
pub use vit::{Vit, VitBlock, VitEmbeddings};
pub use vit_config::{VitConfig, VitFamily};
pub use whisper::{Whisper, WhisperBlock, WhisperCrossAttention, WhisperDecoder, WhisperEncoder};
pub use whisper_config::WhisperConfig;

//! Complete models built from the layers of [`ramie_nn`]: a multi-layer perceptron, a residual
//! network, EfficientNet-Lite, MobileNetV2, ViT, ALBERT, BERT, GPT-2, Llama, Whisper and a speaker
//! encoder. The latter nine load published checkpoints. EfficientNet-Lite, MobileNetV2 and ViT
//! classify images, ALBERT and BERT encode sentences, GPT-2 and Llama generate text, Whisper
//! transcribes speech, and the speaker encoder recognizes voices. Llama also computes Mistral and Qwen
//! models.
//!
//! ```no_run
//! use ramie_core::{Array, random};
//! use ramie_models::{Generator, Llama, Pretrained, Sampling};
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
mod albert;
mod bert;
mod efficientnet_lite;
mod generate;
mod gpt2;
mod layers;
mod llama;
mod mlp;
mod mobilenet_v2;
mod pretrained;
mod resnet;
mod speaker_encoder;
mod vit;
mod whisper;

pub use albert::{Albert, AlbertConfig, AlbertPredictions};
pub use bert::{Bert, BertBlock, BertConfig, BertEmbeddings, mean_pooling};
pub use efficientnet_lite::{EfficientNetLite, EfficientNetLiteConfig};
pub use generate::{BatchDecoding, Decoding, Generator, LanguageModel, Places, Sampling};
pub use gpt2::{Gpt2, Gpt2Block, Gpt2Config, Gpt2Mlp};
pub use llama::{Llama, LlamaBlock, LlamaConfig, LlamaFamily, LlamaMlp};
pub use mlp::{Mlp, MlpConfig};
pub use mobilenet_v2::{ConvNorm, InvertedResidual, MobileNetV2, MobileNetV2Config};
pub use pretrained::{Pretrained, PretrainedConfig, PretrainedError, Weights};
pub use resnet::{ResNet, ResNetBlock, ResNetConfig};
pub use speaker_encoder::{SpeakerEncoder, SpeakerEncoderConfig};
pub use vit::{Vit, VitBlock, VitConfig, VitEmbeddings, VitFamily};
pub use whisper::{
    Whisper, WhisperBlock, WhisperConfig, WhisperCrossAttention, WhisperDecoder, WhisperEncoder,
};

//! Published models, their checkpoints and adapters.

#[path = "../../../nn/tests/common/mod.rs"]
mod common;

mod albert;
mod bert;
mod efficientnet_lite;
mod flax_models;
mod gguf;
mod llama_families;
mod mobilenet_v2;
mod models;
mod own;
mod peft;
mod sampling;
mod speaker_encoder;
mod tuning;
mod vit;
mod whisper;

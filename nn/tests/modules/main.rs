//! Modules, their use and misuse.

mod accumulation;
mod albert;
mod attention_errors;
mod bert;
mod efficientnet_lite;
mod first_attempts;
mod gguf;
mod layers;
mod linen_calls;
mod misuse_layers;
mod misuse_linen;
mod misuse_maps;
mod misuse_nnx;
mod mobilenet_v2;
mod models;
mod nnx;
mod nnx_inspect;
mod peft;
mod programs_linen;
mod rotary;
mod sampling;
mod speaker_encoder;
mod training;
mod tuning;
mod whisper;
mod writers;

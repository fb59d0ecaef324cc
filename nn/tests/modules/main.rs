//! Modules, their use and misuse.

mod accumulation;
mod attention_errors;
mod attention_options;
mod first_attempts;
mod layers;
mod linen_calls;
mod misuse_layers;
mod misuse_linen;
mod misuse_maps;
mod misuse_nnx;
mod narrow;
mod nnx;
mod nnx_inspect;
mod programs_linen;
mod public_reports;
mod rotary;
mod training;

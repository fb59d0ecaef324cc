//! Checkpoint formats and managers.

#[path = "../interop/python.rs"]
mod python;

mod any;
mod checkpoints;
mod commit;
mod format;
mod gguf;
mod huge_axes;
mod links;
mod manager;
mod manager_golden;
mod manager_interop;
mod ocdbt;
mod ocdbt_interop;
mod pytorch;
mod safetensors;
mod saves;
mod serialization;
mod sharded;

//! Checkpoint formats, managers and their damage.

#[path = "../../../tests/common/chance.rs"]
mod chance;
#[path = "../../../tests/common/fuzz.rs"]
mod inputs;
#[path = "../interop/python.rs"]
mod python;

mod checkpoints;
mod commit;
mod format;
mod fuzz;
mod manager;
mod manager_golden;
mod manager_interop;
mod ocdbt;
mod ocdbt_damage;
mod ocdbt_interop;
mod safetensors;
mod serialization;
mod sharded;

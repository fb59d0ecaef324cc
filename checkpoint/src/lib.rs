//! Saving and restoring the state of a training run.
//!
//! A checkpoint stores arrays by their paths in a tree. Any tree of arrays can be saved: a model,
//! an optimizer state, or a whole trainer.
//!
//! ```no_run
//! use ramie_core::{Array, DType};
//! # fn main() -> Result<(), ramie_checkpoint::Error> {
//! let mut model = (Array::ones(&[2, 3], DType::F32), Array::zeros(&[3], DType::F32));
//! ramie_checkpoint::save("model.safetensors", &model)?;
//! ramie_checkpoint::load_into("model.safetensors", &mut model)?;
//! # Ok(())
//! # }
//! ```
//!
//! [`save`] writes [`mod@safetensors`] files. [`serialization`] reads and writes Flax's msgpack
//! files, and [`checkpoints`] keeps the files of the last steps. [`gguf`] reads models in llama.cpp's
//! format, and [`pytorch`] reads PyTorch's files. [`load_into`] reads any [`Format`].
//!
//! For the state of a whole run, use directories in Orbax's format: [`pytree`] saves and restores
//! trees of arrays, [`manager`] keeps the checkpoints of the last steps, and [`items`] lists what
//! else a checkpoint can contain. To save to a single path, use a [`commit::Checkpointer`].
//!
//! Writes are atomic: after a crash or a power failure, either the old file or the new one is
//! intact.
#![forbid(unsafe_code)]

mod atomic;
mod cast;
pub mod checkpoints;
pub mod commit;
mod error;
mod file;
pub mod format;
pub mod gguf;
mod index;
pub mod items;
pub mod manager;
mod natural_sort;
mod nodes;
pub mod ocdbt;
mod optimizer;
pub mod preemption;
pub mod pytorch;
pub mod pytree;
mod replace;
pub mod safetensors;
pub mod serialization;
mod size;
mod warning;
mod zstandard;

pub use checkpoints::{latest_checkpoint, restore_checkpoint, save_checkpoint};
pub use error::{Error, Result};
pub use format::{Format, load_into, load_state};
pub use safetensors::{load_metadata, save, save_sharded, save_with_metadata};
pub use serialization::{from_bytes, from_state_dict, to_bytes, to_state_dict};

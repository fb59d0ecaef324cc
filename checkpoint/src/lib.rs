//! Saving and restoring the state of a run.
//!
//! A checkpoint is a file of arrays by path. Whatever is a tree of arrays can
//! be saved: a model, an optimizer's moments, a whole trainer.
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
//! [`save`] writes [`mod@safetensors`] files. [`serialization`] reads and writes those of
//! Flax, and [`checkpoints`] keeps one for each of the last steps. [`load_into`] reads any
//! [`Format`].
//!
//! The state of a run goes into directories as Orbax has them: [`pytree`] says how
//! trees of arrays are saved and restored there, [`manager`] keeps those of the last
//! steps, and [`items`] is what else there can be in one.
//!
//! A file is replaced as a whole: whoever stops a program while it saves, and be
//! it by pulling the plug, finds the old file or the new one.
#![forbid(unsafe_code)]

mod atomic;
mod cast;
pub mod checkpoints;
pub mod commit;
mod error;
mod file;
pub mod format;
pub mod items;
pub mod manager;
mod natural_sort;
mod nodes;
pub mod ocdbt;
mod optimizer;
pub mod preemption;
pub mod pytree;
pub mod safetensors;
pub mod serialization;
mod warning;

pub use checkpoints::{latest_checkpoint, restore_checkpoint, save_checkpoint};
pub use error::{Error, Result};
pub use format::{Format, load_into, load_state};
pub use safetensors::{load_metadata, save, save_sharded, save_with_metadata};
pub use serialization::{from_bytes, from_state_dict, to_bytes, to_state_dict};

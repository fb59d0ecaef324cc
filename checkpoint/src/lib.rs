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
//! A file is replaced as a whole: whoever stops a program while it saves, and be
//! it by pulling the plug, finds the old file or the new one.
#![forbid(unsafe_code)]

mod atomic;
mod error;
pub mod safetensors;

pub use error::{Error, Result};
pub use safetensors::{load_into, load_metadata, load_state, save, save_with_metadata};

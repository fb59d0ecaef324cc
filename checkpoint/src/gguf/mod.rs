//! Reading GGUF files, the format of llama.cpp: weights, configuration, tokenizer and chat template
//! of a model in one file.
//!
//! ```no_run
//! use ramie_checkpoint::gguf::GgufFile;
//! # fn main() -> ramie_checkpoint::Result<()> {
//! let file = GgufFile::open("model.gguf")?;
//! for (key, value) in file.metadata() {
//!     println!("{key}: {value}");
//! }
//! for tensor in file.tensors() {
//!     println!("{}: {} {:?}", tensor.name, tensor.tensor_type, tensor.shape);
//! }
//! let embedding = file.array("token_embd.weight")?;
//! # Ok(())
//! # }
//! ```
//!
//! Tensors of plain numbers keep their dtype. Quantized ones become `f32`: `Q8_0`, `Q4_0`, `Q4_1`,
//! `Q5_0`, `Q5_1`, `Q4_K`, `Q5_K` and `Q6_K`. A file with tensors of other types can be opened; only
//! reading these tensors is an error. Ramie does not write GGUF files.

mod dequantize;
mod read;

pub use ramie_core::files::gguf::{Tensor, TensorType, Value, Values};
pub use read::{GgufFile, load_abstract, load_into, load_state};

//! Reading PyTorch files, which `torch.save` writes: `.pt`, `.pth`, and `.bin` of older models.
//!
//! ```no_run
//! use ramie_checkpoint::pytorch::PyTorchFile;
//! # fn main() -> ramie_checkpoint::Result<()> {
//! let file = PyTorchFile::open("model.pt")?;
//! for tensor in file.tensors() {
//!     println!("{}: {} {:?}", tensor.name, tensor.dtype, tensor.shape);
//! }
//! let weight = file.array("layer1.0.conv1.weight")?;
//! # Ok(())
//! # }
//! ```
//!
//! Large models are stored in several files, called shards, with an index that maps each tensor to
//! its shard. Functions that read a file also accept the path of an index.
//!
//! Both forms are supported: the archive of PyTorch 1.6 and later, and the legacy form before it.
//! Opening a file reads its structure; the elements of a tensor are read on request. Tensors can be
//! views of a storage with any strides, such as transposed ones, and share storages. A tensor whose
//! conjugation or negation PyTorch has not yet applied is an error.
//!
//! The structure is a pickle, a program for a stack machine, which Python executes with any function
//! that it names. This reader executes nothing: it knows the functions that rebuild tensors, ordered
//! dictionaries, NumPy's scalars and a few plain values, and reports an error for all other names.
//!
//! # Values other than tensors
//!
//! A file contains the argument of `torch.save`: often a state dict, or a dictionary with a state
//! dict, the state of an optimizer, and numbers. Tensors have dotted paths, such as
//! `optimizer.state.0.exp_avg`. [`load`] returns all values as a [`StateDict`]:
//!
//! - Dictionaries become dictionaries whose names are strings; integer keys become decimal numbers.
//!   Entries with other keys are omitted. Attributes of dictionaries, such as `_metadata`, are
//!   omitted.
//! - Lists, tuples and sets become lists.
//! - Numbers, booleans, complex numbers, strings and bytes are kept; NumPy's scalars become numbers.
//!   A dtype or a device becomes its name. Integers of more than 64 bits, types and bare storages
//!   become `None`.
//!
//! Files of whole modules (`torch.save(model)`) and TorchScript programs contain code and are not
//! supported. Ramie does not write PyTorch files; PyTorch reads [safetensors](crate::safetensors).

mod archive;
mod global;
mod input;
mod legacy;
mod machine;
mod object;
mod opcode;
mod read;
mod rebuild;
mod tensor;
mod tree;

pub(crate) use read::INDEX_ENDING;
pub use read::{PyTorchFile, load, load_abstract, load_into, load_state};
pub use tensor::Tensor;

#[cfg(doc)]
use crate::serialization::StateDict;

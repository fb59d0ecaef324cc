//! `GgufFile`: an open file.

use super::dequantize::Dequantize;
use crate::size::check_shape;
use crate::{Error, Result, file, replace};
use ramie_core::files::gguf::{Header, Tensor, Value};
use ramie_core::files::{self, Message, Problem};
use ramie_core::typing::AlignedBytes;
use ramie_core::{Array, State, Tree};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A GGUF file whose header has been read. Tensors are read on request.
#[derive(Debug)]
pub struct GgufFile {
    path: PathBuf,
    file: File,
    header: Header,
}

impl GgufFile {
    /// Opens a file and reads its header. This needs no plugin.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a GGUF file, or is damaged or truncated.
    pub fn open(path: impl AsRef<Path>) -> Result<GgufFile> {
        let path = path.as_ref();
        let file = file::open(path)?;
        let length = file.metadata().map_err(|e| Error::io(path, "be read", e))?;
        let header = Header::read(&file, length.len());
        let header = header.map_err(|problem| file::rejected(path, problem))?;
        Ok(GgufFile {
            path: path.into(),
            file,
            header,
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the version of the format: 2 or 3.
    pub fn version(&self) -> u32 {
        self.header.version
    }

    /// Returns the metadata, keys and values in the order of the file.
    pub fn metadata(&self) -> &[(String, Value)] {
        &self.header.metadata
    }

    /// Returns the metadata with a key, such as `general.architecture`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.header.get(key)
    }

    /// Returns the tensors, without their elements, in the order of the file.
    pub fn tensors(&self) -> &[Tensor] {
        &self.header.tensors
    }

    /// Returns the tensor with a name, without its elements.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.header.tensors.iter().find(|t| t.name == name)
    }

    /// Reads a tensor onto the default device. Quantized tensors become `f32`.
    ///
    /// # Errors
    /// Returns an error if the file has no such tensor or cannot be read, if the tensor has a type
    /// that Ramie does not read, or if there is no working plugin.
    pub fn array(&self, name: &str) -> Result<Array> {
        let Some(tensor) = self.tensor(name) else {
            let message =
                Message::new("is not in the file").help("list the tensors with `ramie ckpt show`");
            return Err(Error::tensor(&self.path, name, message));
        };
        let dtype = tensor
            .tensor_type
            .dtype()
            .ok_or_else(|| unread(self, tensor))?;
        let mut bytes = AlignedBytes::zeroed(tensor.size() * dtype.size());
        let start = self.header.data + tensor.start;
        let read = match Dequantize::of(tensor.tensor_type) {
            None => files::read_exact_at(&self.file, &mut bytes, start),
            Some(dequantize) => {
                dequantize.read(&self.file, start, bytemuck::cast_slice_mut(&mut bytes[..]))
            }
        };
        read.map_err(|e| Error::io(&self.path, "be read", e))?;
        Array::try_from_aligned(bytes, &tensor.shape, dtype)
            .map_err(|e| Error::tensor(&self.path, name, e))
    }

    /// Returns the shapes and dtypes of the arrays, without elements.
    fn types(&self) -> Result<State> {
        let tensors = self.header.tensors.iter();
        tensors
            .map(|t| {
                let dtype = t.tensor_type.dtype().ok_or_else(|| unread(self, t))?;
                check_shape(&t.shape).map_err(|what| {
                    file::rejected(&self.path, Problem::tensor(t.name.clone(), what))
                })?;
                Ok((t.name.as_str(), Array::shape_dtype_struct(&t.shape, dtype)))
            })
            .collect()
    }
}

fn unread(file: &GgufFile, tensor: &Tensor) -> Error {
    let message = Message::new(format!(
        "has type {}, which is not supported",
        tensor.tensor_type
    ))
    .help("use a file of another quantization, such as Q4_K_M or Q8_0");
    Error::tensor(&file.path, &tensor.name, message)
}

/// Returns the arrays of a file by their names, on the default device. Quantized tensors become
/// `f32`.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a complete GGUF file, or has a tensor of a
/// type that Ramie does not read, or if there is no working plugin.
pub fn load_state(path: impl AsRef<Path>) -> Result<State> {
    let file = GgufFile::open(path)?;
    // Reject the file before reading the first tensor.
    file.types()?;
    let names = file.tensors().iter().map(|t| &t.name);
    names.map(|name| Ok((name, file.array(name)?))).collect()
}

/// Returns the shapes of the arrays of a file, and the dtypes with which [`load_state`] returns
/// them, without their elements. This reads only the header and needs no plugin.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a complete GGUF file, or has a tensor of a
/// type that Ramie does not read.
pub fn load_abstract(path: impl AsRef<Path>) -> Result<State> {
    GgufFile::open(path)?.types()
}

/// Replaces all arrays of a tree with the arrays that a file has at their paths. An array is
/// converted to the tree's dtype if that dtype can represent every value.
///
/// # Errors
/// Returns an error as [`load_state`] does, if an array of the tree is missing or the file has an
/// additional one, or if an array differs in shape or cannot be converted without loss. The tree is
/// then unchanged.
pub fn load_into<T: Tree>(path: impl AsRef<Path>, tree: &mut T) -> Result<()> {
    let file = GgufFile::open(path)?;
    let types = file.types()?;
    replace::arrays(&file.path, &types, tree, |name| file.array(name))
}

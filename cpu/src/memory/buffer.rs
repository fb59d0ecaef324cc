//! Buffers: arguments and results of programs.

use super::{Layout, Shared, Storage, Tensor};
use crate::{Error, Result, TensorType};
use std::sync::Arc;

/// An array in row-major order. A clone shares the memory.
#[derive(Clone)]
pub struct Buffer {
    layout: Arc<Layout>,
    storage: Shared,
}

impl Buffer {
    /// Copies an array from its bytes in row-major order.
    ///
    /// # Errors
    /// Returns [`Error::Arguments`] if the number of bytes does not match the type, and [`Error::Memory`]
    /// if the allocation fails.
    pub fn from_bytes(ty: TensorType, bytes: &[u8]) -> Result<Buffer> {
        if ty.byte_size() != Some(bytes.len()) {
            return Err(Error::Arguments(format!(
                "{} bytes are not an array of type {ty}",
                bytes.len()
            )));
        }
        let mut storage = Storage::new(bytes.len())?;
        storage.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        Ok(Buffer {
            layout: Layout::dense(ty),
            storage: storage.share(),
        })
    }

    /// Returns the type.
    pub fn ty(&self) -> &TensorType {
        &self.layout.ty
    }

    /// Returns the bytes in row-major order.
    pub fn bytes(&self) -> &[u8] {
        let size = self.layout.ty.byte_size().unwrap_or(0);
        &self.storage.bytes()[..size]
    }

    /// Returns a tensor of the memory.
    pub(crate) fn into_tensor(self) -> Tensor {
        Tensor::from_storage(self.layout, self.storage)
    }

    /// Returns a buffer that shares the memory of a contiguous tensor, which begins at its storage's start.
    pub(crate) fn from_storage(layout: Arc<Layout>, storage: Shared) -> Buffer {
        Buffer { layout, storage }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({})", self.layout.ty)
    }
}

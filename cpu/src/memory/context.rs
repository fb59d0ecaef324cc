//! The environment of a run.

use super::{Pool, Storage};
use crate::Result;
use std::sync::Arc;

/// The environment of a run: its pool of memory and its number of threads.
#[derive(Clone)]
pub struct Context {
    /// Memory of earlier tensors.
    pub pool: Arc<Pool>,
    /// Number of threads that an operation may use. Results do not depend on it.
    pub threads: usize,
}

impl Context {
    /// Returns storage of at least `bytes` bytes.
    pub fn storage(&self, bytes: usize) -> Result<Storage> {
        Storage::new(bytes, Some(&self.pool))
    }
}

//! The environment of a run.

use super::Storage;
use crate::Result;

/// The environment of a run.
#[derive(Clone)]
pub struct Context {
    /// Number of threads that an operation may use. Results do not depend on it.
    pub threads: usize,
}

impl Context {
    /// Returns storage of at least `bytes` bytes.
    pub fn storage(&self, bytes: usize) -> Result<Storage> {
        Storage::new(bytes)
    }
}

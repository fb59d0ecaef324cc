//! Aligned storage and the pool that storage returns to.

use crate::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A cache line, the unit and alignment of storage.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Line([u8; 64]);

/// Sizes in lines that the pool finds without a search.
const SMALL: usize = 16;

/// Memory that a later tensor of a similar size reuses.
#[derive(Default)]
pub struct Pool {
    free: Mutex<Free>,
}

/// Free memory by its number of lines.
#[derive(Default)]
struct Free {
    small: [Vec<Vec<Line>>; SMALL],
    large: BTreeMap<usize, Vec<Vec<Line>>>,
}

impl Pool {
    fn take(&self, lines: usize) -> Option<Vec<Line>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = free.small.get_mut(lines) {
            return list.pop();
        }
        let (&found, list) = free
            .large
            .range_mut(lines..=lines.saturating_mul(2))
            .next()?;
        let memory = list.pop();
        if list.is_empty() {
            free.large.remove(&found);
        }
        memory
    }

    fn give(&self, memory: Vec<Line>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        match free.small.get_mut(memory.len()) {
            Some(list) => list.push(memory),
            None => free.large.entry(memory.len()).or_default().push(memory),
        }
    }
}

/// Bytes that begin at a multiple of 64. Dropped storage returns to its pool.
pub struct Storage {
    lines: Vec<Line>,
    pool: Option<Arc<Pool>>,
}

impl Storage {
    /// Returns storage of at least `bytes` bytes with any contents.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] if the allocation fails.
    pub fn new(bytes: usize, pool: Option<&Arc<Pool>>) -> Result<Storage> {
        let count = bytes.div_ceil(64);
        let lines = match pool.and_then(|p| p.take(count)) {
            Some(lines) => lines,
            None => bytemuck::allocation::try_zeroed_vec(count).map_err(|()| {
                Error::Memory(format!(
                    "an array of {bytes} bytes does not fit into memory"
                ))
            })?,
        };
        Ok(Storage {
            lines,
            pool: pool.cloned(),
        })
    }

    /// Returns the bytes, which may be more than requested.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.lines)
    }

    /// Returns the bytes for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take().filter(|_| !self.lines.is_empty()) {
            pool.give(std::mem::take(&mut self.lines));
        }
    }
}

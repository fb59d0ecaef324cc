//! Aligned storage and the pool that storage returns to.

use crate::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A cache line, the unit and alignment of storage.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Line([u8; 64]);

/// Sizes in lines that the pool finds without a search.
const SMALL: usize = 16;

/// Time after which unused large memory returns to the system.
const UNUSED: Duration = Duration::from_secs(5);

/// Memory of dropped storage, which later storage of a similar size uses: new pages cost more than most
/// operations. Large memory in use and large unused memory together never exceed the largest use.
struct Pool {
    /// Unused memory by its number of lines.
    small: [Vec<Vec<Line>>; SMALL],
    large: BTreeMap<usize, Vec<(Vec<Line>, Instant)>>,
    /// Lines of large memory in use, unused, and in use at most.
    used: usize,
    unused: usize,
    peak: usize,
    /// Time of the last search for memory that was unused for long.
    searched: Option<Instant>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    small: [const { Vec::new() }; SMALL],
    large: BTreeMap::new(),
    used: 0,
    unused: 0,
    peak: 0,
    searched: None,
});

impl Pool {
    fn lock() -> MutexGuard<'static, Pool> {
        POOL.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&mut self, lines: usize) -> Option<Vec<Line>> {
        if let Some(list) = self.small.get_mut(lines) {
            return list.pop();
        }
        let found = self
            .large
            .range_mut(lines..=lines.saturating_mul(2))
            .next()
            .and_then(|(&size, list)| Some((size, list.pop()?.0, list.is_empty())));
        let (size, memory, last) = found?;
        if last {
            self.large.remove(&size);
        }
        self.unused -= size;
        self.used += size;
        Some(memory)
    }

    /// Keeps memory, and returns memory to be freed.
    fn give(&mut self, memory: Vec<Line>) -> Vec<Vec<Line>> {
        let lines = memory.len();
        if let Some(list) = self.small.get_mut(lines) {
            list.push(memory);
            return Vec::new();
        }
        let now = Instant::now();
        self.used -= lines;
        self.unused += lines;
        self.large.entry(lines).or_default().push((memory, now));
        match *self.searched.get_or_insert(now) + UNUSED < now {
            true => self.surplus(),
            false => Vec::new(),
        }
    }

    /// Counts newly allocated memory, and returns memory to be freed.
    fn grow(&mut self, lines: usize) -> Vec<Vec<Line>> {
        if lines < SMALL {
            return Vec::new();
        }
        self.used += lines;
        self.peak = self.peak.max(self.used);
        self.surplus()
    }

    /// Removes large blocks that exceed the greatest use so far, and those that were unused for long.
    fn surplus(&mut self) -> Vec<Vec<Line>> {
        self.searched = Some(Instant::now());
        let mut removed = Vec::new();
        self.large.retain(|lines, list| {
            // The memory of a size that was unused for longest is the first.
            while let Some((_, since)) = list.first()
                && (self.used + self.unused > self.peak || since.elapsed() > UNUSED)
            {
                removed.push(list.remove(0).0);
                self.unused -= lines;
            }
            !list.is_empty()
        });
        removed
    }
}

/// Bytes that begin at a multiple of 64. The memory of dropped storage is used again.
pub struct Storage {
    lines: Vec<Line>,
}

impl Storage {
    /// Returns storage of at least `bytes` bytes with any contents.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] if the allocation fails.
    pub fn new(bytes: usize) -> Result<Storage> {
        let count = bytes.div_ceil(64);
        let found = Pool::lock().take(count);
        if let Some(lines) = found {
            return Ok(Storage { lines });
        }
        let lines = bytemuck::allocation::try_zeroed_vec(count)
            .map_err(|()| Error::Memory(format!("{bytes} bytes")))?;
        // Freed outside of the lock.
        let surplus = Pool::lock().grow(count);
        drop(surplus);
        Ok(Storage { lines })
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
        // Freed outside of the lock.
        let surplus = Pool::lock().give(std::mem::take(&mut self.lines));
        drop(surplus);
    }
}

//! Aligned storage and the pool that storage returns to.

use crate::{Error, Result};
use memmap2::MmapMut;
use ramie_base::clock::Instant;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A cache line, the unit and alignment of storage.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Line([u8; 64]);

/// Sizes in lines from which the memory of all threads is in one pool.
const LARGE: usize = 256;

/// Lines of small memory that a thread keeps.
const KEPT: usize = 1 << 16;

/// Sizes in lines from which the system is asked for memory in large pages: small ones take a tenth of a step to
/// clear and to find.
const PAGES: usize = 1 << 15;

/// Time after which unused large memory returns to the system.
const UNUSED: Duration = Duration::from_secs(5);

/// Large memory of dropped storage, which later storage of a similar size uses: new pages cost more than most
/// operations. Memory in use and unused memory together never exceed the largest use.
struct Pool {
    /// Unused memory by its number of lines.
    free: BTreeMap<usize, Vec<(Block, Instant)>>,
    /// Lines of memory in use, unused, and in use at most.
    used: usize,
    unused: usize,
    peak: usize,
    /// Time of the last search for memory that was unused for long.
    searched: Option<Instant>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    free: BTreeMap::new(),
    used: 0,
    unused: 0,
    peak: 0,
    searched: None,
});

impl Pool {
    fn lock() -> MutexGuard<'static, Pool> {
        POOL.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&mut self, lines: usize) -> Option<Block> {
        let found = self
            .free
            .range_mut(lines..=lines.saturating_mul(2))
            .next()
            .and_then(|(&size, list)| Some((size, list.pop()?.0, list.is_empty())));
        let (size, memory, last) = found?;
        if last {
            self.free.remove(&size);
        }
        self.unused -= size;
        self.used += size;
        Some(memory)
    }

    /// Keeps memory, and returns memory to be freed.
    fn give(&mut self, memory: Block) -> Vec<Block> {
        let lines = memory.lines().len();
        let now = Instant::now();
        self.used -= lines;
        self.unused += lines;
        self.free.entry(lines).or_default().push((memory, now));
        if *self.searched.get_or_insert(now) + UNUSED < now {
            self.surplus()
        } else {
            Vec::new()
        }
    }

    /// Counts newly allocated memory, and returns memory to be freed.
    fn grow(&mut self, lines: usize) -> Vec<Block> {
        self.used += lines;
        self.peak = self.peak.max(self.used);
        self.surplus()
    }

    /// Removes blocks that exceed the greatest use so far, and those that were unused for long.
    fn surplus(&mut self) -> Vec<Block> {
        self.searched = Some(Instant::now());
        let mut removed = Vec::new();
        self.free.retain(|lines, list| {
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

/// Zeroed memory of the system.
enum Block {
    Lines(Vec<Line>),
    /// A multiple of lines. The system aligns it to pages.
    Pages(MmapMut),
}

impl Block {
    fn new(lines: usize) -> Result<Block> {
        if lines >= PAGES
            && let Ok(pages) = MmapMut::map_anon(lines * 64)
        {
            // A system without large pages has small ones.
            #[cfg(target_os = "linux")]
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Ok(Block::Pages(pages));
        }
        bytemuck::allocation::try_zeroed_vec(lines)
            .map(Block::Lines)
            .map_err(|()| Error::Memory(format!("{} bytes", lines * 64)))
    }

    fn lines(&self) -> &[Line] {
        match self {
            Block::Lines(lines) => lines,
            Block::Pages(pages) => bytemuck::cast_slice(pages),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Block::Lines(lines) => bytemuck::cast_slice_mut(lines),
            Block::Pages(pages) => pages,
        }
    }
}

/// Bytes that begin at a multiple of 64.
struct Memory {
    block: Block,
}

impl Memory {
    fn new(lines: usize) -> Result<Memory> {
        if lines >= LARGE
            && let Some(block) = Pool::lock().take(lines)
        {
            return Ok(Memory { block });
        }
        let block = Block::new(lines)?;
        if lines >= LARGE {
            // Freed outside of the lock.
            let surplus = Pool::lock().grow(lines);
            drop(surplus);
        }
        Ok(Memory { block })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.block.lines().len() >= LARGE {
            // Freed outside of the lock.
            let block = std::mem::replace(&mut self.block, Block::Lines(Vec::new()));
            let surplus = Pool::lock().give(block);
            drop(surplus);
        }
    }
}

/// Small memory of a thread that nothing uses, by its number of lines.
struct Cache {
    free: [Vec<Arc<Memory>>; LARGE],
    lines: usize,
}

thread_local! {
    static CACHE: RefCell<Cache> = const {
        RefCell::new(Cache {
            free: [const { Vec::new() }; LARGE],
            lines: 0,
        })
    };
}

impl Cache {
    fn take(&mut self, lines: usize) -> Option<Arc<Memory>> {
        let memory = self.free.get_mut(lines)?.pop()?;
        self.lines -= lines;
        Some(memory)
    }

    /// Keeps memory without other owners. A full cache is emptied: it contains the sizes of programs that
    /// ran before.
    fn give(&mut self, memory: Arc<Memory>) {
        let lines = memory.block.lines().len();
        let Some(list) = self.free.get_mut(lines) else {
            return;
        };
        list.push(memory);
        self.lines += lines;
        if self.lines > KEPT {
            self.free.iter_mut().for_each(Vec::clear);
            self.lines = 0;
        }
    }
}

/// Storage with several owners. The last one leaves small memory to the next storage of its thread, together
/// with the count of owners, so that small arrays cost no allocation.
#[derive(Clone)]
pub struct Shared(Option<Arc<Memory>>);

impl Shared {
    fn memory(&self) -> &Arc<Memory> {
        self.0.as_ref().expect("only dropped storage is empty")
    }

    /// Returns the bytes, which may be more than requested.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.memory().block.lines())
    }

    /// Returns the number of owners.
    pub fn owners(&self) -> usize {
        Arc::strong_count(self.memory())
    }

    /// Returns whether two owners have the same storage.
    pub fn is(&self, other: &Shared) -> bool {
        Arc::ptr_eq(self.memory(), other.memory())
    }

    /// Returns the storage for writing, if this is its only owner.
    ///
    /// # Errors
    /// Returns the storage itself if there are others.
    pub fn own(mut self) -> std::result::Result<Storage, Shared> {
        if self.0.as_mut().and_then(Arc::get_mut).is_some() {
            Ok(Storage(self))
        } else {
            Err(self)
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Some(memory) = self.0.take() else { return };
        if memory.block.lines().len() < LARGE && Arc::strong_count(&memory) == 1 {
            // Without the cache, at the end of a thread, the memory is freed.
            let _ = CACHE.try_with(|cache| cache.borrow_mut().give(memory));
        }
    }
}

/// Bytes that begin at a multiple of 64. The memory of dropped storage is used again.
pub struct Storage(Shared);

impl Storage {
    /// Returns storage of at least `bytes` bytes with any contents.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] if the allocation fails.
    pub fn new(bytes: usize) -> Result<Storage> {
        let lines = bytes.div_ceil(64);
        if lines < LARGE
            && let Ok(Some(memory)) = CACHE.try_with(|cache| cache.borrow_mut().take(lines))
        {
            return Ok(Storage(Shared(Some(memory))));
        }
        Ok(Storage(Shared(Some(Arc::new(Memory::new(lines)?)))))
    }

    /// Returns the bytes, which may be more than requested.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// Returns the bytes for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let memory = self.0.0.as_mut().and_then(Arc::get_mut);
        memory.expect("storage has one owner").block.bytes_mut()
    }

    /// Returns the storage for several owners.
    pub fn share(self) -> Shared {
        self.0
    }
}

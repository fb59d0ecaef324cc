//! The pool of large blocks.

use super::HostBlocks;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// The alignment of every block, which is the size of a huge page. Addresses that are not aligned
/// to this cannot be blocks.
pub const ALIGNMENT: usize = 2 << 20;
/// The size of the smallest block.
pub const SMALLEST: usize = 1 << 20;
/// Sizes of blocks are multiples of this.
const STEP: usize = 64 << 10;
/// The time after which an unused block is released.
const PATIENCE: Duration = Duration::from_secs(5);

/// Blocks in use, and blocks kept for reuse.
///
/// Their total size never exceeds the peak size in use.
#[derive(Default)]
pub struct Pool {
    /// Sizes of the blocks in use, by address.
    used: HashMap<usize, usize>,
    /// The kept blocks, in the order in which they were freed.
    kept: Vec<CachedBlock>,
    usage: HostBlocks,
}

struct CachedBlock {
    address: usize,
    size: usize,
    since: Instant,
}

/// Returns `true` if a block is suitable for a request, that is, not much larger.
fn fits(block: usize, size: usize) -> bool {
    block >= size && block - size <= size / 8 + STEP
}

/// The system's memory.
struct Pages;

impl Pool {
    /// Returns a kept block that fits, with arbitrary contents. Prefers the closest size, and
    /// among equal sizes the block that was freed last, whose contents are most likely in a
    /// cache.
    pub fn reuse(&mut self, size: usize) -> Option<NonNull<u8>> {
        let fits = |i: &usize| fits(self.kept[*i].size, size);
        let candidates = (0..self.kept.len()).rev().filter(fits);
        let kept = self
            .kept
            .remove(candidates.min_by_key(|&i| self.kept[i].size)?);
        self.usage.kept -= kept.size;
        Some(self.hand_out(kept.address, kept.size))
    }

    /// Returns a new block of at least `size` bytes, or `None` if the system is out of memory.
    pub fn map(&mut self, size: usize) -> Option<NonNull<u8>> {
        let size = size.checked_next_multiple_of(STEP)?;
        let in_use = self.usage.in_use.saturating_add(size);
        self.release_down_to(self.usage.peak.saturating_sub(in_use));
        Some(self.hand_out(Pages::map(size)?, size))
    }

    fn hand_out(&mut self, address: usize, size: usize) -> NonNull<u8> {
        self.used.insert(address, size);
        self.usage.in_use += size;
        self.usage.peak = self.usage.peak.max(self.usage.in_use);
        self.release_old();
        NonNull::new(address as *mut u8).expect("pages are not at address zero")
    }

    /// Returns `true` if a block in use would fit after it is freed.
    pub fn has_in_use(&self, size: usize) -> bool {
        self.used.values().any(|&used| fits(used, size))
    }

    /// Returns `true` if a kept block fits.
    pub fn has_kept(&self, size: usize) -> bool {
        self.kept.iter().any(|k| fits(k.size, size))
    }

    /// Returns the size of the block in use at this address, if there is one.
    pub fn size_of(&self, address: usize) -> Option<usize> {
        self.used.get(&address).copied()
    }

    /// Takes a block back. Returns `false` if the address is not that of a block in use.
    pub fn give_back(&mut self, address: usize) -> bool {
        let Some(size) = self.used.remove(&address) else {
            return false;
        };
        self.usage.in_use -= size;
        self.usage.kept += size;
        self.kept.push(CachedBlock {
            address,
            size,
            since: Instant::now(),
        });
        self.release_old();
        true
    }

    pub fn usage(&self) -> HostBlocks {
        self.usage
    }

    /// Releases blocks to the system, starting with those kept longest, until at most `bytes` are
    /// kept.
    fn release_down_to(&mut self, bytes: usize) {
        let mut left = self.usage.kept;
        let first_to_stay = self.kept.iter().position(|k| {
            let stays = left <= bytes;
            if !stays {
                left -= k.size;
            }
            stays
        });
        self.release_first(first_to_stay.unwrap_or(self.kept.len()));
    }

    /// Releases blocks that have not been used for a long time.
    fn release_old(&mut self) {
        if self
            .kept
            .first()
            .is_none_or(|k| k.since.elapsed() < PATIENCE)
        {
            return;
        }
        let old = |k: &CachedBlock| k.since.elapsed() >= PATIENCE;
        self.release_first(self.kept.partition_point(old));
    }

    fn release_first(&mut self, n: usize) {
        for block in self.kept.drain(..n) {
            self.usage.kept -= block.size;
            Pages::unmap(block.address, block.size);
        }
    }
}

impl Pages {
    /// Returns the address of fresh pages aligned to [`ALIGNMENT`], in huge pages if possible.
    fn map(size: usize) -> Option<usize> {
        // Maps more than needed and keeps the part that is aligned.
        let all = size.checked_add(ALIGNMENT)?;
        // SAFETY: anonymous pages at an address chosen by the system.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                all,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = start as usize;
        let address = start.next_multiple_of(ALIGNMENT);
        Pages::unmap(start, address - start);
        Pages::unmap(address + size, start + all - address - size);
        let huge = size / ALIGNMENT * ALIGNMENT;
        // SAFETY: pages that were just mapped. A system without huge pages returns an error, and
        // the pages remain usable.
        unsafe { libc::madvise(address as *mut _, huge, libc::MADV_HUGEPAGE) };
        Some(address)
    }

    fn unmap(address: usize, size: usize) {
        if size > 0 {
            // SAFETY: pages from `map` that are not in use.
            unsafe { libc::munmap(address as *mut _, size) };
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.release_down_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1 << 20;

    fn take(pool: &mut Pool, size: usize) -> usize {
        let block = pool.reuse(size).or_else(|| pool.map(size));
        let block = block.expect("memory").as_ptr() as usize;
        assert_eq!(block % ALIGNMENT, 0);
        block
    }

    #[test]
    fn a_block_is_used_again_for_a_size_close_to_its_own() {
        let mut pool = Pool::default();
        let first = take(&mut pool, 40 * MB);
        assert!(pool.give_back(first));
        assert_eq!(take(&mut pool, 37 * MB), first);
        assert_eq!(pool.size_of(first), Some(40 * MB));
        assert!(pool.give_back(first));
        assert!(!pool.give_back(first), "it is not in use");
        let small = take(&mut pool, 20 * MB);
        assert_ne!(small, first, "half of it would be wasted");
        pool.give_back(small);
    }

    #[test]
    fn all_together_is_never_more_than_was_in_use_at_once() {
        let mut pool = Pool::default();
        let blocks = [10, 20, 30].map(|mb| take(&mut pool, mb * MB));
        assert!(blocks.into_iter().all(|b| pool.give_back(b)));
        let peak = 60 * MB;
        let all_kept = HostBlocks {
            in_use: 0,
            kept: peak,
            peak,
        };
        assert_eq!(pool.usage(), all_kept);
        // Larger than each kept block: the two oldest make room.
        let large = take(&mut pool, 25 * MB);
        let usage = pool.usage();
        assert_eq!((usage.in_use, usage.kept), (25 * MB, 30 * MB));
        let other = take(&mut pool, 50 * MB);
        assert_eq!(pool.usage().kept, 0);
        assert_eq!(pool.usage().peak, 75 * MB);
        pool.give_back(large);
        pool.give_back(other);
    }

    #[test]
    fn blocks_can_be_written_to_their_ends() {
        let mut pool = Pool::default();
        for size in [MB, 2 * MB + 1, 5 * MB] {
            let block = pool.map(size).expect("memory");
            // SAFETY: a block of this size that is in use.
            unsafe {
                block.as_ptr().write(1);
                block.as_ptr().add(size - 1).write(2);
                assert_eq!(block.as_ptr().read(), 1);
            }
            assert!(pool.give_back(block.as_ptr() as usize));
        }
    }

    #[test]
    fn what_the_system_cannot_give_is_nothing() {
        let mut pool = Pool::default();
        assert!(pool.map(usize::MAX).is_none());
        assert!(pool.map(usize::MAX / 2).is_none());
        assert_eq!(pool.usage().in_use, 0);
    }
}

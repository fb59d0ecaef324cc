//! Small blocks: lists of freed blocks by size, in one range of addresses.

use crate::lock::lock;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The alignment of every block; sizes are multiples of it.
pub const ALIGNMENT: usize = 64;
/// The size of the largest block.
const LARGEST: usize = 1 << 20;
/// The number of size classes: one for each of the first four units, then four between
/// consecutive powers of two.
pub const CLASSES: usize = class_of(LARGEST) + 1;
/// Maximum number of bytes of all blocks of one class, which are contiguous. Further requests are
/// served by the C library.
const SPAN: usize = 16 << 20;
/// The same maximum during compilations, so that they do not fill memory with blocks that are never
/// released. It always applies to blocks larger than [`MANY`].
const FEW: usize = 2 << 20;
/// The largest size of the objects that a call needs for each array.
const MANY: usize = 4 << 10;
/// Number of bytes for the list of addresses of the freed blocks of one class.
const LIST: usize = SPAN / ALIGNMENT * size_of::<usize>();

/// Returns the number of the smallest class whose blocks have this size.
pub const fn class_of(size: usize) -> usize {
    let units = size.div_ceil(ALIGNMENT);
    if units <= 4 {
        return units.saturating_sub(1);
    }
    let last = units - 1;
    let power = last.ilog2() as usize;
    let quarter = (last >> (power - 2)) & 3;
    4 + (power - 2) * 4 + quarter
}

/// Returns the block size of a class in bytes.
const fn size_of_class(class: usize) -> usize {
    match class {
        0..4 => (class + 1) * ALIGNMENT,
        _ => ((5 + class % 4) << (class / 4 - 1)) * ALIGNMENT,
    }
}

/// Small blocks of memory, which are never released to the system.
pub struct Small {
    /// Start of the range of addresses: blocks by class, then lists of freed blocks by class.
    /// Pages are not backed by memory until they are written to.
    base: usize,
    classes: [Mutex<Class>; CLASSES],
    /// Whether all blocks of a class are in use: read without the lock, which threads that compile
    /// would contend for at every request.
    exhausted: [AtomicBool; CLASSES],
    /// The number of compilations that are running.
    compilations: AtomicUsize,
}

/// The blocks of one class.
struct Class {
    /// The number of freed blocks in the list. Passing blocks between threads does not touch the
    /// blocks themselves, whose contents are in another core's cache.
    freed: usize,
    /// The number of bytes in blocks that have never been used.
    fresh: usize,
}

impl Small {
    const SIZE: usize = (SPAN + LIST) * CLASSES;

    /// Creates the range of addresses. Returns `None` if the system has no such range.
    pub fn new() -> Option<Small> {
        // SAFETY: anonymous pages at an address chosen by the system.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                Small::SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        let unused = || Class {
            freed: 0,
            fresh: SPAN,
        };
        (base != libc::MAP_FAILED).then(|| Small {
            base: base as usize,
            classes: std::array::from_fn(|_| Mutex::new(unused())),
            exhausted: [const { AtomicBool::new(false) }; CLASSES],
            compilations: AtomicUsize::new(0),
        })
    }

    /// Runs a compilation, for which only [`FEW`] blocks are created.
    pub fn compiling<T>(&self, compile: impl FnOnce() -> T) -> T {
        self.compilations.fetch_add(1, Ordering::Relaxed);
        let out = compile();
        self.compilations.fetch_sub(1, Ordering::Relaxed);
        for exhausted in &self.exhausted {
            exhausted.store(false, Ordering::Relaxed);
        }
        out
    }

    /// Returns the number of bytes of a class for which no blocks are created now.
    fn reserved(&self, number: usize) -> usize {
        let few = size_of_class(number) > MANY || self.compilations.load(Ordering::Relaxed) > 0;
        if few { SPAN - FEW } else { 0 }
    }

    fn class(&self, class: usize) -> MutexGuard<'_, Class> {
        lock(&self.classes[class])
    }

    /// Returns a block of at least `size` bytes. Returns `None` if the size is too large, or if
    /// all blocks of the class are in use.
    pub fn take(&self, size: usize) -> Option<NonNull<u8>> {
        if size > LARGEST {
            return None;
        }
        let mut block = [0];
        self.take_many(class_of(size), &mut block);
        NonNull::new(block[0] as *mut u8)
    }

    /// Fills `blocks` with addresses of free blocks of a class, as far as there are any, and
    /// returns their number.
    pub fn take_many(&self, number: usize, blocks: &mut [usize]) -> usize {
        if self.exhausted[number].load(Ordering::Relaxed) {
            return 0;
        }
        let mut class = self.class(number);
        let size = size_of_class(number);
        let again = blocks.len().min(class.freed);
        let (freed, fresh) = blocks.split_at_mut(again);
        class.freed -= again;
        // SAFETY: the last addresses of the list, which the lock protects.
        unsafe {
            let last = self.list(number).add(class.freed);
            last.copy_to_nonoverlapping(freed.as_mut_ptr(), again);
        }
        let creatable = class.fresh.saturating_sub(self.reserved(number)) / size;
        let left = fresh.len().min(creatable);
        for place in &mut fresh[..left] {
            class.fresh -= size;
            *place = self.base + number * SPAN + class.fresh;
        }
        if class.freed == 0 && left == creatable {
            self.exhausted[number].store(true, Ordering::Relaxed);
        }
        again + left
    }

    /// Returns the list of addresses of the freed blocks of a class, which has space for all of
    /// them.
    fn list(&self, number: usize) -> *mut usize {
        (self.base + SPAN * CLASSES + LIST * number) as *mut usize
    }

    /// Returns the size of the block at this address, if there is one.
    #[inline]
    pub fn size_of(&self, address: usize) -> Option<usize> {
        self.class_at(address).map(size_of_class)
    }

    /// Returns the class of the block at this address, if there is one.
    #[inline]
    pub fn class_at(&self, address: usize) -> Option<usize> {
        let class = address.wrapping_sub(self.base) / SPAN;
        (class < CLASSES).then_some(class)
    }

    /// Takes blocks of a class back.
    ///
    /// # Safety
    /// Blocks of this class must have been in use at these addresses, and must not be used any
    /// more.
    pub unsafe fn give_back_many(&self, number: usize, blocks: &[usize]) {
        let mut class = self.class(number);
        // SAFETY: the list has space for the addresses of all free blocks.
        unsafe {
            let end = self.list(number).add(class.freed);
            end.copy_from_nonoverlapping(blocks.as_ptr(), blocks.len());
        }
        if class.freed == 0 && !blocks.is_empty() {
            self.exhausted[number].store(false, Ordering::Relaxed);
        }
        class.freed += blocks.len();
    }

    /// Returns the number of blocks of a class.
    #[cfg(test)]
    pub fn capacity(&self, class: usize) -> usize {
        (SPAN - self.reserved(class)) / size_of_class(class)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // SAFETY: pages created by `new`.
        unsafe { libc::munmap(self.base as *mut _, Small::SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_smallest_that_fit() {
        for size in 1..=LARGEST {
            let class = class_of(size);
            assert!(size_of_class(class) >= size);
            assert!(class == 0 || size_of_class(class - 1) < size, "{size}");
        }
        assert_eq!(size_of_class(CLASSES - 1), LARGEST);
        assert!((0..CLASSES).all(|c| size_of_class(c).is_multiple_of(ALIGNMENT)));
    }

    #[test]
    fn blocks_do_not_overlap_and_are_used_again() {
        let small = Small::new().expect("a range of addresses");
        let sizes = [0, 1, 64, 65, 300, 5000, 70_000];
        let take = |n: usize| small.take(n).expect("memory").as_ptr() as usize;
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        for _ in 0..3 {
            blocks.extend(sizes.map(|n| (take(n), n)));
        }
        blocks.sort();
        for pair in blocks.windows(2) {
            let (start, size) = pair[0];
            assert_eq!(start % ALIGNMENT, 0);
            assert!(small.size_of(start).is_some_and(|s| s >= size));
            assert!(start + size.max(1) <= pair[1].0, "{pair:?}");
        }
        let (block, size) = blocks[5];
        // SAFETY: in use until here.
        unsafe { small.give_back_many(class_of(size), &[block]) };
        assert_eq!(take(size), block);
        let elsewhere = 0usize;
        assert_eq!(small.class_at(&raw const elsewhere as usize), None);
    }

    #[test]
    fn a_span_that_is_used_up_gives_nothing_more() {
        let small = Small::new().expect("a range of addresses");
        let blocks: Vec<usize> = std::iter::from_fn(|| small.take(LARGEST))
            .map(|b| b.as_ptr() as usize)
            .collect();
        assert_eq!(blocks.len(), FEW / LARGEST);
        assert!(small.take(LARGEST + 1).is_none());
        // SAFETY: in use until here.
        unsafe { small.give_back_many(CLASSES - 1, &blocks[1..2]) };
        assert_eq!(
            small.take(LARGEST).map(|b| b.as_ptr() as usize),
            Some(blocks[1])
        );
    }

    #[test]
    fn compilations_create_fewer_blocks_than_calls() {
        let small = Small::new().expect("a range of addresses");
        let take = || std::iter::from_fn(|| small.take(MANY)).count();
        assert_eq!(small.compiling(take), FEW / MANY);
        assert_eq!(take(), (SPAN - FEW) / MANY);
    }
}

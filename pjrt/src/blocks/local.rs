//! Per-thread caches of small blocks, so that most calls need no lock.

use super::small::{CLASSES, Small, class_of};
use std::cell::RefCell;
use std::ptr::NonNull;

/// The maximum number of blocks of one size that a thread caches.
const MOST: usize = 32;
/// The number of blocks exchanged with the shared lists at once.
const MOVED: usize = MOST / 2;
/// The largest size that is cached.
const LARGEST: usize = 64 << 10;
const AT_HAND: usize = class_of(LARGEST) + 1;
const _: () = assert!(AT_HAND < CLASSES);

struct Local {
    small: &'static Small,
    blocks: [[usize; MOST]; AT_HAND],
    lengths: [u8; AT_HAND],
}

thread_local! {
    static LOCAL: RefCell<Option<Box<Local>>> = const { RefCell::new(None) };
}

impl Local {
    fn new(small: &'static Small) -> Box<Local> {
        Box::new(Local {
            small,
            blocks: [[0; MOST]; AT_HAND],
            lengths: [0; AT_HAND],
        })
    }

    #[inline]
    fn take(&mut self, class: usize) -> Option<usize> {
        let length = &mut self.lengths[class];
        if *length == 0 {
            *length = self
                .small
                .take_many(class, &mut self.blocks[class][..MOVED]) as u8;
        }
        *length = length.checked_sub(1)?;
        Some(self.blocks[class][usize::from(*length)])
    }

    /// # Safety
    /// A block of this class must have been in use at this address, and must not be used any
    /// more.
    #[inline]
    unsafe fn give_back(&mut self, class: usize, block: usize) {
        let length = &mut self.lengths[class];
        if usize::from(*length) == MOST {
            // The blocks that have been cached longest.
            let blocks = &mut self.blocks[class];
            // SAFETY: cached blocks are not in use.
            unsafe { self.small.give_back_many(class, &blocks[..MOVED]) };
            blocks.copy_within(MOVED.., 0);
            *length -= MOVED as u8;
        }
        self.blocks[class][usize::from(*length)] = block;
        *length += 1;
    }
}

/// Returns all blocks when the thread ends.
impl Drop for Local {
    fn drop(&mut self) {
        for class in 0..AT_HAND {
            let length = usize::from(self.lengths[class]);
            // SAFETY: cached blocks are not in use.
            unsafe {
                self.small
                    .give_back_many(class, &self.blocks[class][..length]);
            }
        }
    }
}

/// Calls a function with this thread's cache. Returns `None` while the thread is ending.
#[inline]
fn with<R>(small: &'static Small, f: impl FnOnce(&mut Local) -> R) -> Option<R> {
    let with = |local: &RefCell<Option<Box<Local>>>| {
        let mut local = local.try_borrow_mut().ok()?;
        Some(f(local.get_or_insert_with(|| Local::new(small))))
    };
    LOCAL.try_with(with).ok().flatten()
}

/// Returns a block of at least `size` bytes, like [`Small::take`].
#[inline]
pub fn take(small: &'static Small, size: usize) -> Option<NonNull<u8>> {
    if size <= LARGEST
        && let Some(block) = with(small, |local| local.take(class_of(size)))
    {
        return NonNull::new(block? as *mut u8);
    }
    small.take(size)
}

/// Takes a block back. Returns `false` if the address is not that of a block.
///
/// # Safety
/// If there is a block at this address, it must be in use, and must not be used any more.
#[inline]
pub unsafe fn give_back(small: &'static Small, address: usize) -> bool {
    let Some(class) = small.class_at(address) else {
        return false;
    };
    // SAFETY: guaranteed by the caller.
    let put = |local: &mut Local| unsafe { local.give_back(class, address) };
    if class >= AT_HAND || with(small, put).is_none() {
        // SAFETY: as above.
        unsafe { small.give_back_many(class, &[address]) };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ending_threads_had_at_hand_is_used_again() {
        let small: &'static Small = Box::leak(Box::new(Small::new().expect("addresses")));
        let size = 40_000;
        let all = small.capacity(class_of(size));
        for _ in 0..3 {
            let thread = std::thread::spawn(move || {
                let take = || take(small, size).map(|b| b.as_ptr() as usize);
                let blocks: Vec<usize> = std::iter::from_fn(take).collect();
                let mut apart = blocks.clone();
                apart.sort();
                apart.dedup();
                assert_eq!(apart.len(), all);
                for block in blocks {
                    // SAFETY: in use until here.
                    assert!(unsafe { give_back(small, block) });
                }
            });
            thread.join().expect("the thread's checks");
        }
    }

    #[test]
    fn blocks_go_from_thread_to_thread() {
        let small: &'static Small = Box::leak(Box::new(Small::new().expect("addresses")));
        let (send, receive) = std::sync::mpsc::sync_channel::<(usize, usize)>(64);
        let taker = std::thread::spawn(move || {
            for i in 0..20_000usize {
                let size = 1 + (i * 37) % 5000;
                let block = take(small, size).expect("memory");
                // SAFETY: a block of this size that this thread owns.
                unsafe { block.as_ptr().write_bytes(size as u8, size) };
                send.send((block.as_ptr() as usize, size))
                    .expect("a receiver");
            }
        });
        for (block, size) in receive {
            // SAFETY: the other thread has written this many bytes, and does not use the block
            // any more.
            unsafe {
                let bytes = std::slice::from_raw_parts(block as *const u8, size);
                assert!(bytes.iter().all(|&b| b == size as u8));
                assert!(give_back(small, block));
            }
        }
        taker.join().expect("the thread's checks");
    }
}

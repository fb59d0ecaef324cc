//! Small blocks at hand of each thread, so that most calls need no lock.

use super::small::{CLASSES, Small, class_of};
use std::cell::RefCell;
use std::ptr::NonNull;

/// Blocks of one size that a thread has at hand, at most.
const MOST: usize = 32;
/// How many go to and from the others at once.
const MOVED: usize = MOST / 2;
/// Sizes up to this are kept at hand.
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
    /// A block of this class was in use at this address, and is no more.
    #[inline]
    unsafe fn give_back(&mut self, class: usize, block: usize) {
        let length = &mut self.lengths[class];
        if usize::from(*length) == MOST {
            // The ones that have been here longest.
            let blocks = &mut self.blocks[class];
            // SAFETY: nobody uses what is at hand.
            unsafe { self.small.give_back_many(class, &blocks[..MOVED]) };
            blocks.copy_within(MOVED.., 0);
            *length -= MOVED as u8;
        }
        self.blocks[class][usize::from(*length)] = block;
        *length += 1;
    }
}

/// When its thread ends.
impl Drop for Local {
    fn drop(&mut self) {
        for class in 0..AT_HAND {
            let length = usize::from(self.lengths[class]);
            // SAFETY: nobody uses what is at hand.
            unsafe {
                self.small
                    .give_back_many(class, &self.blocks[class][..length]);
            }
        }
    }
}

/// Does something with this thread's blocks. None while the thread ends.
#[inline]
fn with<R>(small: &'static Small, f: impl FnOnce(&mut Local) -> R) -> Option<R> {
    let with = |local: &RefCell<Option<Box<Local>>>| {
        let mut local = local.try_borrow_mut().ok()?;
        Some(f(local.get_or_insert_with(|| Local::new(small))))
    };
    LOCAL.try_with(with).ok().flatten()
}

/// A block of at least `size` bytes, as [`Small::take`].
#[inline]
pub fn take(small: &'static Small, size: usize) -> Option<NonNull<u8>> {
    if size <= LARGEST
        && let Some(block) = with(small, |local| local.take(class_of(size)))
    {
        return NonNull::new(block? as *mut u8);
    }
    small.take(size)
}

/// Takes a block back; whether the address is one of a block.
///
/// # Safety
/// If there is a block at this address, it is in use, and is no more.
#[inline]
pub unsafe fn give_back(small: &'static Small, address: usize) -> bool {
    let Some(class) = small.class_at(address) else {
        return false;
    };
    // SAFETY: the caller's promise.
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
                // SAFETY: a block of this size of this thread's own.
                unsafe { block.as_ptr().write_bytes(size as u8, size) };
                send.send((block.as_ptr() as usize, size))
                    .expect("a receiver");
            }
        });
        for (block, size) in receive {
            // SAFETY: the other thread has written so many bytes, and has done with
            // the block.
            unsafe {
                let bytes = std::slice::from_raw_parts(block as *const u8, size);
                assert!(bytes.iter().all(|&b| b == size as u8));
                assert!(give_back(small, block));
            }
        }
        taker.join().expect("the thread's checks");
    }
}

//! Host memory with the alignment that devices require for sharing it.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Bytes in host memory, aligned to 64 bytes.
///
/// The CPU plugin shares such memory with a buffer instead of copying it
/// ([`Client::buffer_from_owned`](crate::Client::buffer_from_owned)).
///
/// ```
/// use ramie_pjrt::AlignedBytes;
/// let mut bytes = AlignedBytes::zeroed(100);
/// bytes[3] = 7;
/// assert_eq!(bytes.as_ptr() as usize % 64, 0);
/// assert_eq!(bytes.len(), 100);
/// ```
pub struct AlignedBytes {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: plain owned memory.
unsafe impl Send for AlignedBytes {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for AlignedBytes {}

impl AlignedBytes {
    /// The alignment, in bytes.
    pub const ALIGNMENT: usize = 64;

    /// Creates `len` zero bytes. The operating system zeroes fresh pages, so large sizes are not
    /// written.
    ///
    /// # Panics
    /// Panics if the size exceeds `isize::MAX`.
    pub fn zeroed(len: usize) -> AlignedBytes {
        #[repr(align(64))]
        struct Line;
        if len == 0 {
            return AlignedBytes {
                start: NonNull::<Line>::dangling().cast(),
                len,
            };
        }
        let layout = Self::layout(len);
        // SAFETY: the layout has a size above zero.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        AlignedBytes { start, len }
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len, Self::ALIGNMENT)
            .expect("the size of host memory is representable")
    }
}

impl From<&[u8]> for AlignedBytes {
    fn from(bytes: &[u8]) -> AlignedBytes {
        let mut copy = AlignedBytes::zeroed(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }
}

impl Clone for AlignedBytes {
    fn clone(&self) -> AlignedBytes {
        AlignedBytes::from(&**self)
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: allocated and initialized for `len` bytes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: allocated and initialized for `len` bytes, borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for AlignedBytes {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: allocated with this layout in `zeroed`.
            unsafe { dealloc(self.start.as_ptr(), Self::layout(self.len)) };
        }
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBytes({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_zeroed_and_owned() {
        for len in [0, 1, 63, 64, 65, 100_000] {
            let bytes = AlignedBytes::zeroed(len);
            assert_eq!((bytes.as_ptr() as usize % 64, bytes.len()), (0, len));
            assert!(bytes.iter().all(|&b| b == 0));
        }
        let copy = AlignedBytes::from(&[1u8, 2, 3][..]).clone();
        assert_eq!(&*copy, &[1, 2, 3]);
    }
}

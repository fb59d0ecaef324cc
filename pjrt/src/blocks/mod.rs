//! Blocks of host memory for the CPU plugin, kept from one use to the next.
//!
//! A program that runs on the CPU asks for the memory of its temporaries when it
//! starts and gives it back when it ends. The C library returns blocks above some
//! megabytes to the system at once, so that every step of training gets pages that
//! the system has to find and clear anew: a third of the step of a small
//! transformer. With small blocks the C library is slow where they are aligned, and
//! where one thread takes and another gives back, as with every buffer of every run.
//! What the plugin imports to take and to give back memory is therefore led here
//! ([`serve`]): large blocks come from a `Pool`, in huge pages where the system has
//! them, small ones from lists of freed blocks (`Small`). The rest is passed on to
//! the C library. Of other libraries only the `free` of the plugin's C++ library is
//! led here, since objects go back and forth between the two.

use crate::settings;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod hooks;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod imports;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod local;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod operators;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod pool;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod small;

/// What large blocks of host memory the CPU plugin has.
///
/// ```
/// let blocks = ramie_pjrt::host_blocks();
/// assert!(blocks.in_use + blocks.kept <= blocks.peak);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostBlocks {
    /// Bytes of blocks that are in use.
    pub in_use: usize,
    /// Bytes of blocks that are kept for the next use.
    pub kept: usize,
    /// The most bytes that were in use at once; what is in use and what is kept are
    /// together never more.
    pub peak: usize,
}

/// The large blocks that CPU plugins have now.
///
/// Blocks of 1 MB or more that a CPU plugin asks for (buffers, temporaries of
/// programs) are kept when it frees them, and used again. They go back to the system
/// when they were not used for some seconds, or when a block of another size is
/// wanted. All numbers are zero on systems other than Linux, and where the
/// environment says `RAMIE_KEEP_BLOCKS=0`.
pub fn host_blocks() -> HostBlocks {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    {
        hooks::pool().usage()
    }
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    {
        HostBlocks::default()
    }
}

/// Leads the allocations of the library that holds this address to the pool.
///
/// Without effect where that cannot be done: the library then has its memory from
/// the C library, as without us.
pub(crate) fn serve(address_in_library: *const ()) {
    if settings::KEEP_BLOCKS.get() == Ok(Some(false)) {
        return;
    }
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    hooks::install(address_in_library);
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    let _ = address_in_library;
}

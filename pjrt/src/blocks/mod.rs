//! Blocks of host memory for the CPU plugin, kept for reuse.
//!
//! A program that runs on the CPU allocates memory for its temporaries when it starts and frees
//! it when it ends. The C library returns blocks above some megabytes to the system immediately,
//! so every training step gets pages that the system has to find and clear again; this takes a
//! third of the step of a small transformer. The C library is also slow for small blocks that are
//! aligned, or that one thread allocates and another frees, as with every buffer of every run.
//! The functions that the plugin imports for allocating and freeing memory are therefore replaced
//! ([`serve`]): large blocks come from a `Pool`, in huge pages if the system has them, and small
//! blocks from lists of freed blocks (`Small`). Other requests are forwarded to the C library. Only
//! the plugin's own import table is changed; calls of other libraries stay as they are.

use crate::settings;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod hooks;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod imports;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod local;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod pool;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod small;

/// Statistics of the large blocks of host memory that the CPU plugin has.
///
/// ```
/// let blocks = ramie_pjrt::host_blocks();
/// assert!(blocks.in_use + blocks.kept <= blocks.peak);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostBlocks {
    /// Number of bytes in blocks in use.
    pub in_use: usize,
    /// Number of bytes in blocks kept for reuse.
    pub kept: usize,
    /// Peak number of bytes in use; `in_use` and `kept` together never exceed it.
    pub peak: usize,
}

/// Returns the statistics of the large blocks that CPU plugins currently have.
///
/// When a CPU plugin frees a block of 1 MiB or more (buffers, temporaries of programs), the block
/// is kept and reused. It is returned to the system when it has not been used for some seconds,
/// or when a block of another size is needed. All numbers are zero on systems other than Linux,
/// and with `RAMIE_KEEP_BLOCKS=0`.
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

/// Redirects the allocations of the library that contains this address to the pool.
///
/// If that is not possible, this has no effect, and the library allocates from the C library as
/// usual.
pub(crate) fn serve(address_in_library: *const ()) {
    if settings::KEEP_BLOCKS.get() == Ok(Some(false)) {
        return;
    }
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    hooks::install(address_in_library);
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    let _ = address_in_library;
}

/// Runs a compilation, which creates fewer blocks than calls of compiled programs do.
pub(crate) fn compiling<T>(compile: impl FnOnce() -> T) -> T {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    {
        hooks::compiling(compile)
    }
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    {
        compile()
    }
}

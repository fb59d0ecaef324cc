//! Functions that the plugin calls instead of those of the C library.

use super::imports::Imports;
use super::local;
use super::pool::{self, Pool};
use super::small::{self, Small};
use crate::lock::{lock, unpoisoned};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// The small blocks. Set when the functions of this file are installed, if the system allows it.
static SMALL: OnceLock<Small> = OnceLock::new();

static FREED: Condvar = Condvar::new();

pub fn pool() -> MutexGuard<'static, Pool> {
    static POOL: LazyLock<Mutex<Pool>> = LazyLock::new(Mutex::default);
    lock(&POOL)
}

/// Replaces the functions that a library imports by those of this file. Other libraries, among them
/// those that this one uses, are not changed.
pub fn install(address_in_library: *const ()) {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = lock(&INSTALLING);
    let Some(plugin) = Imports::of(address_in_library) else {
        tracing::debug!("the plugin's import tables were not found");
        return;
    };
    // This is the second client of the plugin: its imports are already these functions.
    if plugin.address(c"free") == Some(free as *const ()) {
        return;
    }
    if SMALL.get().is_none()
        && let Some(small) = Small::new()
    {
        // Not set before, and this is the only thread here.
        let _ = SMALL.set(small);
    }
    // The freeing functions are replaced first, because other threads may be running.
    plugin.replace(c"realloc", realloc as *const ());
    if !plugin.replace(c"free", free as *const ()) {
        tracing::debug!("the plugin does not import `free`");
        return;
    }
    plugin.replace(c"posix_memalign", posix_memalign as *const ());
    plugin.replace(c"aligned_alloc", aligned_alloc as *const ());
    plugin.replace(c"malloc", malloc as *const ());
    plugin.replace(c"calloc", calloc as *const ());
    tracing::debug!("installed the block allocator for the plugin");
}

/// Runs a compilation of the plugin.
pub fn compiling<T>(compile: impl FnOnce() -> T) -> T {
    match SMALL.get() {
        Some(small) => small.compiling(compile),
        None => compile(),
    }
}

/// Returns a block for a request, if it is of a suitable size and alignment.
fn block(alignment: usize, size: usize) -> *mut c_void {
    if alignment <= small::ALIGNMENT {
        let block = small(size);
        if !block.is_null() {
            return block;
        }
    }
    if size < pool::SMALLEST || alignment > pool::ALIGNMENT {
        return null_mut();
    }
    large(size).map_or(null_mut(), |b| b.as_ptr().cast())
}

fn large(size: usize) -> Option<NonNull<u8>> {
    let mut pool = pool();
    let mut block = pool.reuse(size);
    if block.is_none() && pool.has_in_use(size) {
        // A program that follows another requests its memory some microseconds before the other
        // program has freed the same amount. A wait that is shorter than the creation of new
        // pages saves these, and half of the memory.
        let patience = Duration::from_nanos(size as u64 / 64);
        let none_kept = |pool: &mut Pool| !pool.has_kept(size);
        pool = unpoisoned(FREED.wait_timeout_while(pool, patience, none_kept)).0;
        block = pool.reuse(size);
    }
    block.or_else(|| pool.map(size))
}

/// Takes a block back. Returns `false` if the address is not that of a block.
///
/// # Safety
/// If there is a block at this address, it must be in use, and must not be used any more.
unsafe fn give_back(p: *mut c_void) -> bool {
    let address = p as usize;
    if let Some(small) = SMALL.get() {
        // SAFETY: guaranteed by the caller.
        let was_small = unsafe { local::give_back(small, address) };
        if was_small {
            return true;
        }
    }
    let was_block = may_be_large(address) && pool().give_back(address);
    if was_block {
        FREED.notify_all();
    }
    was_block
}

/// Returns `true` if an address may be that of a large block. This excludes most other addresses
/// without a lock.
fn may_be_large(address: usize) -> bool {
    address != 0 && address.is_multiple_of(pool::ALIGNMENT)
}

/// Returns a small block.
fn small(size: usize) -> *mut c_void {
    let block = SMALL.get().and_then(|s| local::take(s, size));
    block.map_or(null_mut(), |b| b.as_ptr().cast())
}

extern "C" fn malloc(size: usize) -> *mut c_void {
    let block = small(size);
    if !block.is_null() {
        return block;
    }
    // SAFETY: forwards the plugin's request.
    unsafe { libc::malloc(size) }
}

extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let bytes = count.saturating_mul(size);
    let block = small(bytes);
    if !block.is_null() {
        // SAFETY: the block has at least `bytes` bytes.
        unsafe { block.cast::<u8>().write_bytes(0, bytes) };
        return block;
    }
    // SAFETY: forwards the plugin's request.
    unsafe { libc::calloc(count, size) }
}

extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    let block = block(alignment, size);
    if !block.is_null() {
        return block;
    }
    // SAFETY: forwards the plugin's request.
    unsafe { libc::aligned_alloc(alignment, size) }
}

/// # Safety
/// The same as for the C library's function.
unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    let allowed = alignment.is_power_of_two() && alignment >= size_of::<usize>();
    let block = match allowed {
        true => block(alignment, size),
        false => null_mut(),
    };
    if block.is_null() {
        // SAFETY: forwards the plugin's request.
        return unsafe { libc::posix_memalign(out, alignment, size) };
    }
    // SAFETY: the caller provides space for the address.
    unsafe { out.write(block) };
    0
}

/// # Safety
/// The same as for the C library's function.
unsafe extern "C" fn realloc(p: *mut c_void, size: usize) -> *mut c_void {
    let address = p as usize;
    let small = SMALL.get().and_then(|s| s.size_of(address));
    let block = small.or_else(|| match may_be_large(address) {
        true => pool().size_of(address),
        false => None,
    });
    let Some(old) = block else {
        // SAFETY: forwards the plugin's request; the address is not one of our blocks.
        return unsafe { libc::realloc(p, size) };
    };
    // SAFETY: a plain allocation.
    let new = unsafe { libc::malloc(size) };
    if !new.is_null() {
        // SAFETY: the old block has `old` bytes, and the new block, which is a different one, has
        // `size` bytes.
        unsafe {
            p.cast::<u8>()
                .copy_to_nonoverlapping(new.cast(), old.min(size))
        };
        // SAFETY: the contents have been copied to the new block.
        unsafe { give_back(p) };
    }
    new
}

/// # Safety
/// The same as for the C library's function.
unsafe extern "C" fn free(p: *mut c_void) {
    // SAFETY: the plugin does not use the memory at this address any more.
    if unsafe { give_back(p) } {
        return;
    }
    // SAFETY: forwards the plugin's request; the address is not one of our blocks.
    unsafe { libc::free(p) }
}

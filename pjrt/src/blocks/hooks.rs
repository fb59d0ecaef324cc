//! What the plugin calls instead of the C library's functions.

use super::imports::Imports;
use super::pool::{ALIGNMENT, Pool, SMALLEST};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

static FREED: Condvar = Condvar::new();

pub fn pool() -> MutexGuard<'static, Pool> {
    static POOL: LazyLock<Mutex<Pool>> = LazyLock::new(Mutex::default);
    POOL.lock().unwrap_or_else(|e| e.into_inner())
}

/// Puts the functions of this file in the place of those that a library imports.
pub fn install(address_in_library: *const ()) {
    let Some(imports) = Imports::of(address_in_library) else {
        tracing::debug!("the plugin's imports are not where they were looked for");
        return;
    };
    // Who gives back what was taken comes first: other threads may be at work.
    let replaced = imports.replace(c"free", free as *const ())
        && imports.replace(c"realloc", realloc as *const ());
    if replaced {
        imports.replace(c"aligned_alloc", aligned_alloc as *const ());
        imports.replace(c"posix_memalign", posix_memalign as *const ());
    }
    tracing::debug!(replaced, "large blocks of the plugin's memory are kept");
}

/// A block, for requests that want one.
fn block(alignment: usize, size: usize) -> *mut c_void {
    if size < SMALLEST || alignment > ALIGNMENT {
        return null_mut();
    }
    let mut pool = pool();
    let mut block = pool.reuse(size);
    if block.is_none() && pool.has_in_use(size) {
        // A program that follows another asks for its memory some microseconds
        // before that one has freed the same. Waiting so long that it does not
        // matter beside the making of new pages saves these, and half of the memory.
        let patience = Duration::from_nanos(size as u64 / 512);
        let none_kept = |pool: &mut Pool| !pool.has_kept(size);
        pool = match FREED.wait_timeout_while(pool, patience, none_kept) {
            Ok((pool, _)) => pool,
            Err(poisoned) => poisoned.into_inner().0,
        };
        block = pool.reuse(size);
    }
    let block = block.or_else(|| pool.map(size));
    block.map_or(null_mut(), |b| b.as_ptr().cast())
}

/// Takes a block back; whether it is one.
fn give_back(p: *mut c_void) -> bool {
    let was_block = may_be_block(p) && pool().give_back(p as usize);
    if was_block {
        FREED.notify_all();
    }
    was_block
}

/// Whether an address can be that of a block; most others are told apart here,
/// without a lock.
fn may_be_block(p: *mut c_void) -> bool {
    !p.is_null() && (p as usize).is_multiple_of(ALIGNMENT)
}

extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    let block = block(alignment, size);
    if !block.is_null() {
        return block;
    }
    // SAFETY: what the plugin asked for, passed on.
    unsafe { libc::aligned_alloc(alignment, size) }
}

/// # Safety
/// That of the C library's function.
unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    let allowed = alignment.is_power_of_two() && alignment >= size_of::<usize>();
    let block = match allowed {
        true => block(alignment, size),
        false => null_mut(),
    };
    if block.is_null() {
        // SAFETY: what the plugin asked for, passed on.
        return unsafe { libc::posix_memalign(out, alignment, size) };
    }
    // SAFETY: the caller gives a place for the address.
    unsafe { out.write(block) };
    0
}

/// # Safety
/// That of the C library's function.
unsafe extern "C" fn realloc(p: *mut c_void, size: usize) -> *mut c_void {
    let block = match may_be_block(p) {
        true => pool().size_of(p as usize),
        false => None,
    };
    let Some(old) = block else {
        // SAFETY: what the plugin asked for, passed on: no block of ours.
        return unsafe { libc::realloc(p, size) };
    };
    // SAFETY: a plain allocation.
    let new = unsafe { libc::malloc(size) };
    if !new.is_null() {
        // SAFETY: the old block has `old` bytes, the new one, which is another,
        // has `size`.
        unsafe {
            p.cast::<u8>()
                .copy_to_nonoverlapping(new.cast(), old.min(size))
        };
        give_back(p);
    }
    new
}

/// # Safety
/// That of the C library's function.
unsafe extern "C" fn free(p: *mut c_void) {
    if give_back(p) {
        return;
    }
    // SAFETY: what the plugin asked for, passed on: no block of ours.
    unsafe { libc::free(p) }
}

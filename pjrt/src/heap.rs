//! What compilations leave of the process's heap.

/// Memory that a compilation freed and the allocator kept, in bytes, from which
/// on it is given back to the system.
const WORTH_GIVING_BACK: u64 = 16 << 20;

/// Runs `compile`, and gives the system back what it freed if that is much.
///
/// A compiler makes and drops many small objects, and the allocator keeps their
/// memory for more of them: after a transformer's step over 100 MB, which would
/// come on top of what the program's runs need, to the end of the process.
pub(crate) fn trimmed<T>(compile: impl FnOnce() -> T) -> T {
    let before = anonymous_memory();
    let out = compile();
    if let (Some(before), Some(after)) = (before, anonymous_memory())
        && after.saturating_sub(before) >= WORTH_GIVING_BACK
    {
        trim();
    }
    out
}

/// Bytes of this process's resident memory that are no file's, where the system
/// tells.
fn anonymous_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> std::ffi::c_int;
    }
    // SAFETY: the function of the C library, which locks what it looks at; memory
    // that is in use stays as it is.
    unsafe { malloc_trim(0) };
}

/// Other allocators decide for themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_is_given_back() {
        // Small objects, the last of which keeps the heap from shrinking by
        // itself.
        let fill = || -> Vec<Vec<u8>> { (0..1 << 16).map(|_| vec![1; 1000]).collect() };
        let before = anonymous_memory().expect("Linux tells");
        let last = trimmed(|| fill().pop());
        let after = anonymous_memory().expect("Linux tells");
        assert!(last.is_some());
        assert!(
            after < before + WORTH_GIVING_BACK,
            "{before} bytes before, {after} after"
        );
    }
}

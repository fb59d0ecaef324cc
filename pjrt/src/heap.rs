//! Return of freed heap memory to the system after compilations.

/// The minimum memory in bytes that a compilation must have left in the allocator for it to be
/// returned to the system.
const WORTH_GIVING_BACK: u64 = 16 << 20;

/// Runs `compile` and returns the memory it freed to the system, if it is large.
///
/// A compiler allocates and frees many small objects, whose memory the allocator keeps. For the
/// train step of a transformer this is over 100 MB, which would remain in use until the process
/// ends.
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

/// Returns the resident memory of this process in bytes that is not backed by files, if the
/// system reports it.
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
    // SAFETY: the function belongs to the C library, which locks its own data; memory in use is
    // not touched.
    unsafe { malloc_trim(0) };
}

/// Does nothing for other allocators.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_is_given_back() {
        // Small objects, the last of which prevents the heap from shrinking by itself.
        let fill = || -> Vec<Vec<u8>> { (0..1 << 16).map(|_| vec![1; 1000]).collect() };
        let before = anonymous_memory().expect("Linux tells");
        // Other tests of the process allocate at the same time, so one measurement may be too large.
        let after: Vec<u64> = (0..5)
            .map(|_| {
                let last = trimmed(|| fill().pop());
                assert!(last.is_some());
                anonymous_memory().expect("Linux tells")
            })
            .collect();
        assert!(
            after
                .iter()
                .any(|after| *after < before + WORTH_GIVING_BACK),
            "{before} bytes before, {after:?} after"
        );
    }
}

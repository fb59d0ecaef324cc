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
    use std::process::Command;

    /// Set in the process that measures.
    const ALONE: &str = "RAMIE_TEST_ALONE";

    /// Other tests allocate at the same time, so this one runs again in a process of its own.
    #[test]
    fn what_was_freed_is_given_back() {
        if std::env::var_os(ALONE).is_none() {
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "heap::tests::what_was_freed_is_given_back"])
                .env(ALONE, "1")
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && text.contains("1 passed"),
                "{text}"
            );
            return;
        }
        // Small objects, the last of which prevents the heap from shrinking by itself.
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

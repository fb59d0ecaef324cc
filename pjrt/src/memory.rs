//! The host memory that this process can still use.
//!
//! The operating system maps more memory than it has, and kills the process when it writes to
//! pages that cannot be backed. Large requests are therefore compared with the available memory
//! before anything is mapped. Small requests are not checked, as reading the limits takes tens of
//! microseconds.

use crate::error::{Bytes, Error, Result};
use ramie_plugins::settings;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Requests of fewer bytes are not checked.
pub(crate) const LARGE: u64 = 256 << 20;

/// Checks that this process can use `bytes` more host memory, for an operation that the error
/// names. Requests below 256 MiB always pass, and all requests pass with `RAMIE_CHECK_MEMORY=0`.
///
/// The check considers the memory that the system reports as available plus free swap, the limits
/// of the process's control groups (containers), and the process's own limits (`ulimit -v`,
/// `ulimit -d`). It reads them from `/proc`: on systems without that, all requests pass.
///
/// # Errors
/// Returns [`Error::HostMemory`] if less memory is available.
pub fn check_host_memory(operation: impl fmt::Display, bytes: usize) -> Result<()> {
    let bytes = bytes as u64;
    if bytes < LARGE || settings::CHECK_MEMORY.get() == Ok(Some(false)) {
        return Ok(());
    }
    match available(Path::new("/")) {
        Some(least) if least.bytes < bytes => Err(Error::HostMemory {
            operation: operation.to_string(),
            bytes,
            available: least.bytes,
            limit: least.limit,
        }),
        _ => Ok(()),
    }
}

/// Checks that the address space has room for a plugin with `code` bytes of code. Without enough
/// room, the plugin would abort the process.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn check_address_space(plugin: &Path, code: u64) -> Result<()> {
    /// Memory for the compiler and for small allocations.
    const SPARE: u64 = 256 << 20;
    /// Stacks of two threads per processor.
    const STACKS: u64 = (2 * 8) << 20;
    /// An arena of the C library; threads share a few of them.
    const ARENA: u64 = 64 << 20;
    if settings::CHECK_MEMORY.get() == Ok(Some(false)) {
        return Ok(());
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let bytes = code + SPARE + processors * STACKS + processors.min(8) * ARENA;
    match address_space(Path::new("/")) {
        Some(left) if left.bytes < bytes => Err(Error::HostMemory {
            operation: format!("loading the plugin `{}`", plugin.display()),
            bytes,
            available: left.bytes,
            limit: left.limit,
        }),
        _ => Ok(()),
    }
}

/// The number of bytes available, and a description of the limit.
#[derive(Debug, PartialEq)]
struct Available {
    bytes: u64,
    limit: String,
}

/// Returns the tightest limit, if the system has any. `root` is the root of the file system.
fn available(root: &Path) -> Option<Available> {
    let swap = meminfo(root, "SwapFree:").unwrap_or(0);
    let system = meminfo(root, "MemAvailable:").map(|memory| Available {
        bytes: memory + swap,
        limit: "the system's available memory and swap".to_owned(),
    });
    let limits = [system, control_group(root, swap), address_space(root)];
    limits.into_iter().flatten().min_by_key(|limit| limit.bytes)
}

fn meminfo(root: &Path, key: &str) -> Option<u64> {
    kilobytes(&root.join("proc/meminfo"), key)
}

/// Reads a line such as `MemAvailable: 23 kB`, in bytes.
fn kilobytes(file: &Path, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number << 10)
}

/// Returns the tightest of the process's own limits, if any is set.
fn address_space(root: &Path) -> Option<Available> {
    let limits = fs::read_to_string(root.join("proc/self/limits")).ok()?;
    let status = root.join("proc/self/status");
    let left = |name: &str, used: &str, flag: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
        let used = kilobytes(&status, used).unwrap_or(0);
        Some(Available {
            bytes: soft.saturating_sub(used),
            limit: format!("the process's limit of {} (`ulimit {flag}`)", Bytes(soft)),
        })
    };
    let space = left("Max address space", "VmSize:", "-v");
    let data = left("Max data size", "VmData:", "-d");
    [space, data]
        .into_iter()
        .flatten()
        .min_by_key(|left| left.bytes)
}

/// Returns the tightest limit of the process's control groups.
fn control_group(root: &Path, swap: u64) -> Option<Available> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (top, files) = match controllers {
            "" => ("sys/fs/cgroup", &UNIFIED),
            list if list.split(',').any(|c| c == "memory") => ("sys/fs/cgroup/memory", &LEGACY),
            _ => continue,
        };
        let top = root.join(top);
        let own = top.join(path.trim_start_matches('/'));
        // Inside a container this may be a path of the host, which does not exist here.
        let start = if own.is_dir() { own } else { top.clone() };
        for group in start
            .ancestors()
            .take_while(|group| group.starts_with(&top))
        {
            limits.extend(files.available(group, swap));
        }
    }
    limits.into_iter().min_by_key(|limit| limit.bytes)
}

/// File names of a control group.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    /// Pages of files, which the system reclaims when memory is short.
    reclaimable: [&'static str; 2],
    swap_limit: &'static str,
    swap_used: &'static str,
}

const UNIFIED: GroupFiles = GroupFiles {
    limit: "memory.max",
    used: "memory.current",
    reclaimable: ["active_file ", "inactive_file "],
    swap_limit: "memory.swap.max",
    swap_used: "memory.swap.current",
};
const LEGACY: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: ["total_active_file ", "total_inactive_file "],
    // The legacy limit is of memory and swap together, which this check ignores.
    swap_limit: "",
    swap_used: "",
};

impl GroupFiles {
    fn available(&self, group: &Path, swap: u64) -> Option<Available> {
        let number = |name: &str| -> Option<u64> {
            let text = fs::read_to_string(group.join(name)).ok()?;
            text.trim().parse().ok()
        };
        // `max`, and the huge number that stands for it in the legacy version, mean no limit.
        let limit = number(self.limit).filter(|limit| *limit < 1 << 60)?;
        let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let reclaimable: u64 = statistics
            .lines()
            .filter_map(|line| self.reclaimable.iter().find_map(|k| line.strip_prefix(k)))
            .filter_map(|number| number.trim().parse::<u64>().ok())
            .sum();
        let used = number(self.used)?.saturating_sub(reclaimable);
        let swap_left = match number(self.swap_limit) {
            Some(limit) => limit.saturating_sub(number(self.swap_used).unwrap_or(0)),
            None => swap,
        };
        let file: PathBuf = group.join(self.limit);
        Some(Available {
            bytes: limit.saturating_sub(used) + swap.min(swap_left),
            limit: format!(
                "the container's limit of {} ({})",
                Bytes(limit),
                file.display()
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    /// Creates a file system with these files.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, contents) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents).unwrap();
        }
        root
    }

    const MEMINFO: (&str, &str) = (
        "proc/meminfo",
        "MemTotal: 33554432 kB\nMemAvailable: 8388608 kB\nSwapFree: 1048576 kB\n",
    );

    #[test]
    fn the_system_says_what_is_available() {
        assert_eq!(available(system(&[]).path()), None);
        let found = available(system(&[MEMINFO]).path()).unwrap();
        assert_eq!(found.bytes, 9 * GB);
    }

    #[test]
    fn every_control_group_above_counts() {
        let (four, three) = ((4 * GB).to_string(), (3 * GB).to_string());
        let inner = "sys/fs/cgroup/pods/one";
        let root = system(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/pods/one\n"),
            ("sys/fs/cgroup/pods/one/memory.max", "max\n"),
            ("sys/fs/cgroup/pods/memory.max", &four),
            ("sys/fs/cgroup/pods/memory.current", &three),
            (
                "sys/fs/cgroup/pods/memory.stat",
                "anon 5\ninactive_file 536870912\n",
            ),
            ("sys/fs/cgroup/pods/memory.swap.max", "0\n"),
        ]);
        let found = available(root.path()).unwrap();
        assert_eq!(found.bytes, GB + GB / 2, "files' pages are taken back");
        assert!(found.limit.contains("pods/memory.max"), "{}", found.limit);
        fs::write(root.path().join(inner).join("memory.max"), "1000").unwrap();
        fs::write(root.path().join(inner).join("memory.current"), "400").unwrap();
        fs::write(root.path().join(inner).join("memory.swap.max"), "50").unwrap();
        assert_eq!(available(root.path()).unwrap().bytes, 650);
    }

    #[test]
    fn the_older_control_groups_are_read_too() {
        let none = (i64::MAX as u64 / 4096 * 4096).to_string();
        let root = system(&[
            MEMINFO,
            (
                "proc/self/cgroup",
                "7:cpu:/\n5:memory:/docker/of-the-host\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", &none),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1"),
        ]);
        assert_eq!(available(root.path()).unwrap().bytes, 9 * GB, "no limit");
        let file = root
            .path()
            .join("sys/fs/cgroup/memory/memory.limit_in_bytes");
        fs::write(file, GB.to_string()).unwrap();
        assert_eq!(
            available(root.path()).unwrap().bytes,
            2 * GB - 1,
            "with swap"
        );
    }

    #[test]
    fn the_limits_of_the_process_count() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\n\
                      Max data size             unlimited            unlimited            bytes\n\
                      Max address space         2147483648           unlimited            bytes\n";
        let root = system(&[
            MEMINFO,
            ("proc/self/limits", limits),
            (
                "proc/self/status",
                "VmSize:\t 1048576 kB\nVmData:\t 10 kB\n",
            ),
        ]);
        let found = available(root.path()).unwrap();
        assert_eq!(found.bytes, GB);
        assert!(
            found.limit.contains("2.1 GB (`ulimit -v`)"),
            "{}",
            found.limit
        );
    }

    #[test]
    fn only_large_requests_can_fail() {
        let everything = usize::MAX / 2;
        assert_eq!(check_host_memory("x", (LARGE - 1) as usize), Ok(()));
        let error = check_host_memory("making an array", everything).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("making an array needs 9223372.0 TB of host memory"),
            "{text}"
        );
        assert!(text.contains("available"), "{text}");
    }
}

//! Memory in use.

use std::fs;

/// Memory of the devices and of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Bytes in use on all devices of this process, if the plugin reports them.
    pub device: Option<u64>,
    /// Bytes that these devices have, if the plugin reports them.
    pub device_limit: Option<u64>,
    /// Bytes of this process in the host's memory (resident set size), on Linux.
    pub host: Option<u64>,
}

impl Memory {
    /// Measures the memory now.
    pub fn now() -> Memory {
        let stats = ramie_core::devices().iter().map(|device| {
            let stats = device.memory_stats().ok().flatten()?;
            let limit = stats
                .bytes_limit
                .and_then(|bytes| u64::try_from(bytes).ok());
            Some((u64::try_from(stats.bytes_in_use).ok()?, limit))
        });
        let stats: Option<Vec<(u64, Option<u64>)>> = stats.collect();
        Memory {
            device: stats.as_ref().map(|s| s.iter().map(|(used, _)| used).sum()),
            device_limit: stats.and_then(|s| s.iter().map(|(_, limit)| *limit).sum()),
            host: resident(),
        }
    }
}

/// Reads the line `VmRSS:  12345 kB`.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn the_resident_size_is_known() {
        let bytes = super::resident().expect("Linux has /proc");
        assert!((1 << 20..1 << 40).contains(&bytes), "{bytes}");
    }
}

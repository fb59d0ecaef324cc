//! `Quantity`: a count and a size in bytes, formatted for tables.

use ramie_core::text::grouped;
use std::fmt;

/// A count of elements and their size in bytes, displayed as `4,224 (16.9 KB)`.
pub(crate) struct Quantity {
    pub count: usize,
    pub bytes: usize,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", grouped(self.count as u64), bytes(self.bytes))
    }
}

/// Formats a number of bytes in decimal units (KB, MB, GB, TB).
fn bytes(n: usize) -> String {
    let units = ["KB", "MB", "GB", "TB"];
    if n < 1000 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1000.0;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", units[unit])
}

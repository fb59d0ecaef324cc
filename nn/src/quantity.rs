//! `Quantity`: a count and a size in bytes, formatted for tables.

use std::fmt;

/// A count of elements and their size in bytes, displayed as `4,224 (16.9 KB)`.
pub(crate) struct Quantity {
    pub count: usize,
    pub bytes: usize,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", grouped(self.count), bytes(self.bytes))
    }
}

/// Formats a number with commas between thousands.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

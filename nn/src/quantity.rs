//! `Quantity`: how much there is, as text.

use std::fmt;

/// How many numbers there are, and how many bytes they take, as in `4,224 (16.9
/// KB)`.
pub(crate) struct Quantity {
    pub count: usize,
    pub bytes: usize,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", grouped(self.count), bytes(self.bytes))
    }
}

/// A number with commas between thousands.
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

/// A number of bytes, in units of thousands.
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

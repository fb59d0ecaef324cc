//! Human-readable numbers, times and shardings.

use std::iter;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use ramie::core::text::{bytes, grouped};
use ramie::dtypes::Scalar;
use serde_json::Value;

/// Formats a count of things, with a plural `s` if needed.
pub(crate) fn counted(n: usize, thing: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {thing}{s}")
}

/// Formats a time in UTC: `2026-11-21 22:58:01`.
pub(crate) fn time(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (mut day, second) = (seconds / 86400, seconds % 86400);
    let (mut year, mut month) = (1970, 0);
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let (month, day) = (month + 1, day + 1);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Returns the start of a string, quoted and on one line.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let line = |c: char| if c.is_control() { ' ' } else { c };
    let start: String = text.chars().take(MOST).map(line).collect();
    match text.chars().nth(MOST) {
        Some(_) => format!("'{start}' …"),
        None => format!("'{start}'"),
    }
}

/// Returns the start of a JSON text on one line, without insignificant whitespace.
pub(crate) fn abbreviated(text: &str) -> String {
    const MOST: usize = 60;
    let compact = match serde_json::from_str::<Value>(text) {
        Ok(value) => value.to_string(),
        // Python writes numbers that JSON does not support.
        Err(_) => text.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    match compact.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &compact[..end]),
        None => compact,
    }
}

/// Formats a number as Rust does.
pub(crate) fn number(number: Scalar) -> String {
    match number {
        Scalar::Bool(v) => v.to_string(),
        Scalar::Int(v) => v.to_string(),
        Scalar::Uint(v) => v.to_string(),
        Scalar::Float(v) => format!("{v:?}"),
        Scalar::Complex(re, im) => format!("{re:?} + {im:?}i"),
    }
}

/// Formats Orbax's description of a sharding as a spec with mesh axes, `P(x, None) on x=4, y=2`,
/// or as the name of its device.
pub(crate) fn sharding(description: &Value) -> String {
    let device = &description["device_str"];
    let words = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "None".to_owned(),
        Value::Array(axes) => format!("({})", list(axes.iter().map(word))),
        other => other.to_string(),
    };
    if let Some(name) = device.as_str() {
        return name.to_owned();
    }
    let (Value::Array(spec), Value::Array(names), Value::Array(sizes)) = (
        &description["partition_spec"],
        &description["axis_names"],
        &description["shape"],
    ) else {
        return words(&description["sharding_type"]);
    };
    let axes = names.iter().zip(sizes);
    let axes = axes.map(|(name, size)| format!("{}={size}", word(name)));
    format!("P({}) on {}", list(spec.iter().map(words)), list(axes))
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// Formats rows as a table below a header. The columns in `right` are right-aligned.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let head: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    let all = || iter::once(&head).chain(rows);
    let width = |c: usize| {
        let cells = all().filter_map(|row| row.get(c));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in all() {
        let mut line = String::new();
        for (c, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if right.contains(&c) {
                line.push_str(&format!("{cell:>width$}  "))
            } else {
                line.push_str(&format!("{cell:<width$}  "))
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

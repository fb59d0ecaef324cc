//! Texts for messages, tables and displays.

use std::fmt::Display;

/// Returns the name of a type without its path and generic arguments.
pub fn type_name<T: ?Sized>() -> &'static str {
    let name = std::any::type_name::<T>();
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

/// Formats a number with commas between thousands, such as `12,345`.
pub fn grouped(n: u64) -> String {
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

/// Returns the name of a number that JSON cannot represent, as which files of metrics contain it.
pub fn non_finite(x: f64) -> Option<&'static str> {
    match x {
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => x.is_nan().then_some("NaN"),
    }
}

/// Formats a number of bytes in decimal units, such as `16.9 kB`.
pub fn bytes(n: u64) -> String {
    let mut shown = n as f64;
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if shown < 999.95 {
            break;
        }
        (shown, unit) = (shown / 1e3, larger);
    }
    match unit {
        "B" => format!("{n} B"),
        _ => format!("{shown:.1} {unit}"),
    }
}

/// Removes the modules from the paths in a text: `Vec<Array>` from
/// `alloc::vec::Vec<ramie_core::Array>`.
pub fn without_modules(text: &str) -> String {
    let is_of_module = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let mut shorter = String::new();
    let mut parts = text.split("::").peekable();
    while let Some(part) = parts.next() {
        let rest = part.trim_end_matches(is_of_module);
        let is_module = rest.len() < part.len() && !rest.ends_with(char::is_alphanumeric);
        match (parts.peek(), is_module) {
            (None, _) => shorter += part,
            (Some(_), true) => shorter += rest,
            (Some(_), false) => {
                shorter += part;
                shorter += "::";
            }
        }
    }
    shorter
}

/// Lists names for a message: `a, b`, or the first eight of a longer list and the number of the others,
/// or `none`.
pub fn listed<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    const LISTED: usize = 8;
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(LISTED).map(|n| n.to_string()).collect();
    match (shown.is_empty(), names.count()) {
        (true, _) => "none".to_owned(),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

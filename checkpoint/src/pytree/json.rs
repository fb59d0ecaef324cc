//! Formats of other programs: Python's `repr`, base64, and JSON objects whose order matters.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Formats a string like Python's `repr`.
pub(super) fn escaped_python(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes in base64 (RFC 4648).
pub(super) fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            if i > group.len() {
                out.push('=');
            } else {
                out.push(DIGITS[(bits >> (18 - 6 * i) & 63) as usize] as char);
            }
        }
    }
    out
}

/// Decodes base64; `None` if the string is invalid.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.strip_suffix(b"==").or(text.strip_suffix(b"="));
    let digits = digits.unwrap_or(text);
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &c in group {
            bits = bits << 6 | DIGITS.iter().position(|d| *d == c)? as u32;
        }
        bits <<= 6 * (4 - group.len());
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(out)
}

/// A JSON object that preserves the order of its entries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ordered<V>(pub Vec<(String, V)>);

impl<V: Serialize> Serialize for Ordered<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Ordered<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("params.hid.kernel", "cGFyYW1zLmhpZC5rZXJuZWw="),
        ];
        for (text, code) in pairs {
            assert_eq!(to_base64(text.as_bytes()), code);
            assert_eq!(from_base64(code).unwrap(), text.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_base64(&to_base64(&all)).unwrap(), all);
        for wrong in ["Z", "Zg=", "Z===", "Zm9*", "====", "Zg==Zg=="] {
            let bytes = from_base64(wrong);
            assert!(bytes.is_none() || wrong == "====", "{wrong}: {bytes:?}");
        }
    }

    #[test]
    fn texts_are_quoted_as_in_python() {
        assert_eq!(escaped_python("a"), "'a'");
        assert_eq!(escaped_python("it's"), "\"it's\"");
        assert_eq!(escaped_python("we'ird \"q\"\n"), r#"'we\'ird "q"\n'"#);
        assert_eq!(escaped_python("a\\b\u{1}ä"), r"'a\\b\x01ä'");
    }
}

//! The instruction sets that a stored executable names.
//!
//! On processors with AVX-512, XLA compiles with the features `prefer-no-gather` and
//! `prefer-no-scatter`. They choose between sequences of instructions and are no part of a
//! processor. When XLA loads a stored executable, it adds them again, compares the list with the
//! processor's and writes an error line about each of the two, for every program.
//!
//! Without AVX-512 in the list, XLA does not add them. The stored code is complete; the list only
//! serves this comparison. AVX-512 is therefore switched off in the list, if this processor has all
//! that the list names. Otherwise the list stays, and XLA reports what is missing.

use std::borrow::Cow;

const PREFERENCE: &[u8] = b"+prefer-no-gather";
/// What is switched off.
const SWITCHED: [&[u8]; 2] = [b"+prefer-no-", b"+avx512"];

/// The bytes of a stored executable, whose features do not cause error lines when it is loaded.
pub(crate) fn without_preferences(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut owned = None;
    let mut from = 0;
    while let Some(at) = find(&bytes[from..], PREFERENCE) {
        let list = list_around(bytes, from + at);
        from = list.end;
        if avx512(&bytes[list.clone()]).all(is_supported) {
            let bytes: &mut Vec<u8> = owned.get_or_insert_with(|| bytes.to_vec());
            switch_off(&mut bytes[list]);
        }
    }
    owned.map_or(Cow::Borrowed(bytes), Cow::Owned)
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes
        .windows(pattern.len())
        .position(|part| part == pattern)
}

/// The list of features around an index.
fn list_around(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let other = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"+-,._".contains(byte);
    let start = bytes[..at].iter().rposition(other).map_or(0, |i| i + 1);
    let end = bytes[at..].iter().position(other);
    start..end.map_or(bytes.len(), |n| at + n)
}

/// The AVX-512 features in a list.
fn avx512(list: &[u8]) -> impl Iterator<Item = &str> {
    let features = list.split(|byte| *byte == b',');
    let features = features.filter_map(|feature| std::str::from_utf8(feature).ok());
    // The length of the list, before its first feature, may look like a letter.
    let features = features.filter_map(|feature| Some(&feature[feature.find('+')? + 1..]));
    features.filter(|feature| feature.starts_with("avx512"))
}

fn switch_off(list: &mut [u8]) {
    for pattern in SWITCHED {
        while let Some(at) = find(list, pattern) {
            list[at] = b'-';
        }
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! is_supported {
    ($feature:ident, $($name:tt)*) => {
        match $feature {
            $($name => std::arch::is_x86_feature_detected!($name),)*
            _ => false,
        }
    };
}

/// Whether this processor has a feature.
#[cfg(target_arch = "x86_64")]
fn is_supported(feature: &str) -> bool {
    is_supported!(
        feature,
        "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512ifma" "avx512vbmi"
        "avx512vbmi2" "avx512vnni" "avx512bitalg" "avx512vpopcntdq" "avx512bf16" "avx512fp16"
        "avx512vp2intersect"
    )
}

#[cfg(not(target_arch = "x86_64"))]
fn is_supported(_: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_stay_as_they_are() {
        for bytes in [
            &b""[..],
            b"\x00+avx512f,+sse\x01",
            b"\x10+prefer-no-scatter",
            // No processor has this.
            b"\x00+avx512future,+prefer-no-gather\x01",
        ] {
            assert_eq!(without_preferences(bytes), bytes);
        }
    }

    #[test]
    fn preferences_are_switched_off() {
        let bytes = b"+avx512f\0\x2c+sse,+prefer-no-gather,+prefer-no-scatter,-avx10.1\0+avx512f";
        let off = without_preferences(bytes);
        let expected =
            b"+avx512f\0\x2c+sse,-prefer-no-gather,-prefer-no-scatter,-avx10.1\0+avx512f";
        assert_eq!(off, &expected[..]);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn instruction_sets_of_this_processor_are_switched_off() {
        let bytes = b"\x40+avx512bw,+avx512f,+prefer-no-gather\0";
        let off = without_preferences(bytes);
        if is_supported("avx512f") && is_supported("avx512bw") {
            assert_eq!(off, &b"\x40-avx512bw,-avx512f,-prefer-no-gather\0"[..])
        } else {
            assert_eq!(off, &bytes[..])
        }
    }
}

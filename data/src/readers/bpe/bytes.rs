//! The alphabet of byte-level tokens: a printable character for each byte.

/// Returns the character that stands for a byte.
pub(super) fn to_char(byte: u8) -> char {
    match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => byte.into(),
        // The other bytes are numbered in order from 256.
        0..=b' ' => shifted(u32::from(byte)),
        0x7f..=0xa0 => shifted(u32::from(byte) - 0x7f + 33),
        0xad => shifted(67),
    }
}

fn shifted(n: u32) -> char {
    char::from_u32(256 + n).expect("a character below 324")
}

/// Returns the byte that a character stands for, if any.
pub(super) fn of_char(c: char) -> Option<u8> {
    let n = u32::from(c);
    Some(match n {
        256..=288 => (n - 256) as u8,
        289..=322 => (n - 256 - 33 + 0x7f) as u8,
        323 => 0xad,
        _ => u8::try_from(n).ok().filter(|&byte| to_char(byte) == c)?,
    })
}

/// Returns the bytes of a token, or its text if it contains a character that stands for no byte.
pub(super) fn of_token(token: &str) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = token.chars().map(of_char).collect();
    bytes.unwrap_or_else(|| token.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_character() {
        for byte in 0..=255 {
            assert_eq!(of_char(to_char(byte)), Some(byte));
            assert!(!to_char(byte).is_control() && !to_char(byte).is_whitespace());
        }
        assert_eq!((to_char(b' '), to_char(b'\n')), ('Ġ', 'Ċ'));
        assert_eq!((of_char(' '), of_char('€')), (None, None));
        assert_eq!(of_token("Ġa€"), "Ġa€".as_bytes());
    }
}

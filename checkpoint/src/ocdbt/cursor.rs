//! Encoding and decoding of numbers in blocks.

/// Invalid data in a block: its position and a description.
#[derive(Debug)]
pub(super) struct Bad {
    pub at: usize,
    pub message: String,
}

/// Result of reading from a block.
pub(super) type Decoded<T> = Result<T, Bad>;

/// Reader of a block's bytes that never reads beyond them.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn bad<T>(&self, message: impl Into<String>) -> Decoded<T> {
        let message = message.into();
        Err(Bad {
            at: self.at,
            message,
        })
    }

    /// Reads the next `length` bytes.
    pub fn take(&mut self, length: usize) -> Decoded<&'a [u8]> {
        let room = self.remaining();
        if length > room {
            return self.bad(format!("expected {length} bytes, but {room} are left"));
        }
        let taken = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn byte(&mut self) -> Decoded<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u64_le(&mut self) -> Decoded<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads a number in groups of seven bits, the lowest first.
    pub fn varint(&mut self) -> Decoded<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        self.bad("a number is longer than 64 bits")
    }

    /// Reads a number of at most `most`.
    pub fn varint_up_to(&mut self, most: u64, what: &str) -> Decoded<u64> {
        let value = self.varint()?;
        if value > most {
            return self.bad(format!("{what} is {value}, more than {most}"));
        }
        Ok(value)
    }

    /// Reads a count of items that take at least `least` bytes each, and checks that there are
    /// enough bytes left.
    pub fn count(&mut self, most: usize, least: usize, what: &str) -> Decoded<usize> {
        let count = self.varint_up_to(most as u64, what)? as usize;
        let room = self.remaining();
        if count.saturating_mul(least) > room {
            return self.bad(format!("{what} is {count}, but {room} bytes are left"));
        }
        Ok(count)
    }

    pub fn varints(&mut self, count: usize) -> Decoded<Vec<u64>> {
        (0..count).map(|_| self.varint()).collect()
    }

    pub fn varints_up_to(&mut self, count: usize, most: usize, what: &str) -> Decoded<Vec<usize>> {
        let one = |_| Ok(self.varint_up_to(most as u64, what)? as usize);
        (0..count).map(one).collect()
    }

    /// Checks that no bytes are left.
    pub fn end(&self) -> Decoded<()> {
        match self.remaining() {
            0 => Ok(()),
            more => self.bad(format!("{more} bytes are left over")),
        }
    }
}

/// Appends a number in groups of seven bits, the lowest first.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Returns the length of the longest common prefix of `a` and `b`.
pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read_as_written() {
        let edges = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for value in edges.chain([u64::MAX]) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            let mut cursor = Cursor::new(&bytes);
            assert_eq!(cursor.varint().unwrap(), value);
            cursor.end().unwrap();
            for cut in 0..bytes.len() {
                Cursor::new(&bytes[..cut]).varint().unwrap_err();
            }
        }
        let long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        let error = Cursor::new(&long).varint().unwrap_err();
        assert_eq!(error.message, "a number is longer than 64 bits");
    }

    #[test]
    fn a_count_never_exceeds_the_bytes() {
        let error = Cursor::new(&[200, 1, 0]).count(1000, 1, "the count");
        let error = error.unwrap_err();
        assert_eq!(
            (error.at, &*error.message),
            (2, "the count is 200, but 1 bytes are left")
        );
    }
}

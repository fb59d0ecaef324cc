//! The wire format of Protocol Buffers: messages are sequences of numbered fields.

use ramie_core::files::{Message, Problem};
use std::io::{BufReader, Read, Seek};

pub(super) type Result<T> = std::result::Result<T, Problem>;

/// Value of a field.
pub(super) enum Value {
    /// A number, or the bits of a floating-point number.
    Number(u64),
    /// Bytes from the position of the reader up to this position: a string, a message or a list
    /// of numbers.
    Bytes(u64),
}

/// Reads fields at a position of a file. Bytes that the caller does not need are skipped without
/// reading them.
pub(super) struct Reader<R> {
    input: BufReader<R>,
    at: u64,
}

fn damaged(at: u64, what: &str) -> Problem {
    Problem::file(Message::new(format!("{what} at byte {at}")).help(
        "this is not an ONNX file, or it was damaged or truncated; copy or export it \
                again",
    ))
}

impl<R: Read + Seek> Reader<R> {
    /// Creates a reader at the start of a file.
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input: BufReader::new(input),
            at: 0,
        }
    }

    /// Returns the position in the file.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Calls `each` with the number and the value of every field of the message that ends at
    /// `end`.
    pub fn message(
        &mut self,
        end: u64,
        mut each: impl FnMut(&mut Self, u64, Value) -> Result<()>,
    ) -> Result<()> {
        while self.at < end {
            let start = self.at;
            let key = self.varint(end)?;
            let value = match key & 7 {
                0 => Value::Number(self.varint(end)?),
                1 => Value::Number(u64::from_le_bytes(self.array(end)?)),
                5 => Value::Number(u32::from_le_bytes(self.array(end)?).into()),
                2 => {
                    let length = self.varint(end)?;
                    let stop = self.at.checked_add(length).filter(|stop| *stop <= end);
                    let what = format!("a field of {length} bytes does not fit into its message");
                    Value::Bytes(stop.ok_or_else(|| damaged(start, &what))?)
                }
                _ => return Err(damaged(start, "a field has an unknown type")),
            };
            if key >> 3 == 0 {
                return Err(damaged(start, "a field has the number 0"));
            }
            let stop = match value {
                Value::Bytes(stop) => stop,
                Value::Number(_) => self.at,
            };
            each(self, key >> 3, value)?;
            self.skip_to(stop)?;
        }
        Ok(())
    }

    /// Reads a string that ends at `end`.
    pub fn text(&mut self, end: u64) -> Result<String> {
        let start = self.at;
        let bytes = self.bytes(end)?;
        String::from_utf8(bytes).map_err(|_| damaged(start, "a string is not UTF-8"))
    }

    /// Reads the bytes up to `end`, which is a position in the file.
    pub fn bytes(&mut self, end: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (end - self.at) as usize];
        self.input.read_exact(&mut bytes).map_err(Problem::Io)?;
        self.at = end;
        Ok(bytes)
    }

    /// Appends a number, or all numbers up to a position.
    pub fn numbers(&mut self, value: Value, to: &mut Vec<u64>) -> Result<()> {
        match value {
            Value::Number(number) => to.push(number),
            Value::Bytes(end) => {
                while self.at < end {
                    to.push(self.varint(end)?);
                }
            }
        }
        Ok(())
    }

    /// Appends the bits of a 32-bit number, or of all such numbers up to a position.
    pub fn floats(&mut self, value: Value, to: &mut Vec<f32>) -> Result<()> {
        match value {
            Value::Number(bits) => to.push(f32::from_bits(bits as u32)),
            Value::Bytes(end) => {
                while self.at < end {
                    to.push(f32::from_le_bytes(self.array(end)?));
                }
            }
        }
        Ok(())
    }

    fn varint(&mut self, end: u64) -> Result<u64> {
        let start = self.at;
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array(end)?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(damaged(start, "a number has more than ten bytes"))
    }

    fn array<const N: usize>(&mut self, end: u64) -> Result<[u8; N]> {
        if end - self.at < N as u64 {
            return Err(damaged(self.at, "a message ends within a field"));
        }
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(Problem::Io)?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn skip_to(&mut self, end: u64) -> Result<()> {
        let distance = end.cast_signed() - self.at.cast_signed();
        self.input.seek_relative(distance).map_err(Problem::Io)?;
        self.at = end;
        Ok(())
    }
}

//! The elements of constants.

use super::Attribute;
use super::floats::nearest;
use super::lexer::Token;
use super::parser::Parser;
use crate::{ElementType, Result, TensorType};

/// Returns whether elements of this type are integers with a sign.
fn is_signed(element: ElementType) -> bool {
    use ElementType::*;
    matches!(element, I2 | I4 | I8 | I16 | I32 | I64)
}

/// Returns whether elements of this type are integers or booleans.
fn is_integer(element: ElementType) -> bool {
    use ElementType::*;
    is_signed(element) || matches!(element, Bool | U2 | U4 | U8 | U16 | U32 | U64)
}

/// Converts a byte of an element of less than a byte to the one that such elements have in memory.
fn normal_byte(byte: u8, element: ElementType) -> u8 {
    let unused = 8 - element.bits() as u32;
    match element {
        ElementType::Bool => u8::from(byte != 0),
        e if is_signed(e) => ((byte << unused) as i8 >> unused) as u8,
        _ => byte << unused >> unused,
    }
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}

/// Returns the bytes of a hexadecimal string.
fn hex_bytes(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|[high, low]| Some(hex_digit(*high)? << 4 | hex_digit(*low)?))
        .collect()
}

/// Returns a constant with these elements. If they are equal, it contains one.
pub(super) fn dense(ty: TensorType, mut data: Vec<u8>) -> Attribute {
    let bytes = ty.element.bytes();
    if let Some(first) = data.get(..bytes)
        && data.chunks_exact(bytes).all(|element| element == first)
    {
        data.truncate(bytes);
        data.shrink_to_fit();
    }
    Attribute::Dense { ty, data }
}

impl<'a> Parser<'a> {
    /// Reads `dense<…> : tensor<…>`.
    pub fn dense(&mut self) -> Result<Attribute> {
        self.expect_word("dense")?;
        self.expect('<')?;
        let body = self.cursor;
        // The elements have the type behind them. None of them contains `>`.
        while !self.at('>') {
            if self.token() == Token::End {
                return self.fail("the constant has no closing `>`");
            }
            self.advance()?;
        }
        self.advance()?;
        self.expect(':')?;
        let ty = self.attribute_tensor()?;
        let end = std::mem::replace(&mut self.cursor, body);
        let data = self.dense_elements(&ty)?;
        self.expect('>')?;
        self.cursor = end;
        Ok(dense(ty, data))
    }

    fn dense_elements(&mut self, ty: &TensorType) -> Result<Vec<u8>> {
        let empty = ty.size() == Some(0);
        let mut data = Vec::new();
        match self.token() {
            Token::Text(text) => {
                data = self.raw_elements(text, ty)?;
                self.advance()?;
            }
            Token::Mark('>') if empty => {}
            Token::Mark('[') => self.rows(&ty.shape, ty.element, &mut data)?,
            _ => {
                self.literal(ty.element, &mut data)?;
                if empty {
                    data.clear();
                }
            }
        }
        Ok(data)
    }

    /// Reads nested lists of elements, one level for each axis.
    pub fn rows(
        &mut self,
        shape: &[usize],
        element: ElementType,
        data: &mut Vec<u8>,
    ) -> Result<()> {
        let [size, inner @ ..] = shape else {
            return self.literal(element, data);
        };
        self.expect('[')?;
        for i in 0..*size {
            if i > 0 {
                self.expect(',')?;
            }
            match inner {
                [] => self.literal(element, data)?,
                inner => self.nested(|p| p.rows(inner, element, data))?,
            }
        }
        self.expect(']')
    }

    /// Reads an element and appends its bytes.
    fn literal(&mut self, element: ElementType, data: &mut Vec<u8>) -> Result<()> {
        let part = match element {
            ElementType::C64 => ElementType::F32,
            ElementType::C128 => ElementType::F64,
            _ if is_integer(element) => {
                let value = self.integer_literal(element)?;
                data.extend_from_slice(&value.to_le_bytes()[..element.bytes()]);
                return Ok(());
            }
            _ => return self.float_literal(element, data),
        };
        self.expect('(')?;
        self.float_literal(part, data)?;
        self.expect(',')?;
        self.float_literal(part, data)?;
        self.expect(')')
    }

    /// Reads an integer or boolean. As in MLIR, integers with a sign also have their unsigned values.
    fn integer_literal(&mut self, element: ElementType) -> Result<i128> {
        if element == ElementType::Bool {
            for (word, value) in [("false", 0), ("true", 1)] {
                if self.accept_word(word)? {
                    return Ok(value);
                }
            }
        }
        let value = self.integer()?;
        let bits = element.bits() as u32;
        let smallest = match element {
            ElementType::Bool => -1,
            e if is_signed(e) => -(1i128 << (bits - 1)),
            _ => 0,
        };
        if value < smallest || value >= 1i128 << bits {
            return self.fail(format!("{value} is not a value of {element}"));
        }
        Ok(match bits {
            1..8 => i128::from(normal_byte(value as u8, element)),
            _ => value,
        })
    }

    /// Reads a float, or its bits as a hexadecimal number, and appends its bytes. Like MLIR, reads
    /// decimal numbers as `f64` and then rounds them.
    fn float_literal(&mut self, element: ElementType, data: &mut Vec<u8>) -> Result<()> {
        let bytes = element.bytes();
        let negative = self.accept('-')?;
        let text = match self.token() {
            Token::Integer(hex) if hex.starts_with("0x") => {
                let bits = u64::from_str_radix(&hex[2..], 16).ok();
                let fits = |b: &u64| element.bits() >= 64 || *b < 1 << element.bits();
                let Some(bits) = bits.filter(fits).filter(|_| !negative) else {
                    return self.fail(format!("{hex:.40} is not the bits of a value of {element}"));
                };
                data.extend_from_slice(&bits.to_le_bytes()[..bytes]);
                return self.advance();
            }
            Token::Integer(text) | Token::Float(text) => text,
            _ => return self.expected(&format!("a value of {element}")),
        };
        let Ok(value) = text.parse::<f64>() else {
            return self.expected(&format!("a value of {element}"));
        };
        let value = if negative { -value } else { value };
        match (element, nearest(value, element)) {
            (ElementType::F64, _) => data.extend_from_slice(&value.to_le_bytes()),
            (_, Some(bits)) => data.extend_from_slice(&bits.to_le_bytes()[..bytes]),
            (_, None) => data.extend_from_slice(&(value as f32).to_le_bytes()),
        }
        self.advance()
    }

    /// Returns the elements in a hexadecimal string of their bytes, or of one that is repeated.
    fn raw_elements(&self, text: &str, ty: &TensorType) -> Result<Vec<u8>> {
        let data = text.strip_prefix("0x").and_then(hex_bytes);
        let Some(mut data) = data else {
            return self.fail("the constant is not a hexadecimal string");
        };
        let (size, bytes) = (ty.size().unwrap_or(0), ty.element.bytes());
        if ty.element == ElementType::Bool && data.len() == size.div_ceil(8) && data.len() != size {
            // Older versions of MLIR pack booleans into bits, from the lowest to the highest.
            return Ok((0..size).map(|i| data[i / 8] >> (i % 8) & 1).collect());
        }
        if data.len() != bytes && Some(data.len()) != ty.byte_size() {
            return self.fail(format!(
                "{ty} has another size than its {} bytes",
                data.len()
            ));
        }
        if size == 0 {
            data.clear();
        }
        if ty.element.bits() < 8 {
            for byte in &mut data {
                *byte = normal_byte(*byte, ty.element);
            }
        }
        Ok(data)
    }
}

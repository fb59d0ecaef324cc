//! Values of attributes, and dictionaries of them.

use super::lexer::Token;
use super::parser::{Alias, Parser, Size};
use super::{Attribute, Attributes, Type, types};
use crate::{Dims, ElementType, Result, TensorType};
use foldhash::{HashSet, HashSetExt};

/// Replaces the escapes of a string: `\n`, `\t`, `\\`, `\"` and the two hexadecimal digits of a byte.
fn unescaped(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return Some(text.into());
    }
    let mut bytes = text.bytes();
    let mut result = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            result.push(byte);
            continue;
        }
        result.push(match bytes.next()? {
            b'n' => b'\n',
            b't' => b'\t',
            same @ (b'\\' | b'"') => same,
            high => {
                let digit = |d: u8| char::from(d).to_digit(16);
                (digit(high)? << 4 | digit(bytes.next()?)?) as u8
            }
        });
    }
    String::from_utf8(result).ok()
}

/// Returns the size of an attribute.
fn size(attribute: &Attribute) -> Size {
    match attribute {
        Attribute::List(list) => {
            let inner = list.iter().map(size);
            inner.fold(Size::of_bytes(0), Size::include)
        }
        Attribute::Dictionary(fields) | Attribute::Structure { fields, .. } => {
            let names = fields.0.iter().map(|(name, _)| name.len()).sum();
            let inner = fields.0.iter().map(|(_, value)| size(value));
            inner.fold(Size::of_bytes(names), Size::include)
        }
        Attribute::Dense { data, ty } => Size::of_bytes(data.len() + ty.shape.len()),
        Attribute::Text(text) | Attribute::Symbol(text) => Size::of_bytes(text.len()),
        Attribute::Type(ty) => types::size(ty),
        _ => Size::of_bytes(0),
    }
}

/// The type behind a number.
enum NumberType<'a> {
    Integer,
    Float(&'a str),
}

/// Returns the float with these bits.
fn float_of_bits(bits: i128, ty: &str) -> Option<f64> {
    Some(match ty {
        "f64" => f64::from_bits(bits.try_into().ok()?),
        "f32" => f32::from_bits(bits.try_into().ok()?).into(),
        "f16" => half::f16::from_bits(bits.try_into().ok()?).to_f64(),
        "bf16" => half::bf16::from_bits(bits.try_into().ok()?).to_f64(),
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// Reads the value of an attribute.
    pub fn attribute(&mut self) -> Result<Attribute> {
        match self.token() {
            Token::Mark('[') => {
                self.advance()?;
                let mut list = Vec::new();
                self.nested(|p| {
                    p.items(']', |p| {
                        list.push(p.attribute()?);
                        Ok(())
                    })
                })?;
                Ok(Attribute::List(list))
            }
            Token::Mark('{') => self.dictionary().map(Attribute::Dictionary),
            Token::Mark('(') => self.function_type_attribute(),
            Token::Mark('-') | Token::Integer(_) | Token::Float(_) => self.number(),
            Token::Text(_) => self.string().map(Attribute::Text),
            Token::Symbol(_) => self.nested_symbol().map(Attribute::Symbol),
            Token::Hash(name) => self.hash_attribute(name),
            Token::Bang(_) => self.ty().map(Attribute::Type),
            Token::Word(word) => self.word_attribute(word),
            _ => self.expected("an attribute"),
        }
    }

    fn word_attribute(&mut self, word: &str) -> Result<Attribute> {
        match word {
            "true" | "false" => self.advance().map(|()| Attribute::Bool(word == "true")),
            "unit" => self.advance().map(|()| Attribute::Unit),
            "dense" => self.dense(),
            "array" => self.array(),
            "tensor" => self
                .attribute_tensor()
                .map(|t| Attribute::Type(Type::Tensor(t))),
            "tuple" => self.ty().map(Attribute::Type),
            "loc" => self.skip_location().map(|()| Attribute::Unit),
            "dense_resource" | "sparse" | "opaque" | "affine_map" | "affine_set" | "distinct"
            | "strided" | "memref" | "vector" => {
                self.unsupported(format!("attributes `{word}` are not supported"))
            }
            _ if word == "complex" || ElementType::named(word).is_some() => {
                let (shape, element) = (Dims::new(), self.element()?);
                Ok(Attribute::Type(Type::Tensor(TensorType { shape, element })))
            }
            _ => self.expected("an attribute"),
        }
    }

    /// Reads `array<i64: 1, 2>` as a list.
    fn array(&mut self) -> Result<Attribute> {
        self.expect_word("array")?;
        self.expect('<')?;
        let element = self.element()?;
        let mut list = Vec::new();
        if self.accept('>')? {
            return Ok(Attribute::List(list));
        }
        self.expect(':')?;
        self.items('>', |p| {
            list.push(match p.token() {
                Token::Word(word @ ("true" | "false")) => p.word_attribute(word)?,
                Token::Mark('-') | Token::Integer(_) | Token::Float(_) => p.number()?,
                _ => return p.expected(&format!("a value of {element}")),
            });
            Ok(())
        })?;
        Ok(Attribute::List(list))
    }

    /// Reads a number, and the type behind it if there is one.
    fn number(&mut self) -> Result<Attribute> {
        let before = self.cursor;
        let sign = if self.accept('-')? { -1.0 } else { 1.0 };
        if let Token::Float(text) = self.token() {
            let Ok(value) = text.parse::<f64>() else {
                return self.expected("a number");
            };
            self.advance()?;
            self.number_type()?;
            return Ok(Attribute::Float(sign * value));
        }
        let is_hex = matches!(self.token(), Token::Integer(t) if t.starts_with("0x"));
        self.cursor = before;
        let value = self.integer()?;
        match self.number_type()? {
            Some(NumberType::Float(ty)) if is_hex => match float_of_bits(value, ty) {
                Some(float) => Ok(Attribute::Float(float)),
                None => self.fail(format!(
                    "the hexadecimal number is not the bits of {ty:.40}"
                )),
            },
            Some(NumberType::Float(_)) => Ok(Attribute::Float(value as f64)),
            _ => Ok(Attribute::Integer(value)),
        }
    }

    fn number_type(&mut self) -> Result<Option<NumberType<'a>>> {
        if !self.accept(':')? {
            return Ok(None);
        }
        let word = self.word()?;
        let digits = word.trim_start_matches(['s', 'u']).strip_prefix('i');
        match word {
            "index" => Ok(Some(NumberType::Integer)),
            _ if digits.is_some_and(|d| d.parse::<u16>().is_ok()) => Ok(Some(NumberType::Integer)),
            _ if word == "tf32" || ElementType::named(word).is_some() => {
                Ok(Some(NumberType::Float(word)))
            }
            _ => self.fail(format!("unknown type `{word:.40}` of a number")),
        }
    }

    /// Reads a string.
    pub fn string(&mut self) -> Result<String> {
        let Token::Text(text) = self.token() else {
            return self.expected("a string");
        };
        let Some(text) = unescaped(text) else {
            return self.unsupported("the string is not UTF-8 or has an unknown escape");
        };
        self.advance()?;
        Ok(text)
    }

    /// Reads `@name` or `@"name"`.
    pub fn symbol(&mut self) -> Result<String> {
        let Token::Symbol(raw) = self.token() else {
            return self.expected("a name with `@`");
        };
        let name = match raw.strip_prefix('"') {
            Some(quoted) => unescaped(quoted),
            None => Some(raw.into()),
        };
        let Some(name) = name else {
            return self.fail("the name is not UTF-8 or has an unknown escape");
        };
        self.advance()?;
        Ok(name)
    }

    /// Reads `@name`, or `@outer::@inner`, whose parts the result separates by `::`.
    fn nested_symbol(&mut self) -> Result<String> {
        let mut name = self.symbol()?;
        loop {
            let before = self.cursor;
            if !(self.accept(':')? && self.accept(':')? && matches!(self.token(), Token::Symbol(_)))
            {
                self.cursor = before;
                return Ok(name);
            }
            name.push_str("::");
            name.push_str(&self.symbol()?);
        }
    }

    /// Reads `{name = value, …}`.
    pub fn dictionary(&mut self) -> Result<Attributes> {
        self.expect('{')?;
        let mut entries = Vec::new();
        self.nested(|p| {
            p.items('}', |p| {
                let name = match p.token() {
                    Token::Word(word) => p.advance().map(|()| word.to_string())?,
                    Token::Text(_) => p.string()?,
                    _ => return p.expected("the name of an attribute"),
                };
                let value = if p.accept('=')? {
                    p.attribute()?
                } else {
                    Attribute::Unit
                };
                entries.push((name, value));
                Ok(())
            })
        })?;
        self.unique(&entries)?;
        Ok(Attributes(entries))
    }

    /// Reads a dictionary, if there is one, and appends its entries.
    pub fn optional_dictionary(&mut self, attributes: &mut Attributes) -> Result<()> {
        if self.at('{') {
            let more = self.dictionary()?;
            if attributes.0.is_empty() {
                *attributes = more;
            } else {
                attributes.0.extend(more.0);
                self.unique(&attributes.0)?;
            }
        }
        Ok(())
    }

    /// Fails if two attributes have the same name.
    pub fn unique(&self, attributes: &[(String, Attribute)]) -> Result<()> {
        let twice = match attributes {
            [] | [_] => None,
            [(a, _), (b, _)] => (a == b).then_some(a),
            _ => {
                let mut seen = HashSet::with_capacity(attributes.len());
                let mut names = attributes.iter().map(|(name, _)| name);
                names.find(|name| !seen.insert(*name))
            }
        };
        match twice {
            Some(name) => self.fail(format!("the attribute `{name:.100}` is given twice")),
            None => Ok(()),
        }
    }

    /// Returns a copy of the attribute with the alias `#name`.
    pub fn alias(&mut self, name: &str) -> Result<Attribute> {
        let Some(size) = self.attributes.get(name).map(|alias| alias.size) else {
            return self.fail(format!("unknown attribute `#{name:.100}`"));
        };
        self.count_copy(size)?;
        match self.attributes.get(name) {
            Some(alias) => Ok(alias.value.clone()),
            None => self.expected("an attribute"),
        }
    }

    /// Reads the definition of the alias `#name`, behind its `=`.
    pub fn define_alias(&mut self, name: &'a str) -> Result<()> {
        if self.at_word("loc") {
            return self.skip_location();
        }
        let value = self.attribute()?;
        let size = size(&value);
        match self.attributes.insert(name, Alias { value, size }) {
            Some(_) => self.fail(format!("the alias `#{name:.100}` is defined twice")),
            None => Ok(()),
        }
    }

    /// Reads the definition of the alias `!name`, behind its `=`.
    pub fn define_type_alias(&mut self, name: &'a str) -> Result<()> {
        let value = self.ty()?;
        let size = types::size(&value);
        match self.types.insert(name, Alias { value, size }) {
            Some(_) => self.fail(format!("the alias `!{name:.100}` is defined twice")),
            None => Ok(()),
        }
    }
}

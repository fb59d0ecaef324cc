//! The pretty forms of operations.

mod control;
mod forms;
mod numbers;
mod shardy;
mod signature;

use super::lexer::Token;
use super::operation::Parts;
use super::parser::Parser;
use super::{Attribute, Attributes, Type};
use crate::{Error, Result};
use forms::form;
use signature::Signature;

/// A part of the pretty form of an operation.
#[derive(Clone, Copy)]
enum Piece {
    /// `%a`.
    Operand,
    /// `%a, %b, …`, or none.
    Operands,
    /// `%a, %b, …`, or `()`.
    BarrierOperands,
    /// `%a, %b, …,`: each with a comma behind it.
    OperandsWithCommas,
    /// Punctuation.
    Mark(char),
    /// The value of the attribute of this name.
    Value(Kind, &'static str),
    /// `keyword = value`, for the attribute of the name behind it.
    Field(&'static str, Kind, &'static str),
    /// `, keyword = value`, or nothing.
    OptionalField(&'static str, Kind, &'static str),
    /// `, WORD`, or nothing.
    OptionalWord(&'static str),
    /// `{name = value, …}`, or nothing. All forms have this before their types.
    Dictionary,
    /// `[0:3, 1:9:2]`.
    Slices,
    /// `batching_dims = [0] x [0], contracting_dims = [1] x [1]`.
    DotDimensions,
    /// `, precision = [DEFAULT, DEFAULT], algorithm = <…>`, or less.
    Precision,
    /// `e5m10`.
    Format,
    /// `[b, 0, f]x[0, i, o]->[b, 0, f]`.
    ConvDimensions,
    /// `stride = [1], pad = [[0, 0]], …`.
    Window,
}

/// The kind of an attribute's value.
#[derive(Clone, Copy)]
enum Kind {
    Integer,
    Integers,
    Bool,
    Text,
    /// `@name`.
    Symbol,
    /// `@name`, as a string.
    SymbolText,
    /// A word of an enumeration.
    Word,
}

impl<'a> Parser<'a> {
    /// Reads what follows the name of an operation in its pretty form.
    pub fn pretty(&mut self, name: &str) -> Result<Parts> {
        match name {
            "stablehlo.constant" | "chlo.constant" => self.constant(),
            "stablehlo.while" => self.while_loop(),
            "stablehlo.reduce" => self.reduce(),
            "chlo.scan" => self.scan(),
            "sdy.sharding_constraint" => self.sharding_constraint(),
            "sdy.manual_computation" => self.manual_computation(),
            _ => {
                let Some((pieces, signature)) = form(name) else {
                    return self.unsupported("the pretty form of this operation is unknown");
                };
                self.formed(pieces, signature)
            }
        }
    }

    fn formed(&mut self, pieces: &[Piece], signature: Signature) -> Result<Parts> {
        let mut parts = Parts::default();
        for piece in pieces {
            self.piece(*piece, &mut parts)?;
        }
        self.optional_dictionary(&mut parts.attributes)?;
        self.unique(&parts.attributes.0)?;
        self.signature(signature, &mut parts)?;
        Ok(parts)
    }

    fn piece(&mut self, piece: Piece, parts: &mut Parts) -> Result<()> {
        let attributes = &mut parts.attributes;
        match piece {
            Piece::Operand => parts.operands.push(self.operand()?),
            Piece::Operands => self.operands(&mut parts.operands)?,
            Piece::BarrierOperands => self.barrier_operands(parts)?,
            Piece::OperandsWithCommas => {
                while let Token::Value(_) = self.token() {
                    parts.operands.push(self.operand()?);
                    self.expect(',')?;
                }
            }
            Piece::Mark(mark) => self.expect(mark)?,
            Piece::Value(kind, name) => self.value(kind, name, attributes)?,
            Piece::Field(keyword, kind, name) => self.field(keyword, kind, name, attributes)?,
            Piece::OptionalField(keyword, kind, name) => {
                if self.accept(',')? {
                    self.field(keyword, kind, name, attributes)?;
                }
            }
            Piece::OptionalWord(name) => {
                if self.accept(',')? {
                    self.value(Kind::Word, name, attributes)?;
                }
            }
            Piece::Dictionary => self.optional_dictionary(attributes)?,
            Piece::Slices => self.slices(attributes)?,
            Piece::DotDimensions => self.dot_dimensions(attributes)?,
            Piece::Precision => self.precision(attributes)?,
            Piece::Format => self.format(attributes)?,
            Piece::ConvDimensions => {
                self.expect_word("dim_numbers")?;
                self.expect('=')?;
                let dimensions = self.conv_dimensions()?;
                attributes.0.push(("dimension_numbers".into(), dimensions));
            }
            Piece::Window => self.window(attributes)?,
        }
        Ok(())
    }

    /// Reads values separated by commas, or none.
    fn operands(&mut self, operands: &mut Vec<super::ValueId>) -> Result<()> {
        let Token::Value(_) = self.token() else {
            return Ok(());
        };
        operands.push(self.operand()?);
        while self.accept(',')? {
            operands.push(self.operand()?);
        }
        Ok(())
    }

    fn field(
        &mut self,
        keyword: &str,
        kind: Kind,
        name: &str,
        attributes: &mut Attributes,
    ) -> Result<()> {
        self.expect_word(keyword)?;
        self.expect('=')?;
        self.value(kind, name, attributes)
    }

    fn value(&mut self, kind: Kind, name: &str, attributes: &mut Attributes) -> Result<()> {
        let value = match kind {
            Kind::Integer => Attribute::Integer(self.integer()?),
            Kind::Integers => Attribute::List(self.integers()?),
            Kind::Bool if self.at_word("true") || self.at_word("false") => self.attribute()?,
            Kind::Bool => return self.expected("`true` or `false`"),
            Kind::Text => Attribute::Text(self.string()?),
            Kind::Symbol => Attribute::Symbol(self.symbol()?),
            Kind::SymbolText => Attribute::Text(self.symbol()?),
            Kind::Word => Attribute::Word(self.word()?.into()),
        };
        attributes.0.push((name.into(), value));
        Ok(())
    }

    /// Reads a constant, whose type is that of its value.
    fn constant(&mut self) -> Result<Parts> {
        if self.at('(') {
            return self.generic();
        }
        let mut parts = Parts::default();
        self.piece(Piece::Dictionary, &mut parts)?;
        let line = self.cursor.line;
        let value = self.attribute()?;
        let Attribute::Dense { ty, .. } = &value else {
            let message = format!(
                "{:.100}: the value is not a constant of elements",
                self.operation
            );
            return Err(Error::Text { line, message });
        };
        parts.results.push(Type::Tensor(ty.clone()));
        parts.attributes.0.push(("value".into(), value));
        self.unique(&parts.attributes.0)?;
        Ok(parts)
    }
}

//! Attributes that only the pretty form writes in their own syntax: slices, products, windows and
//! formats of floats.

use crate::text::elements::dense;
use crate::text::lexer::Token;
use crate::text::parser::Parser;
use crate::text::{Attribute, Attributes};
use crate::{Dims, ElementType, Result, TensorType};

impl<'a> Parser<'a> {
    /// Reads `[start:limit:stride, …]`. Strides of 1 may be omitted.
    pub(super) fn slices(&mut self, attributes: &mut Attributes) -> Result<()> {
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        self.expect('[')?;
        self.items(']', |p| {
            starts.push(Attribute::Integer(p.integer()?));
            p.expect(':')?;
            limits.push(Attribute::Integer(p.integer()?));
            let stride = if p.accept(':')? { p.integer()? } else { 1 };
            strides.push(Attribute::Integer(stride));
            Ok(())
        })?;
        let lists = [starts, limits, strides].map(Attribute::List);
        let names = ["start_indices", "limit_indices", "strides"];
        (attributes.0).extend(names.map(String::from).into_iter().zip(lists));
        Ok(())
    }

    /// Reads `batching_dims = [0] x [0], contracting_dims = [2] x [1]`.
    pub(super) fn dot_dimensions(&mut self, attributes: &mut Attributes) -> Result<()> {
        let mut fields = Vec::new();
        if self.at_word("batching_dims") {
            self.pair("batching", &mut fields)?;
            self.expect(',')?;
        }
        self.pair("contracting", &mut fields)?;
        let numbers = self.structure("dot", fields)?;
        attributes.0.push(("dot_dimension_numbers".into(), numbers));
        Ok(())
    }

    /// Reads `batching_dims = [0] x [0]` or `contracting_dims = [0] x [0]`.
    fn pair(&mut self, kind: &str, fields: &mut Vec<(String, Attribute)>) -> Result<()> {
        self.expect_word(&format!("{kind}_dims"))?;
        self.expect('=')?;
        let left = self.integers()?;
        self.expect_word("x")?;
        let right = self.integers()?;
        for (side, list) in [("lhs", left), ("rhs", right)] {
            fields.push((format!("{side}_{kind}_dimensions"), Attribute::List(list)));
        }
        Ok(())
    }

    /// Reads `, precision = [DEFAULT, DEFAULT]` and `, algorithm = <…>`, both optional.
    pub(super) fn precision(&mut self, attributes: &mut Attributes) -> Result<()> {
        if !self.accept(',')? {
            return Ok(());
        }
        if self.accept_word("precision")? {
            self.expect('=')?;
            let mut list = Vec::new();
            self.expect('[')?;
            self.items(']', |p| {
                list.push(Attribute::Word(p.word()?.into()));
                Ok(())
            })?;
            (attributes.0).push(("precision_config".into(), Attribute::List(list)));
            if !self.accept(',')? {
                return Ok(());
            }
        }
        self.expect_word("algorithm")?;
        self.expect('=')?;
        self.expect('<')?;
        let algorithm = self.structure_body("dot_algorithm")?;
        attributes.0.push(("algorithm".into(), algorithm));
        Ok(())
    }

    /// Reads `format = e5m10`, the numbers of bits of exponent and mantissa.
    pub(super) fn format(&mut self, attributes: &mut Attributes) -> Result<()> {
        self.expect_word("format")?;
        self.expect('=')?;
        let bits = match self.token() {
            Token::Word(word) => (word.strip_prefix('e')).and_then(|w| w.split_once('m')),
            _ => None,
        };
        let bits = bits.and_then(|(e, m)| Some((e.parse::<u16>().ok()?, m.parse::<u16>().ok()?)));
        let Some((exponent, mantissa)) = bits else {
            return self.expected("a format such as `e5m10`");
        };
        for (name, bits) in [("exponent_bits", exponent), ("mantissa_bits", mantissa)] {
            (attributes.0).push((name.into(), Attribute::Integer(bits.into())));
        }
        self.advance()
    }

    /// Reads `window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1],
    /// reverse = [false]}`, each of them optional.
    pub(super) fn window(&mut self, attributes: &mut Attributes) -> Result<()> {
        self.expect_word("window")?;
        self.expect('=')?;
        self.expect('{')?;
        self.items('}', |p| {
            let word = p.word()?;
            p.expect('=')?;
            let (name, value) = match word {
                "stride" => ("window_strides", Attribute::List(p.integers()?)),
                "pad" => ("padding", p.window_padding()?),
                "lhs_dilate" => ("lhs_dilation", Attribute::List(p.integers()?)),
                "rhs_dilate" => ("rhs_dilation", Attribute::List(p.integers()?)),
                "reverse" => ("window_reversal", p.window_reversal()?),
                _ => return p.fail(format!("a window has no `{word:.40}`")),
            };
            attributes.0.push((name.into(), value));
            Ok(())
        })
    }

    /// Reads `[[0, 1], …]` as the constant that the generic form has.
    fn window_padding(&mut self) -> Result<Attribute> {
        let mut data = Vec::new();
        let mut rows = 0;
        self.expect('[')?;
        self.items(']', |p| {
            p.rows(&[2], ElementType::I64, &mut data)?;
            rows += 1;
            Ok(())
        })?;
        let ty = TensorType {
            shape: Dims::from_slice(&[rows, 2]),
            element: ElementType::I64,
        };
        Ok(dense(ty, data))
    }

    /// Reads booleans, which may be written as numbers.
    fn window_reversal(&mut self) -> Result<Attribute> {
        let mut list = Vec::new();
        self.expect('[')?;
        self.items(']', |p| {
            let value = match p.token() {
                Token::Word("true") => p.advance().map(|()| true)?,
                Token::Word("false") => p.advance().map(|()| false)?,
                _ => p.integer()? != 0,
            };
            list.push(Attribute::Bool(value));
            Ok(())
        })?;
        Ok(Attribute::List(list))
    }
}

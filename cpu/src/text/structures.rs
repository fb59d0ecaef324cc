//! Attributes of dialects: words of enumerations and structures with fields.

use super::lexer::Token;
use super::parser::Parser;
use super::{Attribute, Attributes};
use crate::Result;

/// A field that a structure has if the text omits it.
#[derive(Clone, Copy)]
enum Omitted {
    Zero,
    Empty,
}

use Omitted::{Empty, Zero};

/// Returns the fields of a structure in their order, with their values where the text has none.
fn known_fields(structure: &str) -> Option<&'static [(&'static str, Omitted)]> {
    Some(match structure {
        "dot" => &[
            ("lhs_batching_dimensions", Empty),
            ("rhs_batching_dimensions", Empty),
            ("lhs_contracting_dimensions", Empty),
            ("rhs_contracting_dimensions", Empty),
        ],
        "ragged_dot" => &[
            ("lhs_batching_dimensions", Empty),
            ("rhs_batching_dimensions", Empty),
            ("lhs_contracting_dimensions", Empty),
            ("rhs_contracting_dimensions", Empty),
            ("lhs_ragged_dimensions", Empty),
            ("rhs_group_dimensions", Empty),
        ],
        "gather" => &[
            ("offset_dims", Empty),
            ("collapsed_slice_dims", Empty),
            ("operand_batching_dims", Empty),
            ("start_indices_batching_dims", Empty),
            ("start_index_map", Empty),
            ("index_vector_dim", Zero),
        ],
        "scatter" => &[
            ("update_window_dims", Empty),
            ("inserted_window_dims", Empty),
            ("input_batching_dims", Empty),
            ("scatter_indices_batching_dims", Empty),
            ("scatter_dims_to_operand_dims", Empty),
            ("index_vector_dim", Zero),
        ],
        "conv" => &[
            ("input_batch_dimension", Zero),
            ("input_feature_dimension", Zero),
            ("input_spatial_dimensions", Empty),
            ("kernel_input_feature_dimension", Zero),
            ("kernel_output_feature_dimension", Zero),
            ("kernel_spatial_dimensions", Empty),
            ("output_batch_dimension", Zero),
            ("output_feature_dimension", Zero),
            ("output_spatial_dimensions", Empty),
        ],
        _ => return None,
    })
}

/// Returns a structure whose only field, `text`, is the text in its brackets.
pub(super) fn text_structure(name: &str, text: &str) -> Attribute {
    Attribute::Structure {
        name: name.into(),
        fields: Attributes(vec![("text".into(), Attribute::Text(text.into()))]),
    }
}

impl<'a> Parser<'a> {
    /// Reads `#alias`, `#stablehlo<precision HIGHEST>`, `#stablehlo.gather<…>` and the like.
    pub fn hash_attribute(&mut self, name: &'a str) -> Result<Attribute> {
        self.advance()?;
        if !self.at('<') {
            return self.alias(name);
        }
        let (dialect, structure) = name.split_once('.').unwrap_or((name, ""));
        if !matches!(dialect, "stablehlo" | "chlo" | "mhlo") {
            return self.opaque(name);
        }
        self.advance()?;
        if !structure.is_empty() {
            return self.structure_body(structure);
        }
        let structure = self.word()?;
        if let Token::Word(word) = self.token() {
            self.advance()?;
            self.expect('>')?;
            return Ok(Attribute::Word(word.into()));
        }
        self.expect('<')?;
        let body = self.structure_body(structure)?;
        self.expect('>')?;
        Ok(body)
    }

    /// Reads a word or the fields of a structure, and `>`.
    pub fn structure_body(&mut self, name: &str) -> Result<Attribute> {
        if name == "conv" && self.at('[') {
            let structure = self.conv_dimensions()?;
            self.expect('>')?;
            return Ok(structure);
        }
        if name == "conv" {
            self.accept_word("raw")?;
        }
        let mut fields = Vec::new();
        self.nested(|p| {
            if p.accept('>')? {
                return Ok(());
            }
            loop {
                let field = p.word()?;
                if fields.is_empty() && p.accept('>')? {
                    fields.push((String::new(), Attribute::Word(field.into())));
                    return Ok(());
                }
                p.expect('=')?;
                fields.push((field.to_string(), p.field_value()?));
                if p.accept('>')? {
                    return Ok(());
                }
                p.expect(',')?;
                // StableHLO permits a comma behind the last field.
                if p.accept('>')? {
                    return Ok(());
                }
            }
        })?;
        match fields.as_slice() {
            [(empty, Attribute::Word(word))] if empty.is_empty() => {
                Ok(Attribute::Word(word.clone()))
            }
            _ => self.structure(name, fields),
        }
    }

    /// Reads the value of a field, which may be a word, such as `tf32`.
    fn field_value(&mut self) -> Result<Attribute> {
        match self.token() {
            Token::Word(word) if word == "tf32" || word.bytes().all(|b| b.is_ascii_uppercase()) => {
                self.advance().map(|()| Attribute::Word(word.into()))
            }
            _ => self.attribute(),
        }
    }

    /// Returns a structure with these fields. Known structures get the fields that are missing.
    pub fn structure(&self, name: &str, fields: Vec<(String, Attribute)>) -> Result<Attribute> {
        self.unique(&fields)?;
        let mut fields = Attributes(fields);
        if let Some(known) = known_fields(name) {
            for (field, _) in &fields.0 {
                if !known.iter().any(|(name, _)| name == field) {
                    return self.fail(format!("`{name}` has no field `{field:.100}`"));
                }
            }
            let value = |(field, default): &(&str, Omitted)| {
                let value = match (fields.get(field), default) {
                    (Some(value), _) => value.clone(),
                    (None, Zero) => Attribute::Integer(0),
                    (None, Empty) => Attribute::List(Vec::new()),
                };
                ((*field).to_string(), value)
            };
            fields = Attributes(known.iter().map(value).collect());
        }
        Ok(Attribute::Structure {
            name: name.into(),
            fields,
        })
    }

    /// Reads the attribute of another dialect as a structure with its text.
    fn opaque(&mut self, name: &str) -> Result<Attribute> {
        let text = self.bracketed('<', '>')?;
        if name.contains('.') {
            return Ok(text_structure(name, text));
        }
        // `#sdy<manual_axes{"x"}>` is `#sdy.manual_axes` with the text behind the word.
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let rest = text.trim_start_matches(is_word);
        let word = &text[..text.len() - rest.len()];
        Ok(text_structure(&format!("{name}.{word}"), rest))
    }

    /// Reads `<…>` and returns the text between the brackets. `open` and `close` may be other brackets.
    pub fn bracketed(&mut self, open: char, close: char) -> Result<&'a str> {
        self.expect(open)?;
        let start = self.cursor.start;
        let mut depth = 1usize;
        loop {
            match self.token() {
                Token::Mark(mark) if mark == open => depth += 1,
                Token::Mark(mark) if mark == close => depth -= 1,
                Token::End => return self.fail(format!("the attribute has no closing `{close}`")),
                _ => {}
            }
            let end = self.cursor.start;
            self.advance()?;
            if depth == 0 {
                return Ok(self.cursor.lexer.between(start, end).trim());
            }
        }
    }

    /// Reads `[b, 0, f]x[0, i, o]->[b, 0, f]`, the dimension numbers of a convolution.
    pub fn conv_dimensions(&mut self) -> Result<Attribute> {
        let input = self.conv_layout("b", "f")?;
        self.expect_word("x")?;
        let kernel = self.conv_layout("i", "o")?;
        self.expect_arrow()?;
        let output = self.conv_layout("b", "f")?;
        let values = input.into_iter().chain(kernel).chain(output);
        let names = known_fields("conv").unwrap_or_default().iter();
        let fields = names.map(|(n, _)| (*n).to_string()).zip(values);
        self.structure("conv", fields.collect())
    }

    /// Reads the axes of one array of a convolution. Returns the two named axes and the list of the
    /// numbered ones.
    fn conv_layout(&mut self, first: &str, second: &str) -> Result<[Attribute; 3]> {
        let (mut a, mut b) = (None, None);
        let mut spatial: Vec<(i128, i128)> = Vec::new();
        let mut axis = 0;
        self.expect('[')?;
        self.items(']', |p| {
            match p.token() {
                Token::Word(word) if word == first && a.is_none() => a = Some(axis),
                Token::Word(word) if word == second && b.is_none() => b = Some(axis),
                Token::Integer(_) => {
                    spatial.push((p.integer()?, axis));
                    axis += 1;
                    return Ok(());
                }
                _ => {
                    return p.expected(&format!(
                        "`{first}`, `{second}` or a spatial axis, each once"
                    ));
                }
            }
            axis += 1;
            p.advance()
        })?;
        let (Some(a), Some(b)) = (a, b) else {
            return self.fail(format!(
                "the axes of a convolution lack `{first}` or `{second}`"
            ));
        };
        spatial.sort_unstable();
        if (0..).zip(&spatial).any(|(i, (number, _))| i != *number) {
            return self.fail("the spatial axes of a convolution are not numbered 0, 1, …");
        }
        let spatial = spatial.iter().map(|(_, axis)| Attribute::Integer(*axis));
        Ok([
            Attribute::Integer(a),
            Attribute::Integer(b),
            Attribute::List(spatial.collect()),
        ])
    }
}

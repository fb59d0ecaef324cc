//! The pretty forms of Shardy's operations. Their shardings are kept as text.

use crate::Result;
use crate::text::operation::{Arguments, Parts};
use crate::text::parser::Parser;
use crate::text::structures::text_structure;

impl<'a> Parser<'a> {
    /// Reads `%a <@mesh, [{"x"}, {}]> : tensor<…>`.
    pub(super) fn sharding_constraint(&mut self) -> Result<Parts> {
        let mut parts = Parts::default();
        parts.operands.push(self.operand()?);
        let sharding = text_structure("sdy.sharding", self.bracketed('<', '>')?);
        parts.attributes.0.push(("sharding".into(), sharding));
        self.optional_dictionary(&mut parts.attributes)?;
        self.expect(':')?;
        let ty = self.ty()?;
        parts.operand_types.push(ty.clone());
        parts.results.push(ty);
        Ok(parts)
    }

    /// Reads `(%a) in_shardings=[<…>] out_shardings=[<…>] manual_axes={"x"} (%b: tensor<…>) {…} :
    /// type`.
    pub(super) fn manual_computation(&mut self) -> Result<Parts> {
        let mut parts = Parts::default();
        self.expect('(')?;
        self.items(')', |p| {
            parts.operands.push(p.operand()?);
            Ok(())
        })?;
        for (name, structure, [open, close]) in [
            ("in_shardings", "sdy.sharding_per_value", ['[', ']']),
            ("out_shardings", "sdy.sharding_per_value", ['[', ']']),
            ("manual_axes", "sdy.manual_axes", ['{', '}']),
        ] {
            self.expect_word(name)?;
            self.expect('=')?;
            let text = format!("{open}{}{close}", self.bracketed(open, close)?);
            let value = text_structure(structure, &text);
            parts.attributes.0.push((name.into(), value));
        }
        let mut arguments = Arguments::new();
        self.expect('(')?;
        self.items(')', |p| {
            arguments.push(p.argument()?);
            Ok(())
        })?;
        parts.regions.push(self.region(Some(&arguments))?);
        self.optional_dictionary(&mut parts.attributes)?;
        self.expect(':')?;
        (parts.operand_types, parts.results) = self.function_type()?;
        Ok(parts)
    }
}

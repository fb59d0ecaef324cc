//! The types behind the pretty form of an operation.

use crate::text::Type;
use crate::text::lexer::Token;
use crate::text::operation::Parts;
use crate::text::parser::Parser;
use crate::{ElementType, Result};

/// The form of the types of operands and results.
#[derive(Clone, Copy)]
pub(super) enum Signature {
    /// One type for all operands and the result, or a function type.
    Same,
    /// `(tensor<…>, …) -> tensor<…>`.
    Function,
    /// The types of the condition and of the result, or a function type.
    Select,
    /// The complex type of the result, or a function type.
    Complex,
    /// The tuple type of the result.
    Tuple,
    /// The types of the operands, which are those of the results; `()` without operands.
    Pairwise,
    /// The types of the operands, if there are any. There are no results.
    Terminator,
    /// The types of the results. There are no operands.
    Results,
    /// `tensor<…>, tensor<…> -> tensor<…>`.
    Arrow,
}

impl<'a> Parser<'a> {
    /// Reads the types of an operation.
    pub(super) fn signature(&mut self, signature: Signature, parts: &mut Parts) -> Result<()> {
        let count = parts.operands.len();
        let no_types = match signature {
            Signature::Pairwise | Signature::Terminator => count == 0,
            _ => false,
        };
        if no_types {
            return Ok(());
        }
        self.expect(':')?;
        let may_be_function = match signature {
            Signature::Function => true,
            Signature::Same | Signature::Select | Signature::Complex => self.at('('),
            _ => false,
        };
        if may_be_function {
            (parts.operand_types, parts.results) = self.function_type()?;
            return Ok(());
        }
        let types = self.types()?;
        match (signature, types.as_slice()) {
            // Many copies of a long type would need memory that is quadratic in the length of the text.
            (Signature::Same, [ty]) if count <= 3 || *ty == Type::Token => {
                parts.operand_types = vec![ty.clone(); count];
                parts.results = types;
            }
            (Signature::Select, [condition, ty]) => {
                parts.operand_types = vec![condition.clone(), ty.clone(), ty.clone()];
                parts.results.push(ty.clone());
            }
            (Signature::Complex, [ty]) => {
                let Some(part) = part(ty) else {
                    return self.fail("expected a complex type before this");
                };
                parts.operand_types = vec![part; count];
                parts.results = types;
            }
            (Signature::Tuple, [Type::Tuple(members)]) => {
                parts.operand_types = members.clone();
                parts.results = types;
            }
            (Signature::Pairwise, _) => {
                parts.operand_types = types.clone();
                parts.results = types;
            }
            (Signature::Terminator, _) => parts.operand_types = types,
            (Signature::Results, _) => parts.results = types,
            (Signature::Arrow, _) => {
                self.expect_arrow()?;
                parts.operand_types = types;
                parts.results = self.result_types()?;
            }
            _ => return self.fail("the operation has another number of types"),
        }
        Ok(())
    }

    /// Reads the operands of a barrier, or the `()` of a barrier without any.
    pub(super) fn barrier_operands(&mut self, parts: &mut Parts) -> Result<()> {
        if let Token::Value(_) = self.token() {
            return self.operands(&mut parts.operands);
        }
        self.expect('(')?;
        self.expect(')')
    }
}

/// Returns the type of the real part of a complex tensor.
fn part(ty: &Type) -> Option<Type> {
    let Type::Tensor(tensor) = ty else {
        return None;
    };
    let mut tensor = tensor.clone();
    tensor.element = match tensor.element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        _ => return None,
    };
    Some(Type::Tensor(tensor))
}

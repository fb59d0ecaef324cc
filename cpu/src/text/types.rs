//! Types: tensors, tokens, tuples and functions.

use super::lexer::Token;
use super::parser::{Parser, Size};
use super::{Attribute, Attributes, Type};
use crate::{Dims, ElementType, Result, TensorType};

impl<'a> Parser<'a> {
    /// Reads a type.
    pub fn ty(&mut self) -> Result<Type> {
        match self.token() {
            Token::Word("tensor") => self.tensor().map(Type::Tensor),
            Token::Word("tuple") => {
                self.advance()?;
                self.expect('<')?;
                let mut members = Vec::new();
                self.nested(|p| {
                    p.items('>', |p| {
                        members.push(p.ty()?);
                        Ok(())
                    })
                })?;
                Ok(Type::Tuple(members))
            }
            Token::Bang("stablehlo.token" | "mhlo.token") => self.advance().map(|()| Type::Token),
            Token::Bang(name) => {
                let Some(size) = self.types.get(name).map(|alias| alias.size) else {
                    return self.fail(format!("unknown type `!{name:.100}`"));
                };
                self.count_copy(size)?;
                self.advance()?;
                match self.types.get(name) {
                    Some(alias) => Ok(alias.value.clone()),
                    None => self.expected("a type"),
                }
            }
            _ => self.expected("a type"),
        }
    }

    /// Reads the type of a tensor.
    pub fn tensor(&mut self) -> Result<TensorType> {
        self.tensor_of(Self::element)
    }

    /// Reads the type of the tensor of an attribute, whose elements may have the type `index`.
    pub fn attribute_tensor(&mut self) -> Result<TensorType> {
        self.tensor_of(|p| {
            if p.accept_word("index")? {
                Ok(ElementType::I64)
            } else {
                p.element()
            }
        })
    }

    fn tensor_of(
        &mut self,
        element: impl FnOnce(&mut Self) -> Result<ElementType>,
    ) -> Result<TensorType> {
        if let Token::Bang(name) = self.token() {
            return match self.ty()? {
                Type::Tensor(tensor) => Ok(tensor),
                _ => self.fail(format!("`!{name:.100}` is not the type of a tensor")),
            };
        }
        self.expect_word("tensor")?;
        if !self.at('<') {
            return self.expected("`<`");
        }
        let mut shape = Dims::new();
        while let Some(size) = self.cursor.lexer.size().map_err(|e| self.in_operation(e))? {
            shape.push(size);
        }
        self.advance()?;
        if self.at('?') || self.at('*') {
            return self.unsupported("tensors of dynamic shape are not supported");
        }
        let element = element(self)?;
        if self.at(',') {
            return self.unsupported("encodings of tensor types are not supported");
        }
        self.expect('>')?;
        let ty = TensorType { shape, element };
        match ty.byte_size() {
            Some(_) => Ok(ty),
            None => self.fail("the tensor is larger than the address space"),
        }
    }

    /// Reads the type of an element.
    pub fn element(&mut self) -> Result<ElementType> {
        let name = match self.token() {
            Token::Word(name) => name,
            Token::Bang(name) if name.starts_with("quant.") => {
                return self.unsupported("quantized types are not supported");
            }
            _ => return self.expected("an element type"),
        };
        if name != "complex" {
            let Some(element) = ElementType::named(name) else {
                return self.fail(format!("unknown element type `{name:.40}`"));
            };
            self.advance()?;
            return Ok(element);
        }
        self.advance()?;
        self.expect('<')?;
        let element = match self.token() {
            Token::Word("f32") => ElementType::C64,
            Token::Word("f64") => ElementType::C128,
            _ => return self.expected("`f32` or `f64`"),
        };
        self.advance()?;
        self.expect('>')?;
        Ok(element)
    }

    /// Reads types separated by commas, at least one.
    pub fn types(&mut self) -> Result<Vec<Type>> {
        let mut list = vec![self.ty()?];
        while self.accept(',')? {
            list.push(self.ty()?);
        }
        Ok(list)
    }

    /// Reads types in parentheses.
    pub fn types_in_parentheses(&mut self) -> Result<Vec<Type>> {
        let mut list = Vec::new();
        self.expect('(')?;
        self.items(')', |p| {
            list.push(p.ty()?);
            Ok(())
        })?;
        Ok(list)
    }

    /// Reads the types of results: one, or several in parentheses.
    pub fn result_types(&mut self) -> Result<Vec<Type>> {
        if self.at('(') {
            self.types_in_parentheses()
        } else {
            Ok(vec![self.ty()?])
        }
    }

    /// Reads the type of a function and returns the types of its arguments and results.
    pub fn function_type(&mut self) -> Result<(Vec<Type>, Vec<Type>)> {
        let arguments = self.types_in_parentheses()?;
        self.expect_arrow()?;
        Ok((arguments, self.result_types()?))
    }

    /// Reads the type of a function as a structure with the fields `inputs` and `results`.
    pub fn function_type_attribute(&mut self) -> Result<Attribute> {
        let (inputs, results) = self.function_type()?;
        let list = |types: Vec<Type>| types.into_iter().map(Attribute::Type).collect();
        Ok(Attribute::Structure {
            name: "function_type".into(),
            fields: Attributes(vec![
                ("inputs".into(), Attribute::List(list(inputs))),
                ("results".into(), Attribute::List(list(results))),
            ]),
        })
    }
}

/// Returns the size of a type.
pub(super) fn size(ty: &Type) -> Size {
    let one = Size::of_bytes(0);
    match ty {
        Type::Tuple(members) => members.iter().map(size).fold(one, Size::include),
        Type::Tensor(t) => Size::of_bytes(t.shape.len() * size_of::<usize>()),
        Type::Token => one,
    }
}

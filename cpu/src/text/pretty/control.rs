//! The pretty forms with regions: loops, reductions and scans.

use crate::text::lexer::Token;
use crate::text::operation::{Arguments, Parts};
use crate::text::parser::Parser;
use crate::text::{Attribute, Attributes, Block, Operation, Type};
use crate::{Dims, Result, TensorType};

/// Returns the type of a scalar with the elements of `ty`.
fn scalar(ty: &Type) -> Option<Type> {
    match ty {
        Type::Tensor(tensor) => Some(Type::Tensor(TensorType {
            shape: Dims::new(),
            element: tensor.element,
        })),
        _ => None,
    }
}

impl<'a> Parser<'a> {
    /// Reads `(%a = %0, …) : types attributes {…} cond {…} do {…}`.
    pub(super) fn while_loop(&mut self) -> Result<Parts> {
        let mut parts = Parts::default();
        let mut names = Vec::new();
        self.expect('(')?;
        self.items(')', |p| {
            names.push(p.value_name()?);
            p.expect('=')?;
            parts.operands.push(p.operand()?);
            Ok(())
        })?;
        if !names.is_empty() {
            self.expect(':')?;
            parts.results = self.types()?;
        }
        if names.len() != parts.results.len() {
            let counts = format!("{} values, but {} types", names.len(), parts.results.len());
            return self.fail(counts);
        }
        if self.accept_word("attributes")? {
            self.optional_dictionary(&mut parts.attributes)?;
        }
        parts.operand_types = parts.results.clone();
        let arguments: Arguments<'a> = names.into_iter().zip(parts.results.clone()).collect();
        for keyword in ["cond", "do"] {
            self.expect_word(keyword)?;
            parts.regions.push(self.region(Some(&arguments))?);
        }
        Ok(parts)
    }

    /// Reads `(%a init: %b), … applies op across dimensions = […] : type`, or without `applies` and
    /// with a region behind the type.
    pub(super) fn reduce(&mut self) -> Result<Parts> {
        let mut parts = Parts::default();
        let mut initial = Vec::new();
        loop {
            self.expect('(')?;
            parts.operands.push(self.operand()?);
            self.expect_word("init")?;
            self.expect(':')?;
            initial.push(self.operand()?);
            self.expect(')')?;
            if !self.accept(',')? {
                break;
            }
        }
        parts.operands.append(&mut initial);
        let line = self.cursor.line;
        let applied = if self.accept_word("applies")? {
            Some(self.applied()?)
        } else {
            None
        };
        self.expect_word("across")?;
        self.expect_word("dimensions")?;
        self.expect('=')?;
        let dimensions = Attribute::List(self.integers()?);
        parts.attributes.0.push(("dimensions".into(), dimensions));
        self.optional_dictionary(&mut parts.attributes)?;
        self.expect(':')?;
        (parts.operand_types, parts.results) = self.function_type()?;
        let block = match applied {
            Some(name) => self.applied_block(name, &parts, line)?,
            None => {
                self.skip_location()?;
                let arguments = self.reducer_arguments()?;
                self.region(Some(&arguments))?
            }
        };
        parts.regions.push(block);
        Ok(parts)
    }

    /// Reads the name of the operation that a reduction applies.
    fn applied(&mut self) -> Result<&'a str> {
        let (Token::Word(name) | Token::Text(name)) = self.token() else {
            return self.expected("the name of an operation");
        };
        match name.strip_prefix("stablehlo.") {
            Some("add" | "and" | "maximum" | "minimum" | "multiply" | "or" | "xor") => {
                self.advance().map(|()| name)
            }
            _ => self.expected("a commutative operation of two operands"),
        }
    }

    /// Returns the block that applies an operation to its arguments.
    fn applied_block(&mut self, name: &str, parts: &Parts, line: usize) -> Result<Block> {
        let ([ty, _], [_, _]) = (parts.operand_types.as_slice(), parts.operands.as_slice()) else {
            return self.fail(format!(
                "{name} applies to one operand and one initial value"
            ));
        };
        let Some(ty) = scalar(ty) else {
            return self.fail("the operand is not a tensor");
        };
        let mut value = || match self.scope.add(ty.clone()) {
            Some(id) => Ok((id, ty.clone())),
            None => self.fail("the function has too many values"),
        };
        let (left, right, result) = (value()?, value()?, value()?);
        let operation = |name: &str, operands, results| Operation {
            name: name.into(),
            operands,
            results,
            attributes: Attributes::default(),
            regions: Vec::new(),
            line,
        };
        let apply = operation(name, vec![left.0, right.0], vec![result.clone()]);
        Ok(Block {
            operations: vec![
                apply,
                operation("stablehlo.return", vec![result.0], Vec::new()),
            ],
            arguments: vec![left, right],
        })
    }

    /// Reads `reducer(%a: tensor<f32>, %b: tensor<f32>) (…)`. The region has the first value of each
    /// pair, and then the second ones.
    fn reducer_arguments(&mut self) -> Result<Arguments<'a>> {
        self.expect_word("reducer")?;
        let (mut arguments, mut second) = (Arguments::new(), Arguments::new());
        while self.accept('(')? {
            arguments.push(self.argument()?);
            self.expect(',')?;
            second.push(self.argument()?);
            self.expect(')')?;
        }
        arguments.append(&mut second);
        Ok(arguments)
    }

    /// Reads `(%a) inits (%b) dimension = 0 attributes {…} {…} : type`.
    pub(super) fn scan(&mut self) -> Result<Parts> {
        let mut parts = Parts::default();
        let mut counts = Vec::new();
        for keyword in ["", "inits"] {
            if !keyword.is_empty() {
                self.expect_word(keyword)?;
            }
            let before = parts.operands.len();
            self.expect('(')?;
            self.items(')', |p| {
                parts.operands.push(p.operand()?);
                Ok(())
            })?;
            counts.push(parts.operands.len() - before);
        }
        self.expect_word("dimension")?;
        self.expect('=')?;
        let dimension = Attribute::Integer(self.integer()?);
        parts.attributes.0.push(("dimension".into(), dimension));
        if self.accept_word("attributes")? {
            self.optional_dictionary(&mut parts.attributes)?;
        }
        parts.regions.push(self.region(None)?);
        self.expect(':')?;
        (parts.operand_types, parts.results) = self.function_type()?;
        let (inputs, carries) = (counts[0], counts[1]);
        let Some(outputs) = parts.results.len().checked_sub(carries) else {
            return self.fail("fewer results than initial values");
        };
        let sizes = |a, b| Attribute::List([a, b].map(|n| Attribute::Integer(n as i128)).into());
        for (name, first) in [
            ("operandSegmentSizes", inputs),
            ("resultSegmentSizes", outputs),
        ] {
            (parts.attributes.0).push((name.into(), sizes(first, carries)));
        }
        self.unique(&parts.attributes.0)?;
        Ok(parts)
    }
}

//! Operations and regions, in the generic form and around the pretty forms.

use super::lexer::Token;
use super::parser::{MAX_REGIONS, Parser};
use super::{Attributes, Block, Operation, Type, ValueId};
use crate::{Error, Result};
use smallvec::SmallVec;

/// An operation without its name and the names of its results.
#[derive(Default)]
pub(super) struct Parts {
    pub operands: Vec<ValueId>,
    pub operand_types: Vec<Type>,
    pub results: Vec<Type>,
    pub attributes: Attributes,
    pub regions: Vec<Block>,
}

/// Names of results, each with the number of its values.
type Names<'a> = SmallVec<[(&'a str, u32); 1]>;

/// The arguments of a block with their names.
pub(super) type Arguments<'a> = Vec<(&'a str, Type)>;

/// Free bytes of stack that the operations of a block need without those of nested blocks.
const STACK: usize = 512 << 10;

/// Returns whether an operation ends a block.
fn ends_block(name: &str) -> bool {
    name.ends_with(".return")
}

impl<'a> Parser<'a> {
    /// Reads an operation.
    pub fn operation(&mut self) -> Result<Operation> {
        let line = self.cursor.line;
        let names = self.result_names()?;
        let (name, generic) = match self.token() {
            Token::Text(name) => (name, true),
            Token::Word("return") => ("func.return", false),
            Token::Word("call") => ("func.call", false),
            Token::Word(name) => (name, false),
            _ => return self.expected("an operation"),
        };
        let outer = std::mem::replace(&mut self.operation, name);
        self.advance()?;
        let parts = if generic {
            self.generic()?
        } else {
            self.pretty(name)?
        };
        self.skip_location()?;
        let operation = self.finish(line, name, &names, parts)?;
        self.operation = outer;
        Ok(operation)
    }

    /// Reads `%a, %b:2 =`, if the operation has named results.
    fn result_names(&mut self) -> Result<Names<'a>> {
        let mut names = Names::new();
        while let Token::Value(name) = self.token() {
            self.advance()?;
            let mut count = 1;
            if self.accept(':')? {
                let Ok(number) = u32::try_from(self.integer()?) else {
                    return self.fail(format!("%{name:.100} has an impossible number of values"));
                };
                count = number;
            }
            names.push((name, count));
            if !self.accept(',')? {
                self.expect('=')?;
                break;
            }
        }
        Ok(names)
    }

    /// Checks the types of the operands and defines the results.
    fn finish(
        &mut self,
        line: usize,
        name: &str,
        names: &Names<'a>,
        parts: Parts,
    ) -> Result<Operation> {
        let fail = |message: String| {
            let message = format!("{name:.100}: {message}");
            Err(Error::Text { line, message })
        };
        let (operands, types) = (&parts.operands, &parts.operand_types);
        if operands.len() != types.len() {
            return fail(format!(
                "{} operands, but {} types of operands",
                operands.len(),
                types.len()
            ));
        }
        for (i, (operand, ty)) in operands.iter().zip(types).enumerate() {
            if self.scope.type_of(*operand) != Some(ty) {
                return fail(format!("the type of operand {i} is not that of its value"));
            }
        }
        let count: u64 = names.iter().map(|(_, n)| u64::from(*n)).sum();
        if !names.is_empty() && count != parts.results.len() as u64 {
            return fail(format!(
                "{} results, but names for {count}",
                parts.results.len()
            ));
        }
        let mut results = Vec::with_capacity(parts.results.len());
        for ty in parts.results {
            let Some(id) = self.scope.add(ty.clone()) else {
                return fail("the function has too many values".into());
            };
            results.push((id, ty));
        }
        let mut next = 0;
        for (value, count) in names {
            let first = results.get(next).map_or(ValueId(0), |(id, _)| *id);
            next += *count as usize;
            if !self.scope.name(value, first, *count) {
                return fail(format!("%{value:.100} is defined twice"));
            }
        }
        Ok(Operation {
            name: name.into(),
            operands: parts.operands,
            results,
            attributes: parts.attributes,
            regions: parts.regions,
            line,
        })
    }

    /// Reads what follows the name of an operation in the generic form.
    pub fn generic(&mut self) -> Result<Parts> {
        let mut parts = Parts::default();
        self.expect('(')?;
        self.items(')', |p| {
            parts.operands.push(p.operand()?);
            Ok(())
        })?;
        if self.at('[') {
            return self.unsupported("operations with successors are not supported");
        }
        if self.accept('<')? {
            parts.attributes = self.dictionary()?;
            self.expect('>')?;
        }
        if self.accept('(')? {
            self.items(')', |p| {
                parts.regions.push(p.region(None)?);
                Ok(())
            })?;
        }
        self.optional_dictionary(&mut parts.attributes)?;
        self.expect(':')?;
        (parts.operand_types, parts.results) = self.function_type()?;
        Ok(parts)
    }

    /// Reads a value that is defined before.
    pub fn operand(&mut self) -> Result<ValueId> {
        let Token::Value(name) = self.token() else {
            return self.expected("a value");
        };
        let Some((first, count)) = self.scope.find(name) else {
            return self.fail(format!("%{name:.100} is not defined here"));
        };
        self.advance()?;
        let mut index = 0;
        if let Token::Hash(digits) = self.token() {
            index = match digits.parse() {
                Ok(index) => index,
                Err(_) => return self.expected("the number of a result"),
            };
            self.advance()?;
        }
        if index >= count {
            return self.fail(format!(
                "%{name:.100} has {count} values, so there is no #{index}"
            ));
        }
        Ok(ValueId(first.0 + index))
    }

    /// Reads a region with one block: operations in braces. Its arguments are those given, or those
    /// of the label in the text.
    pub fn region(&mut self, arguments: Option<&Arguments<'a>>) -> Result<Block> {
        // Without optimization, a level needs 8 kB of stack. Threads may have little left.
        stacker::maybe_grow(STACK, 4 * STACK, || self.block(arguments))
    }

    fn block(&mut self, arguments: Option<&Arguments<'a>>) -> Result<Block> {
        if self.region_depth >= MAX_REGIONS {
            return self.unsupported(format!("regions are nested more than {MAX_REGIONS} times"));
        }
        self.region_depth += 1;
        let mark = self.scope.enter();
        let line = self.cursor.line;
        self.expect('{')?;
        let written = match arguments {
            None => self.label()?,
            Some(_) => Arguments::new(),
        };
        let mut block = Block {
            arguments: self.define_arguments(arguments.unwrap_or(&written))?,
            operations: Vec::new(),
        };
        while !self.accept('}')? {
            if let Token::Label(_) = self.token() {
                return self.unsupported("regions of several blocks are not supported");
            }
            if block
                .operations
                .last()
                .is_some_and(|last| ends_block(&last.name))
            {
                return self.fail("an operation follows the end of the block");
            }
            block.operations.push(self.operation()?);
        }
        if !(block.operations.last()).is_some_and(|last| ends_block(&last.name)) {
            let message = format!(
                "{:.100}: the region does not end with `return`",
                self.operation
            );
            return Err(Error::Text { line, message });
        }
        self.scope.leave(mark);
        self.region_depth -= 1;
        Ok(block)
    }

    /// Reads the label of a block with its arguments, `^bb0(%a: tensor<f32>):`, if there is one.
    fn label(&mut self) -> Result<Arguments<'a>> {
        let Token::Label(_) = self.token() else {
            return Ok(Arguments::new());
        };
        self.advance()?;
        let mut arguments = Arguments::new();
        if self.accept('(')? {
            self.items(')', |p| {
                arguments.push(p.argument()?);
                Ok(())
            })?;
        }
        self.expect(':')?;
        Ok(arguments)
    }

    /// Reads `%a: tensor<f32>` with an optional location.
    pub fn argument(&mut self) -> Result<(&'a str, Type)> {
        let name = self.value_name()?;
        self.expect(':')?;
        let ty = self.ty()?;
        self.skip_location()?;
        Ok((name, ty))
    }

    /// Reads the name of a value that is defined by it.
    pub fn value_name(&mut self) -> Result<&'a str> {
        match self.token() {
            Token::Value(name) => self.advance().map(|()| name),
            _ => self.expected("the name of a value"),
        }
    }

    fn define_arguments(&mut self, arguments: &Arguments<'a>) -> Result<Vec<(ValueId, Type)>> {
        let mut values = Vec::with_capacity(arguments.len());
        for (name, ty) in arguments {
            let Some(id) = self.scope.add(ty.clone()) else {
                return self.fail("the function has too many values");
            };
            if !self.scope.name(name, id, 1) {
                return self.fail(format!("%{name:.100} is defined twice"));
            }
            values.push((id, ty.clone()));
        }
        Ok(values)
    }
}

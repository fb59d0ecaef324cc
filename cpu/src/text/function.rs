//! Functions and the module around them.

use super::lexer::Token;
use super::operation::{Arguments, Parts};
use super::parser::Parser;
use super::structures::text_structure;
use super::{Attribute, Attributes, Block, Function, Module, Type};
use crate::{Error, Result};

/// Returns the text of an attribute, or an empty one.
fn text(attributes: &Attributes, name: &str) -> String {
    match attributes.get(name) {
        Some(Attribute::Text(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Returns the list of types in a field of a function's type.
fn types(attribute: Option<&Attribute>, field: &str) -> Option<Vec<Type>> {
    let Some(Attribute::Structure { fields, .. }) = attribute else {
        return None;
    };
    let Some(Attribute::List(list)) = fields.get(field) else {
        return None;
    };
    let ty = |a: &Attribute| match a {
        Attribute::Type(ty) => Some(ty.clone()),
        _ => None,
    };
    list.iter().map(ty).collect()
}

/// Returns the dictionaries of an attribute's list, one for each of `count` arguments or results.
fn dictionaries(attribute: Option<&Attribute>, count: usize) -> Option<Vec<Attributes>> {
    let list = match attribute {
        None => return Some(vec![Attributes::default(); count]),
        Some(Attribute::List(list)) if list.len() == count => list,
        _ => return None,
    };
    let dictionary = |a: &Attribute| match a {
        Attribute::Dictionary(d) => Some(d.clone()),
        _ => None,
    };
    list.iter().map(dictionary).collect()
}

impl<'a> Parser<'a> {
    /// Reads the whole text.
    pub fn module(&mut self) -> Result<Module> {
        let mut module = Module::default();
        let mut explicit = false;
        loop {
            match self.token() {
                Token::End => break,
                Token::Mark('{') => return self.unsupported("resources are not supported"),
                Token::Word("module" | "builtin.module") if !explicit => {
                    explicit = true;
                    self.pretty_module(&mut module)?;
                }
                Token::Text("builtin.module") if !explicit => {
                    explicit = true;
                    self.generic_module(&mut module)?;
                }
                Token::Hash(_) | Token::Bang(_) => self.definition()?,
                // Without a module, the text is that of its body.
                _ if !explicit => self.member(&mut module)?,
                _ => return self.expected("the end of the text"),
            }
        }
        Ok(module)
    }

    /// Reads the definition of an alias, `#name = …` or `!name = …`.
    fn definition(&mut self) -> Result<()> {
        let token = self.token();
        self.advance()?;
        self.expect('=')?;
        match token {
            Token::Hash(name) => self.define_alias(name),
            Token::Bang(name) => self.define_type_alias(name),
            _ => self.expected("the name of an alias"),
        }
    }

    fn pretty_module(&mut self, module: &mut Module) -> Result<()> {
        self.advance()?;
        if let Token::Symbol(_) = self.token() {
            module.name = self.symbol()?;
        }
        if self.accept_word("attributes")? {
            self.optional_dictionary(&mut module.attributes)?;
        }
        self.expect('{')?;
        while !self.accept('}')? {
            self.member(module)?;
        }
        self.skip_location()
    }

    /// Reads `"builtin.module"() <{…}> ({…}) {…} : () -> ()`.
    fn generic_module(&mut self, module: &mut Module) -> Result<()> {
        self.advance()?;
        self.expect('(')?;
        self.expect(')')?;
        let mut attributes = Attributes::default();
        if self.accept('<')? {
            attributes = self.dictionary()?;
            self.expect('>')?;
        }
        self.expect('(')?;
        self.expect('{')?;
        if let Token::Label(_) = self.token() {
            self.advance()?;
            self.expect(':')?;
        }
        while !self.accept('}')? {
            self.member(module)?;
        }
        self.expect(')')?;
        self.optional_dictionary(&mut attributes)?;
        self.expect(':')?;
        self.function_type()?;
        module.name = text(&attributes, "sym_name");
        attributes.0.retain(|(name, _)| name != "sym_name");
        module.attributes.0.extend(attributes.0);
        self.skip_location()
    }

    /// Reads a function or the declaration of a mesh.
    fn member(&mut self, module: &mut Module) -> Result<()> {
        let line = self.cursor.line;
        self.scope.clear();
        let token = self.token();
        let (Token::Word(name) | Token::Text(name)) = token else {
            return self.expected("a function");
        };
        self.operation = name;
        let function = match token {
            Token::Word("func.func" | "func") => self.pretty_function(line)?,
            Token::Text("func.func") => self.generic_function(line)?,
            Token::Word("sdy.mesh") | Token::Text("sdy.mesh") => return self.mesh(module),
            _ if name.contains('.') => return self.unsupported("expected a function, `func.func`"),
            _ => return self.fail("expected a function, `func.func`"),
        };
        self.skip_location()?;
        let fail = |message: &str| {
            let message = format!("func.func @{:.100}: {message}", function.name);
            Err(Error::Text { line, message })
        };
        let last = function.body.operations.last();
        let Some(last) = last.filter(|last| last.name == "func.return") else {
            return fail("the body does not end with `return`");
        };
        let returned = last.operands.iter().map(|v| self.scope.type_of(*v));
        if !returned.eq(function.results.iter().map(Some)) {
            return fail("the types of the returned values are not those of the results");
        }
        let index = module.functions.len();
        if module
            .by_name
            .insert(function.name.clone(), index)
            .is_some()
        {
            return fail("there are two functions of this name");
        }
        module.functions.push(function);
        self.operation = "";
        Ok(())
    }

    /// Reads `func.func public @name(%a: tensor<f32> {…}) -> (tensor<f32> {…}) attributes {…} {…}`.
    fn pretty_function(&mut self, line: usize) -> Result<Function> {
        self.advance()?;
        for visibility in ["public", "private", "nested"] {
            self.accept_word(visibility)?;
        }
        let name = self.symbol()?;
        let mut arguments = Arguments::new();
        let mut argument_attributes = Vec::new();
        self.expect('(')?;
        self.items(')', |p| {
            if !matches!(p.token(), Token::Value(_)) {
                return p.unsupported("functions without bodies are not supported");
            }
            let argument = p.argument()?;
            let mut attributes = Attributes::default();
            p.optional_dictionary(&mut attributes)?;
            p.skip_location()?;
            arguments.push(argument);
            argument_attributes.push(attributes);
            Ok(())
        })?;
        let (results, result_attributes) = self.results_with_attributes()?;
        if self.accept_word("attributes")? {
            self.dictionary()?;
        }
        if !self.at('{') {
            return self.unsupported("functions without bodies are not supported");
        }
        Ok(Function {
            name,
            argument_attributes,
            results,
            result_attributes,
            body: self.region(Some(&arguments))?,
            line,
        })
    }

    /// Reads the types of a function's results, with their attributes.
    fn results_with_attributes(&mut self) -> Result<(Vec<Type>, Vec<Attributes>)> {
        let (mut results, mut attributes) = (Vec::new(), Vec::new());
        if self.token() != Token::Arrow {
            return Ok((results, attributes));
        }
        self.advance()?;
        if self.accept('(')? {
            self.items(')', |p| {
                results.push(p.ty()?);
                attributes.push(Attributes::default());
                match attributes.last_mut() {
                    Some(last) => p.optional_dictionary(last),
                    None => Ok(()),
                }
            })?;
        } else {
            results.push(self.ty()?);
            attributes.push(Attributes::default());
        }
        Ok((results, attributes))
    }

    /// Reads a function in the generic form.
    fn generic_function(&mut self, line: usize) -> Result<Function> {
        self.advance()?;
        let Parts {
            attributes,
            mut regions,
            ..
        } = self.generic()?;
        let body = match (regions.pop(), regions.pop()) {
            (Some(body), None) => body,
            _ => return self.unsupported("functions without bodies are not supported"),
        };
        let Some(function) = function_of(&attributes, body, line) else {
            let message = "func.func: the attributes do not describe the function".into();
            return Err(Error::Text { line, message });
        };
        Ok(function)
    }

    /// Reads `sdy.mesh @name = <…>` into the attribute `@name` of the module.
    fn mesh(&mut self, module: &mut Module) -> Result<()> {
        let token = self.token();
        self.advance()?;
        let (name, value) = if let Token::Text(_) = token {
            let attributes = self.generic()?.attributes;
            let mesh = attributes.get("mesh").cloned().unwrap_or(Attribute::Unit);
            (text(&attributes, "sym_name"), mesh)
        } else {
            let name = self.symbol()?;
            self.expect('=')?;
            let text = self.bracketed('<', '>')?;
            (name, text_structure("sdy.mesh", text))
        };
        module.attributes.0.push((format!("@{name}"), value));
        self.operation = "";
        self.skip_location()
    }
}

/// Returns the function with these attributes and this body, or `None` if they do not fit together.
fn function_of(attributes: &Attributes, body: Block, line: usize) -> Option<Function> {
    let ty = attributes.get("function_type");
    let (inputs, results) = (types(ty, "inputs")?, types(ty, "results")?);
    let arguments = body.arguments.iter().map(|(_, ty)| ty);
    arguments.eq(inputs.iter()).then_some(())?;
    let name = match attributes.get("sym_name")? {
        Attribute::Text(name) => name.clone(),
        _ => return None,
    };
    Some(Function {
        name,
        argument_attributes: dictionaries(attributes.get("arg_attrs"), inputs.len())?,
        result_attributes: dictionaries(attributes.get("res_attrs"), results.len())?,
        results,
        body,
        line,
    })
}

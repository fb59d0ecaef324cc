//! Checks of calls: their functions exist, have the types of the calls and do not recur.

use super::{Attribute, Block, Function, Module, Operation, Type, ValueId};
use crate::{Error, Result};

/// Returns the attribute with the function that an operation calls with its operands.
pub(crate) fn callee(operation: &Operation) -> Option<&Attribute> {
    match operation.name.as_str() {
        "func.call" => Some(
            operation
                .attributes
                .get("callee")
                .unwrap_or(&Attribute::Unit),
        ),
        "stablehlo.composite" => {
            let function = operation.attributes.get("decomposition");
            Some(function.unwrap_or(&Attribute::Unit))
        }
        _ => None,
    }
}

fn fail<T>(operation: &Operation, message: String) -> Result<T> {
    let message = format!("{:.100}: {message}", operation.name);
    Err(Error::Text {
        line: operation.line,
        message,
    })
}

/// The calls of one function.
struct Calls<'m> {
    module: &'m Module,
    /// The types of the function's values.
    types: Vec<Option<&'m Type>>,
    /// The called functions, each with the operation that calls it.
    called: Vec<(usize, &'m Operation)>,
}

impl<'m> Calls<'m> {
    fn of(module: &'m Module, function: &'m Function) -> Result<Self> {
        let mut calls = Calls {
            module,
            types: Vec::new(),
            called: Vec::new(),
        };
        calls.block(&function.body)?;
        Ok(calls)
    }

    fn define(&mut self, values: &'m [(ValueId, Type)]) {
        for (id, ty) in values {
            let index = id.0 as usize;
            if index >= self.types.len() {
                self.types.resize(index + 1, None);
            }
            self.types[index] = Some(ty);
        }
    }

    fn block(&mut self, block: &'m Block) -> Result<()> {
        self.define(&block.arguments);
        for operation in &block.operations {
            for region in &operation.regions {
                self.block(region)?;
            }
            self.define(&operation.results);
            if let Some(symbol) = callee(operation) {
                self.call(operation, symbol)?;
            }
        }
        Ok(())
    }

    fn call(&mut self, operation: &'m Operation, symbol: &Attribute) -> Result<()> {
        let Attribute::Symbol(name) = symbol else {
            return fail(operation, "the call does not name a function".into());
        };
        let Some(index) = self.module.by_name.get(name) else {
            return fail(operation, format!("there is no function @{name:.100}"));
        };
        let function = &self.module.functions[*index];
        let operands = operation.operands.iter();
        let operands = operands.map(|v| self.types.get(v.0 as usize).copied().flatten());
        if !operands.eq(function.body.arguments.iter().map(|(_, ty)| Some(ty))) {
            let message = format!("the operands do not have the types of @{name:.100}'s arguments");
            return fail(operation, message);
        }
        let results = operation.results.iter().map(|(_, ty)| ty);
        if !results.eq(&function.results) {
            let message = format!("the results do not have the types of @{name:.100}'s results");
            return fail(operation, message);
        }
        self.called.push((*index, operation));
        Ok(())
    }
}

/// Checks all calls of a module. Returns the functions in an order in which each comes after those that it
/// calls, those that `@main` needs first.
pub(super) fn check(module: &Module) -> Result<Vec<usize>> {
    let calls = module.functions.iter().map(|f| Calls::of(module, f));
    let calls: Vec<Calls<'_>> = calls.collect::<Result<_>>()?;
    // A depth-first search with a stack of its own: chains of calls can be long.
    let mut visited = vec![false; calls.len()];
    let mut active = vec![false; calls.len()];
    let mut order = Vec::with_capacity(calls.len());
    let main = module.by_name.get("main").copied();
    for start in main.into_iter().chain(0..calls.len()) {
        let mut stack = vec![(start, 0)];
        while let Some((function, next)) = stack.pop() {
            if next == 0 && visited[function] {
                continue;
            }
            visited[function] = true;
            let Some((called, operation)) = calls[function].called.get(next) else {
                active[function] = false;
                order.push(function);
                continue;
            };
            active[function] = true;
            if active[*called] {
                let name = &module.functions[*called].name;
                return fail(operation, format!("@{name:.100} calls itself"));
            }
            stack.push((function, next + 1));
            stack.push((*called, 0));
        }
    }
    Ok(order)
}

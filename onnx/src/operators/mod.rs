//! The operators: one row each, in tables by kind.

mod activation;
mod control;
mod conv;
mod elementwise;
mod index;
mod integer;
mod loss;
mod normalization;
mod pool;
mod product;
mod quantization;
mod recurrent;
mod reduction;
mod resize;
mod shape;
mod spread;

use crate::call::{Call, Value};
use crate::file::{Node, is_own};
use crate::known::HostTensor;
use ramie_core::Array;
use std::collections::HashMap;
use std::sync::LazyLock;

/// An operator.
pub(crate) struct Operator {
    name: &'static str,
    rule: Rule,
    /// Evaluates the operator on the host if all inputs are known.
    on_host: Option<fn(&Call<'_>) -> Option<HostTensor>>,
    /// Inputs that must be known when the operator is traced.
    pub host: &'static [usize],
    /// Whether the result depends on the shapes of the inputs only.
    pub known_from_shape: bool,
    /// Returns an error with the reason if a node is not supported in a version of the operator set.
    pub limits: Option<fn(&Node, i64) -> Result<(), String>>,
}

/// Function that computes the outputs of an operator.
#[derive(Clone, Copy)]
enum Rule {
    Unary(fn(&Array) -> Array),
    Binary(fn(&Array, &Array) -> Array),
    /// A function with one array as output.
    Array(fn(&Call<'_>) -> Array),
    /// A function with any outputs.
    Values(fn(&Call<'_>) -> Vec<Value>),
}

impl Operator {
    const fn new(name: &'static str, rule: Rule) -> Operator {
        Operator {
            name,
            rule,
            on_host: None,
            host: &[],
            known_from_shape: false,
            limits: None,
        }
    }

    /// Sets the evaluation on the host.
    const fn on_host(self, rule: fn(&Call<'_>) -> Option<HostTensor>) -> Operator {
        Operator {
            on_host: Some(rule),
            ..self
        }
    }

    /// Sets the inputs that must be known.
    const fn needs(self, host: &'static [usize]) -> Operator {
        Operator { host, ..self }
    }

    /// Declares that the result depends on the shapes of the inputs only.
    const fn of_shape(self) -> Operator {
        Operator {
            known_from_shape: true,
            ..self
        }
    }

    /// Sets the check of a node.
    const fn limits(self, limits: fn(&Node, i64) -> Result<(), String>) -> Operator {
        Operator {
            limits: Some(limits),
            ..self
        }
    }

    /// Computes the outputs of a node.
    pub fn run(&self, call: &Call<'_>) -> Vec<Value> {
        let known = |value: &Option<Value>| !matches!(value, Some(Value::Array(_)));
        if let Some(rule) = self.on_host
            && call.inputs.iter().all(known)
            && let Some(known) = rule(call)
        {
            return vec![known.into()];
        }
        match self.rule {
            Rule::Unary(f) => vec![f(&call.array(0)).into()],
            Rule::Binary(f) => vec![f(&call.array(0), &call.array(1)).into()],
            Rule::Array(f) => vec![f(call).into()],
            Rule::Values(f) => f(call),
        }
    }
}

const fn unary(name: &'static str, f: fn(&Array) -> Array) -> Operator {
    Operator::new(name, Rule::Unary(f))
}

const fn binary(name: &'static str, f: fn(&Array, &Array) -> Array) -> Operator {
    Operator::new(name, Rule::Binary(f))
}

const fn array(name: &'static str, f: fn(&Call<'_>) -> Array) -> Operator {
    Operator::new(name, Rule::Array(f))
}

const fn values(name: &'static str, f: fn(&Call<'_>) -> Vec<Value>) -> Operator {
    Operator::new(name, Rule::Values(f))
}

static OPERATORS: LazyLock<HashMap<&str, &Operator>> = LazyLock::new(|| {
    let tables: [&[Operator]; 16] = [
        activation::OPERATORS,
        control::OPERATORS,
        conv::OPERATORS,
        elementwise::OPERATORS,
        index::OPERATORS,
        integer::OPERATORS,
        loss::OPERATORS,
        normalization::OPERATORS,
        pool::OPERATORS,
        product::OPERATORS,
        quantization::OPERATORS,
        recurrent::OPERATORS,
        reduction::OPERATORS,
        resize::OPERATORS,
        shape::OPERATORS,
        spread::OPERATORS,
    ];
    tables.into_iter().flatten().map(|o| (o.name, o)).collect()
});

/// Returns the operator of a node.
pub(crate) fn find(node: &Node) -> Option<&'static Operator> {
    if is_own(&node.domain) {
        OPERATORS.get(node.operator.as_str()).copied()
    } else {
        None
    }
}

/// Returns an error unless a string attribute has a listed value.
fn only(node: &Node, name: &str, default: &str, supported: &[&str]) -> Result<(), String> {
    let value = node.text(name, default)?;
    if supported.contains(&value) {
        Ok(())
    } else {
        Err(format!(
            "`{name}` is \"{value}\", supported are {}",
            supported.join(", ")
        ))
    }
}

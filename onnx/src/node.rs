//! Nodes and their attributes.

use crate::file::{Attribute, Node};
use crate::graph::Graph;
use crate::known::HostTensor;
use std::collections::HashMap;
use std::fmt;

/// A node of a graph whose constants have been read.
#[derive(Debug)]
pub(crate) struct Op {
    pub node: Node,
    /// Graphs in the attributes, by the name of the attribute.
    pub graphs: HashMap<String, Graph>,
    /// Tensors in the attributes, by the name of the attribute.
    pub tensors: HashMap<String, HostTensor>,
}

impl Node {
    /// Returns the name, or that of the first output if there is none.
    pub fn label(&self) -> &str {
        let first = self.outputs.first().map_or("", |name| name);
        if self.name.is_empty() {
            first
        } else {
            &self.name
        }
    }

    /// Returns the operator with its domain, unless that is ONNX's own.
    pub fn operator_name(&self) -> String {
        if crate::file::is_own(&self.domain) {
            self.operator.clone()
        } else {
            format!("{}.{}", self.domain, self.operator)
        }
    }

    /// Returns whether the node is a tensor of the graph.
    pub fn is_constant(&self) -> bool {
        self.operator == "Constant" && crate::file::is_own(&self.domain)
    }

    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map(|(_, attribute)| attribute)
    }

    /// Returns an integer attribute.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        match self.attribute(name) {
            Some(Attribute::Int(value)) => *value,
            _ => default,
        }
    }

    /// Returns a floating-point attribute.
    pub fn float(&self, name: &str, default: f64) -> f64 {
        match self.attribute(name) {
            Some(Attribute::Float(value)) => f64::from(*value),
            _ => default,
        }
    }

    /// Returns a string attribute.
    pub fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        match self.attribute(name) {
            Some(Attribute::Text(value)) => std::str::from_utf8(value).unwrap_or(default),
            _ => default,
        }
    }

    /// Returns a list of integers.
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.attribute(name) {
            Some(Attribute::Ints(values)) => Some(values),
            _ => None,
        }
    }

    /// Returns a list of floating-point numbers.
    pub fn floats(&self, name: &str) -> Option<Vec<f64>> {
        match self.attribute(name) {
            Some(Attribute::Floats(values)) => Some(values.iter().map(|v| f64::from(*v)).collect()),
            _ => None,
        }
    }

    /// Returns a list of strings.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        match self.attribute(name) {
            Some(Attribute::Texts(values)) => {
                let texts = values.iter().map(|text| std::str::from_utf8(text));
                texts.map(|text| text.unwrap_or("?")).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether an output is used.
    pub fn has_output(&self, i: usize) -> bool {
        self.outputs.get(i).is_some_and(|name| !name.is_empty())
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.label(), self.operator_name())
    }
}

//! Nodes and their attributes.

use crate::file::{Attribute, Node, data_type_name, dtype_of};
use crate::graph::Graph;
use crate::known::HostTensor;
use ramie_core::DType;
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

    /// Returns what `read` returns for an attribute, or an error if that is `None`.
    fn read<'a, T>(
        &'a self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'a Attribute) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(found) = self.attribute(name) else {
            return Ok(None);
        };
        let value = read(found);
        let wrong = || format!("`{name}` {}, expected {expected}", found.type_name());
        value.map(Some).ok_or_else(wrong)
    }

    /// Returns an integer attribute.
    pub fn int(&self, name: &str, default: i64) -> Result<i64, String> {
        let value = self.read(name, "an integer", |attribute| match attribute {
            Attribute::Int(value) => Some(*value),
            _ => None,
        });
        Ok(value?.unwrap_or(default))
    }

    /// Returns an attribute that is the type of elements, or `None` if it is not given.
    pub fn dtype(&self, name: &str) -> Result<Option<DType>, String> {
        match self.int(name, 0)? {
            // The specification defines 0 as an undefined type.
            0 => Ok(None),
            number => match dtype_of(number) {
                None => Err(format!(
                    "`{name}` is {}, which is not supported",
                    data_type_name(number)
                )),
                dtype => Ok(dtype),
            },
        }
    }

    /// Returns a floating-point attribute.
    pub fn float(&self, name: &str, default: f64) -> Result<f64, String> {
        let value = self.read(name, "a float", |attribute| match attribute {
            Attribute::Float(value) => Some(f64::from(*value)),
            _ => None,
        });
        Ok(value?.unwrap_or(default))
    }

    /// Returns a string attribute.
    pub fn text<'a>(&'a self, name: &str, default: &'a str) -> Result<&'a str, String> {
        let value = self.read(name, "a string in UTF-8", |attribute| match attribute {
            Attribute::Text(value) => std::str::from_utf8(value).ok(),
            _ => None,
        });
        Ok(value?.unwrap_or(default))
    }

    /// Returns a list of integers.
    pub fn ints(&self, name: &str) -> Result<Option<&[i64]>, String> {
        self.read(name, "a list of integers", |attribute| match attribute {
            Attribute::Ints(values) => Some(&values[..]),
            _ => None,
        })
    }

    /// Returns a list of floating-point numbers.
    pub fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, String> {
        self.read(name, "a list of floats", |attribute| match attribute {
            Attribute::Floats(values) => Some(values.iter().map(|v| f64::from(*v)).collect()),
            _ => None,
        })
    }

    /// Returns a list of strings.
    pub fn texts(&self, name: &str) -> Result<Vec<&str>, String> {
        let values = self.read(name, "a list of strings in UTF-8", |attribute| {
            let Attribute::Texts(values) = attribute else {
                return None;
            };
            let texts = values.iter().map(|text| std::str::from_utf8(text));
            texts.collect::<Result<_, _>>().ok()
        });
        Ok(values?.unwrap_or_default())
    }

    /// Returns an error if an attribute is given and is not a tensor.
    pub fn check_tensor(&self, name: &str) -> Result<(), String> {
        let tensor = self.read(name, "a tensor", |attribute| match attribute {
            Attribute::Tensor(_) => Some(()),
            _ => None,
        });
        tensor.map(drop)
    }

    /// Returns whether an output is used.
    pub fn has_output(&self, i: usize) -> bool {
        self.outputs.get(i).is_some_and(|name| !name.is_empty())
    }
}

impl Attribute {
    /// Returns the type as the verb and the object of a message.
    fn type_name(&self) -> &'static str {
        match self {
            Attribute::Float(_) => "is a float",
            Attribute::Int(_) => "is an integer",
            Attribute::Text(_) => "is a string",
            Attribute::Tensor(_) => "is a tensor",
            Attribute::Graph(_) => "is a graph",
            Attribute::Floats(_) => "is a list of floats",
            Attribute::Ints(_) => "is a list of integers",
            Attribute::Texts(_) => "is a list of strings",
            Attribute::Other => "has no type or an unknown one",
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.label(), self.operator_name())
    }
}

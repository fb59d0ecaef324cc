//! An operation of the text while it is read: its attributes and the types of its values.

use super::Graph;
use crate::host::HostFunctions;
use crate::sharding::Meshes;
use crate::text::{Attribute, Attributes, Operation};
use crate::{Error, Result, TensorType};

/// A region as a graph. Its parameters are those of the region, then the values that the operation's
/// regions capture.
#[derive(Clone, Debug)]
pub struct Region {
    /// The graph.
    pub graph: Graph,
    /// Number of parameters of the region itself.
    pub parameters: usize,
}

/// An operation that is read.
pub struct Source<'a> {
    /// The operation of the text.
    pub syntax: &'a Operation,
    /// Types of the operands, without the captured values.
    pub operands: Vec<TensorType>,
    /// Types of the results.
    pub results: Vec<TensorType>,
    /// The regions.
    pub regions: Vec<Region>,
    /// The meshes of the module.
    pub meshes: &'a Meshes,
    /// The functions of the host.
    pub hosts: &'a HostFunctions,
}

impl Source<'_> {
    /// Returns the error of an invalid operation.
    pub fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::Text {
            line: self.syntax.line,
            message: format!("{}: {message}", self.syntax.name),
        }
    }

    /// Returns the error of something that is not implemented.
    pub fn unsupported(&self, message: impl std::fmt::Display) -> Error {
        Error::Unsupported {
            line: self.syntax.line,
            message: format!("{}: {message}", self.syntax.name),
        }
    }

    /// Checks a condition.
    ///
    /// # Errors
    /// Returns an error with the message if the condition is false.
    pub fn check(&self, condition: bool, message: impl std::fmt::Display) -> Result<()> {
        if condition {
            Ok(())
        } else {
            Err(self.error(message))
        }
    }

    /// Checks the numbers of operands, results and regions.
    ///
    /// # Errors
    /// Returns an error that names the expected and the actual number.
    pub fn counts(&self, operands: usize, results: usize, regions: usize) -> Result<()> {
        let actual = (self.operands.len(), self.results.len(), self.regions.len());
        self.check(
            actual == (operands, results, regions),
            format_args!(
                "got {actual:?} operands, results and regions, expected {:?}",
                (operands, results, regions)
            ),
        )
    }

    /// Checks that the declared type of a result is the computed one.
    ///
    /// # Errors
    /// Returns an error that names both types.
    pub fn result(&self, index: usize, computed: &TensorType) -> Result<()> {
        let declared = self.results.get(index);
        match declared {
            Some(declared) if declared == computed => Ok(()),
            Some(declared) => Err(self.error(format!(
                "result {index} has type {computed}, not {declared}"
            ))),
            None => Err(self.error(format!("result {index} is missing"))),
        }
    }

    /// Returns an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.syntax.attributes.get(name)
    }

    /// Returns a list of integers, or `None` without the attribute.
    ///
    /// # Errors
    /// Returns an error if the attribute is something else.
    pub fn integers_or(&self, name: &str) -> Result<Option<Vec<i64>>> {
        self.attribute(name)
            .map(|a| self.read_integers(name, a))
            .transpose()
    }

    /// Returns a list of integers.
    ///
    /// # Errors
    /// Returns an error if the attribute is missing or something else.
    pub fn integers(&self, name: &str) -> Result<Vec<i64>> {
        self.integers_or(name)?
            .ok_or_else(|| self.error(format!("attribute {name} is missing")))
    }

    /// Returns a list of sizes or axes.
    ///
    /// # Errors
    /// Returns an error if the attribute is missing or contains negative numbers.
    pub fn sizes(&self, name: &str) -> Result<Vec<usize>> {
        self.to_sizes(name, self.integers(name)?)
    }

    /// Returns a list of sizes or axes, or `count` times `default` without the attribute.
    ///
    /// # Errors
    /// Returns an error if the attribute contains negative numbers or not `count` of them.
    pub fn sizes_or(&self, name: &str, count: usize, default: usize) -> Result<Vec<usize>> {
        let sizes = match self.integers_or(name)? {
            Some(list) => self.to_sizes(name, list)?,
            None => vec![default; count],
        };
        self.check(
            sizes.len() == count,
            format_args!("attribute {name} must have {count} numbers"),
        )?;
        Ok(sizes)
    }

    fn to_sizes(&self, name: &str, list: Vec<i64>) -> Result<Vec<usize>> {
        let convert = |v: i64| {
            usize::try_from(v).map_err(|_| {
                self.error(format!("attribute {name} contains the negative number {v}"))
            })
        };
        list.into_iter().map(convert).collect()
    }

    /// Returns one integer.
    ///
    /// # Errors
    /// Returns an error if the attribute is missing or something else.
    pub fn integer(&self, name: &str) -> Result<i64> {
        match self.integers(name)?[..] {
            [value] => Ok(value),
            _ => Err(self.error(format!("attribute {name} must be one integer"))),
        }
    }

    /// Returns one axis below `rank`.
    ///
    /// # Errors
    /// Returns an error if the attribute is missing or out of range.
    pub fn axis(&self, name: &str, rank: usize) -> Result<usize> {
        let axis = self.integer(name)?;
        usize::try_from(axis)
            .ok()
            .filter(|a| *a < rank)
            .ok_or_else(|| self.error(format!("{name} = {axis} is out of range for {rank} axes")))
    }

    /// Returns distinct axes below `rank`.
    ///
    /// # Errors
    /// Returns an error if the attribute is missing, out of range or names an axis twice.
    pub fn axes(&self, name: &str, rank: usize) -> Result<Vec<usize>> {
        let axes = self.sizes(name)?;
        self.distinct_axes(name, &axes, rank)?;
        Ok(axes)
    }

    /// Checks that axes are distinct and below `rank`.
    ///
    /// # Errors
    /// Returns an error that names the attribute.
    pub fn distinct_axes(&self, name: &str, axes: &[usize], rank: usize) -> Result<()> {
        let distinct = axes
            .iter()
            .enumerate()
            .all(|(i, a)| *a < rank && !axes[..i].contains(a));
        self.check(
            distinct,
            format_args!("{name} = {axes:?} must be distinct axes below {rank}"),
        )
    }

    /// Returns the last word of an attribute such as `#stablehlo<comparison_direction GT>`.
    ///
    /// # Errors
    /// Returns an error if the attribute is missing or something else.
    pub fn word(&self, name: &str) -> Result<&str> {
        match self.attribute(name) {
            Some(Attribute::Word(word) | Attribute::Text(word)) => Ok(word),
            _ => Err(self.error(format!("attribute {name} must be a word"))),
        }
    }

    /// Returns a flag, `false` without the attribute.
    pub fn flag(&self, name: &str) -> bool {
        match self.attribute(name) {
            Some(Attribute::Bool(value)) => *value,
            Some(Attribute::Integer(value)) => *value != 0,
            Some(Attribute::Unit) => true,
            _ => false,
        }
    }

    /// Returns the fields of a structure such as `#stablehlo.gather<…>`.
    ///
    /// # Errors
    /// Returns an error if the attribute is missing or something else.
    pub fn fields(&self, name: &str) -> Result<&Attributes> {
        match self.attribute(name) {
            Some(Attribute::Structure { fields, .. } | Attribute::Dictionary(fields)) => Ok(fields),
            _ => Err(self.error(format!("attribute {name} must be a structure"))),
        }
    }

    /// Returns a list of sizes or axes from a structure, empty without the field.
    ///
    /// # Errors
    /// Returns an error if the field is something else.
    pub fn field(&self, fields: &Attributes, name: &str) -> Result<Vec<usize>> {
        match fields.get(name) {
            Some(attribute) => self.to_sizes(name, self.read_integers(name, attribute)?),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the integers in an attribute and its lists.
    ///
    /// # Errors
    /// Returns an error if it has something else.
    pub fn read_integers(&self, name: &str, attribute: &Attribute) -> Result<Vec<i64>> {
        let wrong = || self.error(format!("attribute {name} must contain integers"));
        match attribute {
            Attribute::Integer(value) => Ok(vec![i64::try_from(*value).map_err(|_| wrong())?]),
            Attribute::Bool(value) => Ok(vec![i64::from(*value)]),
            Attribute::List(list) => {
                let mut all = Vec::with_capacity(list.len());
                for item in list {
                    match item {
                        Attribute::Integer(v) => all.push(i64::try_from(*v).map_err(|_| wrong())?),
                        Attribute::Bool(v) => all.push(i64::from(*v)),
                        Attribute::List(_) => all.extend(self.read_integers(name, item)?),
                        _ => return Err(wrong()),
                    }
                }
                Ok(all)
            }
            Attribute::Dense { ty, data } => {
                let size = ty.size().filter(|n| *n <= 1 << 20).ok_or_else(wrong)?;
                let list: Vec<i64> = match ty.element.bytes() {
                    1 => data.iter().map(|b| i64::from(*b)).collect(),
                    4 => data
                        .as_chunks::<4>()
                        .0
                        .iter()
                        .map(|b| i64::from(i32::from_le_bytes(*b)))
                        .collect(),
                    8 => data
                        .as_chunks::<8>()
                        .0
                        .iter()
                        .map(|b| i64::from_le_bytes(*b))
                        .collect(),
                    _ => return Err(wrong()),
                };
                Ok(if list.len() == 1 {
                    vec![list[0]; size]
                } else {
                    list
                })
            }
            _ => Err(wrong()),
        }
    }
}

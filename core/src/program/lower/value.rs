//! Values of a StableHLO function, and their types.

use crate::{Aval, DType};
use std::fmt::{self, Write};

/// A value of a StableHLO function, with its type.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub(super) id: u32,
    /// Index among several results; `u16::MAX` if the operation has one result.
    pub(super) index: u16,
    pub(super) aval: Aval,
}

impl Value {
    /// Returns the type.
    pub fn aval(&self) -> Aval {
        self.aval
    }

    /// Returns the shape.
    pub fn shape(&self) -> &'static [usize] {
        self.aval.shape()
    }

    /// Returns the number of dimensions.
    pub fn ndim(&self) -> usize {
        self.aval.ndim()
    }

    /// Returns the dtype.
    pub fn dtype(&self) -> DType {
        self.aval.dtype()
    }

    /// Returns the value with the type of a variable of a program, which may be weak or sharded.
    pub(super) fn of_type(self, aval: Aval) -> Value {
        debug_assert_eq!(
            (self.shape(), self.dtype()),
            (aval.shape(), aval.dtype()),
            "internal error: a lowering rule returned a value of another type"
        );
        Value { aval, ..self }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.id)?;
        if self.index != u16::MAX {
            write!(f, "#{}", self.index)?;
        }
        Ok(())
    }
}

/// Returns the types of values.
pub fn avals(values: &[Value]) -> Vec<Aval> {
    values.iter().map(Value::aval).collect()
}

/// A type in StableHLO syntax: `tensor<2x3xf32>`.
pub struct TensorType(pub Aval);

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for d in self.0.shape() {
            write!(f, "{d}x")?;
        }
        write!(f, "{}>", self.0.dtype().mlir())
    }
}

/// Writes items with a comma between them.
pub(super) fn list<T: fmt::Display>(out: &mut String, items: impl IntoIterator<Item = T>) {
    for (i, item) in items.into_iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}{item}");
    }
}

/// Writes types with a comma between them.
pub(super) fn types(out: &mut String, avals: impl IntoIterator<Item = Aval>) {
    list(out, avals.into_iter().map(TensorType));
}

/// Writes the types of an operation's results, in parentheses unless it has one.
pub(super) fn result_types(out: &mut String, avals: &[Aval]) {
    match avals {
        [one] => types(out, [*one]),
        all => {
            out.push('(');
            types(out, all.iter().copied());
            out.push(')');
        }
    }
}

//! `composite`: a function as a named operation.

use super::nested;
use super::{Avals, BatchAxis, Batched, Differentiation, Facts, Nested, Param, Primitive};
use crate::extend::{Jaxpr, Outputs};
use crate::passes::batch_eval;
use crate::prim::Jaxprs;
use crate::program::disable::jit_is_disabled;
use crate::program::lower::{Lowering, Value};
use crate::{Array, Aval, Result, ShapeError};
use std::fmt;
use std::sync::Arc;

/// The value of an attribute of a [`Composite`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompositeAttribute {
    /// A boolean.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// An `f32`, as its bits.
    Float(u32),
    /// A string.
    Text(String),
}

impl fmt::Display for CompositeAttribute {
    /// Formats the value in MLIR syntax.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompositeAttribute::Bool(value) => write!(f, "{value}"),
            CompositeAttribute::Int(value) => write!(f, "{value} : i64"),
            CompositeAttribute::Float(bits) => write!(f, "0x{bits:08X} : f32"),
            CompositeAttribute::Text(text) => quoted(f, text),
        }
    }
}

/// Quotes a string in MLIR syntax: bytes other than plain ASCII are written as hexadecimal
/// escapes.
fn quoted(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => f.write_char(byte.into())?,
            _ => write!(f, "\\{byte:02X}")?,
        }
    }
    f.write_char('"')
}

impl From<bool> for CompositeAttribute {
    fn from(value: bool) -> Self {
        CompositeAttribute::Bool(value)
    }
}

impl From<i64> for CompositeAttribute {
    fn from(value: i64) -> Self {
        CompositeAttribute::Int(value)
    }
}

impl From<f32> for CompositeAttribute {
    fn from(value: f32) -> Self {
        CompositeAttribute::Float(value.to_bits())
    }
}

impl From<&str> for CompositeAttribute {
    fn from(value: &str) -> Self {
        CompositeAttribute::Text(value.into())
    }
}

/// A program as one operation, which a compiler may recognize by its name.
///
/// It runs as the program. Under `vmap` it is replaced by the batched program, since the effect
/// of the named operation on a batch is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Composite {
    /// Name of the operation, which includes its dialect: `my.gelu`.
    pub name: Arc<str>,
    /// Version of the operation.
    pub version: i32,
    /// Named attributes.
    pub attributes: Vec<(String, CompositeAttribute)>,
    /// Program that implements the operation.
    pub jaxpr: Arc<Jaxpr>,
}

impl Primitive for Composite {
    fn name(&self) -> &'static str {
        "composite"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let attributes = self.attributes.iter().map(|(k, v)| format!("{k}={v}"));
        vec![
            ("attributes", Param::tuple(attributes)),
            ("jaxpr", Param::Jaxpr(self.jaxpr.clone())),
            ("name", Param::new(&self.name)),
            ("version", Param::new(self.version)),
        ]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::strong()
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn infer(&self, args: &[Aval]) -> std::result::Result<Avals, ShapeError> {
        nested::infer(format_args!("`{}`", self.name), &self.jaxpr, args)
    }
    fn evaluate(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        jit_is_disabled().then(|| nested::evaluate(&self.jaxpr, args))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Undefined {
            why: "the derivative of a named operation is unknown",
            help: "define one with custom_jvp or custom_vjp around it",
        }
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let (outs, out_axes) = batch_eval(&self.jaxpr, &[], args, axes, axis);
        (outs.into(), out_axes.into())
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let attributes = self.attributes.iter().map(|(k, v)| format!("{k} = {v}"));
        let attributes = format!(
            "composite_attributes = {{{}}}, version = {} : i32",
            attributes.collect::<Vec<_>>().join(", "),
            self.version
        );
        ctx.composite(&self.name, &self.jaxpr, args, &attributes)
    }
}

impl Nested for Composite {
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.jaxpr])
    }
}

//! The text of modules: StableHLO, CHLO and functions in MLIR's generic and pretty forms.

mod attributes;
mod calls;
mod elements;
mod floats;
mod function;
mod lexer;
pub mod location;
mod module;
mod operation;
mod parser;
mod pretty;
mod scope;
pub mod sharding;
mod structures;
mod types;

pub(crate) use calls::callee;
pub use module::{Attribute, Attributes, Block, Function, Module, Operation, Type, ValueId};

use crate::Result;

/// Parses the text of a module.
///
/// Checks the structure, but not the meaning of operations: every value is defined before its use,
/// once, and visible; operands and results have the number and types of the signature; blocks end
/// with a return; called functions exist, have the types of the call and do not call themselves.
///
/// # Errors
/// Returns [`Error::Text`](crate::Error::Text) if the text is damaged or contradicts itself, and
/// [`Error::Unsupported`](crate::Error::Unsupported) if it uses dynamic shapes, quantized types,
/// several blocks in a region, or regions nested more than 200 times or attributes more than 100 times.
///
/// # Examples
/// ```
/// let text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
///   %0 = stablehlo.add %x, %x : tensor<3xf32>
///   return %0 : tensor<3xf32>
/// }";
/// let module = ramie_cpu::text::parse(text)?;
/// assert_eq!(module.functions[0].body.operations[0].name, "stablehlo.add");
/// # Ok::<(), ramie_cpu::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Module> {
    let mut module = parser::Parser::new(text)?.module()?;
    module.order = calls::check(&module)?;
    Ok(module)
}

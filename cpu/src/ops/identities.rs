//! Operations that return an operand, or undo another operation.

use super::elementwise::Elementwise;
use super::shape::{Form, Rearrange};
use crate::ElementType::{self, *};
use crate::graph::{KnownOperand, Simpler};
use std::any::Any;
use std::sync::Arc;

/// The numbers of which one leaves the other operand of an operation as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Zero,
    One,
}

impl Number {
    /// Returns the bytes in an element type whose arithmetic keeps the bits of the other operand.
    fn bytes(self, element: ElementType) -> Option<[u8; 8]> {
        let one = match element {
            Bf16 => 0x3f80,
            F16 => 0x3c00,
            F32 => u64::from(1f32.to_bits()),
            F64 => 1f64.to_bits(),
            I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 => 1,
            _ => return None,
        };
        let bits = if self == Number::One { one } else { 0 };
        Some(bits.to_le_bytes())
    }

    /// Returns whether all elements of an operand are this number. Zero has no sign.
    fn is(self, operand: &KnownOperand<'_>) -> bool {
        let element = operand.constant.and_then(|x| x.repeated());
        let bytes = self.bytes(operand.ty.element);
        element
            .zip(bytes)
            .is_some_and(|(x, bytes)| *x == bytes[..x.len()])
    }
}

/// Returns a simpler form of an operation of the elementwise table.
pub fn elementwise(this: &Elementwise, operands: &[KnownOperand<'_>]) -> Option<Simpler> {
    let producer = operands.first()?.producer.map(|p| p as &dyn Any);
    let producer = producer.and_then(|p| p.downcast_ref::<Elementwise>());
    let inner = producer.map_or("", |p| p.name);
    let is_integer = !matches!(operands[0].ty.element, Bf16 | F16 | F32 | F64);
    let is = |number: Number, operand: usize| number.is(&operands[operand]);
    let operand = match this.name {
        "stablehlo.negate" if inner == "stablehlo.negate" => return Some(Simpler::Inner),
        "stablehlo.abs" if inner == "stablehlo.negate" && !is_integer => {
            return Some(Simpler::Applied(Arc::new(this.clone())));
        }
        "stablehlo.convert"
            if this.group.inputs[0] == this.group.element(this.group.outputs[0]) =>
        {
            0
        }
        // A float -0.0 plus zero is zero.
        "stablehlo.add" if is_integer && is(Number::Zero, 1) => 0,
        "stablehlo.add" if is_integer && is(Number::Zero, 0) => 1,
        "stablehlo.subtract" if is(Number::Zero, 1) => 0,
        "stablehlo.multiply" | "stablehlo.divide" if is(Number::One, 1) => 0,
        "stablehlo.multiply" if is(Number::One, 0) => 1,
        _ => return None,
    };
    Some(Simpler::Operand(operand))
}

/// Returns a simpler form of a rearrangement.
pub fn rearrange(form: &Form, operands: &[KnownOperand<'_>]) -> Option<Simpler> {
    let operand = operands.first()?;
    let shape = &operand.ty.shape;
    match form {
        Form::Reshape(result) if result == shape => Some(Simpler::Operand(0)),
        Form::Transpose(axes) if axes.is_sorted() => Some(Simpler::Operand(0)),
        Form::Broadcast {
            axes,
            shape: result,
        } => {
            if result == shape && axes.iter().flatten().is_sorted() {
                return Some(Simpler::Operand(0));
            }
            let producer: &dyn Any = operand.producer?;
            let Form::Broadcast { axes: inner, .. } = &producer.downcast_ref::<Rearrange>()?.form
            else {
                return None;
            };
            let axes = axes
                .iter()
                .map(|axis| axis.and_then(|a| inner[a]))
                .collect();
            let shape = result.clone();
            let form = Form::Broadcast { axes, shape };
            Some(Simpler::Applied(form.operation()))
        }
        _ => None,
    }
}

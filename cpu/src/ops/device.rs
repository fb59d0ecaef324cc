//! Operations that concern devices, on one device.

use super::arrays::{Constant, splat};
use super::{Read, householder, lift};
use crate::graph::{Operands, Operation, Source};
use crate::memory::{Context, Tensors};
use crate::text::Attribute;
use crate::{ElementType, Result, TensorType};

/// Returns the operands.
#[derive(Debug)]
struct Identity(usize);

impl Operation for Identity {
    fn run(&self, _: &Context, operands: Operands) -> Result<Tensors> {
        Ok(operands.into_iter().take(self.0).collect())
    }
}

/// Reads a collective operation, which returns its operands on one device.
pub fn collective(source: &Source<'_>) -> Read {
    let count = source.results.len();
    if source.operands != source.results {
        return Err(source.unsupported("several devices"));
    }
    if source.syntax.name == "stablehlo.collective_permute" {
        let pairs = source.integers("source_target_pairs")?;
        if !pairs.chunks(2).any(|pair| pair == [0, 0]) {
            let ty = &source.results[0];
            return lift(Constant(splat(ty, &vec![0; ty.element.bytes()])?));
        }
    }
    lift(Identity(count))
}

/// Reads the number of this device, which is 0.
pub fn device_number(source: &Source<'_>) -> Read {
    source.counts(0, 1, 0)?;
    let ty = TensorType::new(&[], ElementType::U32);
    source.result(0, &ty)?;
    lift(Constant(splat(&ty, &[0; 4])?))
}

/// Reads `stablehlo.get_dimension_size`.
pub fn dimension_size(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let axis = source.axis("dimension", source.operands[0].shape.len())?;
    let ty = TensorType::new(&[], ElementType::I32);
    source.result(0, &ty)?;
    let size = i32::try_from(source.operands[0].shape[axis])
        .map_err(|_| source.error("the size exceeds i32"))?;
    lift(Constant(splat(&ty, &size.to_le_bytes())?))
}

/// Reads `stablehlo.custom_call`: decompositions that XLA knows, and annotations, which return their operands.
pub fn custom_call(source: &Source<'_>) -> Read {
    let target = match source.attribute("call_target_name") {
        Some(Attribute::Text(target) | Attribute::Symbol(target)) => target.as_str(),
        _ => return Err(source.error("attribute call_target_name is missing")),
    };
    match target {
        "Qr" => return householder::read_decomposition(source),
        "ProductOfElementaryHouseholderReflectors" => return householder::read_product(source),
        _ => {}
    }
    let annotation = matches!(
        target,
        "Sharding" | "annotate_device_placement" | "LayoutConstraint"
    );
    if annotation && source.operands == source.results {
        return lift(Identity(source.results.len()));
    }
    Err(source.unsupported(format!("target {target}")))
}

//! Numbers of devices, sizes of arrays, and custom calls.

use super::arrays::splat;
use super::{Read, collective, householder, lift};
use crate::graph::{Constant, Devices, Operands, Operation, Source};
use crate::host::{HostCall, HostFunction};
use crate::memory::{Context, OutputTensor, Tensors};
use crate::text::{Attribute, Attributes};
use crate::{ElementType, Error, Result, TensorType};
use smallvec::smallvec;

/// Returns the operands.
#[derive(Debug)]
struct Identity(usize);

impl Operation for Identity {
    fn run(&self, _: &Context, operands: Operands) -> Result<Tensors> {
        Ok(operands.into_iter().take(self.0).collect())
    }

    fn allocates(&self) -> bool {
        false
    }
}

/// The number of each device.
#[derive(Debug)]
struct Number {
    /// Whether replicas are counted, not partitions.
    replicas: bool,
}

fn number(context: &Context, value: u32) -> Result<Tensors> {
    let mut fresh = OutputTensor::new(context, TensorType::new(&[], ElementType::U32))?;
    fresh.slice_mut()[0] = value;
    Ok(smallvec![fresh.finish()])
}

impl Operation for Number {
    fn run(&self, context: &Context, _: Operands) -> Result<Tensors> {
        number(context, 0)
    }

    fn run_on(
        &self,
        context: &Context,
        devices: &Devices,
        _: Vec<Operands>,
    ) -> Result<Vec<Tensors>> {
        let own = |n: &usize| {
            if self.replicas == devices.replicas {
                number(context, *n as u32)
            } else {
                number(context, 0)
            }
        };
        devices.numbers.iter().map(own).collect()
    }
}

/// Reads `stablehlo.partition_id` and `stablehlo.replica_id`.
pub fn device_number(source: &Source<'_>) -> Read {
    source.counts(0, 1, 0)?;
    source.result(0, &TensorType::new(&[], ElementType::U32))?;
    lift(Number {
        replicas: source.syntax.name == "stablehlo.replica_id",
    })
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

/// A call of a function of the host.
#[derive(Debug)]
struct Call {
    function: HostFunction,
    config: Attributes,
    has_effects: bool,
    results: Vec<TensorType>,
}

impl Operation for Call {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let dense = operands.iter().map(|x| x.contiguous(context));
        let operands: Operands = dense.collect::<Result<_>>()?;
        let fresh = self
            .results
            .iter()
            .map(|ty| OutputTensor::new(context, ty.clone()));
        let mut results: Vec<OutputTensor> = fresh.collect::<Result<_>>()?;
        let call = HostCall {
            config: &self.config,
            operands: operands.iter().map(|x| (&x.ty, x.bytes())).collect(),
            results: self
                .results
                .iter()
                .zip(results.iter_mut().map(OutputTensor::bytes_mut))
                .collect(),
        };
        self.function.call(call).map_err(Error::Failed)?;
        Ok(results.into_iter().map(OutputTensor::finish).collect())
    }

    fn has_effects(&self) -> bool {
        self.has_effects
    }
}

fn call(source: &Source<'_>, function: &HostFunction) -> Read {
    lift(Call {
        function: function.clone(),
        config: match source.attribute("backend_config") {
            Some(Attribute::Dictionary(config)) => config.clone(),
            _ => Attributes::default(),
        },
        has_effects: source.flag("has_side_effect"),
        results: source.results.clone(),
    })
}

/// Reads `stablehlo.custom_call`: functions of the host, decompositions and exchanges that XLA knows, and annotations,
/// which return their operands.
pub fn custom_call(source: &Source<'_>) -> Read {
    let target = match source.attribute("call_target_name") {
        Some(Attribute::Text(target) | Attribute::Symbol(target)) => target.as_str(),
        _ => return Err(source.error("attribute call_target_name is missing")),
    };
    match target {
        "Qr" => return householder::read_decomposition(source),
        "ProductOfElementaryHouseholderReflectors" => return householder::read_product(source),
        "ragged_all_to_all" => return collective::ragged_all_to_all(source),
        _ => {}
    }
    if let Some(function) = source.hosts.get(target) {
        return call(source, function);
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

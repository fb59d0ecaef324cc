//! Regions on scalars, computed for many lanes at a time.

use super::elementwise::Elementwise;
use super::shape::{Form, Rearrange};
use crate::graph::{Constant, Graph, Region, Source};
use crate::kernels::{Group, Kernel, Lanes};
use crate::memory::{Context, OutputTensor, Tensor, with_width};
use crate::text::{Block, Operation};
use crate::{ElementType, Result, TensorType};
use std::any::Any;

/// A region whose parameters and results are scalars.
#[derive(Debug)]
pub struct ScalarRegion {
    /// The region as a group, if all its operations are elementwise. Its inputs are the parameters, then
    /// the captured values.
    group: Option<Group>,
    graph: Graph,
    /// Element types of the parameters.
    pub parameters: Vec<ElementType>,
    /// Element types of the results.
    pub results: Vec<ElementType>,
    /// Name of the only operation, if it combines both parameters.
    pub single: Option<&'static str>,
}

/// Operations of two operands that have kernels of their own.
const SINGLE: &[&str] = &[
    "stablehlo.add",
    "stablehlo.multiply",
    "stablehlo.maximum",
    "stablehlo.minimum",
    "stablehlo.and",
    "stablehlo.or",
    "stablehlo.xor",
];

impl ScalarRegion {
    /// Reads a region of an operation.
    ///
    /// # Errors
    /// Returns an error unless all parameters and results are scalars.
    pub fn read(source: &Source<'_>, index: usize) -> Result<ScalarRegion> {
        let region = source
            .regions
            .get(index)
            .ok_or_else(|| source.error("a region is missing"))?;
        let graph = &region.graph;
        let results: Vec<&TensorType> = graph
            .results
            .iter()
            .map(|u| &graph.types[u.slot as usize])
            .collect();
        let parameters = &graph.types[..region.parameters];
        let scalars = parameters
            .iter()
            .chain(results.iter().copied())
            .all(|t| t.shape.is_empty());
        source.check(scalars, "the region must compute scalars of scalars")?;
        Ok(ScalarRegion {
            group: group_of(region),
            graph: graph.clone(),
            parameters: parameters.iter().map(|t| t.element).collect(),
            results: results.iter().map(|t| t.element).collect(),
            single: source.syntax.regions.get(index).and_then(single),
        })
    }

    /// Reads a region that combines the elements of each of the first `count` operands with others.
    ///
    /// # Errors
    /// Returns an error unless the parameters are two scalars per operand and the results one, of its
    /// element type.
    pub fn combiner(source: &Source<'_>, index: usize, count: usize) -> Result<ScalarRegion> {
        let region = ScalarRegion::read(source, index)?;
        let elements = source.operands[..count].iter().map(|x| x.element);
        source.check(
            elements.clone().eq(region.results.iter().copied())
                && elements
                    .clone()
                    .chain(elements)
                    .eq(region.parameters.iter().copied()),
            MISMATCH,
        )?;
        Ok(region)
    }

    /// Returns the region as a group, if all its operations are elementwise.
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// Returns the group of a region that combines `count` operands with as many others, for the others first.
    pub fn exchanged(&self, count: usize) -> Option<Group> {
        let own = self.group.as_ref()?;
        let mut group = Group::new(&own.inputs);
        let number = |i: usize| match i / count {
            0 => i + count,
            1 => i - count,
            _ => i,
        };
        let arguments: Vec<u32> = (0..own.inputs.len()).map(|i| number(i) as u32).collect();
        let outputs = group.inline(own, &arguments);
        group.finish(&outputs);
        Some(group)
    }

    /// Computes the results for `count` lanes. The inputs are the parameters, then the captured values.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] if a value does not fit into memory.
    pub fn run(
        &self,
        context: &Context,
        inputs: &[Lanes<'_>],
        outputs: &mut [&mut [u8]],
        count: usize,
    ) -> Result<()> {
        if let Some(group) = &self.group {
            group.run(inputs, outputs, count, context.threads);
            return Ok(());
        }
        for lane in 0..count {
            let mut arguments = Vec::with_capacity(inputs.len());
            for (lanes, ty) in inputs.iter().zip(&self.graph.types) {
                let width = ty.element.bytes();
                let mut scalar = OutputTensor::new(context, ty.clone())?;
                match lanes {
                    Lanes::Slice(bytes) => scalar
                        .bytes_mut()
                        .copy_from_slice(&bytes[lane * width..][..width]),
                    Lanes::Scalar(bytes) => scalar.bytes_mut().copy_from_slice(bytes),
                    Lanes::View(view, first) => view.load(first + lane, scalar.bytes_mut()),
                    Lanes::Repeated(bytes, times) => scalar
                        .bytes_mut()
                        .copy_from_slice(&bytes[lane / times * width..][..width]),
                    Lanes::Output(k) => scalar
                        .bytes_mut()
                        .copy_from_slice(&outputs[*k][lane * width..][..width]),
                }
                arguments.push(scalar.finish());
            }
            let results = self.graph.run(context, arguments)?;
            for (output, result) in outputs.iter_mut().zip(results) {
                let width = result.element().bytes();
                result.load(0, &mut output[lane * width..][..width]);
            }
        }
        Ok(())
    }
}

/// Returns the block's only operation, if it combines the block's two parameters.
pub fn only(block: &Block) -> Option<&Operation> {
    let [(a, _), (b, _)] = block.arguments[..] else {
        return None;
    };
    let [operation, end] = &block.operations[..] else {
        return None;
    };
    let operands = &operation.operands[..];
    let combines = operands == [a, b] || operands == [b, a];
    let returns = end.operands.len() == 1
        && operation
            .results
            .first()
            .is_some_and(|(v, _)| *v == end.operands[0]);
    (combines && returns).then_some(operation)
}

/// Returns the name of the block's only operation, if it is one of [`SINGLE`].
fn single(block: &Block) -> Option<&'static str> {
    let operation = only(block)?;
    let mut names = SINGLE.iter().copied();
    names.find(|name| *name == operation.name)
}

/// Returns the group of a region, or `None` if an operation is not elementwise.
fn group_of(region: &Region) -> Option<Group> {
    let results: Vec<u32> = region.graph.results.iter().map(|u| u.slot).collect();
    group_to(region, &results)
}

/// Returns the group that computes some values of a region.
pub fn group_to(region: &Region, slots: &[u32]) -> Option<Group> {
    let graph = &region.graph;
    if graph.types.iter().any(|t| !t.shape.is_empty()) {
        return None;
    }
    let inputs: Vec<ElementType> = graph.types[..graph.parameters]
        .iter()
        .map(|t| t.element)
        .collect();
    let mut group = Group::new(&inputs);
    let mut registers: Vec<Option<u32>> = vec![None; graph.types.len()];
    for (i, register) in registers.iter_mut().take(graph.parameters).enumerate() {
        *register = Some(i as u32);
    }
    for node in &graph.nodes {
        let mut operands: Vec<u32> = node
            .operands
            .iter()
            .map(|u| registers[u.slot as usize])
            .collect::<Option<_>>()?;
        let operation: &dyn Any = &*node.operation;
        let results: Vec<u32> = if let Some(elementwise) = operation.downcast_ref::<Elementwise>() {
            for (element, bytes) in elementwise.group.constants() {
                operands.push(group.push(constant(bytes), &[], element));
            }
            group.inline(&elementwise.group, &operands).to_vec()
        } else if let Some(Constant(value)) = operation.downcast_ref::<Constant>() {
            let bytes = value.repeated()?;
            vec![group.push(constant(bytes), &[], value.element())]
        } else if let Some(rearrange) = operation.downcast_ref::<Rearrange>()
            && let Form::Broadcast { .. } | Form::Reshape(_) = rearrange.form
        {
            operands
        } else {
            return None;
        };
        for (slot, register) in node.results.iter().zip(results) {
            if let Some(slot) = slot {
                registers[*slot as usize] = Some(register);
            }
        }
    }
    let outputs: Vec<u32> = slots
        .iter()
        .map(|s| registers[*s as usize])
        .collect::<Option<_>>()?;
    group.finish(&outputs);
    Some(group)
}

fn constant(element: &[u8]) -> Kernel {
    with_width!(element.len(), T => Kernel::constant::<T>(bytemuck::pod_read_unaligned(element)))
}

/// Returns captured values as inputs.
pub fn captured(tensors: &[Tensor]) -> impl Iterator<Item = Lanes<'_>> {
    tensors.iter().map(Lanes::of)
}

/// The error of a region with other types than its operation.
pub const MISMATCH: &str = "the types of the region do not match the operands";

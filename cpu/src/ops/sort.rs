//! Sorting and the largest elements.

use super::arrays::convert;
use super::region::{MISMATCH, ScalarRegion, group_to};
use super::{Read, lift};
use crate::ElementType::{self, *};
use crate::graph::{Operands, Operation, Source};
use crate::kernels::{Group, Lanes};
use crate::memory::{Context, OutputTensor, Tensor, Tensors, with_width};
use crate::text::{self, Attribute, Block, ValueId};
use crate::{Dims, Result, TensorType};
use smallvec::smallvec;
use std::cmp::Ordering;

/// A key of a sort: a function of the elements of one operand, compared by its order.
#[derive(Debug)]
struct Key {
    operand: usize,
    /// Computes the keys from all parameters of the region.
    group: Group,
    element: ElementType,
    total: bool,
    descending: bool,
}

/// Arrays in the order that a region defines.
#[derive(Debug)]
struct Sort {
    axis: usize,
    region: ScalarRegion,
    /// The keys, if the region compares them one after another.
    keys: Option<Vec<Key>>,
}

impl Operation for Sort {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let count = self.region.parameters.len() / 2;
        let captures: Vec<Tensor> = operands.drain(count..).collect();
        let rank = operands[0].shape().len();
        let mut order: Vec<usize> = (0..rank).filter(|a| *a != self.axis).collect();
        order.push(self.axis);
        let mut arrays = Vec::with_capacity(count);
        for x in &operands {
            arrays.push(x.permute(&order).contiguous(context)?);
        }
        let length = operands[0].shape()[self.axis];
        let orders = if arrays[0].size() == 0 {
            Vec::new()
        } else if let Some(keys) = &self.keys {
            sort_by_keys(context, &arrays, keys, length)?
        } else {
            self.sort_by_region(context, &arrays, &captures, length)?
        };
        let mut back = vec![0; rank];
        order
            .iter()
            .enumerate()
            .for_each(|(i, axis)| back[*axis] = i);
        arrays
            .iter()
            .map(|x| Ok(taken(context, x, &orders, length)?.permute(&back)))
            .collect()
    }
}

/// Returns the elements of each row in a given order.
fn taken(context: &Context, x: &Tensor, orders: &[u32], length: usize) -> Result<Tensor> {
    let mut fresh = OutputTensor::new(context, x.ty.clone())?;
    with_width!(x.element().bytes(), T => {
        let (data, out) = (x.slice::<T>(), fresh.slice_mut::<T>());
        let rows = data.chunks(length.max(1)).zip(orders.chunks(length.max(1)));
        for ((data, order), out) in rows.zip(out.chunks_mut(length.max(1))) {
            out.iter_mut().zip(order).for_each(|(o, i)| *o = data[*i as usize]);
        }
    });
    Ok(fresh.finish())
}

/// Returns numbers in the order of the elements. Floats have the total order, or that of numbers, in which
/// zeros are equal.
fn numbers(context: &Context, x: &Tensor, total: bool) -> Result<Vec<u64>> {
    let float = matches!(super::elementwise::compute_type(x.element()), F32 | F64);
    if float {
        let x = convert(context, x.clone(), F64)?.contiguous(context)?;
        return Ok(x
            .slice::<f64>()
            .iter()
            .map(|x| float_order(*x, total))
            .collect());
    }
    if x.element() == U64 {
        return Ok(x.contiguous(context)?.slice::<u64>().to_vec());
    }
    let x = convert(context, x.clone(), I64)?.contiguous(context)?;
    Ok(x.slice::<i64>()
        .iter()
        .map(|x| *x as u64 ^ 1 << 63)
        .collect())
}

fn float_order(x: f64, total: bool) -> u64 {
    let bits = if total { x } else { x + 0.0 }.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

fn sort_by_keys(
    context: &Context,
    arrays: &[Tensor],
    keys: &[Key],
    length: usize,
) -> Result<Vec<u32>> {
    let size = arrays[0].size();
    let mut columns = Vec::with_capacity(keys.len());
    for key in keys {
        let x = &arrays[key.operand];
        let zero = [0u128; 1];
        let inputs: Vec<Lanes<'_>> = (0..key.group.inputs.len())
            .map(|i| {
                if i == 2 * key.operand {
                    Lanes::of(x)
                } else {
                    Lanes::Scalar(&bytemuck::cast_slice(&zero)[..key.group.inputs[i].bytes()])
                }
            })
            .collect();
        let ty = TensorType::new(x.shape(), key.element);
        let mut values = OutputTensor::new(context, ty)?;
        key.group
            .run(&inputs, &mut [values.bytes_mut()], size, context.threads);
        let mut column = numbers(context, &values.finish(), key.total)?;
        if key.descending {
            column.iter_mut().for_each(|k| *k = !*k);
        }
        columns.push(column);
    }
    let mut orders: Vec<u32> = Vec::with_capacity(size);
    for row in 0..size / length {
        let base = row * length;
        if let [column] = &columns[..] {
            let mut pairs: Vec<(u64, u32)> = column[base..base + length]
                .iter()
                .copied()
                .zip(0..)
                .collect();
            pairs.sort_unstable();
            orders.extend(pairs.iter().map(|(_, i)| *i));
            continue;
        }
        let mut order: Vec<u32> = (0..length as u32).collect();
        order.sort_by(|a, b| {
            let compare =
                |column: &Vec<u64>| column[base + *a as usize].cmp(&column[base + *b as usize]);
            columns
                .iter()
                .map(compare)
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal)
        });
        orders.extend(order);
    }
    Ok(orders)
}

impl Sort {
    /// Merges runs of doubling lengths. The region decides each comparison.
    fn sort_by_region(
        &self,
        context: &Context,
        arrays: &[Tensor],
        captures: &[Tensor],
        length: usize,
    ) -> Result<Vec<u32>> {
        let mut orders: Vec<u32> = Vec::with_capacity(arrays[0].size());
        for row in 0..arrays[0].size() / length {
            let less = |a: u32, b: u32| -> Result<bool> {
                let mut inputs: Vec<Lanes<'_>> =
                    Vec::with_capacity(2 * arrays.len() + captures.len());
                for x in arrays {
                    let width = x.element().bytes();
                    for i in [a, b] {
                        let at = (row * length + i as usize) * width;
                        inputs.push(Lanes::Slice(&x.bytes()[at..at + width]));
                    }
                }
                inputs.extend(super::region::captured(captures));
                let mut result = [0u8];
                self.region.run(context, &inputs, &mut [&mut result], 1)?;
                Ok(result[0] != 0)
            };
            let mut order: Vec<u32> = (0..length as u32).collect();
            let mut merged = Vec::with_capacity(length);
            let mut run = 1;
            while run < length {
                for pair in order.chunks(2 * run) {
                    let (mut left, mut right) = pair.split_at(run.min(pair.len()));
                    while let (Some(a), Some(b)) = (left.first(), right.first()) {
                        // The left one comes first unless the right one is less: the sort is stable.
                        let side = if less(*b, *a)? { &mut right } else { &mut left };
                        merged.push(side[0]);
                        *side = &side[1..];
                    }
                    merged.extend_from_slice(left);
                    merged.extend_from_slice(right);
                }
                std::mem::swap(&mut order, &mut merged);
                merged.clear();
                run *= 2;
            }
            orders.extend(order);
        }
        Ok(orders)
    }
}

/// A comparison of a region: the compared values and how.
struct Comparison<'a> {
    operation: &'a text::Operation,
    operand: usize,
}

/// Finds the keys that a comparator compares one after another: `a < b`, or `a < b or (a = b and …)`.
fn comparisons<'a>(
    block: &'a Block,
    value: ValueId,
    found: &mut Vec<Comparison<'a>>,
) -> Option<()> {
    let operation = defining(block, value)?;
    if operation.name == "stablehlo.compare" {
        let operand = paired(block, operation)?;
        found.push(Comparison { operation, operand });
        return Some(());
    }
    let [first, second] = operation.operands[..] else {
        return None;
    };
    let (first, second) = (defining(block, first)?, defining(block, second)?);
    if operation.name != "stablehlo.or"
        || second.name != "stablehlo.and"
        || first.name != "stablehlo.compare"
    {
        return None;
    }
    let [equal, rest] = second.operands[..] else {
        return None;
    };
    let equal = defining(block, equal)?;
    let word = |o: &text::Operation| o.attributes.get("comparison_direction").cloned();
    let same = |i: usize| {
        same(
            block,
            *first.operands.get(i)?,
            *equal.operands.get(i)?,
            false,
            &mut 100,
        )
        .then_some(())
    };
    if word(equal) != Some(Attribute::Word("EQ".into())) {
        return None;
    }
    same(0)?;
    same(1)?;
    let operand = paired(block, first)?;
    found.push(Comparison {
        operation: first,
        operand,
    });
    if found.len() > 64 {
        return None;
    }
    comparisons(block, rest, found)
}

fn defining(block: &Block, value: ValueId) -> Option<&text::Operation> {
    block
        .operations
        .iter()
        .find(|o| o.results.first().is_some_and(|(v, _)| *v == value))
}

/// Returns the operand of the sort whose two elements a comparison compares in the same way.
fn paired(block: &Block, operation: &text::Operation) -> Option<usize> {
    let [a, b] = operation.operands[..] else {
        return None;
    };
    if !same(block, a, b, true, &mut 100) {
        return None;
    }
    let mut parameter = None;
    depends(block, a, &mut parameter, &mut 100)?;
    parameter.filter(|p| p % 2 == 0).map(|p| p / 2)
}

fn position(block: &Block, value: ValueId) -> Option<usize> {
    block.arguments.iter().position(|(v, _)| *v == value)
}

/// Returns whether two values are the same function of the same parameters, or of the parameters' partners.
fn same(block: &Block, a: ValueId, b: ValueId, partners: bool, budget: &mut usize) -> bool {
    if *budget == 0 {
        return false;
    }
    *budget -= 1;
    if let (Some(a), Some(b)) = (position(block, a), position(block, b)) {
        return if partners {
            a + 1 == b && a % 2 == 0
        } else {
            a == b
        };
    }
    let (Some(a), Some(b)) = (defining(block, a), defining(block, b)) else {
        return a == b;
    };
    a.name == b.name
        && a.attributes == b.attributes
        && a.regions.is_empty()
        && b.regions.is_empty()
        && a.operands.len() == b.operands.len()
        && a.operands
            .iter()
            .zip(&b.operands)
            .all(|(a, b)| same(block, *a, *b, partners, budget))
}

/// Finds the only parameter on which a value depends.
fn depends(
    block: &Block,
    value: ValueId,
    parameter: &mut Option<usize>,
    budget: &mut usize,
) -> Option<()> {
    *budget = budget.checked_sub(1)?;
    if let Some(found) = position(block, value) {
        return (*parameter.get_or_insert(found) == found).then_some(());
    }
    defining(block, value)?
        .operands
        .iter()
        .try_for_each(|o| depends(block, *o, parameter, budget))
}

/// Returns the keys of a comparator, or `None` if it does something else.
fn keys(source: &Source<'_>) -> Option<Vec<Key>> {
    let (block, region) = (source.syntax.regions.first()?, source.regions.first()?);
    let mut found = Vec::new();
    comparisons(
        block,
        *block.operations.last()?.operands.first()?,
        &mut found,
    )?;
    let key = |comparison: &Comparison<'_>| {
        let word = |name: &str| match comparison.operation.attributes.get(name) {
            Some(Attribute::Word(word)) => Some(word.as_str()),
            _ => None,
        };
        let descending = match word("comparison_direction")? {
            "LT" => false,
            "GT" => true,
            _ => return None,
        };
        let node = region
            .graph
            .nodes
            .iter()
            .find(|n| n.line == comparison.operation.line)?;
        let slot = node.operands.first()?.slot;
        let element = region.graph.types[slot as usize].element;
        let group = group_to(region, &[slot])?;
        let total = word("compare_type") == Some("TOTALORDER");
        Some(Key {
            operand: comparison.operand,
            group,
            element,
            total,
            descending,
        })
    };
    found.iter().map(key).collect()
}

/// Reads `stablehlo.sort`.
pub fn sort(source: &Source<'_>) -> Read {
    let count = source.operands.len();
    source.check(count > 0, "needs an operand")?;
    source.counts(count, count, 1)?;
    let shape = &source.operands[0].shape;
    let axis = source.axis("dimension", shape.len())?;
    source.check(u32::try_from(shape[axis]).is_ok(), "the axis is too long")?;
    let region = ScalarRegion::read(source, 0)?;
    let expected: Vec<ElementType> = source
        .operands
        .iter()
        .flat_map(|t| [t.element; 2])
        .collect();
    source.check(
        region.parameters == expected && region.results == [Bool],
        MISMATCH,
    )?;
    for (i, operand) in source.operands.iter().enumerate() {
        source.check(
            operand.shape == *shape,
            "the operands have different shapes",
        )?;
        source.result(i, operand)?;
    }
    lift(Sort {
        axis,
        region,
        keys: keys(source),
    })
}

/// The largest elements of the last axis with their indices.
#[derive(Debug)]
struct TopK {
    shape: Dims,
}

impl Operation for TopK {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let x = operands[0].contiguous(context)?;
        let k = self.shape.last().copied().unwrap_or(0);
        let length = x.shape().last().copied().unwrap_or(0);
        let mut values = OutputTensor::new(context, TensorType::new(&self.shape, x.element()))?;
        let mut indices = OutputTensor::new(context, TensorType::new(&self.shape, I32))?;
        let keys = numbers(context, &x, true)?;
        if k > 0 {
            for (row, out) in keys
                .chunks(length)
                .zip(indices.slice_mut::<i32>().chunks_mut(k))
            {
                let mut pairs: Vec<(u64, i32)> = row.iter().map(|k| !*k).zip(0..).collect();
                if k < length {
                    pairs.select_nth_unstable(k);
                    pairs.truncate(k);
                }
                pairs.sort_unstable();
                out.iter_mut().zip(&pairs).for_each(|(o, (_, i))| *o = *i);
            }
            with_width!(x.element().bytes(), T => {
                let (data, out) = (x.slice::<T>(), values.slice_mut::<T>());
                for (position, (o, i)) in out.iter_mut().zip(indices.slice_mut::<i32>()).enumerate() {
                    *o = data[position / k * length + *i as usize];
                }
            });
        }
        Ok(smallvec![values.finish(), indices.finish()])
    }
}

/// Reads `chlo.top_k`.
pub fn top_k(source: &Source<'_>) -> Read {
    source.counts(1, 2, 0)?;
    let x = &source.operands[0];
    let k = usize::try_from(source.integer("k")?).map_err(|_| source.error("k is negative"))?;
    let mut shape = x.shape.clone();
    let Some(last) = shape.last_mut() else {
        return Err(source.error("the operand is a scalar"));
    };
    source.check(
        k <= *last && i32::try_from(*last).is_ok(),
        format_args!("k = {k} exceeds {x}"),
    )?;
    *last = k;
    source.check(
        !matches!(x.element, C64 | C128),
        "complex numbers have no order",
    )?;
    source.result(0, &TensorType::new(&shape, x.element))?;
    source.result(1, &TensorType::new(&shape, I32))?;
    lift(TopK { shape })
}

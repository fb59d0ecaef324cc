//! Operations by which devices exchange values.

use super::arrays::{Concatenate, splat};
use super::reduce::Reduce;
use super::region::ScalarRegion;
use super::shape::slice;
use super::{Read, lift, ragged};
use crate::graph::{Devices, Operands, Operation, Source};
use crate::memory::{Context, Tensor, Tensors};
use crate::text::Attribute;
use crate::{Dims, Error, Result, TensorType};

/// The kind of numbers by which an operation names devices.
#[derive(Clone, Copy, Debug)]
enum Numbers {
    /// Numbers of replicas. Partitions do not exchange values.
    Replicas,
    /// Numbers of partitions. Replicas do not exchange values.
    Partitions,
    /// Numbers of replicas, all of whose partitions take part.
    ReplicasWithPartitions,
    /// Numbers of devices.
    Devices,
}

/// The values that each device of a group receives.
#[derive(Debug)]
enum Exchange {
    /// The total, or the device's part along an axis.
    Reduce {
        reduce: Box<Reduce>,
        scatter: Option<usize>,
    },
    /// The values of all, one after another along an axis.
    Gather { axis: usize },
    /// The device's part of the value of each, one after another along an axis.
    Parts { split: usize, concat: usize },
    /// The value of the first. Devices in no group receive zeros.
    First,
    /// Ranges of rows, whose offsets and sizes are operands.
    Ragged,
}

/// An operation by which groups of devices exchange values.
#[derive(Debug)]
struct Collective {
    name: String,
    numbers: Numbers,
    /// The groups; all devices if there are none.
    groups: Vec<Vec<usize>>,
    exchange: Exchange,
    /// Number of members of each group, if the types depend on it.
    members: Option<usize>,
    results: Vec<TensorType>,
}

/// Returns one of `count` equal parts along an axis.
fn part(x: &Tensor, axis: usize, index: usize, count: usize) -> Tensor {
    let mut shape = Dims::from(x.shape());
    shape[axis] /= count;
    let mut starts = vec![0; shape.len()];
    starts[axis] = index * shape[axis];
    slice(x, &starts, &vec![1; starts.len()], shape)
}

/// Returns tensors one after another along an axis.
fn concatenate(context: &Context, parts: Operands, axis: usize) -> Result<Tensor> {
    let mut ty = parts[0].ty.clone();
    ty.shape[axis] = parts.iter().map(|x| x.shape()[axis]).sum();
    Ok(Concatenate { ty, axis }.run(context, parts)?.remove(0))
}

/// Returns the total of tensors of one type.
fn total(
    context: &Context,
    reduce: &Reduce,
    parts: Operands,
    captures: &[Tensor],
) -> Result<Tensor> {
    if parts.len() == 1 || parts[0].size() == 0 {
        return Ok(parts[0].clone());
    }
    let size = parts[0].size();
    let rows = parts.iter().map(|x| x.reshape(context, &[1, size]));
    let stacked = concatenate(context, rows.collect::<Result<_>>()?, 0)?;
    let shape = Dims::from_slice(&[size]);
    let totals = reduce.without_initial(context, &[stacked], captures, &shape)?;
    totals[0].reshape(context, parts[0].shape())
}

/// Returns the error of an exchange in which a device does not take part.
pub fn disagreement(operation: &str, device: usize) -> Error {
    Error::Failed(format!(
        "{operation}: device {device} does not take part, because a condition of a loop or a branch \
         differs between devices\n  help: compute the condition from values that are equal on all devices, \
         such as sums over them"
    ))
}

impl Collective {
    fn groups(&self, devices: &Devices) -> Vec<Vec<usize>> {
        let all = || (0..devices.count).collect();
        match (self.numbers, devices.replicas) {
            (Numbers::Partitions, true) | (Numbers::Replicas, false) => {
                (0..devices.count).map(|n| vec![n]).collect()
            }
            (Numbers::ReplicasWithPartitions, false) => vec![all()],
            _ if self.groups.is_empty() => vec![all()],
            _ => self.groups.clone(),
        }
    }

    /// Returns the positions of a group's members among devices that run together, or `None` if none of
    /// them does.
    fn positions(&self, group: &[usize], devices: &Devices) -> Result<Option<Vec<usize>>> {
        let position = |number| devices.numbers.binary_search(number);
        let positions: Vec<usize> = group.iter().flat_map(position).collect();
        let absent = group.iter().find(|number| position(number).is_err());
        match absent {
            None => Ok(Some(positions)),
            Some(_) if positions.is_empty() => Ok(None),
            Some(absent) => Err(disagreement(&self.name, *absent)),
        }
    }

    /// Returns what each member of a group receives.
    fn exchange(&self, context: &Context, members: &[&Operands]) -> Result<Vec<Tensors>> {
        let count = members.len();
        if let Some(expected) = self.members.filter(|n| *n != count) {
            return Err(Error::Failed(format!(
                "{}: the types are those of groups of {expected} devices, but the group has {count}",
                self.name
            )));
        }
        if let Exchange::Ragged = self.exchange {
            return ragged::exchange(context, members);
        }
        let captures = &members[0][self.results.len()..];
        let mut results = vec![Tensors::new(); count];
        for i in 0..self.results.len() {
            let values = members.iter().map(|o| o[i].clone()).collect();
            let received = self.received(context, values, captures)?;
            for (result, value) in results.iter_mut().zip(received) {
                result.push(value);
            }
        }
        Ok(results)
    }

    /// Returns what each member of a group receives for one value of each.
    fn received(
        &self,
        context: &Context,
        values: Operands,
        captures: &[Tensor],
    ) -> Result<Vec<Tensor>> {
        let count = values.len();
        match &self.exchange {
            Exchange::Reduce { reduce, scatter } => {
                let total = total(context, reduce, values, captures)?;
                Ok(match scatter {
                    Some(axis) => (0..count).map(|k| part(&total, *axis, k, count)).collect(),
                    None => vec![total; count],
                })
            }
            Exchange::Gather { axis } => Ok(vec![concatenate(context, values, *axis)?; count]),
            Exchange::Parts { split, concat } => {
                let parts = |k| values.iter().map(|x| part(x, *split, k, count)).collect();
                let each = (0..count).map(|k| concatenate(context, parts(k), *concat));
                each.collect()
            }
            Exchange::First => Ok(vec![values[0].clone(); count]),
            Exchange::Ragged => unreachable!("its operands are no values of results"),
        }
    }
}

impl Operation for Collective {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        alone(self, context, operands)
    }

    fn run_on(
        &self,
        context: &Context,
        devices: &Devices,
        all: Vec<Operands>,
    ) -> Result<Vec<Tensors>> {
        let mut results = vec![Tensors::new(); all.len()];
        for group in self.groups(devices) {
            let Some(positions) = self.positions(&group, devices)? else {
                continue;
            };
            let members: Vec<&Operands> = positions.iter().map(|p| &all[*p]).collect();
            for (p, result) in positions.iter().zip(self.exchange(context, &members)?) {
                results[*p] = result;
            }
        }
        for (number, result) in devices.numbers.iter().zip(&mut results) {
            if !result.is_empty() || self.results.is_empty() {
                continue;
            }
            let Exchange::First = self.exchange else {
                let message = format!("{}: device {number} is in no group", self.name);
                return Err(Error::Failed(message));
            };
            *result = zeros(&self.results)?;
        }
        Ok(results)
    }
}

fn zeros(types: &[TensorType]) -> Result<Tensors> {
    let zero = |ty: &TensorType| splat(ty, &vec![0; ty.element.bytes()]);
    types.iter().map(zero).collect()
}

/// Runs an operation outside programs for several devices.
fn alone(operation: &impl Operation, context: &Context, operands: Operands) -> Result<Tensors> {
    let devices = Devices::all(1, false);
    Ok(operation
        .run_on(context, &devices, vec![operands])?
        .remove(0))
}

/// Returns whether a collective has a channel, so that partitions take part.
fn has_channel(source: &Source<'_>) -> bool {
    match source.attribute("channel_handle") {
        Some(Attribute::Structure { fields, .. }) => {
            matches!(fields.get("handle"), Some(Attribute::Integer(n)) if *n > 0)
        }
        _ => false,
    }
}

/// Reads the groups of a collective.
fn read(source: &Source<'_>, numbers: Numbers, exchange: Exchange, members: Option<usize>) -> Read {
    let groups = source.attribute("replica_groups");
    read_groups(source, groups, numbers, exchange, members)
}

fn read_groups(
    source: &Source<'_>,
    groups: Option<&Attribute>,
    numbers: Numbers,
    exchange: Exchange,
    members: Option<usize>,
) -> Read {
    let (list, width) = match groups {
        Some(groups @ Attribute::Dense { ty, .. }) if ty.shape.len() == 2 => {
            (source.read_integers("replica_groups", groups)?, ty.shape[1])
        }
        _ => return Err(source.error("replica_groups must be a table of integers")),
    };
    // Groups that are shorter than others end in -1.
    let group = |g: &[i64]| g.iter().filter_map(|n| usize::try_from(*n).ok()).collect();
    let groups: Vec<Vec<usize>> = list.chunks(width.max(1)).map(group).collect();
    source.check(
        groups.iter().all(|g| !g.is_empty()),
        "replica_groups contains an empty group",
    )?;
    lift(Collective {
        name: source.syntax.name.clone(),
        numbers,
        groups,
        exchange,
        members,
        results: source.results.clone(),
    })
}

/// Returns the numbers in the groups of a reduction or gather.
fn flexible(source: &Source<'_>) -> Result<Numbers> {
    match (has_channel(source), source.flag("use_global_device_ids")) {
        (true, true) => Ok(Numbers::Devices),
        (true, false) => Ok(Numbers::ReplicasWithPartitions),
        (false, false) => Ok(Numbers::Replicas),
        (false, true) => Err(source.error("use_global_device_ids needs a channel")),
    }
}

/// Returns the numbers in the groups of another exchange.
fn fixed(source: &Source<'_>) -> Numbers {
    if has_channel(source) {
        Numbers::Partitions
    } else {
        Numbers::Replicas
    }
}

/// Reads the region that combines values.
fn reduction(source: &Source<'_>) -> Result<Box<Reduce>> {
    source.check(!source.operands.is_empty(), "needs an operand")?;
    let region = ScalarRegion::combiner(source, 0, 1)?;
    let first = &source.operands[0];
    let same = source.operands.iter().all(|x| x.element == first.element);
    source.check(same, "the operands must have one element type")?;
    Ok(Box::new(Reduce::over_rows(region)))
}

fn same_types(source: &Source<'_>) -> Result<()> {
    source.check(
        source.operands == source.results,
        "the results must have the operands' types",
    )
}

/// Reads `stablehlo.all_reduce`.
pub fn all_reduce(source: &Source<'_>) -> Read {
    same_types(source)?;
    let exchange = Exchange::Reduce {
        reduce: reduction(source)?,
        scatter: None,
    };
    read(source, flexible(source)?, exchange, None)
}

/// Returns the ratio of the sizes of an axis, if the types are equal otherwise.
fn ratio(
    source: &Source<'_>,
    axis: usize,
    whole: &[TensorType],
    parts: &[TensorType],
) -> Result<usize> {
    let ratio = |(whole, part): (&TensorType, &TensorType)| {
        let mut scaled = part.clone();
        *scaled.shape.get_mut(axis)? = *whole.shape.get(axis)?;
        let (n, m) = (whole.shape[axis], part.shape[axis]);
        (scaled == *whole && m > 0 && n.is_multiple_of(m)).then(|| n / m)
    };
    let mut all = whole.iter().zip(parts).map(ratio);
    let first = all.next().flatten().filter(|n| all.all(|m| m == Some(*n)));
    first
        .filter(|_| whole.len() == parts.len())
        .ok_or_else(|| source.error("the results' types do not follow from the operands'"))
}

/// Reads `stablehlo.all_gather`.
pub fn all_gather(source: &Source<'_>) -> Read {
    let rank = source.operands.first().map_or(0, |x| x.shape.len());
    let axis = source.axis("all_gather_dim", rank)?;
    let members = ratio(source, axis, &source.results, &source.operands)?;
    read(
        source,
        flexible(source)?,
        Exchange::Gather { axis },
        Some(members),
    )
}

/// Reads `stablehlo.reduce_scatter`.
pub fn reduce_scatter(source: &Source<'_>) -> Read {
    source.counts(1, 1, 1)?;
    let axis = source.axis("scatter_dimension", source.operands[0].shape.len())?;
    let members = ratio(source, axis, &source.operands, &source.results)?;
    let exchange = Exchange::Reduce {
        reduce: reduction(source)?,
        scatter: Some(axis),
    };
    read(source, flexible(source)?, exchange, Some(members))
}

/// Reads `stablehlo.all_to_all`.
pub fn all_to_all(source: &Source<'_>) -> Read {
    let rank = source.operands.first().map_or(0, |x| x.shape.len());
    let split = source.axis("split_dimension", rank)?;
    let concat = source.axis("concat_dimension", rank)?;
    let count = usize::try_from(source.integer("split_count")?).unwrap_or(0);
    let exchanged = |x: &TensorType| {
        let mut ty = x.clone();
        let size = ty.shape.get_mut(split)?;
        *size = size.checked_div(count).filter(|n| n * count == *size)?;
        let size = ty.shape.get_mut(concat)?;
        *size = size.checked_mul(count)?;
        Some(ty)
    };
    let types: Option<Vec<TensorType>> = source.operands.iter().map(exchanged).collect();
    source.check(
        types.is_some_and(|types| types == source.results),
        "the results' types do not follow from the operands'",
    )?;
    let exchange = Exchange::Parts { split, concat };
    read(source, fixed(source), exchange, Some(count))
}

/// Reads `stablehlo.collective_broadcast`.
pub fn broadcast(source: &Source<'_>) -> Read {
    same_types(source)?;
    read(source, fixed(source), Exchange::First, None)
}

/// Reads the custom call `ragged_all_to_all`.
pub fn ragged_all_to_all(source: &Source<'_>) -> Read {
    ragged::check(source)?;
    let config = source.fields("backend_config")?;
    let numbers = match config.get("channel_id") {
        Some(Attribute::Integer(n)) if *n > 0 => Numbers::Partitions,
        _ => Numbers::Replicas,
    };
    let groups = config.get("replica_groups");
    read_groups(source, groups, numbers, Exchange::Ragged, None)
}

/// Values that move from devices to others.
#[derive(Debug)]
struct Permute {
    numbers: Numbers,
    pairs: Vec<[usize; 2]>,
    results: Vec<TensorType>,
}

impl Operation for Permute {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        alone(self, context, operands)
    }

    fn run_on(&self, _: &Context, devices: &Devices, all: Vec<Operands>) -> Result<Vec<Tensors>> {
        let crosses = matches!(self.numbers, Numbers::Replicas) == devices.replicas;
        let received = |(own, number): (&Operands, &usize)| {
            // Without other devices of its kind, each has the number 0.
            let target = if crosses { *number } else { 0 };
            let Some([source, _]) = self.pairs.iter().find(|[_, t]| *t == target) else {
                return zeros(&self.results);
            };
            if !crosses {
                return Ok(own.iter().cloned().collect());
            }
            let Ok(position) = devices.numbers.binary_search(source) else {
                return Err(disagreement("stablehlo.collective_permute", *source));
            };
            Ok(all[position].iter().cloned().collect())
        };
        all.iter().zip(&devices.numbers).map(received).collect()
    }
}

/// Reads `stablehlo.collective_permute`.
pub fn permute(source: &Source<'_>) -> Read {
    same_types(source)?;
    let list = source.sizes("source_target_pairs")?;
    let (pairs, rest) = list.as_chunks::<2>();
    let all = [0, 1].map(|side| pairs.iter().map(|p| p[side]).collect::<Vec<usize>>());
    let distinct = |list: &[usize]| {
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).all(|w| w[0] != w[1])
    };
    source.check(
        rest.is_empty() && all.iter().all(|list| distinct(list)),
        "source_target_pairs must be pairs with distinct sources and distinct targets",
    )?;
    lift(Permute {
        numbers: fixed(source),
        pairs: pairs.to_vec(),
        results: source.results.clone(),
    })
}

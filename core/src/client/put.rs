//! Moves arrays between devices and shardings.

use crate::program::array::{DeviceArray, Repr};
use crate::program::backend::backend;
use crate::types::sharding::placed::typed;
use crate::types::sharding::{NamedSharding, Sharding};
use crate::{Array, Aval, Error, Result, client};
use ramie_pjrt::{Buffer, Device};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Moves an array whose dimensions are known to be divisible.
pub(crate) fn place(array: &Array, to: Sharding) -> Result<Array> {
    if array.sharding() == Some(to) {
        return Ok(array.clone());
    }
    let kind = |s: Option<Sharding>| s.and_then(|s| s.named()).and_then(|n| n.memory_kind());
    let (from, into) = (kind(array.sharding()), kind(Some(to)));
    if from == into && into.is_none() {
        return place_on_devices(array, to);
    }
    // Copies between other kinds of memory go through the devices' default memory.
    let array = match (from, array.sharding()) {
        (Some(_), Some(Sharding::Named(here))) => in_memory(array, here.in_device_memory())?,
        _ => array.clone(),
    };
    let Sharding::Named(to) = to else {
        return place_on_devices(&array, to);
    };
    in_memory(&place_on_devices(&array, to.in_device_memory().into())?, to)
}

/// Moves an array's shards to the kind of memory that `to` names.
fn in_memory(array: &Array, to: NamedSharding) -> Result<Array> {
    let held = array.device_array()?;
    let copy = |buffer: &Buffer| -> Result<Buffer> {
        let device = buffer.device();
        let kind = to.memory_kind();
        let memory = match kind {
            None => device.default_memory(),
            Some(kind) => device.memories().iter().find(|m| m.kind() == kind),
        };
        let Some(memory) = memory else {
            let kinds: Vec<&str> = device.memories().iter().map(|m| m.kind()).collect();
            return Err(Error::Configuration(format!(
                "{} has no memory of the kind `{}`\n  help: use one of its kinds: {}",
                device.description(),
                kind.unwrap_or("default"),
                kinds.join(", ")
            )));
        };
        Ok(buffer.copy_to_memory(memory)?)
    };
    let buffers = held.buffers.iter().map(copy).collect::<Result<_>>()?;
    Ok(Array::from_parts(
        array.aval(),
        buffers,
        Sharding::Named(to),
    ))
}

/// Same as [`place`], for arrays in the devices' default memory.
fn place_on_devices(array: &Array, to: Sharding) -> Result<Array> {
    if let (Some(literal), Sharding::SingleDevice(device)) = (array.as_literal(), to) {
        return Ok(Array(Repr::Device(client::put_scalar_on(literal, device)?)));
    }
    let aval = typed(array.aval(), to);
    if let Some(literal) = array.as_literal() {
        let bytes = literal.value().to_bytes(array.dtype());
        return from_bytes(&bytes, aval, to);
    }
    let held = array.device_array()?;
    if held.sharding == to {
        return Ok(array.clone());
    }
    // Copies between devices, and then a program on the devices, avoid a transfer through the host.
    if let Some(buffers) = by_whole_parts(held, to)? {
        return Ok(Array::from_parts(aval, buffers, to));
    }
    if held.sharding.devices() == to.devices() {
        return match to {
            Sharding::Named(sharding) => backend().reshard(array, sharding),
            Sharding::SingleDevice(_) => from_bytes(&array.try_to_bytes()?, array.aval(), to),
        };
    }
    from_bytes(&array.try_to_bytes()?, aval, to)
}

/// Assembles the result from copies of whole shards, if every target shard is a shard of `held`.
fn by_whole_parts(held: &DeviceArray, to: Sharding) -> Result<Option<SmallVec<[Buffer; 1]>>> {
    let shape = held.aval.shape();
    let have: Vec<_> = indices(held.sharding, shape);
    let mut plan = Vec::new();
    for (device, index) in indices(to, shape) {
        let same = |h: &&(Device, Vec<Range<usize>>)| h.1 == index;
        // A shard that is already on the device needs no transfer.
        let here = have.iter().position(|h| h.0 == device && h.1 == index);
        let Some(from) = here.or_else(|| have.iter().position(|h| same(&h))) else {
            return Ok(None);
        };
        plan.push((from, device));
    }
    let copied = |(from, device): (usize, Device)| held.buffers[from].copy_to_device(device);
    Ok(Some(
        plan.into_iter()
            .map(copied)
            .collect::<ramie_pjrt::Result<_>>()?,
    ))
}

/// Returns the devices of this process that have a shard, and the shard's index.
pub(crate) fn indices(sharding: Sharding, shape: &[usize]) -> Vec<(Device, Vec<Range<usize>>)> {
    match sharding {
        Sharding::SingleDevice(d) => vec![(d, shape.iter().map(|&n| 0..n).collect())],
        Sharding::Named(n) => n
            .mesh()
            .devices()
            .iter()
            .enumerate()
            .filter(|(_, d)| d.is_addressable())
            .map(|(k, d)| (*d, n.shard_index(k, shape)))
            .collect(),
    }
}

/// Returns the distinct shards on devices of this process, each with its first position in
/// [`indices`].
pub(crate) fn distinct(sharding: Sharding, shape: &[usize]) -> Vec<(usize, Vec<Range<usize>>)> {
    let mut known = HashSet::new();
    let parts = indices(sharding, shape).into_iter().map(|(_, index)| index);
    let parts = parts.enumerate();
    parts.filter(|(_, i)| known.insert(i.clone())).collect()
}

/// Returns a buffer for each device of this process. `make` creates the buffer of each distinct
/// shard, given its index and type; other devices with the same shard get copies.
pub(crate) fn buffers(
    aval: Aval,
    to: Sharding,
    mut make: impl FnMut(&[Range<usize>], Aval, Device) -> Result<Buffer>,
) -> Result<SmallVec<[Buffer; 1]>> {
    let mut buffers: SmallVec<[Buffer; 1]> = SmallVec::new();
    let mut made: HashMap<Vec<Range<usize>>, usize> = HashMap::new();
    for (device, index) in indices(to, aval.shape()) {
        let buffer = match made.get(&index) {
            Some(at) => buffers[*at].copy_to_device(device)?,
            None => {
                let shape: Vec<usize> = index.iter().map(|r| r.end - r.start).collect();
                let buffer = make(&index, aval.unplaced().with_shape(&shape), device)?;
                made.insert(index, buffers.len());
                buffer
            }
        };
        buffers.push(buffer);
    }
    Ok(buffers)
}

/// Returns a message if the number of bytes of a shard does not match its type.
pub(crate) fn wrong_size(
    bytes: usize,
    index: &[Range<usize>],
    aval: Aval,
    local: Aval,
) -> Option<String> {
    let expected = local.size_bytes();
    (bytes != expected).then(|| {
        format!(
            "the shard {index:?} of {aval} is {local}, which has {expected} bytes; got {bytes}\n  help: \
             pass all elements of the shard, row by row"
        )
    })
}

/// Creates an array with this sharding from the bytes of all its elements.
pub(crate) fn from_bytes(bytes: &[u8], aval: Aval, to: Sharding) -> Result<Array> {
    from_parts_of(aval, to, |index| Ok(part(bytes, aval, index)))
}

/// Creates an array with this sharding from the bytes of its shards; `part` is called once for
/// each distinct shard.
pub(crate) fn from_parts_of(
    aval: Aval,
    to: Sharding,
    mut part: impl FnMut(&[Range<usize>]) -> Result<Vec<u8>>,
) -> Result<Array> {
    let aval = typed(aval, to);
    let buffers = buffers(aval, to, |index, local, device| {
        let bytes = part(index)?;
        match wrong_size(bytes.len(), index, aval, local) {
            Some(wrong) => Err(Error::Configuration(wrong)),
            None => client::put_buffer(&bytes, local, device),
        }
    })?;
    Ok(Array::from_parts(aval, buffers, to))
}

/// Calls `each` with the byte offset of each row of a shard in the whole array and in the shard,
/// and the row's length in bytes.
fn rows(aval: Aval, index: &[Range<usize>], mut each: impl FnMut(usize, usize, usize)) {
    let size = aval.dtype().size();
    let shape = aval.shape();
    let Some((last, outer)) = index.split_last() else {
        return each(0, 0, size);
    };
    let length = (last.end - last.start) * size;
    let count: usize = outer.iter().map(|r| r.end - r.start).product();
    for row in 0..count {
        // `row` counts the rows of the shard, whose coordinates are its digits in the sizes of the
        // outer dimensions, the innermost dimension first. `from` is the index of the row's first
        // element in the whole array: the sum of `(start + coordinate) * stride` over the
        // dimensions.
        let (mut rest, mut from, mut stride) = (row, last.start, shape[outer.len()]);
        for (d, range) in outer.iter().enumerate().rev() {
            let n = range.end - range.start;
            from += (range.start + rest % n) * stride;
            rest /= n;
            stride *= shape[d];
        }
        each(from * size, row * length, length);
    }
}

/// Returns the bytes of a shard of an array.
pub(crate) fn part(bytes: &[u8], aval: Aval, index: &[Range<usize>]) -> Vec<u8> {
    let count: usize = index.iter().map(|r| r.end - r.start).product();
    let mut out = vec![0; count * aval.dtype().size()];
    rows(aval, index, |from, to, n| {
        out[to..to + n].copy_from_slice(&bytes[from..from + n]);
    });
    out
}

impl DeviceArray {
    /// Copies the bytes of all elements, shard by shard.
    pub(crate) fn copy_to_host(&self, bytes: &mut [u8]) -> Result<()> {
        if let [one] = &self.buffers[..]
            && self.sharding.devices().len() == 1
        {
            return Ok(one.copy_to_host(bytes)?);
        }
        let shape = self.aval.shape();
        // Each shard is then the whole array.
        if self.sharding.is_fully_replicated() && !self.buffers.is_empty() {
            return Ok(self.buffers[0].copy_to_host(bytes)?);
        }
        if self.buffers.len() < self.sharding.devices().len() {
            return Err(Error::Configuration(format!(
                "{} has shards on devices of other processes ({})\n  help: read this process's \
                 shards with `addressable_shards`, or gather it first: device_put(&x, \
                 NamedSharding::new(mesh, P![]))",
                self.aval, self.sharding
            )));
        }
        for (at, index) in distinct(self.sharding, shape) {
            let count: usize = index.iter().map(|r| r.end - r.start).product();
            // The rows of a shard are apart in the whole array, so it is read into memory of its
            // own first.
            let mut local = vec![0; count * self.aval.dtype().size()];
            self.buffers[at].copy_to_host(&mut local)?;
            rows(self.aval, &index, |to, from, n| {
                bytes[to..to + n].copy_from_slice(&local[from..from + n]);
            });
        }
        Ok(())
    }
}

/// Moves an array to the devices of a program. An array on one device that need not stay there is
/// replicated.
pub(crate) fn follow(array: &Array, to: NamedSharding) -> Result<Arc<DeviceArray>> {
    let placed = place(array, Sharding::Named(to))?;
    placed.device_array().cloned()
}

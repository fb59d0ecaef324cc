//! Access to the shards of arrays.

use super::put::{from_parts_of, indices, part};
use crate::base::location::fail;
use crate::program::array::Repr;
use crate::types::dtype::Element;
use crate::types::sharding::{NamedSharding, Sharding};
use crate::{Array, Aval, Device, Error, Result};
use smallvec::SmallVec;
use std::fmt::Write;
use std::ops::Range;

/// One device's shard of an array (`jax.Shard`).
pub struct Shard {
    device: Device,
    index: Vec<Range<usize>>,
    replica_id: usize,
    data: Array,
}

impl Shard {
    /// Returns the device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the shard's index: a range for each dimension.
    pub fn index(&self) -> &[Range<usize>] {
        &self.index
    }

    /// Returns the index of this copy among the devices with the same shard, counted from 0.
    pub fn replica_id(&self) -> usize {
        self.replica_id
    }

    /// Returns the elements, on the device.
    pub fn data(&self) -> &Array {
        &self.data
    }
}

impl Array {
    /// Returns the sharding of the elements; `None` for traced arrays, arrays without elements or
    /// sharding, and scalars that have not been used.
    pub fn sharding(&self) -> Option<Sharding> {
        match &self.0 {
            Repr::Device(held) => Some(held.sharding),
            Repr::Abstract(_, sharding) => sharding.map(Sharding::Named),
            _ => None,
        }
    }

    /// Returns `true` if all devices of the array belong to this process. Traced arrays, and
    /// scalars that have not been used, are addressable.
    ///
    /// ```
    /// use ramie_core::Array;
    /// assert!(Array::from([1.0f32, 2.0]).is_fully_addressable());
    /// ```
    pub fn is_fully_addressable(&self) -> bool {
        let sharding = self.sharding();
        sharding.is_none_or(|s| s.devices().iter().all(|d| d.is_addressable()))
    }

    /// Returns the shards on devices of this process, in the order of the sharding's devices.
    ///
    /// # Panics
    /// Panics if the array is traced or has no elements, or if its computation failed.
    #[doc(alias = "addressable_data")]
    #[track_caller]
    pub fn addressable_shards(&self) -> Vec<Shard> {
        self.expect_value("addressable_shards");
        match self.shards() {
            Ok(shards) => shards,
            Err(e) => fail(&format!("addressable_shards: {e}")),
        }
    }

    fn shards(&self) -> Result<Vec<Shard>> {
        let held = self.device_array()?;
        let mut out: Vec<Shard> = Vec::new();
        let parts = indices(held.sharding, self.shape());
        for (buffer, (device, index)) in held.buffers.iter().zip(parts) {
            let shape: Vec<usize> = index.iter().map(|r| r.end - r.start).collect();
            let local = self.aval().unplaced().with_shape(&shape);
            let data = Array::from_device(
                local,
                buffer.copy_to_device(device)?,
                Sharding::SingleDevice(device),
            );
            let replica_id = out.iter().filter(|s| s.index == index).count();
            out.push(Shard {
                device,
                index,
                replica_id,
                data,
            });
        }
        Ok(out)
    }

    /// Returns the number of bytes of the array on each device of this process.
    ///
    /// # Panics
    /// Panics if the array is traced or has no elements.
    #[doc(alias = "on_device_size_in_bytes")]
    #[track_caller]
    pub fn addressable_bytes(&self) -> Vec<(Device, usize)> {
        self.expect_value("addressable_bytes");
        match self.device_array() {
            Ok(held) => {
                let buffers: SmallVec<[_; 8]> = held.buffers.iter().collect();
                buffers
                    .iter()
                    .map(|b| (b.device(), b.buffer_type().size_bytes()))
                    .collect()
            }
            Err(e) => fail(&format!("addressable_bytes: {e}")),
        }
    }
}

/// Creates an array of `shape` with this sharding: `part` receives a range for each dimension of
/// a shard and returns its elements, row-major. `part` is called only for shards on devices of
/// this process, once for each distinct shard (`jax.make_array_from_callback`).
///
/// ```no_run
/// use ramie_core::sharding::make_array_from_callback;
/// use ramie_core::{make_mesh, NamedSharding, P};
/// let sharding = NamedSharding::new(make_mesh(&[8], &["x"])?, P!["x"]);
/// let x = make_array_from_callback(&[1024], sharding, |index| {
///     index[0].clone().map(|i| i as f32).collect::<Vec<f32>>()
/// })?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a shard's number of elements does not match its range, or if a device is
/// out of memory.
///
/// # Panics
/// Panics if a dimension is not divisible by its number of shards.
#[track_caller]
pub fn make_array_from_callback<T: Element>(
    shape: &[usize],
    sharding: NamedSharding,
    mut part: impl FnMut(&[Range<usize>]) -> Vec<T>,
) -> Result<Array> {
    sharding.shard_shape(shape);
    from_parts_of(Aval::new(shape, T::DTYPE), sharding.into(), |index| {
        Ok(bytemuck::cast_slice(&part(index)).to_vec())
    })
}

/// Creates an array with this sharding from the elements that belong to this process's devices
/// (`jax.make_array_from_process_local_data`): the union of their shards, row-major, in the order
/// of the whole array. With one process that is the whole array. Each process passes its own
/// elements.
///
/// ```no_run
/// use ramie_core::sharding::make_array_from_process_local_data;
/// use ramie_core::{make_mesh, NamedSharding, P};
/// // Each process reads its own part of a batch of 1024 examples.
/// let sharding = NamedSharding::new(make_mesh(&[8], &["data"])?, P!["data"]);
/// let mine: Vec<f32> = vec![0.0; 1024 * 784];
/// let batch = make_array_from_process_local_data(&mine, &[1024, 784], sharding)?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the number of elements of `local` is not that of this process's shards, or
/// if a device is out of memory.
///
/// # Panics
/// Panics if a dimension of `shape`, the shape of the whole array, is not divisible by its number
/// of shards.
#[track_caller]
pub fn make_array_from_process_local_data<T: Element>(
    local: &[T],
    shape: &[usize],
    sharding: NamedSharding,
) -> Result<Array> {
    sharding.shard_shape(shape);
    // For each dimension, the ranges that this process stores, in order of their offsets in
    // `local`.
    let mut mine: Vec<Vec<Range<usize>>> = vec![Vec::new(); shape.len()];
    for (_, index) in indices(sharding.into(), shape) {
        for (ranges, range) in mine.iter_mut().zip(index) {
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
    }
    let mut here = Vec::with_capacity(shape.len());
    for ranges in &mut mine {
        ranges.sort_by_key(|r| r.start);
        here.push(ranges.iter().map(|r| r.end - r.start).sum());
    }
    let local_aval = Aval::new(&here, T::DTYPE);
    if local.len() != local_aval.size() {
        return Err(Error::Configuration(format!(
            "make_array_from_process_local_data: got {} elements, but the devices of this process \
             store {local_aval} of {:?}\n  help: pass all elements of this process, and only those",
            local.len(),
            shape
        )));
    }
    let bytes: &[u8] = bytemuck::cast_slice(local);
    from_parts_of(Aval::new(shape, T::DTYPE), sharding.into(), |index| {
        let shift = |(ranges, range): (&Vec<Range<usize>>, &Range<usize>)| {
            let before = ranges.iter().take_while(|r| r.start < range.start);
            let start: usize = before.map(|r| r.end - r.start).sum();
            start..start + (range.end - range.start)
        };
        let at: Vec<Range<usize>> = mine.iter().zip(index).map(shift).collect();
        Ok(part(bytes, local_aval, &at))
    })
}

/// Draws which device has which shard of an array of one or two dimensions
/// (`jax.debug.visualize_array_sharding`).
///
/// # Panics
/// Panics if the array has no elements, or more than two dimensions.
#[doc(alias = "visualize_array_sharding")]
#[track_caller]
pub fn visualize_sharding(array: &Array) -> String {
    array.expect_value("visualize_sharding");
    let shape = array.shape();
    let sharding = match array.device_array() {
        Ok(held) => held.sharding,
        Err(e) => fail(&format!("visualize_sharding: {e}")),
    };
    if !(1..=2).contains(&shape.len()) {
        fail(&format!(
            "visualize_sharding: {} has {} dimensions, but only one or two can be drawn\n  help: \
             reshape or slice the array first",
            array.aval(),
            shape.len()
        ));
    }
    let mut cells: Vec<(Vec<Range<usize>>, Vec<String>)> = Vec::new();
    for (device, index) in indices(sharding, shape) {
        let name = device.id().to_string();
        match cells.iter_mut().find(|(i, _)| *i == index) {
            Some((_, names)) => names.push(name),
            None => cells.push((index, vec![name])),
        }
    }
    let platform = sharding.devices().first().map_or(String::new(), |d| {
        let kind = d.client().platform_name().to_uppercase();
        format!("{kind} ")
    });
    let start = |index: &Vec<Range<usize>>, d: usize| index.get(d).map_or(0, |r| r.start);
    // An array with one dimension is drawn as a row.
    let (row, column) = match shape.len() {
        1 => (1, 0),
        _ => (0, 1),
    };
    cells.sort_by_key(|(i, _)| (start(i, row), start(i, column)));
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut last = None;
    for (index, names) in &cells {
        let at = start(index, row);
        if last != Some(at) {
            rows.push(Vec::new());
            last = Some(at);
        }
        let text = format!("{platform}{}", names.join(","));
        rows.last_mut().expect("a row was begun").push(text);
    }
    draw(&rows)
}

/// Draws a table with borders, with all cells as wide as the widest.
fn draw(rows: &[Vec<String>]) -> String {
    let width = rows.iter().flatten().map(String::len).max().unwrap_or(0) + 2;
    let columns = rows.first().map_or(0, Vec::len);
    let line = |left: char, middle: char, right: char| {
        let bars = vec!["─".repeat(width); columns];
        format!("{left}{}{right}\n", bars.join(&middle.to_string()))
    };
    let mut out = line('┌', '┬', '┐');
    for (i, row) in rows.iter().enumerate() {
        if i > 0 {
            out.push_str(&line('├', '┼', '┤'));
        }
        for cell in row {
            let _ = write!(out, "│{cell:^width$}");
        }
        out.push_str("│\n");
    }
    out.push_str(&line('└', '┴', '┘'));
    out
}

//! Transfer of shards from and to the host.

use super::put;
use super::put::{buffers, distinct, wrong_size};
use crate::base::lock::lock;
use crate::program::array::DeviceArray;
use crate::types::sharding::Sharding;
use crate::types::sharding::placed::typed;
use crate::{Array, Aval, DType, Error, Result, client};
use ramie_pjrt::{AlignedBytes, HostCopy};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// A shard of an array that is being copied to the host.
///
/// It keeps the shard's buffer alive: a compiled step that donates the array copies it instead.
pub struct HostShard {
    held: Arc<DeviceArray>,
    /// Index of the buffer.
    at: usize,
    index: Vec<Range<usize>>,
    is_first: bool,
    /// Pending copy, unless the device's memory is the host's.
    copy: Mutex<Option<HostCopy>>,
    copied: OnceLock<Result<AlignedBytes>>,
}

impl HostShard {
    /// Returns the shard's index: a range for each dimension.
    pub fn index(&self) -> &[Range<usize>] {
        &self.index
    }

    /// Returns whether this process has the first copy of the shard. Among all processes, exactly
    /// one has the first copy of each shard.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Calls `f` with the bytes of the elements, row-major and little-endian, once they are
    /// computed. On CPUs they are not copied. Several threads may read at the same time.
    ///
    /// # Errors
    /// Returns an error if the computation or the copy failed.
    pub fn read<R>(&self, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
        if let Some(view) = self.held.buffers[self.at].host_view()? {
            return Ok(f(&view));
        }
        let bytes = self.copied.get_or_init(|| {
            let mut copy = lock(&self.copy);
            let copy = match copy.take() {
                Some(copy) => copy,
                None => self.held.buffers[self.at].to_host_async()?,
            };
            Ok(copy.wait()?)
        });
        match bytes {
            Ok(bytes) => Ok(f(bytes)),
            Err(e) => Err(e.clone()),
        }
    }
}

impl Array {
    /// Starts copying the shards on devices of this process to the host, without duplicates
    /// (`jax.Array.copy_to_host_async`). Returns immediately: waits neither for the computation
    /// of the elements, nor for the copy from an accelerator. On CPUs there is no copy.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::ones(&[2], DType::F32);
    /// let parts = x.host_shards()?;
    /// assert_eq!(parts[0].read(|bytes| bytes.len())?, 8);
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the array is traced or has no elements, or if the device rejects the
    /// copy.
    #[doc(alias = "copy_to_host_async")]
    pub fn host_shards(&self) -> Result<Vec<HostShard>> {
        let held = self.device_array()?;
        let first = first_holders(held.sharding, self.shape());
        let mut out: Vec<HostShard> = Vec::new();
        for (at, index) in distinct(held.sharding, self.shape()) {
            let buffer = &held.buffers[at];
            let here = buffer.device().client().platform_name() == "cpu";
            let copy = if here {
                None
            } else {
                Some(buffer.to_host_async()?)
            };
            out.push(HostShard {
                held: held.clone(),
                at,
                is_first: first.get(&index).copied().unwrap_or(true),
                index,
                copy: Mutex::new(copy),
                copied: OnceLock::new(),
            });
        }
        Ok(out)
    }
}

impl Sharding {
    /// Returns the distinct shards of an array of `shape` on devices of this process: a range for
    /// each dimension (`Sharding.addressable_devices_indices_map`).
    ///
    /// # Errors
    /// Returns an error if a dimension is not divisible by its number of shards.
    #[doc(alias = "addressable_devices_indices_map")]
    pub fn addressable_parts(&self, shape: &[usize]) -> Result<Vec<Vec<Range<usize>>>> {
        if let Sharding::Named(named) = self {
            let fits = named.try_shard_shape(shape);
            fits.map_err(|e| Error::Configuration(e.render("addressable_parts", &[])))?;
        }
        let parts = distinct(*self, shape).into_iter();
        Ok(parts.map(|(_, index)| index).collect())
    }
}

/// Returns, for each shard of an array, whether the first device that has it belongs to this
/// process.
fn first_holders(sharding: Sharding, shape: &[usize]) -> HashMap<Vec<Range<usize>>, bool> {
    let mut first = HashMap::new();
    if let Sharding::Named(named) = sharding {
        for (k, device) in named.mesh().devices().iter().enumerate() {
            let index = named.shard_index(k, shape);
            first.entry(index).or_insert(device.is_addressable());
        }
    }
    first
}

/// Creates an array with this sharding from the bytes of each shard: `part` receives a range for
/// each dimension and returns its elements, row-major and little-endian. CPU devices use the
/// memory without a copy. `part` is called only for shards on devices of this process, once for
/// each distinct shard.
///
/// ```no_run
/// use ramie_core::sharding::make_array_from_parts;
/// use ramie_core::typing::AlignedBytes;
/// use ramie_core::{make_mesh, DType, NamedSharding, P};
/// let sharding = NamedSharding::new(make_mesh(&[8], &["x"])?, P!["x"]);
/// let x = make_array_from_parts(&[1024], DType::F32, sharding, |index| {
///     Ok(AlignedBytes::zeroed(index[0].len() * 4))
/// })?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a dimension is not divisible by its number of shards, if the number of
/// bytes of a shard does not match its range, if a device is out of memory, or if `part` fails.
pub fn make_array_from_parts(
    shape: &[usize],
    dtype: DType,
    sharding: impl Into<Sharding>,
    mut part: impl FnMut(&[Range<usize>]) -> Result<AlignedBytes>,
) -> Result<Array> {
    let to = sharding.into();
    if let Sharding::Named(named) = to {
        let fits = named.try_shard_shape(shape);
        fits.map_err(|e| Error::Configuration(e.render("make_array_from_parts", &[])))?;
        if named.memory_kind().is_some() {
            let in_memory = named.in_device_memory();
            let array = make_array_from_parts(shape, dtype, in_memory, part)?;
            return put::place(&array, to);
        }
    }
    let whole = Aval::new(shape, dtype);
    let buffers = buffers(whole, to, |index, local, device| {
        let bytes = part(index)?;
        match wrong_size(bytes.len(), index, whole, local) {
            Some(wrong) => Err(Error::Configuration(format!(
                "make_array_from_parts: {wrong}"
            ))),
            None => client::put_owned_buffer(bytes, local, device),
        }
    })?;
    Ok(Array::from_parts(typed(whole, to), buffers, to))
}

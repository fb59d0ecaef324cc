//! Devices and their memories.

use crate::client::ClientInner;
use crate::error::{ErrorCode, Result, borrowed, owned_string};
use crate::sys::{self, Api, OptionalI64, RawDevice, RawDeviceDescription, RawMemory};
use crate::value::Value;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;

/// A device of a client.
///
/// This is a copyable handle. It stays valid because clients live until the process ends.
#[derive(Clone, Copy)]
pub struct Device(pub(crate) &'static DeviceInner);

pub(crate) struct DeviceInner {
    pub raw: NonNull<RawDevice>,
    pub client: &'static ClientInner,
    pub id: i32,
    local_hardware_id: i32,
    process_index: i32,
    is_addressable: bool,
    kind: String,
    description: String,
    memories: Vec<Memory>,
    default_memory: Option<usize>,
    attributes: Vec<(String, Value)>,
}

// SAFETY: PJRT device handles may be used from any thread, and everything else here is immutable.
unsafe impl Send for DeviceInner {}
// SAFETY: as above.
unsafe impl Sync for DeviceInner {}

impl DeviceInner {
    /// Reads all constant properties of a device.
    ///
    /// # Safety
    /// `raw` must be a device of `client`.
    pub unsafe fn read(
        client: &'static ClientInner,
        raw: NonNull<RawDevice>,
    ) -> Result<DeviceInner> {
        let api = client.api;
        let mut description = sys::zeroed::<sys::DeviceGetDescription>();
        description.device = raw.as_ptr();
        // SAFETY: the caller guarantees a live device.
        unsafe { api.call(&mut description) }?;
        let about = description.description;

        // SAFETY: the description lives as long as the device.
        let (id, kind) = unsafe { describe(api, about) }?;
        let mut process = sys::zeroed::<sys::DescriptionProcessIndex>();
        process.description = about;
        // SAFETY: as above.
        unsafe { api.call(&mut process) }?;
        let mut addressable = sys::zeroed::<sys::DeviceIsAddressable>();
        addressable.device = raw.as_ptr();
        // SAFETY: as above.
        unsafe { api.call(&mut addressable) }?;
        let is_addressable = addressable.is_addressable;
        let mut local = sys::zeroed::<sys::DeviceLocalHardwareId>();
        local.device = raw.as_ptr();
        local.local_hardware_id = -1;
        // SAFETY: as above. Devices of other processes have no local id.
        let _ = unsafe { api.call(&mut local) };

        let (memories, default_memory) = if is_addressable {
            // SAFETY: as above.
            unsafe { read_memories(api, raw) }?
        } else {
            (Vec::new(), None)
        };
        Ok(DeviceInner {
            raw,
            client,
            id,
            local_hardware_id: local.local_hardware_id,
            process_index: process.process_index,
            is_addressable,
            kind,
            // SAFETY: the description is live.
            description: unsafe { description_text(api, about) }?,
            memories,
            default_memory,
            // SAFETY: the description is live.
            attributes: unsafe { attributes(api, about) },
        })
    }
}

/// Returns the id and the kind of a device given only by its description.
///
/// # Safety
/// `about` must be a live description.
pub(crate) unsafe fn describe(api: Api, about: *mut RawDeviceDescription) -> Result<(i32, String)> {
    let mut id = sys::zeroed::<sys::DescriptionId>();
    id.description = about;
    // SAFETY: guaranteed by the caller.
    unsafe {
        api.call(&mut id)?;
        Ok((id.id, kind(api, about)?))
    }
}

/// # Safety
/// `about` must be a live description.
unsafe fn kind(api: Api, about: *mut RawDeviceDescription) -> Result<String> {
    let mut args = sys::zeroed::<sys::DescriptionKind>();
    args.description = about;
    // SAFETY: guaranteed by the caller; the string lives as long as the description.
    unsafe {
        api.call(&mut args)?;
        Ok(owned_string(args.kind.cast(), args.kind_size))
    }
}

/// # Safety
/// `about` must be a live description.
unsafe fn description_text(api: Api, about: *mut RawDeviceDescription) -> Result<String> {
    let mut args = sys::zeroed::<sys::DescriptionToString>();
    args.description = about;
    // SAFETY: guaranteed by the caller; the string lives as long as the description.
    unsafe {
        api.call(&mut args)?;
        Ok(owned_string(args.text.cast(), args.text_size))
    }
}

/// Returns the attributes of a device. Plugins need not support them; returns none on error.
///
/// # Safety
/// `about` must be a live description.
unsafe fn attributes(api: Api, about: *mut RawDeviceDescription) -> Vec<(String, Value)> {
    let mut args = sys::zeroed::<sys::DescriptionAttributes>();
    args.description = about;
    // SAFETY: guaranteed by the caller; the list lives as long as the description.
    unsafe {
        match api.call(&mut args) {
            Ok(()) => Value::read_all(args.attributes, args.num_attributes),
            Err(_) => Vec::new(),
        }
    }
}

/// Returns the memories of an addressable device, and the index of the default one.
///
/// # Safety
/// `raw` must be a live addressable device.
unsafe fn read_memories(api: Api, raw: NonNull<RawDevice>) -> Result<(Vec<Memory>, Option<usize>)> {
    let mut list = sys::zeroed::<sys::DeviceAddressableMemories>();
    list.device = raw.as_ptr();
    // SAFETY: guaranteed by the caller.
    if let Err(error) = unsafe { api.call(&mut list) } {
        return if error.code() == ErrorCode::Unimplemented {
            Ok((Vec::new(), None))
        } else {
            Err(error)
        };
    }
    // SAFETY: the list lives as long as the device.
    let raws: &[*mut RawMemory] = unsafe { borrowed(list.memories, list.num_memories) };
    let mut memories = Vec::with_capacity(raws.len());
    for &memory in raws {
        // SAFETY: memories of a live device are live.
        memories.push(unsafe { Memory::read(api, memory) }?);
    }
    let mut default = sys::zeroed::<sys::DeviceDefaultMemory>();
    default.device = raw.as_ptr();
    // SAFETY: guaranteed by the caller. A device may have no default memory.
    let _ = unsafe { api.call(&mut default) };
    Ok((memories, raws.iter().position(|&m| m == default.memory)))
}

/// A memory space of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    pub(crate) raw: NonNull<RawMemory>,
    id: i32,
    kind: String,
    description: String,
}

impl Memory {
    /// # Safety
    /// `raw` must be a live memory.
    unsafe fn read(api: Api, raw: *mut RawMemory) -> Result<Memory> {
        let mut id = sys::zeroed::<sys::MemoryId>();
        id.memory = raw;
        let mut kind = sys::zeroed::<sys::MemoryKind>();
        kind.memory = raw;
        let mut text = sys::zeroed::<sys::MemoryToString>();
        text.memory = raw;
        // SAFETY: guaranteed by the caller; the strings live as long as the memory.
        unsafe {
            api.call(&mut id)?;
            api.call(&mut kind)?;
            api.call(&mut text)?;
            Ok(Memory {
                raw: NonNull::new(raw).expect("a memory is not null"),
                id: id.id,
                kind: owned_string(kind.kind.cast(), kind.kind_size),
                description: owned_string(text.text.cast(), text.text_size),
            })
        }
    }

    /// Returns the id of the memory, which is unique in the client.
    pub fn id(&self) -> i32 {
        self.id
    }

    /// Returns the kind of the memory, such as `device`, `pinned_host` or `unpinned_host`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the plugin's description of the memory.
    pub fn description(&self) -> &str {
        &self.description
    }
}

/// Memory statistics of a device, in bytes; `None` for those that the plugin does not report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStats {
    /// Memory currently in use.
    pub bytes_in_use: i64,
    /// Peak memory use.
    pub peak_bytes_in_use: Option<i64>,
    /// Number of allocations made.
    pub num_allocs: Option<i64>,
    /// Size of the largest allocation.
    pub largest_alloc_size: Option<i64>,
    /// Maximum memory that the allocator may use.
    pub bytes_limit: Option<i64>,
    /// Memory reserved from the system.
    pub bytes_reserved: Option<i64>,
    /// Size of the largest free block.
    pub largest_free_block_bytes: Option<i64>,
    /// Size of the allocator's pool.
    pub pool_bytes: Option<i64>,
}

impl Device {
    /// Returns the id of the device, which is unique in the client across processes.
    pub fn id(self) -> i32 {
        self.0.id
    }

    /// Returns the number of the device on this machine, or -1 if it belongs to another process.
    pub fn local_hardware_id(self) -> i32 {
        self.0.local_hardware_id
    }

    /// Returns the kind of the device, such as `cpu` or `NVIDIA H200`.
    #[doc(alias = "device_kind")]
    pub fn kind(self) -> &'static str {
        &self.0.kind
    }

    /// Returns the index of the process that the device belongs to.
    pub fn process_index(self) -> i32 {
        self.0.process_index
    }

    /// Returns the plugin's description of the device.
    pub fn description(self) -> &'static str {
        &self.0.description
    }

    /// Returns the attributes that the plugin reports, such as coordinates or compute capability.
    pub fn attributes(self) -> &'static [(String, Value)] {
        &self.0.attributes
    }

    /// Returns `true` if this process can store data and run programs on the device.
    pub fn is_addressable(self) -> bool {
        self.0.is_addressable
    }

    /// Returns the memory spaces of the device; empty if the device is not addressable.
    pub fn memories(self) -> &'static [Memory] {
        &self.0.memories
    }

    /// Returns the memory space in which buffers are created by default.
    pub fn default_memory(self) -> Option<&'static Memory> {
        self.0.default_memory.map(|i| &self.0.memories[i])
    }

    /// Returns the memory statistics of the device, or `None` if the plugin has none.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn memory_stats(self) -> Result<Option<MemoryStats>> {
        let mut args = sys::zeroed::<sys::DeviceMemoryStats>();
        args.device = self.0.raw.as_ptr();
        // SAFETY: the device is live.
        match unsafe { self.0.client.api.call(&mut args) } {
            Err(error) if error.code() == ErrorCode::Unimplemented => return Ok(None),
            result => result?,
        }
        let set = |value: OptionalI64| value.is_set.then_some(value.value);
        Ok(Some(MemoryStats {
            bytes_in_use: args.bytes_in_use,
            peak_bytes_in_use: set(args.peak_bytes_in_use),
            num_allocs: set(args.num_allocs),
            largest_alloc_size: set(args.largest_alloc_size),
            bytes_limit: set(args.bytes_limit),
            bytes_reserved: set(args.bytes_reserved),
            largest_free_block_bytes: set(args.largest_free_block_bytes),
            pool_bytes: set(args.pool_bytes),
        }))
    }

    /// Returns the client that the device belongs to.
    pub fn client(self) -> crate::Client {
        crate::Client(self.0.client)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Device {}

impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({}, {})", self.0.id, self.0.kind)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.kind, self.0.id)
    }
}

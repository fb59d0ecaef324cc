//! The client, its devices and their memory.

use super::serve::{Failure, hand_out, list, object, serve, text};
use crate::sys::{RawClient, RawDevice, RawDeviceDescription, RawMemory, named_value};
use std::ffi::c_char;

/// The virtual devices of the CPU.
pub(super) struct Client {
    pub(super) devices: Vec<*mut RawDevice>,
}

/// A virtual device, which is its own description.
pub(super) struct Device {
    id: i32,
    label: String,
    memories: Vec<*mut RawMemory>,
}

/// A memory of a device. All kinds are the memory of the process.
struct Memory {
    id: i32,
    kind: &'static str,
    label: String,
}

const PLATFORM: &str = "cpu";
const VERSION: &str = concat!("ramie-cpu ", env!("CARGO_PKG_VERSION"));
const KIND: &str = "cpu";
/// The kinds of memory of XLA's CPU plugin, the default first.
const MEMORY_KINDS: [&str; 3] = ["device", "unpinned_host", "pinned_host"];

/// Returns a constant or long-lived string in the form of the API.
fn string(text: &str) -> (*const c_char, usize) {
    (text.as_ptr().cast(), text.len())
}

impl Client {
    fn handed_out(devices: i64) -> *mut RawClient {
        let devices = (0..devices as i32).map(Device::leaked).collect();
        hand_out(Client { devices })
    }
}

impl Device {
    fn leaked(id: i32) -> *mut RawDevice {
        let memory = |(number, kind): (i32, &&'static str)| {
            hand_out(Memory {
                id: number + id * MEMORY_KINDS.len() as i32,
                kind,
                label: format!("CpuMemory(device={id}, kind={kind})"),
            })
        };
        hand_out(Device {
            id,
            label: format!("CpuDevice(id={id})"),
            memories: (0..).zip(&MEMORY_KINDS).map(memory).collect(),
        })
    }
}

/// Returns the number of devices that the options ask for.
fn device_count(options: &[crate::sys::NamedValue]) -> Result<i64, Failure> {
    for option in options {
        // SAFETY: names of options are readable during the call.
        let name = unsafe { text(option.name, option.name_size) };
        if name == b"cpu_device_count" && option.kind == named_value::INT64 {
            // SAFETY: the kind selects the field.
            let count = unsafe { option.value.int64 };
            return match count {
                1..=1024 => Ok(count),
                _ => Err(Failure::argument(format!(
                    "cpu_device_count is {count}, expected 1 to 1024"
                ))),
            };
        }
    }
    Ok(1)
}

/// Returns a live client.
///
/// # Safety
/// `raw` must be a client of this backend.
pub(super) unsafe fn client<'a>(raw: *mut RawClient) -> &'a Client {
    // SAFETY: guaranteed by the caller.
    unsafe { object(raw) }
}

/// # Safety
/// `raw` must be a device of this backend.
unsafe fn device<'a>(raw: *mut RawDevice) -> &'a Device {
    // SAFETY: guaranteed by the caller.
    unsafe { object(raw) }
}

/// # Safety
/// `raw` must be a description of a device of this backend.
unsafe fn described<'a>(raw: *mut RawDeviceDescription) -> &'a Device {
    // SAFETY: guaranteed by the caller; a device is its own description.
    unsafe { object(raw) }
}

/// # Safety
/// `raw` must be a memory of this backend.
unsafe fn memory<'a>(raw: *mut RawMemory) -> &'a Memory {
    // SAFETY: guaranteed by the caller.
    unsafe { object(raw) }
}

serve! {
    ClientCreate |args| {
        // SAFETY: options are readable during the call.
        let count = device_count(unsafe { list(args.options, args.num_options) })?;
        args.client = Client::handed_out(count);
    }
    ClientPlatformName |args| {
        (args.name, args.name_size) = string(PLATFORM);
    }
    ClientPlatformVersion |args| {
        (args.version, args.version_size) = string(VERSION);
    }
    ClientProcessIndex |args| {
        args.process_index = 0;
    }
    ClientDevices |args| {
        // SAFETY: a live client.
        let devices = &unsafe { client(args.client) }.devices;
        (args.devices, args.num_devices) = (devices.as_ptr(), devices.len());
    }
    ClientAddressableDevices |args| {
        // SAFETY: a live client.
        let devices = &unsafe { client(args.client) }.devices;
        (args.devices, args.num_devices) = (devices.as_ptr(), devices.len());
    }
    DescriptionId |args| {
        // SAFETY: a live description.
        args.id = unsafe { described(args.description) }.id;
    }
    DescriptionProcessIndex |args| {
        args.process_index = 0;
    }
    DescriptionAttributes |args| {
        (args.attributes, args.num_attributes) = (std::ptr::null(), 0);
    }
    DescriptionKind |args| {
        (args.kind, args.kind_size) = string(KIND);
    }
    DescriptionToString |args| {
        // SAFETY: a live description; devices are never destroyed.
        (args.text, args.text_size) = string(&unsafe { described(args.description) }.label);
    }
    DeviceGetDescription |args| {
        args.description = args.device.cast();
    }
    DeviceIsAddressable |args| {
        args.is_addressable = true;
    }
    DeviceLocalHardwareId |args| {
        // SAFETY: a live device.
        args.local_hardware_id = unsafe { device(args.device) }.id;
    }
    DeviceAddressableMemories |args| {
        // SAFETY: a live device; devices are never destroyed.
        let memories = &unsafe { device(args.device) }.memories;
        (args.memories, args.num_memories) = (memories.as_ptr(), memories.len());
    }
    DeviceDefaultMemory |args| {
        // SAFETY: a live device.
        args.memory = unsafe { device(args.device) }.memories[0];
    }
    MemoryId |args| {
        // SAFETY: a live memory.
        args.id = unsafe { memory(args.memory) }.id;
    }
    MemoryKind |args| {
        // SAFETY: a live memory, which is never destroyed.
        (args.kind, args.kind_size) = string(unsafe { memory(args.memory) }.kind);
    }
    MemoryToString |args| {
        // SAFETY: a live memory, which is never destroyed.
        (args.text, args.text_size) = string(&unsafe { memory(args.memory) }.label);
    }
}

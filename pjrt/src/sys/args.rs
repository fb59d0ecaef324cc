//! Argument structs, one per function, with the function's slot in the table.

use super::*;
use std::ffi::c_void;

macro_rules! arguments {
    ($($name:ident = $slot:literal, $function:literal { $($field:ident: $ty:ty),* $(,)? })*) => {$(
        #[repr(C)]
        pub(crate) struct $name { pub header: Header, $(pub $field: $ty),* }

        // SAFETY: repr(C) with the header first and explicit padding; pointers, integers, `false`
        // and `None` are all zero bytes; slot and fields are those of the ABI.
        unsafe impl Arguments for $name {
            const SLOT: usize = $slot;
            const NAME: &'static str = $function;
        }
        const _: () = assert!(size_of::<$name>() % size_of::<usize>() == 0);
    )*};
}

/// Called by the plugin when an event is done; owns the error.
pub(crate) type OnReady = unsafe extern "C" fn(error: *mut RawError, user: *mut c_void);

arguments! {
    ErrorDestroy = 0, "PJRT_Error_Destroy" { error: *mut RawError }
    ErrorMessage = 1, "PJRT_Error_Message" {
        error: *const RawError, message: *const c_char, message_size: usize,
    }
    ErrorGetCode = 2, "PJRT_Error_GetCode" {
        error: *const RawError, code: i32, reserved: u32,
    }
    PluginInitialize = 3, "PJRT_Plugin_Initialize" {}
    PluginAttributes = 4, "PJRT_Plugin_Attributes" {
        attributes: *const NamedValue, num_attributes: usize,
    }

    EventDestroy = 5, "PJRT_Event_Destroy" { event: *mut RawEvent }
    EventIsReady = 6, "PJRT_Event_IsReady" {
        event: *mut RawEvent, is_ready: bool, reserved: [u8; 7],
    }
    EventAwait = 8, "PJRT_Event_Await" { event: *mut RawEvent }
    EventOnReady = 9, "PJRT_Event_OnReady" {
        event: *mut RawEvent, callback: Option<OnReady>, user: *mut c_void,
    }

    ClientCreate = 10, "PJRT_Client_Create" {
        options: *const NamedValue, num_options: usize,
        kv_get: Option<key_value::Get>, kv_get_user: *mut c_void,
        kv_put: Option<key_value::Put>, kv_put_user: *mut c_void,
        client: *mut RawClient,
        kv_try_get: Option<key_value::TryGet>, kv_try_get_user: *mut c_void,
    }
    ClientPlatformName = 12, "PJRT_Client_PlatformName" {
        client: *mut RawClient, name: *const c_char, name_size: usize,
    }
    ClientProcessIndex = 13, "PJRT_Client_ProcessIndex" {
        client: *mut RawClient, process_index: i32, reserved: u32,
    }
    ClientPlatformVersion = 14, "PJRT_Client_PlatformVersion" {
        client: *mut RawClient, version: *const c_char, version_size: usize,
    }
    ClientDevices = 15, "PJRT_Client_Devices" {
        client: *mut RawClient, devices: *const *mut RawDevice, num_devices: usize,
    }
    ClientAddressableDevices = 16, "PJRT_Client_AddressableDevices" {
        client: *mut RawClient, devices: *const *mut RawDevice, num_devices: usize,
    }
    ClientCompile = 20, "PJRT_Client_Compile" {
        client: *mut RawClient, program: *const Padded<Program>,
        options: *const u8, options_size: usize,
        executable: *mut RawLoadedExecutable,
    }
    ClientBufferFromHostBuffer = 22, "PJRT_Client_BufferFromHostBuffer" {
        client: *mut RawClient, data: *const c_void, element_type: u32, reserved0: u32,
        dims: *const i64, num_dims: usize,
        byte_strides: *const i64, num_byte_strides: usize,
        host_buffer_semantics: u32, reserved1: u32,
        device: *mut RawDevice, memory: *mut RawMemory, device_layout: *const c_void,
        done_with_host_buffer: *mut RawEvent, buffer: *mut RawBuffer,
    }

    DescriptionId = 23, "PJRT_DeviceDescription_Id" {
        description: *mut RawDeviceDescription, id: i32, reserved: u32,
    }
    DescriptionProcessIndex = 24, "PJRT_DeviceDescription_ProcessIndex" {
        description: *mut RawDeviceDescription, process_index: i32, reserved: u32,
    }
    DescriptionAttributes = 25, "PJRT_DeviceDescription_Attributes" {
        description: *mut RawDeviceDescription,
        num_attributes: usize, attributes: *const NamedValue,
    }
    DescriptionKind = 26, "PJRT_DeviceDescription_Kind" {
        description: *mut RawDeviceDescription, kind: *const c_char, kind_size: usize,
    }
    DescriptionToString = 28, "PJRT_DeviceDescription_ToString" {
        description: *mut RawDeviceDescription, text: *const c_char, text_size: usize,
    }
    DeviceGetDescription = 29, "PJRT_Device_GetDescription" {
        device: *mut RawDevice, description: *mut RawDeviceDescription,
    }
    DeviceIsAddressable = 30, "PJRT_Device_IsAddressable" {
        device: *mut RawDevice, is_addressable: bool, reserved: [u8; 7],
    }
    DeviceLocalHardwareId = 31, "PJRT_Device_LocalHardwareId" {
        device: *mut RawDevice, local_hardware_id: i32, reserved: u32,
    }
    DeviceAddressableMemories = 32, "PJRT_Device_AddressableMemories" {
        device: *mut RawDevice, memories: *const *mut RawMemory, num_memories: usize,
    }
    DeviceDefaultMemory = 33, "PJRT_Device_DefaultMemory" {
        device: *mut RawDevice, memory: *mut RawMemory,
    }
    DeviceMemoryStats = 34, "PJRT_Device_MemoryStats" {
        device: *mut RawDevice, bytes_in_use: i64,
        peak_bytes_in_use: OptionalI64, num_allocs: OptionalI64,
        largest_alloc_size: OptionalI64, bytes_limit: OptionalI64,
        bytes_reserved: OptionalI64, peak_bytes_reserved: OptionalI64,
        bytes_reservable_limit: OptionalI64, largest_free_block_bytes: OptionalI64,
        pool_bytes: OptionalI64, peak_pool_bytes: OptionalI64,
        peak_allocated_bytes: OptionalI64,
    }
    MemoryId = 35, "PJRT_Memory_Id" { memory: *mut RawMemory, id: i32, reserved: u32 }
    MemoryKind = 36, "PJRT_Memory_Kind" {
        memory: *mut RawMemory, kind: *const c_char, kind_size: usize,
    }
    MemoryToString = 38, "PJRT_Memory_ToString" {
        memory: *mut RawMemory, text: *const c_char, text_size: usize,
    }

    ExecutableDestroy = 40, "PJRT_Executable_Destroy" { executable: *mut RawExecutable }
    ExecutableName = 41, "PJRT_Executable_Name" {
        executable: *mut RawExecutable, name: *const c_char, name_size: usize,
    }
    ExecutableNumOutputs = 44, "PJRT_Executable_NumOutputs" {
        executable: *mut RawExecutable, num_outputs: usize,
    }
    ExecutableGetCostAnalysis = 46, "PJRT_Executable_GetCostAnalysis" {
        executable: *mut RawExecutable,
        num_properties: usize, properties: *const NamedValue,
    }
    ExecutableOptimizedProgram = 48, "PJRT_Executable_OptimizedProgram" {
        executable: *mut RawExecutable, program: *mut Padded<Program>,
    }
    ExecutableSerialize = 49, "PJRT_Executable_Serialize" {
        executable: *const RawExecutable, bytes: *const u8, bytes_size: usize,
        serialized: *mut RawSerializedExecutable,
        deleter: Option<unsafe extern "C" fn(*mut RawSerializedExecutable)>,
    }
    LoadedExecutableDestroy = 50, "PJRT_LoadedExecutable_Destroy" {
        executable: *mut RawLoadedExecutable,
    }
    LoadedExecutableGetExecutable = 51, "PJRT_LoadedExecutable_GetExecutable" {
        loaded: *mut RawLoadedExecutable, executable: *mut RawExecutable,
    }
    LoadedExecutableAddressableDevices = 52, "PJRT_LoadedExecutable_AddressableDevices" {
        executable: *mut RawLoadedExecutable,
        devices: *const *mut RawDevice, num_devices: usize,
    }
    LoadedExecutableExecute = 55, "PJRT_LoadedExecutable_Execute" {
        executable: *mut RawLoadedExecutable, options: *mut Padded<ExecuteOptions>,
        argument_lists: *const *const *mut RawBuffer, num_devices: usize, num_args: usize,
        output_lists: *const *mut *mut RawBuffer,
        device_complete_events: *mut *mut RawEvent, execute_device: *mut RawDevice,
    }
    ExecutableDeserializeAndLoad = 56, "PJRT_Executable_DeserializeAndLoad" {
        client: *mut RawClient, bytes: *const u8, bytes_size: usize,
        executable: *mut RawLoadedExecutable,
        options: *const u8, options_size: usize, load_options: *const c_void,
    }
    TopologyCreate = 82, "PJRT_TopologyDescription_Create" {
        name: *const u8, name_size: usize,
        options: *const NamedValue, num_options: usize,
        topology: *mut RawTopology,
    }
    TopologyDestroy = 83, "PJRT_TopologyDescription_Destroy" { topology: *mut RawTopology }
    TopologyDeviceDescriptions = 86, "PJRT_TopologyDescription_GetDeviceDescriptions" {
        topology: *const RawTopology,
        descriptions: *const *mut RawDeviceDescription, num_descriptions: usize,
    }
    Compile = 89, "PJRT_Compile" {
        topology: *const RawTopology, program: *const Padded<Program>,
        options: *const u8, options_size: usize,
        client: *mut RawClient, executable: *mut RawExecutable,
    }
    ExecutableOutputElementTypes = 90, "PJRT_Executable_OutputElementTypes" {
        executable: *mut RawExecutable, types: *const u32, num_types: usize,
    }
    ExecutableOutputDimensions = 91, "PJRT_Executable_OutputDimensions" {
        executable: *mut RawExecutable, num_outputs: usize,
        dims: *const i64, ranks: *const usize,
    }
    ExecutableFingerprint = 94, "PJRT_Executable_Fingerprint" {
        executable: *mut RawExecutable, fingerprint: *const c_char, fingerprint_size: usize,
    }
    ExecutableGetCompiledMemoryStats = 96, "PJRT_Executable_GetCompiledMemoryStats" {
        executable: *mut RawExecutable,
        generated_code: i64, argument: i64, output: i64, alias: i64, temp: i64,
        host_generated_code: i64, host_argument: i64, host_output: i64,
        host_alias: i64, host_temp: i64, peak: i64,
        total: i64, total_allocation: i64, indefinite_allocations: i64,
        peak_unpadded_heap: i64,
    }

    BufferDestroy = 58, "PJRT_Buffer_Destroy" { buffer: *mut RawBuffer }
    BufferGetMemoryLayout = 63, "PJRT_Buffer_GetMemoryLayout" {
        buffer: *mut RawBuffer, layout: MemoryLayout,
    }
    BufferDelete = 67, "PJRT_Buffer_Delete" { buffer: *mut RawBuffer }
    BufferIsDeleted = 68, "PJRT_Buffer_IsDeleted" {
        buffer: *mut RawBuffer, is_deleted: bool, reserved: [u8; 7],
    }
    BufferCopyToDevice = 69, "PJRT_Buffer_CopyToDevice" {
        buffer: *mut RawBuffer, device: *mut RawDevice, copy: *mut RawBuffer,
    }
    BufferCopyToMemory = 92, "PJRT_Buffer_CopyToMemory" {
        buffer: *mut RawBuffer, memory: *mut RawMemory, copy: *mut RawBuffer,
    }
    BufferToHostBuffer = 70, "PJRT_Buffer_ToHostBuffer" {
        buffer: *mut RawBuffer, host_layout: *const MemoryLayout,
        dst: *mut c_void, dst_size: usize, event: *mut RawEvent,
    }
    BufferReadyEvent = 72, "PJRT_Buffer_ReadyEvent" {
        buffer: *mut RawBuffer, event: *mut RawEvent,
    }
    BufferUnsafePointer = 73, "PJRT_Buffer_UnsafePointer" {
        buffer: *mut RawBuffer, pointer: usize,
    }
}

/// A number that the plugin may leave unset.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct OptionalI64 {
    pub value: i64,
    pub is_set: bool,
    pub reserved: [u8; 7],
}

/// Implements [`Arguments`] for structs that are passed inside arguments and have no slot, so
/// that [`zeroed`] works for them, too.
macro_rules! nested {
    ($($name:ident, $c_name:literal { $($field:ident: $ty:ty),* $(,)? })*) => {$(
        #[repr(C)]
        pub(crate) struct $name { pub header: Header, $(pub $field: $ty),* }

        // SAFETY: layout as for `arguments!`; the slot is beyond any table, so `Api::function`
        // returns `None` for it.
        unsafe impl Arguments for $name {
            const SLOT: usize = 1 << 16;
            const NAME: &'static str = $c_name;
        }
        const _: () = assert!(size_of::<$name>() % size_of::<usize>() == 0);
    )*};
}

nested! {
    Program, "PJRT_Program" {
        code: *mut u8, code_size: usize, format: *const c_char, format_size: usize,
    }
    ExecuteOptions, "PJRT_ExecuteOptions" {
        send_callbacks: *const c_void, recv_callbacks: *const c_void,
        num_send_ops: usize, num_recv_ops: usize,
        launch_id: i32, reserved0: u32,
        non_donatable_input_indices: *const i64, num_non_donatable_input_indices: usize,
        context: *mut c_void, call_location: *const c_char,
        num_tasks: usize, task_ids: *mut i32, incarnation_ids: *mut i64,
        multi_slice_config: *const c_void,
        use_major_to_minor_data_layout_for_callbacks: bool, reserved1: [u8; 7],
        hlo_output_callbacks: *const c_void, num_hlo_output_callbacks: usize,
    }
}

//! Struct layouts of this crate, checked against the numbers of the C header.
//!
//! For a struct that has grown since API 0.81, the offsets of its old fields are unchanged, and
//! the whole struct is checked against API 0.114.

use super::*;
use std::mem::offset_of;

/// Asserts the size of a struct and the offset of its last field.
macro_rules! layout {
    ($($name:ident { $last:ident @ $offset:literal } = $size:literal;)*) => {$(
        assert_eq!(size_of::<$name>(), $size, concat!("size of ", stringify!($name)));
        assert_eq!(offset_of!($name, $last), $offset, concat!("offset in ", stringify!($name)));
    )*};
}

#[test]
fn structs_have_the_layout_of_the_c_header() {
    layout! {
        Header { extension_start @ 8 } = 16;
        ExtensionBase { next @ 16 } = 24;
        ApiVersion { minor @ 20 } = 24;
        ApiTable { version @ 16 } = 40;
        NamedValue { value_size @ 48 } = 56;
        TiledLayout { num_tiles @ 48 } = 56;
        MemoryLayout { kind @ 72 } = 80;
        Program { format_size @ 40 } = 48;
        ErrorDestroy { error @ 16 } = 24;
        ErrorMessage { message_size @ 32 } = 40;
        ErrorGetCode { code @ 24 } = 32;
        PluginAttributes { num_attributes @ 24 } = 32;
        EventDestroy { event @ 16 } = 24;
        EventIsReady { is_ready @ 24 } = 32;
        EventAwait { event @ 16 } = 24;
        EventOnReady { user @ 32 } = 40;
        ClientCreate { kv_try_get_user @ 80 } = 88;
        ClientPlatformName { name_size @ 32 } = 40;
        ClientProcessIndex { process_index @ 24 } = 32;
        ClientPlatformVersion { version_size @ 32 } = 40;
        ClientDevices { num_devices @ 32 } = 40;
        ClientAddressableDevices { num_devices @ 32 } = 40;
        ClientCompile { executable @ 48 } = 56;
        ClientBufferFromHostBuffer { buffer @ 112 } = 120;
        DescriptionId { id @ 24 } = 32;
        DescriptionProcessIndex { process_index @ 24 } = 32;
        DescriptionAttributes { attributes @ 32 } = 40;
        DescriptionKind { kind_size @ 32 } = 40;
        DescriptionToString { text_size @ 32 } = 40;
        DeviceGetDescription { description @ 24 } = 32;
        DeviceIsAddressable { is_addressable @ 24 } = 32;
        DeviceLocalHardwareId { local_hardware_id @ 24 } = 32;
        DeviceAddressableMemories { num_memories @ 32 } = 40;
        DeviceDefaultMemory { memory @ 24 } = 32;
        DeviceMemoryStats { peak_allocated_bytes @ 192 } = 208;
        MemoryId { id @ 24 } = 32;
        MemoryKind { kind_size @ 32 } = 40;
        MemoryToString { text_size @ 32 } = 40;
        ExecutableDestroy { executable @ 16 } = 24;
        ExecutableName { name_size @ 32 } = 40;
        ExecutableNumOutputs { num_outputs @ 24 } = 32;
        ExecutableGetCostAnalysis { properties @ 32 } = 40;
        ExecutableOptimizedProgram { program @ 24 } = 32;
        ExecutableSerialize { deleter @ 48 } = 56;
        LoadedExecutableDestroy { executable @ 16 } = 24;
        LoadedExecutableGetExecutable { executable @ 24 } = 32;
        LoadedExecutableAddressableDevices { num_devices @ 32 } = 40;
        LoadedExecutableExecute { execute_device @ 72 } = 80;
        ExecutableDeserializeAndLoad { load_options @ 64 } = 72;
        TopologyCreate { topology @ 48 } = 56;
        TopologyDestroy { topology @ 16 } = 24;
        TopologyDeviceDescriptions { num_descriptions @ 32 } = 40;
        Compile { executable @ 56 } = 64;
        ExecutableOutputElementTypes { num_types @ 32 } = 40;
        ExecutableOutputDimensions { ranks @ 40 } = 48;
        ExecutableFingerprint { fingerprint_size @ 32 } = 40;
        ExecutableGetCompiledMemoryStats { peak_unpadded_heap @ 136 } = 144;
        BufferDestroy { buffer @ 16 } = 24;
        BufferGetMemoryLayout { layout @ 24 } = 104;
        BufferDelete { buffer @ 16 } = 24;
        BufferIsDeleted { is_deleted @ 24 } = 32;
        BufferCopyToDevice { copy @ 32 } = 40;
        BufferToHostBuffer { event @ 48 } = 56;
        BufferReadyEvent { event @ 24 } = 32;
        BufferUnsafePointer { pointer @ 24 } = 32;
        ExecuteOptions { num_hlo_output_callbacks @ 136 } = 144;
    }
}

#[test]
fn foreign_functions_have_the_layout_of_their_c_header() {
    use super::ffi::*;
    layout! {
        FfiExtension { register_handler @ 40 } = 48;
        RegisterHandler { traits @ 48 } = 56;
        MetadataExtension { metadata @ 24 } = 32;
        FfiVersion { minor @ 20 } = 24;
        Metadata { traits @ 32 } = 40;
        FfiApi { error_create @ 48 } = 56;
        ErrorCreate { code @ 24 } = 32;
        Values { values @ 32 } = 40;
        Attributes { values @ 40 } = 48;
        FfiBuffer { dims @ 40 } = 48;
        FfiScalar { value @ 8 } = 16;
        CallFrame { attributes @ 120 } = 168;
    }
    assert_eq!(offset_of!(CallFrame, args), 40);
    assert_eq!(offset_of!(CallFrame, results), 80);
    assert_eq!(offset_of!(FfiBuffer, data), 24);
}

#[test]
fn the_profiler_has_the_layout_of_its_c_header() {
    use super::profiler::*;
    layout! {
        ProfilerExtension { api @ 24 } = 32;
        ProfilerApi { collect_data @ 72 } = 80;
        ErrorCall { error @ 16 } = 24;
        ErrorText { message_size @ 32 } = 40;
        ProfilerCreate { profiler @ 24 } = 32;
        ProfilerCall { profiler @ 8 } = 16;
        ProfilerCollect { buffer_size @ 24 } = 32;
    }
}

#[test]
fn key_value_callbacks_have_the_layout_of_their_c_header() {
    use super::key_value::*;
    layout! {
        KeyValueGet { delete_value @ 72 } = 80;
        KeyValueTryGet { delete_value @ 64 } = 72;
        KeyValuePut { user @ 56 } = 64;
    }
    assert_eq!(offset_of!(KeyValueGet, make_error), 40);
    assert_eq!(offset_of!(KeyValueTryGet, make_error), 32);
}

#[test]
fn inner_fields_keep_their_offsets() {
    assert_eq!(offset_of!(ExecuteOptions, launch_id), 48);
    assert_eq!(offset_of!(ExecuteOptions, non_donatable_input_indices), 56);
    assert_eq!(offset_of!(ExecuteOptions, incarnation_ids), 104);
    assert_eq!(offset_of!(ClientBufferFromHostBuffer, byte_strides), 56);
    assert_eq!(
        offset_of!(ClientBufferFromHostBuffer, host_buffer_semantics),
        72
    );
    assert_eq!(offset_of!(ClientBufferFromHostBuffer, device), 80);
    assert_eq!(offset_of!(ClientCreate, client), 64);
    assert_eq!(offset_of!(DeviceMemoryStats, peak_pool_bytes), 176);
    assert_eq!(offset_of!(ExecutableGetCompiledMemoryStats, peak), 104);
    assert_eq!(offset_of!(NamedValue, kind), 32);
    assert_eq!(offset_of!(NamedValue, value), 40);
    assert_eq!(offset_of!(LoadedExecutableExecute, output_lists), 56);
}

#[test]
fn zeroed_arguments_count_their_tail() {
    let args = zeroed::<BufferDestroy>();
    assert_eq!(args.header.struct_size, 24 + 64);
    assert!(args.header.extension_start.is_null() && args.buffer.is_null());
    assert_eq!(args.tail, [0; 8]);
}

#[test]
fn slots_outside_the_reported_table_are_not_read() {
    #[repr(C)]
    struct Table {
        fixed: ApiTable,
        slots: [usize; 3],
    }
    let null = std::ptr::null_mut();
    let table = |bytes| Table {
        fixed: ApiTable {
            header: Header {
                struct_size: bytes,
                extension_start: null,
            },
            version: ApiVersion {
                header: Header {
                    struct_size: 24,
                    extension_start: null,
                },
                major: 0,
                minor: 81,
            },
        },
        slots: [0, 0x10, 0x10],
    };
    let whole = Box::leak(Box::new(table(40 + 3 * 8)));
    // SAFETY: the table is leaked and laid out as a `PJRT_Api` of three slots.
    let api = unsafe { Api::new(NonNull::from(&mut whole.fixed)) };
    assert!(
        api.function::<ErrorDestroy>().is_none(),
        "a null slot is absent"
    );
    assert!(api.function::<ErrorMessage>().is_some());
    assert!(
        api.function::<PluginInitialize>().is_none(),
        "slot 3 lies outside"
    );
    assert!(
        api.function::<Program>().is_none(),
        "nested structs have no slot"
    );

    let cut = Box::leak(Box::new(table(40 + 8 + 4)));
    // SAFETY: as above; the reported size ends in the middle of slot 1.
    let api = unsafe { Api::new(NonNull::from(&mut cut.fixed)) };
    assert!(api.function::<ErrorMessage>().is_none());
}

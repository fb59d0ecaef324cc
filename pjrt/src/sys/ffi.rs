//! The C ABI of XLA's foreign functions (FFI 0.1 and later), and the PJRT extension for
//! registering them.
//!
//! The plugin writes these structs. It reports the size of each, and fields are only ever
//! appended, so the declared fields exist in every version.

use super::{ExtensionBase, RawError};
use std::ffi::{c_char, c_void};

/// The number of the FFI extension in the plugin's list.
pub(crate) const FFI_EXTENSION: u32 = 5;

/// The plugin's extension; its other two functions are not used.
#[repr(C)]
pub(crate) struct FfiExtension {
    pub base: ExtensionBase,
    pub register_type: *const c_void,
    pub add_user_data: *const c_void,
    pub register_handler: Option<unsafe extern "C" fn(*mut RegisterHandler) -> *mut RawError>,
}

/// Registers a handler. This struct has no extension field.
#[repr(C)]
pub(crate) struct RegisterHandler {
    pub struct_size: usize,
    pub target_name: *const c_char,
    pub target_name_size: usize,
    pub handler: Handler,
    pub platform_name: *const c_char,
    pub platform_name_size: usize,
    pub traits: u32,
}

/// The function that XLA calls for a custom call; a null error means success.
pub(crate) type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut FfiError;

/// An error, which XLA owns after it is returned.
#[repr(C)]
pub(crate) struct FfiError {
    _opaque: [u8; 0],
}

/// The two words at the start of every struct.
#[repr(C)]
pub(crate) struct FfiHeader {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
}

/// The number of the extension by which XLA queries the version of a handler.
pub(crate) const METADATA: u32 = 1;

/// The extension for the query; the answer is written to the target of the pointer.
#[repr(C)]
pub(crate) struct MetadataExtension {
    pub base: ExtensionBase,
    pub metadata: *mut Metadata,
}

/// The metadata of a handler.
#[repr(C)]
pub(crate) struct Metadata {
    pub struct_size: usize,
    pub api_version: FfiVersion,
    pub traits: u32,
}

/// A version of the FFI.
#[repr(C)]
pub(crate) struct FfiVersion {
    pub header: FfiHeader,
    pub major: i32,
    pub minor: i32,
}

/// The beginning of the plugin's table of FFI functions.
#[repr(C)]
pub(crate) struct FfiApi {
    pub header: FfiHeader,
    pub version: FfiVersion,
    pub internal: *const c_void,
    pub error_create: Option<unsafe extern "C" fn(*mut ErrorCreate) -> *mut FfiError>,
}

/// Creates an error; the message is zero-terminated.
#[repr(C)]
pub(crate) struct ErrorCreate {
    pub header: FfiHeader,
    pub message: *const c_char,
    pub code: i32,
}

/// The stage in which operands and results exist.
pub(crate) const EXECUTE: u32 = 3;

/// A call of a handler.
#[repr(C)]
pub(crate) struct CallFrame {
    pub header: FfiHeader,
    pub api: *const FfiApi,
    pub context: *mut c_void,
    pub stage: u32,
    pub args: Values,
    pub results: Values,
    pub attributes: Attributes,
}

/// Operands or results; a type of 1 is an [`FfiBuffer`].
#[repr(C)]
pub(crate) struct Values {
    pub header: FfiHeader,
    pub size: i64,
    pub types: *const u32,
    pub values: *const *const FfiBuffer,
}

/// An array of elements in row-major order.
#[repr(C)]
pub(crate) struct FfiBuffer {
    pub header: FfiHeader,
    pub dtype: u32,
    pub data: *mut c_void,
    pub rank: i64,
    pub dims: *const i64,
}

/// Attributes, sorted by name.
#[repr(C)]
pub(crate) struct Attributes {
    pub header: FfiHeader,
    pub size: i64,
    pub types: *const u32,
    pub names: *const *const ByteSpan,
    pub values: *const *const c_void,
}

/// Values of [`Values::types`] and [`Attributes::types`].
pub(crate) mod kind {
    pub const BUFFER: u32 = 1;
    pub const SCALAR: u32 = 3;
}

/// A string with its length.
#[repr(C)]
pub(crate) struct ByteSpan {
    pub start: *const u8,
    pub len: usize,
}

/// A numeric attribute.
#[repr(C)]
pub(crate) struct FfiScalar {
    pub dtype: u32,
    pub value: *const c_void,
}

/// The error code `INTERNAL`.
pub(crate) const INTERNAL: i32 = 13;

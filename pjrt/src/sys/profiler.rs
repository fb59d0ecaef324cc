//! The C ABI of a plugin's profiler, which is a PJRT extension.

use super::ExtensionBase;
use std::ffi::{c_char, c_void};

/// The number of the profiler extension in the plugin's list.
pub(crate) const PROFILER_EXTENSION: u32 = 1;

/// The plugin's extension.
#[repr(C)]
pub(crate) struct ProfilerExtension {
    pub base: ExtensionBase,
    pub api: *const ProfilerApi,
}

/// The profiler and its errors, whose contents only the plugin accesses.
#[repr(C)]
pub(crate) struct RawProfiler {
    _opaque: [u8; 0],
}
#[repr(C)]
pub(crate) struct ProfilerError {
    _opaque: [u8; 0],
}

type Call<T> = Option<unsafe extern "C" fn(*mut T) -> *mut ProfilerError>;

/// The functions of the first version; later versions append to the table.
#[repr(C)]
pub(crate) struct ProfilerApi {
    pub struct_size: usize,
    pub private: *const c_void,
    pub error_destroy: Option<unsafe extern "C" fn(*mut ErrorCall)>,
    pub error_message: Option<unsafe extern "C" fn(*mut ErrorText)>,
    pub error_get_code: *const c_void,
    pub create: Call<ProfilerCreate>,
    pub destroy: Call<ProfilerCall>,
    pub start: Call<ProfilerCall>,
    pub stop: Call<ProfilerCall>,
    pub collect_data: Call<ProfilerCollect>,
}

#[repr(C)]
pub(crate) struct ErrorCall {
    pub struct_size: usize,
    pub private: *const c_void,
    pub error: *mut ProfilerError,
}

#[repr(C)]
pub(crate) struct ErrorText {
    pub struct_size: usize,
    pub private: *const c_void,
    pub error: *const ProfilerError,
    pub message: *const c_char,
    pub message_size: usize,
}

#[repr(C)]
pub(crate) struct ProfilerCreate {
    pub struct_size: usize,
    pub options: *const u8,
    pub options_size: usize,
    pub profiler: *mut RawProfiler,
}

/// The arguments of destroying, starting and stopping.
#[repr(C)]
pub(crate) struct ProfilerCall {
    pub struct_size: usize,
    pub profiler: *mut RawProfiler,
}

/// The arguments of collecting data. Without a buffer, the call returns the size, or the plugin's
/// own buffer.
#[repr(C)]
pub(crate) struct ProfilerCollect {
    pub struct_size: usize,
    pub profiler: *mut RawProfiler,
    pub buffer: *mut u8,
    pub buffer_size: usize,
}

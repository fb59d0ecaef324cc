//! The callbacks through which a plugin accesses a key-value store shared by processes.
//!
//! The plugin writes these structs. It reports the size of each, and fields are only ever
//! appended, so the declared fields exist in every version.

use super::{ExtensionBase, RawError};
use std::ffi::{c_char, c_int, c_void};

/// Creates an error of the plugin from a code, a message and the message's length.
pub(crate) type MakeError = unsafe extern "C" fn(i32, *const c_char, usize) -> *mut RawError;

/// Frees a value that a callback has returned.
pub(crate) type DeleteValue = unsafe extern "C" fn(*mut c_char);

/// Waits for a key.
#[repr(C)]
pub(crate) struct KeyValueGet {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub key: *const c_char,
    pub key_size: usize,
    pub timeout_in_ms: c_int,
    pub make_error: *const MakeError,
    pub user: *mut c_void,
    pub value: *mut c_char,
    pub value_size: usize,
    pub delete_value: Option<DeleteValue>,
}

/// Gets a key that may not exist.
#[repr(C)]
pub(crate) struct KeyValueTryGet {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub key: *const c_char,
    pub key_size: usize,
    pub make_error: *const MakeError,
    pub user: *mut c_void,
    pub value: *mut c_char,
    pub value_size: usize,
    pub delete_value: Option<DeleteValue>,
}

/// Stores a value under a key.
#[repr(C)]
pub(crate) struct KeyValuePut {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub key: *const c_char,
    pub key_size: usize,
    pub value: *const c_char,
    pub value_size: usize,
    pub make_error: *const MakeError,
    pub user: *mut c_void,
}

/// Implements a [`KeyValueGet`]; a null error means success.
pub(crate) type Get = unsafe extern "C" fn(*mut KeyValueGet) -> *mut RawError;
/// Implements a [`KeyValueTryGet`]; a null error means success.
pub(crate) type TryGet = unsafe extern "C" fn(*mut KeyValueTryGet) -> *mut RawError;
/// Implements a [`KeyValuePut`]; a null error means success.
pub(crate) type Put = unsafe extern "C" fn(*mut KeyValuePut) -> *mut RawError;

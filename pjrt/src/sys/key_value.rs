//! The callbacks through which a plugin reaches a key-value store that processes
//! share.
//!
//! These structs are written by the plugin. It states the size of each, and fields
//! are only ever appended, so what is declared here is what every version has.

use super::{ExtensionBase, RawError};
use std::ffi::{c_char, c_int, c_void};

/// Makes an error of the plugin: code, message and the message's length.
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

/// Asks for a key that may not be there.
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

/// Answers a [`KeyValueGet`]; a null error is success.
pub(crate) type Get = unsafe extern "C" fn(*mut KeyValueGet) -> *mut RawError;
/// Answers a [`KeyValueTryGet`]; a null error is success.
pub(crate) type TryGet = unsafe extern "C" fn(*mut KeyValueTryGet) -> *mut RawError;
/// Answers a [`KeyValuePut`]; a null error is success.
pub(crate) type Put = unsafe extern "C" fn(*mut KeyValuePut) -> *mut RawError;

//! Handwritten bindings of the PJRT C ABI.
//!
//! Layouts and slot numbers follow the C header of PJRT API 0.114. They are facts of an
//! append-only binary interface. `layout.rs` checks them against the sizes and offsets of API
//! 0.81, the oldest supported version.
//!
//! Three rules keep one binary compatible with every plugin from 0.81 on:
//!
//! * A function is only read from the table if its slot is inside the size that the plugin
//!   reports ([`Api::function`]).
//! * Argument structs are zeroed, have a zero tail ([`Padded`]) and include it in their
//!   `struct_size`, because a plugin rejects a struct smaller than its own and accepts a larger
//!   one.
//! * Elements of arrays ([`NamedValue`]) have exactly the size in the ABI.

mod args;
pub(crate) mod ffi;
pub(crate) mod key_value;
#[cfg(test)]
mod layout;
pub(crate) mod profiler;

pub(crate) use args::*;

use std::ffi::c_char;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The oldest supported minor version of PJRT API 0.
pub const OLDEST_MINOR: i32 = 81;

/// Declares opaque types, whose contents only the plugin accesses.
macro_rules! opaque {
    ($($name:ident),* $(,)?) => {$(
        #[repr(C)]
        pub(crate) struct $name { _opaque: [u8; 0] }
    )*};
}

opaque! {
    RawError, RawEvent, RawClient, RawDevice, RawDeviceDescription, RawMemory,
    RawExecutable, RawLoadedExecutable, RawBuffer, RawSerializedExecutable, RawTopology,
}

/// A node of the linked list of extensions.
#[repr(C)]
pub(crate) struct ExtensionBase {
    pub struct_size: usize,
    pub kind: u32,
    pub next: *mut ExtensionBase,
}

/// The two words at the start of every argument struct.
#[repr(C)]
pub(crate) struct Header {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
}

/// The fixed beginning of the plugin's function table.
#[repr(C)]
pub(crate) struct ApiTable {
    pub header: Header,
    pub version: ApiVersion,
}

/// The API version that a plugin was built with.
#[repr(C)]
pub(crate) struct ApiVersion {
    pub header: Header,
    pub major: i32,
    pub minor: i32,
}

/// A named option, attribute or property. Values are passed in arrays, so the size is exact.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct NamedValue {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub name: *const c_char,
    pub name_size: usize,
    pub kind: u32,
    pub value: NamedValuePayload,
    pub value_size: usize,
}

/// The payload of a [`NamedValue`]; `kind` selects the field.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union NamedValuePayload {
    pub string: *const c_char,
    pub int64: i64,
    pub int64_list: *const i64,
    pub float: f32,
    pub boolean: bool,
}

/// Values of [`NamedValue::kind`].
pub(crate) mod named_value {
    pub const STRING: u32 = 0;
    pub const INT64: u32 = 1;
    pub const INT64_LIST: u32 = 2;
    pub const FLOAT: u32 = 3;
    pub const BOOL: u32 = 4;
}

/// Values of [`ClientBufferFromHostBuffer::host_buffer_semantics`].
pub(crate) mod host_buffer {
    pub const IMMUTABLE_ONLY_DURING_CALL: u32 = 0;
    pub const IMMUTABLE_UNTIL_TRANSFER_COMPLETES: u32 = 1;
    pub const IMMUTABLE_ZERO_COPY: u32 = 2;
}

/// An order of dimensions without tiles, which is the only layout this crate requests.
#[repr(C)]
pub(crate) struct TiledLayout {
    pub header: Header,
    pub minor_to_major: *const i64,
    pub minor_to_major_size: usize,
    pub tile_dims: *const i64,
    pub tile_dim_sizes: *const usize,
    pub num_tiles: usize,
}

/// A memory layout. Kind 0 is [`TiledLayout`], the larger variant of the C union.
#[repr(C)]
pub(crate) struct MemoryLayout {
    pub header: Header,
    pub tiled: TiledLayout,
    pub kind: u32,
    pub reserved: u32,
}

/// The arguments of a function of the table.
///
/// # Safety
/// The type must be `repr(C)`, begin with a [`Header`], have a size that is a multiple of 8, be
/// valid when all its bytes are zero, and be the argument of the function in slot `SLOT`.
pub(crate) unsafe trait Arguments {
    /// Index in the function table.
    const SLOT: usize;
    /// Name of the function, for messages.
    const NAME: &'static str;
}

/// Number of zero bytes after every struct passed to the plugin, as space for the fields that
/// newer plugins append.
const TAIL_WORDS: usize = 8;

/// A struct followed by a zero tail that its `struct_size` includes.
#[repr(C)]
pub(crate) struct Padded<T> {
    body: T,
    tail: [u64; TAIL_WORDS],
}

impl<T> Deref for Padded<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.body
    }
}

impl<T> DerefMut for Padded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.body
    }
}

/// Returns zeroed arguments with their size filled in.
#[inline]
pub(crate) fn zeroed<T: Arguments>() -> Padded<T> {
    // SAFETY: `Arguments` guarantees that all-zero bytes are a valid `T`.
    let mut padded: Padded<T> = unsafe { std::mem::zeroed() };
    // SAFETY: `Arguments` guarantees that `T` begins with a `Header`.
    unsafe { (*(&raw mut padded.body).cast::<Header>()).struct_size = size_of::<Padded<T>>() };
    padded
}

/// A function of the table.
pub(crate) type Function<T> = unsafe extern "C" fn(*mut Padded<T>) -> *mut RawError;

/// A loaded plugin's function table. Plugins are never unloaded, so it lives forever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Api(NonNull<ApiTable>);

// SAFETY: the table is constant data of a library that is never unloaded, and PJRT functions may
// be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Api {
    /// Wraps the return value of `GetPjrtApi`.
    ///
    /// # Safety
    /// `table` must point to a `PJRT_Api` that lives until the process ends.
    pub unsafe fn new(table: NonNull<ApiTable>) -> Api {
        Api(table)
    }

    /// Returns the major and minor version.
    pub fn version(self) -> (i32, i32) {
        // SAFETY: `Api::new` requires a live table.
        let version = unsafe { &self.0.as_ref().version };
        (version.major, version.minor)
    }

    /// Returns the size of the table in bytes, which determines the number of functions.
    pub fn table_size(self) -> usize {
        // SAFETY: `Api::new` requires a live table.
        unsafe { self.0.as_ref().header.struct_size }
    }

    /// Returns the extensions in the plugin's order, which are constant data of the plugin.
    pub fn extensions(self) -> impl Iterator<Item = NonNull<ExtensionBase>> {
        // SAFETY: `Api::new` requires a live table.
        let first = NonNull::new(unsafe { self.0.as_ref().header.extension_start });
        std::iter::successors(first, |node| {
            // SAFETY: the list is constant data of the plugin and ends with null.
            NonNull::new(unsafe { node.as_ref() }.next)
        })
    }

    /// Returns the extension of this type, if the plugin has it with at least the fields of `T`.
    pub fn extension<T>(self, kind: u32) -> Option<NonNull<T>> {
        let found = self.extensions().find(|node| {
            // SAFETY: as above.
            let node = unsafe { node.as_ref() };
            node.kind == kind && node.struct_size >= size_of::<T>()
        });
        found.map(NonNull::cast)
    }

    /// Returns the function that takes `T`, if this plugin has it.
    #[inline]
    pub fn function<T: Arguments>(self) -> Option<Function<T>> {
        let offset = size_of::<ApiTable>() + T::SLOT * size_of::<usize>();
        if offset + size_of::<usize>() > self.table_size() {
            return None;
        }
        // SAFETY: the slot is inside the table, as checked above. A slot contains a function
        // pointer or null, which is a valid `Option<Function>`.
        unsafe {
            *self
                .0
                .as_ptr()
                .byte_add(offset)
                .cast::<Option<Function<T>>>()
        }
    }
}

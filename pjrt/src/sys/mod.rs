//! The PJRT C ABI, written by hand.
//!
//! Layouts and slot numbers follow the C header of PJRT API 0.114; they are facts
//! of an append-only binary interface and are checked by `layout.rs` against the
//! sizes and offsets of API 0.81, the oldest this crate accepts.
//!
//! Three rules keep one binary compatible with every plugin from 0.81 on:
//!
//! * A function is read from the table only if its slot lies inside the size the
//!   plugin reports ([`Api::function`]).
//! * Argument structs are zeroed, carry a zero tail ([`Padded`]) and count it in
//!   their `struct_size`, because a plugin refuses a struct smaller than its own
//!   and accepts a larger one.
//! * Elements of arrays ([`NamedValue`]) have exactly the size of the ABI.

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

/// Declares types that only the plugin can look into.
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

/// One node of the linked list of extensions.
#[repr(C)]
pub(crate) struct ExtensionBase {
    pub struct_size: usize,
    pub kind: u32,
    pub next: *mut ExtensionBase,
}

/// The two words that every argument struct starts with.
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

/// The version a plugin was built with.
#[repr(C)]
pub(crate) struct ApiVersion {
    pub header: Header,
    pub major: i32,
    pub minor: i32,
}

/// A named option, attribute or property. Sent and received in arrays, so its
/// size is exact.
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

/// The payload of a [`NamedValue`]; `kind` says which field is set.
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

/// A dimension order without tiles: the only layout this crate asks for.
#[repr(C)]
pub(crate) struct TiledLayout {
    pub header: Header,
    pub minor_to_major: *const i64,
    pub minor_to_major_size: usize,
    pub tile_dims: *const i64,
    pub tile_dim_sizes: *const usize,
    pub num_tiles: usize,
}

/// A memory layout; kind 0 is [`TiledLayout`], the larger arm of the C union.
#[repr(C)]
pub(crate) struct MemoryLayout {
    pub header: Header,
    pub tiled: TiledLayout,
    pub kind: u32,
    pub reserved: u32,
}

/// The arguments of one function of the table.
///
/// # Safety
/// The type is `repr(C)`, begins with a [`Header`], has size a multiple of 8, is
/// valid when all its bytes are zero, and is what the function in slot `SLOT` takes.
pub(crate) unsafe trait Arguments {
    /// Position in the function table.
    const SLOT: usize;
    /// The function's name, for messages.
    const NAME: &'static str;
}

/// Bytes of zeros behind every struct handed to the plugin: room for the fields
/// that newer plugins append.
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

/// Zeroed arguments with their size filled in.
#[inline]
pub(crate) fn zeroed<T: Arguments>() -> Padded<T> {
    // SAFETY: `Arguments` promises that all-zero bytes are a valid `T`.
    let mut padded: Padded<T> = unsafe { std::mem::zeroed() };
    // SAFETY: `Arguments` promises that `T` begins with a `Header`.
    unsafe { (*(&raw mut padded.body).cast::<Header>()).struct_size = size_of::<Padded<T>>() };
    padded
}

/// A function of the table.
pub(crate) type Function<T> = unsafe extern "C" fn(*mut Padded<T>) -> *mut RawError;

/// A loaded plugin's function table. Plugins are never unloaded, so it lives for
/// ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Api(NonNull<ApiTable>);

// SAFETY: the table is constant data of a library that is never unloaded, and PJRT
// functions may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Api {
    /// Wraps what `GetPjrtApi` returned.
    ///
    /// # Safety
    /// `table` points to a `PJRT_Api` that lives until the process ends.
    pub unsafe fn new(table: NonNull<ApiTable>) -> Api {
        Api(table)
    }

    /// An address within the plugin.
    pub fn address(self) -> *const () {
        self.0.as_ptr().cast_const().cast()
    }

    /// Major and minor version.
    pub fn version(self) -> (i32, i32) {
        // SAFETY: `Api::new` promises a live table.
        let version = unsafe { &self.0.as_ref().version };
        (version.major, version.minor)
    }

    /// Bytes of the table, which say how many functions it holds.
    pub fn table_size(self) -> usize {
        // SAFETY: `Api::new` promises a live table.
        unsafe { self.0.as_ref().header.struct_size }
    }

    /// The extensions, in the plugin's order; constant data of the plugin.
    pub fn extensions(self) -> impl Iterator<Item = NonNull<ExtensionBase>> {
        // SAFETY: `Api::new` promises a live table.
        let first = NonNull::new(unsafe { self.0.as_ref().header.extension_start });
        std::iter::successors(first, |node| {
            // SAFETY: the list is constant data of the plugin, ended by null.
            NonNull::new(unsafe { node.as_ref() }.next)
        })
    }

    /// The extension of this type, if the plugin has it with all that `T` has.
    pub fn extension<T>(self, kind: u32) -> Option<NonNull<T>> {
        let found = self.extensions().find(|node| {
            // SAFETY: as above.
            let node = unsafe { node.as_ref() };
            node.kind == kind && node.struct_size >= size_of::<T>()
        });
        found.map(NonNull::cast)
    }

    /// The function that takes `T`, if this plugin has it.
    #[inline]
    pub fn function<T: Arguments>(self) -> Option<Function<T>> {
        let offset = size_of::<ApiTable>() + T::SLOT * size_of::<usize>();
        if offset + size_of::<usize>() > self.table_size() {
            return None;
        }
        // SAFETY: the slot lies inside the table (checked above); a slot holds a
        // function pointer or null, which is what `Option<Function>` is.
        unsafe {
            *self
                .0
                .as_ptr()
                .byte_add(offset)
                .cast::<Option<Function<T>>>()
        }
    }
}

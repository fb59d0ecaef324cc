//! Calls of the table: errors and panics become the errors of the API.

use crate::sys::{self, ApiTable, Arguments, Padded, RawError};
use ramie_base::panic;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One more than the number of the last function.
const SLOTS: usize = 130;

/// The table of functions. A function that the backend does not have is null.
#[repr(C)]
pub(super) struct Table {
    pub start: ApiTable,
    slots: [usize; SLOTS],
}

impl Table {
    pub fn add<T: Serve>(&mut self) {
        self.slots[<T as Arguments>::SLOT] = entry::<T> as *const () as usize;
    }
}

/// An error of the backend, which the API shows through an opaque pointer.
pub(super) struct Failure {
    code: i32,
    message: String,
}

/// Codes of errors, as in the C header.
mod code {
    pub const INVALID_ARGUMENT: i32 = 3;
    pub const RESOURCE_EXHAUSTED: i32 = 8;
    pub const UNIMPLEMENTED: i32 = 12;
    pub const INTERNAL: i32 = 13;
}

impl Failure {
    /// Creates the error of arguments that the backend cannot accept.
    pub(super) fn argument(message: impl Into<String>) -> Failure {
        Failure {
            code: code::INVALID_ARGUMENT,
            message: message.into(),
        }
    }

    /// Creates the error of something that the backend does not implement.
    pub(super) fn unimplemented(message: impl Into<String>) -> Failure {
        Failure {
            code: code::UNIMPLEMENTED,
            message: message.into(),
        }
    }

    fn panicked(payload: &(dyn Any + Send)) -> Failure {
        Failure {
            code: code::INTERNAL,
            message: format!("the CPU backend panicked: {}", panic::message(payload)),
        }
    }
}

impl From<ramie_cpu::Error> for Failure {
    fn from(error: ramie_cpu::Error) -> Failure {
        use ramie_cpu::Error;
        let code = match &error {
            Error::Memory(_) => code::RESOURCE_EXHAUSTED,
            Error::Unsupported { .. } => code::UNIMPLEMENTED,
            Error::Failed(_) => code::INTERNAL,
            _ => code::INVALID_ARGUMENT,
        };
        Failure {
            code,
            message: error.to_string(),
        }
    }
}

/// Arguments of a function that the backend implements.
///
/// # Safety
/// `serve` may rely on what the C API promises about the pointers in the arguments: that they are
/// null where this is allowed, and otherwise point to live objects of their types, which this backend
/// created, or to readable memory of the sizes beside them.
pub(super) unsafe trait Serve: Arguments {
    /// Does what the function promises, and fills in the results.
    fn serve(&mut self) -> Result<(), Failure>;
}

/// The function of the table that takes `T`.
///
/// # Safety
/// `args` must point to arguments that follow the C API.
unsafe extern "C" fn entry<T: Serve>(args: *mut Padded<T>) -> *mut RawError {
    // SAFETY: the caller passes arguments that nothing else uses during the call.
    let args = unsafe { &mut **args };
    let failure = match catch_unwind(AssertUnwindSafe(|| args.serve())) {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::panicked(&*payload),
    };
    Box::into_raw(Box::new(failure)).cast()
}

/// Implements [`Serve`] for the arguments of several functions, and adds these to the table.
macro_rules! serve {
    ($($name:ident |$args:ident| $body:block)*) => {
        $(
            // SAFETY: the body uses the pointers as the C API describes them.
            unsafe impl $crate::linked::serve::Serve for $crate::sys::$name {
                fn serve(&mut self) -> Result<(), $crate::linked::serve::Failure> {
                    let $args = self;
                    $body
                    #[allow(unreachable_code)]
                    Ok(())
                }
            }
        )*
        /// Adds the functions of this file.
        pub(super) fn add(table: &mut $crate::linked::serve::Table) {
            $(table.add::<$crate::sys::$name>();)*
        }
    };
}
pub(super) use serve;

/// Returns the object behind an opaque pointer of the API.
///
/// # Safety
/// `raw` must point to a live `T`.
pub(super) unsafe fn object<'a, R, T>(raw: *const R) -> &'a T {
    // SAFETY: guaranteed by the caller.
    unsafe { &*raw.cast::<T>() }
}

/// Passes ownership of an object to the caller of the API.
pub(super) fn hand_out<R, T>(object: T) -> *mut R {
    Box::into_raw(Box::new(object)).cast()
}

/// Destroys an object that [`hand_out`] passed on. Null is ignored, as by `free`.
///
/// # Safety
/// `raw` must be null or point to a `T` of `hand_out` that is not used again.
pub(super) unsafe fn destroy<R, T>(raw: *mut R) {
    if !raw.is_null() {
        // SAFETY: guaranteed by the caller.
        drop(unsafe { Box::from_raw(raw.cast::<T>()) });
    }
}

serve! {
    ErrorDestroy |args| {
        // SAFETY: an error of `entry`, which the caller gives up.
        unsafe { destroy::<_, Failure>(args.error) };
    }
    ErrorMessage |args| {
        // SAFETY: a live error.
        let failure: &Failure = unsafe { object(args.error) };
        args.message = failure.message.as_ptr().cast();
        args.message_size = failure.message.len();
    }
    ErrorGetCode |args| {
        // SAFETY: a live error.
        args.code = unsafe { object::<_, Failure>(args.error) }.code;
    }
    PluginInitialize |_args| {}
    PluginAttributes |args| {
        args.attributes = std::ptr::null();
        args.num_attributes = 0;
    }
}

/// Returns a list of integers, which may be empty.
///
/// # Safety
/// `start` must point to `len` elements that live for `'a`, unless `len` is 0.
pub(super) unsafe fn list<'a, T>(start: *const T, len: usize) -> &'a [T] {
    // SAFETY: guaranteed by the caller.
    unsafe { crate::error::borrowed(start, len) }
}

/// Returns the bytes of a name that is passed with its length.
///
/// # Safety
/// `start` must point to `len` bytes that live for `'a`, unless `len` is 0.
pub(super) unsafe fn text<'a>(start: *const std::ffi::c_char, len: usize) -> &'a [u8] {
    // SAFETY: guaranteed by the caller.
    unsafe { list(start.cast::<u8>(), len) }
}

/// The layout in which arrays are: row-major, without tiles.
pub(super) fn row_major(layout: &mut sys::MemoryLayout, minor_to_major: &[i64]) {
    layout.kind = 0;
    layout.tiled.minor_to_major = minor_to_major.as_ptr();
    layout.tiled.minor_to_major_size = minor_to_major.len();
    layout.tiled.num_tiles = 0;
}

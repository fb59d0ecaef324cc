//! The C++ `new` operators; a plugin imports those that it uses.
//!
//! Any C++ code of the process may free the memory they return, and all of it calls `free` in the
//! C++ library. Memory that the C++ library itself allocates stays in the C library, because some
//! of it is freed by unknown calls of `free`.

use super::hooks::block;
use super::imports::Imports;
use std::ffi::c_void;
use std::sync::OnceLock;

/// The alignment of operators without an alignment argument.
const PLAIN: usize = 16;

macro_rules! operators {
    ($($module:ident $name:literal ($($arg:ident: $ty:ty),*) $alignment:expr;)*) => {
        $(mod $module {
            use super::*;

            type Operator = unsafe extern "C-unwind" fn(usize $(, $ty)*) -> *mut c_void;

            /// The original operator, for requests that are not served here.
            static OPERATOR: OnceLock<Operator> = OnceLock::new();

            /// # Safety
            /// The same as for the operator, which may throw.
            unsafe extern "C-unwind" fn served(size: usize $(, $arg: $ty)*) -> *mut c_void {
                let block = block($alignment, size);
                if !block.is_null() {
                    return block;
                }
                let operator = OPERATOR.get().expect("set before this is called");
                // SAFETY: forwards the plugin's request.
                unsafe { operator(size $(, $arg)*) }
            }

            pub fn replace(plugin: &Imports) {
                let Some(address) = plugin.address($name) else {
                    return;
                };
                OPERATOR.get_or_init(|| {
                    // SAFETY: an imported function of this name has this type.
                    unsafe { std::mem::transmute::<*const (), Operator>(address) }
                });
                plugin.replace($name, served as *const ());
            }
        })*

        /// Replaces the operators that a plugin imports.
        pub fn replace(plugin: &Imports) {
            $($module::replace(plugin);)*
        }
    };
}

operators! {
    new c"_Znwm" () PLAIN;
    new_array c"_Znam" () PLAIN;
    new_nothrow c"_ZnwmRKSt9nothrow_t" (tag: *const c_void) PLAIN;
    new_aligned c"_ZnwmSt11align_val_t" (alignment: usize) alignment;
    new_array_aligned c"_ZnamSt11align_val_t" (alignment: usize) alignment;
    new_aligned_nothrow c"_ZnwmSt11align_val_tRKSt9nothrow_t"
        (alignment: usize, tag: *const c_void) alignment;
}

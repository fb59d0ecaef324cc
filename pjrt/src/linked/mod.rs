//! The backend that is linked into the program, `ramie-cpu`, behind the functions of the PJRT API.
//!
//! Everything above the function table treats it like a plugin. It computes on the calling thread, so
//! that results are ready when a call returns: there are no events.

mod buffer;
mod callback;
mod client;
mod executable;
mod module;
mod placement;
mod serve;

use crate::sys::Api;
use serve::Table;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The warning of a program whose kernels are not optimized.
const SLOW: &str = "ramie: this program runs 20 to 50 times slower than it could, because its kernels are not optimized\n  \
     help: add to Cargo.toml: [profile.dev.package] ramie-cpu = { opt-level = 3, codegen-units = 1, debug-assertions = \
     false }";

/// The minor version of PJRT API 0 whose layouts `sys` declares.
const MINOR: i32 = 114;

/// Returns the function table, which lives until the process ends.
pub(crate) fn api() -> Api {
    static API: OnceLock<Api> = OnceLock::new();
    *API.get_or_init(|| {
        if ramie_cpu::UNOPTIMIZED {
            eprintln!("{SLOW}");
        }
        // SAFETY: the table consists of pointers and integers, for which zero bytes are valid.
        let mut table: Box<Table> = Box::new(unsafe { std::mem::zeroed() });
        table.start.header.struct_size = size_of::<Table>();
        table.start.version.header.struct_size = size_of_val(&table.start.version);
        table.start.version.minor = MINOR;
        serve::add(&mut table);
        client::add(&mut table);
        buffer::add(&mut table);
        executable::add(&mut table);
        let table = NonNull::from(Box::leak(table)).cast();
        // SAFETY: the table is never freed, and its functions have the types of their slots.
        unsafe { Api::new(table) }
    })
}

//! Opening of shared libraries.

use crate::error::{Error, Result};
use crate::sys::{Api, ApiTable};
use crate::{elf, memory};
use libloading::Library;
use std::path::Path;
use std::ptr::NonNull;

/// Opens the library and gets its function table.
pub(crate) fn open(path: &Path) -> Result<Api> {
    let unloadable = |reason: String| Error::PluginUnloadable {
        path: path.into(),
        reason,
    };
    elf::check_whole(path).map_err(unloadable)?;
    let code = path.metadata().map_or(0, |meta| meta.len());
    memory::check_address_space(path, code)?;
    if std::env::var_os("TF_CPP_MIN_LOG_LEVEL").is_none() {
        // SAFETY: Rust's own readers of the environment are synchronized with this; the
        // documentation makes callers responsible for C readers on other threads.
        unsafe { std::env::set_var("TF_CPP_MIN_LOG_LEVEL", "2") };
    }
    // SAFETY: loading a plugin inherently runs the library's constructors; the user chose the
    // file as trusted.
    let library = unsafe { open_library(path) }.map_err(|e| {
        // The system's message; the outer error only states that loading failed.
        let reason = std::error::Error::source(&e);
        unloadable(reason.map_or_else(|| e.to_string(), ToString::to_string))
    })?;
    let not_a_plugin = |reason: &str| Error::NotAPlugin {
        path: path.into(),
        reason: reason.into(),
    };
    type GetPjrtApi = unsafe extern "C" fn() -> *mut ApiTable;
    // SAFETY: a function of this name has this type in every plugin.
    let table = match unsafe { library.get::<GetPjrtApi>("GetPjrtApi") } {
        // SAFETY: the function takes no arguments and returns the table or null.
        Ok(function) => unsafe { function() },
        Err(_) => return Err(not_a_plugin("it does not export the function `GetPjrtApi`")),
    };
    // The library is never unloaded, so the table lives until the process ends.
    std::mem::forget(library);
    let table = NonNull::new(table).ok_or_else(|| not_a_plugin("`GetPjrtApi` returned null"))?;
    // SAFETY: the library stays loaded.
    Ok(unsafe { Api::new(table) })
}

/// Opens a library with all of its symbols bound, so that a missing one is an error here.
///
/// # Safety
/// Runs the library's constructors.
#[cfg(unix)]
unsafe fn open_library(path: &Path) -> std::result::Result<Library, libloading::Error> {
    use libloading::os::unix::{self, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: the caller trusts the library.
    unsafe { unix::Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Library::from)
}

/// Opens a library. Windows always binds all of its symbols.
///
/// # Safety
/// Runs the library's constructors.
#[cfg(windows)]
unsafe fn open_library(path: &Path) -> std::result::Result<Library, libloading::Error> {
    // SAFETY: the caller trusts the library.
    unsafe { Library::new(path) }
}

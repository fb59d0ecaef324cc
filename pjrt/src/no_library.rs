//! WebAssembly, which has no shared libraries.

use crate::error::{Error, Result};
use crate::sys::Api;
use std::path::Path;

/// Fails.
pub(crate) fn open(path: &Path) -> Result<Api> {
    Err(Error::PluginUnloadable {
        path: path.into(),
        reason: "WebAssembly has no shared libraries".into(),
    })
}

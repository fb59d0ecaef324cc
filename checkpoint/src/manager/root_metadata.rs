//! Metadata of a whole run.

use crate::commit::{make_folder, rename, write_synced};
use crate::file::read_if_there;
use crate::{Error, Result};
use ramie_core::files::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Orbax's names of the directory and of the file in it.
const FOLDER: &str = "metadata";
const FILE: &str = "_ROOT_METADATA";

#[derive(Default, Serialize, Deserialize)]
struct RootMetadata {
    #[serde(default)]
    internal_metadata: Map<String, Value>,
    #[serde(default)]
    custom_metadata: Map<String, Value>,
}

fn path(root: &Path) -> PathBuf {
    root.join(FOLDER).join(FILE)
}

/// Reads the metadata of a run; `None` if it has none.
pub(super) fn read(root: &Path) -> Result<Option<Map<String, Value>>> {
    let path = path(root);
    let Some(bytes) = read_if_there(&path)? else {
        return Ok(None);
    };
    let metadata: RootMetadata = serde_json::from_slice(&bytes).map_err(|e| {
        let help = "correct the file, or remove it to continue without metadata";
        Error::format(
            &path,
            Message::new(format!("is not valid run metadata: {e}")).help(help),
        )
    })?;
    Ok(Some(metadata.custom_metadata))
}

/// Writes the metadata of a run unless it already has some.
pub(super) fn write_once(root: &Path, custom_metadata: &Map<String, Value>) -> Result<()> {
    let path = path(root);
    if path.is_file() {
        return Ok(());
    }
    make_folder(&root.join(FOLDER))?;
    let metadata = RootMetadata {
        custom_metadata: custom_metadata.clone(),
        ..RootMetadata::default()
    };
    // Maps with string keys always serialize.
    let text = serde_json::to_string(&metadata).unwrap_or_default();
    let temporary = path.with_extension("tmp");
    write_synced(&temporary, text.as_bytes())?;
    rename(&temporary, &path)
}

//! Index of a model in several files, called shards, in the format of Hugging Face.

use crate::{Error, Result, file};
use ramie_core::files::{DAMAGED, Message};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Contents of an index.
#[derive(Serialize, Deserialize)]
pub(crate) struct Index {
    /// Metadata, including the total number of bytes of all arrays.
    #[serde(default)]
    pub metadata: BTreeMap<String, Value>,
    /// File name of each array's shard.
    pub weight_map: BTreeMap<String, String>,
}

/// Returns whether a path is that of an index.
pub(crate) fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "json")
}

impl Index {
    /// Reads an index. `format` is the name of its files' format, and `example` a name of an index.
    pub fn read(path: &Path, format: &str, example: &str) -> Result<Index> {
        let text = file::read(path)?;
        serde_json::from_slice(&text).map_err(|e| {
            Error::format(
                path,
                Message::new(format!("is not an index of {format} files: {e}")).help(format!(
                    "pass an index, such as {example}, or a {format} file"
                )),
            )
        })
    }

    /// Returns the shards of the index at `path`, each with the sorted names of its arrays.
    pub fn shards(&self, path: &Path) -> Result<BTreeMap<PathBuf, Vec<&str>>> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut shards = BTreeMap::new();
        for (name, file) in &self.weight_map {
            // The file must be in the directory of the index or below it.
            let mut steps = Path::new(file).components().peekable();
            let below = steps.peek().is_some() && steps.all(|c| matches!(c, Component::Normal(_)));
            if !below {
                let message = Message::new(format!(
                    "is in `{file}`, which is not a file in the directory of the index"
                ))
                .help(DAMAGED);
                return Err(Error::tensor(path, name, message));
            }
            let names: &mut Vec<&str> = shards.entry(folder.join(file)).or_default();
            names.push(name);
        }
        Ok(shards)
    }
}

/// Returns the error of a shard without an array that the index at `path` lists.
pub(crate) fn missing(path: &Path, shard: &Path, name: &str) -> Error {
    let path = path.display();
    let message =
        Message::new(format!("is not in the file, although {path} lists it")).help(DAMAGED);
    Error::tensor(shard, name, message)
}

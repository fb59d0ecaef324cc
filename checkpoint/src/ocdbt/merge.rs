//! Merging the databases of several processes.

use super::writer::{Options, Writer};
use crate::commit::ItemWriter;
use crate::{Error, Result, natural_sort};
use std::fs;
use std::path::Path;

/// Prefix of the names of the processes' directories.
pub(crate) const PREFIX: &str = "ocdbt.process_";

/// Returns the name of the directory in which a process writes its database for [`merge`].
///
/// ```
/// assert_eq!(ramie_checkpoint::ocdbt::process_folder(3), "ocdbt.process_3");
/// ```
pub fn process_folder(process: usize) -> String {
    format!("{PREFIX}{process}")
}

/// Merges the databases in the subdirectories `ocdbt.process_*` of `folder` into one database in
/// `folder`, and returns how many there were. If there are none, does nothing.
///
/// Large values stay in the processes' directories, which become part of the database, so merging
/// is fast regardless of their size. Processes may have the same key only with equal values.
///
/// ```
/// use ramie_checkpoint::ocdbt::{self, Database, Options, Writer};
/// # fn main() -> Result<(), ramie_checkpoint::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let options = Options::default();
/// for process in 0..2 {
///     let writer = Writer::create(folder.join(ocdbt::process_folder(process)), &options)?;
///     writer.put(format!("weights/{process}"), &[process as u8; 5000])?;
///     writer.finish()?;
/// }
/// assert_eq!(ocdbt::merge(folder, &options)?, 2);
/// assert_eq!(Database::open(folder)?.get("weights/1")?, Some(vec![1; 5000]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if one of the databases cannot be read, two have different values for a key,
/// or the merged database cannot be written or already exists.
pub fn merge(folder: impl AsRef<Path>, options: &Options) -> Result<usize> {
    let folder = folder.as_ref();
    merge_with(folder, || Writer::create(folder, options))
}

/// Merges like [`merge`] in the directory of a checkpoint's item: the merged database's files are
/// part of the item, like those of [`Writer::create_in`].
///
/// # Errors
///
/// Same as [`merge`].
pub fn merge_in(item: &ItemWriter, options: &Options) -> Result<usize> {
    merge_with(item.folder(), || Writer::create_in(item, options))
}

fn merge_with(folder: &Path, writer: impl FnOnce() -> Result<Writer>) -> Result<usize> {
    let failed = |e| Error::io(folder, "be listed", e);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.starts_with(PREFIX) && entry.path().is_dir() {
            names.push(name.to_string());
        }
    }
    if names.is_empty() {
        return Ok(0);
    }
    names.sort_by(|a, b| natural_sort::compare(a, b));
    let writer = writer()?;
    for name in &names {
        writer.include(name)?;
    }
    writer.finish()?;
    Ok(names.len())
}

//! The check of a CPU plugin's numbers, once for each plugin file and processor.

use super::cache::key;
use super::fingerprint::{identity, processor};
use crate::Result;
use ramie_pjrt::discover::{self, Platform, PluginLocation};
use ramie_pjrt::{Client, trust};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Checks that the plugin computes correct numbers, unless an earlier process did. The check takes
/// about one second. Its record is a file in the folder `checked` of the user's cache.
///
/// # Errors
/// If the plugin computes wrong numbers or cannot run the check.
pub(super) fn check(client: Client, plugin: &PluginLocation) -> Result<()> {
    if plugin.platform != Platform::Cpu || plugin.is_linked() {
        return Ok(());
    }
    let record = record(&discover::cache_dir(), plugin);
    if record.exists() {
        return Ok(());
    }
    client.check_numbers()?;
    if let Err(error) = write(&record, plugin) {
        // The next process checks again.
        tracing::debug!(record = %record.display(), %error, "cannot record the check");
    }
    Ok(())
}

/// The file that records the check of this plugin on this processor, whose instruction sets
/// decide what the plugin compiles.
fn record(cache: &Path, plugin: &PluginLocation) -> PathBuf {
    let (_, name) = key(&[
        Client::check_version().to_string().as_bytes(),
        plugin.path.display().to_string().as_bytes(),
        identity(plugin).as_bytes(),
        processor().as_bytes(),
    ]);
    cache.join("checked").join(name)
}

fn write(record: &Path, plugin: &PluginLocation) -> io::Result<()> {
    if let Some(folder) = record.parent() {
        trust::create_folder(folder)?;
    }
    let text = format!("{} computes right numbers\n", plugin.path.display());
    fs::write(record, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramie_pjrt::discover::Origin;

    fn plugin(path: &Path) -> PluginLocation {
        PluginLocation {
            platform: Platform::Cpu,
            path: path.to_owned(),
            package: None,
            version: None,
            sha256: None,
            origin: Origin::Variable,
        }
    }

    #[test]
    fn another_file_at_the_same_path_has_no_record() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("plugin.so");
        fs::write(&file, "one").expect("write");
        let plugin = plugin(&file);
        let first = record(folder.path(), &plugin);
        assert_eq!(first, record(folder.path(), &plugin));
        assert!(!first.exists());
        write(&first, &plugin).expect("write");
        assert!(first.exists());
        fs::write(&file, "another").expect("write");
        assert!(!record(folder.path(), &plugin).exists());
    }
}

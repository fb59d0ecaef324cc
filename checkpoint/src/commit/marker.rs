//! The file that marks a checkpoint as complete.
//!
//! `commit_success.txt` is Orbax's file; its first line is for people. Ramie adds a second line
//! with the checksums of the manifest and of the first line, so that a lost manifest is also
//! detected.

use super::manifest::MANIFEST;
use crate::file::read_if_there;
use crate::{Error, Result};
use ramie_core::files;
use ramie_core::files::Message;
use std::path::Path;

/// Name of the marker in the directory of a checkpoint and of each of its items.
pub(crate) const MARKER: &str = "commit_success.txt";

/// Returns the text for a directory that will be at `path`.
pub(crate) fn text(path: &Path) -> String {
    format!("Checkpoint commit was successful to {}", path.display())
}

/// Returns the text for a checkpoint with this manifest.
pub(crate) fn text_with(path: &Path, manifest: &[u8]) -> String {
    // A name may contain newlines, but the text must be one line.
    let first = text(path).replace(['\n', '\r'], " ");
    let (manifest, line) = (crc32c::crc32c(manifest), crc32c::crc32c(first.as_bytes()));
    format!("{first}\n{MANIFEST} {manifest:08x} {line:08x}\n")
}

/// Returns whether the marker of a checkpoint with a manifest was written completely.
pub(crate) fn is_complete(folder: &Path) -> bool {
    files::read(folder.join(MARKER)).is_ok_and(|text| text.ends_with(b"\n"))
}

/// Checks that a checkpoint's manifest and marker belong together.
pub(crate) fn check(folder: &Path, manifest: Option<&[u8]>) -> Result<()> {
    let path = folder.join(MARKER);
    let damaged = |what: &str| Err(Error::damaged(&path, what));
    let marker = read_if_there(&path)?;
    let Some(manifest) = manifest else {
        let marker = marker.unwrap_or_default();
        let ours = String::from_utf8_lossy(&marker).contains(MANIFEST);
        if ours {
            let path = folder.join(MANIFEST);
            let what = Message::new("the manifest is missing")
                .help("the files of this checkpoint cannot be verified; restore another step");
            return Err(Error::damaged(&path, what));
        }
        return Ok(()); // written by Orbax
    };
    let Some(marker) = marker else {
        return damaged("the commit marker is missing");
    };
    let first = marker.iter().position(|b| *b == b'\n');
    let (first, second) = marker.split_at(first.unwrap_or(marker.len()));
    let sums = (crc32c::crc32c(manifest), crc32c::crc32c(first));
    let expected = format!("\n{MANIFEST} {:08x} {:08x}\n", sums.0, sums.1);
    if second == expected.as_bytes() {
        return Ok(());
    }
    let same_text = format!(" {:08x}\n", sums.1);
    if second.len() == expected.len() && second.ends_with(same_text.as_bytes()) {
        return damaged(
            "the commit marker does not match _RAMIE_MANIFEST: one of them has changed",
        );
    }
    damaged("the commit marker has changed since it was written")
}

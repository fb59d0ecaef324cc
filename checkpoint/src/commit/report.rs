//! Timings of saves.

use ramie_core::text::bytes;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Timings and size of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveReport {
    /// Path of the checkpoint.
    pub path: PathBuf,
    /// Time that the caller waited for the previous save.
    pub waited: Duration,
    /// Time that the caller waited for the snapshot: the copy to the host.
    pub snapshot: Duration,
    /// Total time that the caller waited.
    pub blocking: Duration,
    /// Time from the call until the checkpoint was committed to disk.
    pub total: Duration,
    /// Number of files.
    pub files: usize,
    /// Total size of the files.
    pub bytes: u64,
}

/// Formats the report in one line.
///
/// ```text
/// run/300: blocked 12 ms (9 ms for the copy), 812 ms in all, 1.1 GB in 46 files
/// ```
impl fmt::Display for SaveReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        write!(
            f,
            "{}: blocked {:.1} ms ({:.1} ms for the copy), {:.0} ms in all, {} in {} files",
            self.path.display(),
            ms(self.blocking),
            ms(self.snapshot),
            ms(self.total),
            bytes(self.bytes),
            self.files
        )
    }
}

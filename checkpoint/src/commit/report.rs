//! How long saves take.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How long a save took, and what it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveReport {
    /// The checkpoint.
    pub path: PathBuf,
    /// How long the caller waited for the save before this one to end.
    pub waited: Duration,
    /// How long the caller waited for the snapshot: the copy to the host.
    pub snapshot: Duration,
    /// How long the caller waited in all.
    pub blocking: Duration,
    /// The time from the call until the checkpoint was on the disk under its name.
    pub total: Duration,
    /// How many files there are.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
}

/// One line for people.
///
/// ```text
/// run/300: blocked 12 ms (9 ms for the copy), 812 ms in all, 1.1 GB in 46 files
/// ```
impl fmt::Display for SaveReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        let (size, unit) = match self.bytes as f64 {
            b if b >= 1e9 => (b / 1e9, "GB"),
            b if b >= 1e6 => (b / 1e6, "MB"),
            b => (b / 1e3, "kB"),
        };
        write!(
            f,
            "{}: blocked {:.1} ms ({:.1} ms for the copy), {:.0} ms in all, {size:.1} {unit} in {} files",
            self.path.display(),
            ms(self.blocking),
            ms(self.snapshot),
            ms(self.total),
            self.files
        )
    }
}

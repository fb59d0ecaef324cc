//! Names of step directories.

use crate::{Error, Result};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Format of the names of step directories: `orbax.checkpoint.path.step.NameFormat`.
///
/// ```
/// use ramie_checkpoint::manager::StepNames;
/// assert_eq!(StepNames::new().name(12), "12");
/// assert_eq!(StepNames::new().prefix("ckpt").name(12), "ckpt_12");
/// assert_eq!(StepNames::new().fixed_length(8).name(12), "00000012");
/// let names = StepNames::new().prefix("ckpt").fixed_length(8);
/// assert_eq!(names.name(12), "ckpt_00000012");
/// assert_eq!(names.step("ckpt_00000012"), Some(12));
/// assert_eq!(names.step("ckpt_12"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StepNames {
    prefix: Option<String>,
    fixed_length: Option<usize>,
    also: Vec<StepNames>,
}

impl StepNames {
    /// Creates the default format: plain numbers such as `12`.
    pub fn new() -> StepNames {
        StepNames::default()
    }

    /// Sets a prefix, separated from the number by an underscore.
    ///
    /// # Panics
    /// Panics if the prefix contains a path separator.
    #[track_caller]
    pub fn prefix(mut self, prefix: impl Into<String>) -> StepNames {
        let prefix = prefix.into();
        assert!(
            !prefix.contains(std::path::is_separator),
            "StepNames::prefix: `{prefix}` contains a path separator\n  help: include the \
             directory in the path of the manager"
        );
        self.prefix = Some(prefix);
        self
    }

    /// Sets the minimum number of digits; shorter numbers are padded with zeros.
    ///
    /// # Panics
    /// Panics if `digits` is 0 or greater than 20, the number of digits of the greatest step.
    #[track_caller]
    pub fn fixed_length(mut self, digits: usize) -> StepNames {
        assert!(
            (1..=20).contains(&digits),
            "StepNames::fixed_length: `digits` is {digits}, expected 1 to 20\n  help: pass at most \
             20, the number of digits of the greatest step"
        );
        self.fixed_length = Some(digits);
        self
    }

    /// Adds a format for reading steps that have no directory in this format, such as those of a
    /// run that used other names. New steps are named in this format (`composite_name_format`).
    pub fn also_read(mut self, names: StepNames) -> StepNames {
        self.also.push(names);
        self
    }

    /// Returns the prefix, if there is one.
    pub(super) fn prefix_name(&self) -> Option<&str> {
        self.prefix.as_deref()
    }

    /// Returns the minimum number of digits, if it is set.
    pub(super) fn digits(&self) -> Option<usize> {
        self.fixed_length
    }

    /// Returns whether steps are also read in other formats.
    pub(super) fn reads_others(&self) -> bool {
        !self.also.is_empty()
    }

    /// Returns the directory name of a step.
    pub fn name(&self, step: u64) -> String {
        let digits = self.fixed_length.unwrap_or(0);
        match &self.prefix {
            Some(prefix) => format!("{prefix}_{step:0digits$}"),
            None => format!("{step:0digits$}"),
        }
    }

    /// Returns the step with this directory name, or `None` if it is not the name of a step.
    pub fn step(&self, name: &str) -> Option<u64> {
        let number = match &self.prefix {
            Some(prefix) => name.strip_prefix(prefix.as_str())?.strip_prefix('_')?,
            None => name,
        };
        let step = number.parse().ok()?;
        // Each step has exactly one name: signs and missing or extra zeros are not accepted.
        (self.name(step) == name).then_some(step)
    }

    /// Returns all formats in the order in which they are tried.
    fn all(&self) -> Vec<&StepNames> {
        let mut all = vec![self];
        for names in &self.also {
            all.extend(names.all());
        }
        all
    }

    /// Returns the paths in a directory that have names of steps, in ascending order of steps.
    /// They may not be checkpoints.
    pub(super) fn find_all(&self, root: &Path) -> Result<Vec<(u64, PathBuf)>> {
        let failed = |e| Error::io(root, "be listed", e);
        let entries = match std::fs::read_dir(root) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(failed)?,
        };
        let all = self.all();
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let step = |(i, names): (usize, &&StepNames)| Some((names.step(&name)?, i));
            if let Some((step, format)) = all.iter().enumerate().find_map(step) {
                found.push((step, format, entry.path()));
            }
        }
        // If a step has several names, that of the first format comes first.
        found.sort_unstable();
        Ok(found
            .into_iter()
            .map(|(step, _, path)| (step, path))
            .collect())
    }
}

/// Formats the name of step 12.
impl fmt::Display for StepNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name(12))
    }
}

//! The names of steps.

use crate::{Error, Result};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How the folders of steps are called: `orbax.checkpoint.path.step.NameFormat`.
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
    /// Plain numbers, as `12`.
    pub fn new() -> StepNames {
        StepNames::default()
    }

    /// A text and an underscore before the number.
    ///
    /// # Panics
    /// If the text holds a separator of folders.
    #[track_caller]
    pub fn prefix(mut self, prefix: impl Into<String>) -> StepNames {
        let prefix = prefix.into();
        assert!(
            !prefix.contains(std::path::is_separator),
            "StepNames::prefix: `{prefix}` names a folder\n  help: put the folder into the path of the \
             manager"
        );
        self.prefix = Some(prefix);
        self
    }

    /// Zeros before the number, to this many digits.
    ///
    /// # Panics
    /// If it is 0 or greater than 20, the digits of the greatest step.
    #[track_caller]
    pub fn fixed_length(mut self, digits: usize) -> StepNames {
        assert!(
            (1..=20).contains(&digits),
            "StepNames::fixed_length: {digits} digits\n  help: give 1 to 20; the greatest step has 20"
        );
        self.fixed_length = Some(digits);
        self
    }

    /// Other names that are found, too, if there is no step of these names: of a run
    /// that named its steps otherwise. New steps get the names of this one
    /// (`composite_name_format`).
    pub fn also_read(mut self, names: StepNames) -> StepNames {
        self.also.push(names);
        self
    }

    /// The name of a step.
    pub fn name(&self, step: u64) -> String {
        let digits = self.fixed_length.unwrap_or(0);
        match &self.prefix {
            Some(prefix) => format!("{prefix}_{step:0digits$}"),
            None => format!("{step:0digits$}"),
        }
    }

    /// The step of a name; nothing, if it is none.
    pub fn step(&self, name: &str) -> Option<u64> {
        let number = match &self.prefix {
            Some(prefix) => name.strip_prefix(prefix.as_str())?.strip_prefix('_')?,
            None => name,
        };
        let step = number.parse().ok()?;
        // There is one name for each step: a sign, a missing or another zero is none.
        (self.name(step) == name).then_some(step)
    }

    /// The formats in the order in which they are asked.
    fn all(&self) -> Vec<&StepNames> {
        let mut all = vec![self];
        for names in &self.also {
            all.extend(names.all());
        }
        all
    }

    /// The steps that are in a folder, with the paths that have their names, in order;
    /// whether they are checkpoints is another question.
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
        // Of several names of one step the first format's goes first.
        found.sort_unstable();
        Ok(found
            .into_iter()
            .map(|(step, _, path)| (step, path))
            .collect())
    }
}

/// The name of step 12.
impl fmt::Display for StepNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name(12))
    }
}

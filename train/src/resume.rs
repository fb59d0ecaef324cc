//! Resuming the run that a folder contains, or starting a new one.

use std::fmt;
use std::str::FromStr;

/// Selects what [`fit`](crate::Trainer::fit) does with a run in its folder. No variant deletes a run.
///
/// A command line can take it as an option: its strings are `unfinished`, `always` and `never`.
///
/// ```
/// use ramie_train::Resume;
/// assert_eq!("always".parse(), Ok(Resume::Always));
/// assert_eq!(Resume::default().to_string(), "unfinished");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resume {
    /// Continues a run that was interrupted. A finished run is an error, which names the other two
    /// ways.
    #[default]
    Unfinished,
    /// Continues any run. One that has finished trains on if the trainer has more steps or epochs.
    Always,
    /// Starts a new run. An earlier one moves to another folder first, with all other files in its
    /// folder: `out` to `out.1`, or to the next free number.
    Never,
}

impl Resume {
    const NAMES: [(&str, Resume); 3] = [
        ("unfinished", Resume::Unfinished),
        ("always", Resume::Always),
        ("never", Resume::Never),
    ];
}

impl fmt::Display for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Resume::NAMES.iter().find(|(_, resume)| resume == self);
        f.pad(name.expect("every variant has a name").0)
    }
}

impl FromStr for Resume {
    type Err = String;

    fn from_str(text: &str) -> Result<Resume, String> {
        let named = Resume::NAMES.iter().find(|(name, _)| *name == text);
        named
            .map(|(_, resume)| *resume)
            .ok_or_else(|| "expected `unfinished`, `always` or `never`".to_owned())
    }
}

//! Differences between a state and a tree.

use crate::Aval;
use crate::base::text::listed;
use std::fmt;

/// The differences between a [`State`](crate::State) and a tree.
///
/// Its `Debug` form is the message, so that `unwrap` and `main` print a readable error.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateMismatch {
    /// Leaves of the tree that are missing from the state.
    pub missing: Vec<String>,
    /// Leaves of the state that are not in the tree.
    pub unexpected: Vec<String>,
    /// Leaves with a different shape or dtype: path, type in the tree, type in the state.
    pub mistyped: Vec<(String, Aval, Aval)>,
}

impl StateMismatch {
    pub(super) fn mistyped(&mut self, path: &str, expected: Aval, got: Aval) {
        self.mistyped.push((path.to_owned(), expected, got));
    }

    /// Returns an error if there are differences.
    pub(super) fn checked(self) -> Result<(), StateMismatch> {
        if self == StateMismatch::default() {
            Ok(())
        } else {
            Err(self)
        }
    }
}

/// Maximum number of types listed in a message.
const LISTED: usize = 10;

impl fmt::Display for StateMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state does not fit the tree")?;
        if !self.missing.is_empty() {
            write!(f, "\n  missing from the state: {}", listed(&self.missing))?;
        }
        if !self.unexpected.is_empty() {
            write!(f, "\n  not in the tree: {}", listed(&self.unexpected))?;
        }
        for (path, expected, got) in self.mistyped.iter().take(LISTED) {
            let name = if path.is_empty() { "the leaf" } else { path };
            write!(f, "\n  {name}: the tree has {expected}, the state {got}")?;
        }
        if self.mistyped.len() > LISTED {
            write!(f, "\n  and {} more", self.mistyped.len() - LISTED)?;
        }
        f.write_str(
            "\n  help: the state must come from a tree of the same structure; use `filter` to \
             remove leaves from a state, or `update` to keep the tree's other leaves",
        )
    }
}

ramie_base::debug_is_message!(StateMismatch);

impl std::error::Error for StateMismatch {}

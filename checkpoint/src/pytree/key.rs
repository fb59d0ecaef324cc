//! Names of a tree's parts, as Orbax writes them.

use super::json::escaped_python;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Step from a node to a child.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyPart {
    /// Index in a sequence.
    Index(usize),
    /// Key of a dictionary or name of a field.
    Name(String),
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyPart::Index(i) => write!(f, "{i}"),
            KeyPart::Name(name) => f.write_str(name),
        }
    }
}

/// Path from the root of a tree to a part of it.
///
/// Formatted with `Display`, it is the dotted name under which an array is stored.
///
/// ```
/// use ramie_checkpoint::pytree::{KeyPart, KeyPath};
/// let path = KeyPath::new([KeyPart::Name("opt_state".into()), KeyPart::Index(0)]);
/// assert_eq!(path.to_string(), "opt_state.0");
/// assert_eq!(path.as_python(), "('opt_state', '0')");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyPath(Vec<KeyPart>);

impl KeyPath {
    /// Creates a path from these parts.
    pub fn new(parts: impl IntoIterator<Item = KeyPart>) -> KeyPath {
        KeyPath(parts.into_iter().collect())
    }

    /// Returns the parts, starting at the root.
    pub fn parts(&self) -> &[KeyPart] {
        &self.0
    }

    /// Returns the tuple of names in Python syntax, which is the key of an entry of `_METADATA`.
    pub fn as_python(&self) -> String {
        let names: Vec<String> = self
            .0
            .iter()
            .map(|part| escaped_python(&part.to_string()))
            .collect();
        match names.as_slice() {
            [one] => format!("({one},)"),
            names => format!("({})", names.join(", ")),
        }
    }

    pub(super) fn to_json(&self) -> Vec<KeyJson> {
        let parts = self.0.iter();
        parts
            .map(|part| KeyJson {
                key: part.to_string(),
                key_type: match part {
                    KeyPart::Index(_) => SEQUENCE,
                    KeyPart::Name(_) => DICTIONARY,
                },
            })
            .collect()
    }

    /// Parses the path of an entry's metadata.
    pub(super) fn from_json(parts: Vec<KeyJson>) -> Result<KeyPath, String> {
        let part = |part: KeyJson| match part.key_type {
            DICTIONARY => Ok(KeyPart::Name(part.key)),
            SEQUENCE => match part.key.parse() {
                Ok(index) => Ok(KeyPart::Index(index)),
                Err(_) => Err(format!("{:?} is not an index in a sequence", part.key)),
            },
            other => Err(format!("{other} is not a key type; expected 1 or 2")),
        };
        Ok(KeyPath(
            parts.into_iter().map(part).collect::<Result<_, _>>()?,
        ))
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            write!(f, "{}{part}", if i > 0 { "." } else { "" })?;
        }
        Ok(())
    }
}

const SEQUENCE: u64 = 1;
const DICTIONARY: u64 = 2;

/// Part of a path in `_METADATA`.
#[derive(Serialize, Deserialize)]
pub(super) struct KeyJson {
    key: String,
    key_type: u64,
}

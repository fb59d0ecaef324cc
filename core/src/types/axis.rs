//! Named axes: the names that `vmap` assigns, and the axes currently bound.

use crate::base::intern::Table;
use crate::base::lock::lock;
use crate::base::thread_stack::{ThreadStack, WithStack};
use serde::{Deserialize, Deserializer, Serialize};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

/// The name of a mapped axis. Names are interned, so that comparing and copying them is free.
#[derive(Clone, Copy, PartialOrd, Ord, Serialize)]
pub struct AxisName(&'static str);

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl AxisName {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl From<&str> for AxisName {
    fn from(name: &str) -> AxisName {
        let mut names = lock(&NAMES);
        if let Some(known) = names.get(name) {
            return AxisName(known);
        }
        let kept: &'static str = Box::leak(name.into());
        names.insert(kept);
        AxisName(kept)
    }
}

impl<'de> Deserialize<'de> for AxisName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<AxisName, D::Error> {
        String::deserialize(from).map(AxisName::from)
    }
}

impl From<String> for AxisName {
    fn from(name: String) -> AxisName {
        name.as_str().into()
    }
}

impl PartialEq for AxisName {
    fn eq(&self, other: &AxisName) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for AxisName {}

impl Hash for AxisName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for AxisName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for AxisName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0)
    }
}

/// One or more names: axes along which a collective communicates together.
#[derive(Clone, Debug)]
pub struct AxisNames(Vec<AxisName>);

impl AxisNames {
    /// Returns the names, the slowest-varying axis first.
    pub fn as_slice(&self) -> &[AxisName] {
        &self.0
    }
}

impl<T: Into<AxisName>> From<T> for AxisNames {
    fn from(name: T) -> AxisNames {
        AxisNames(vec![name.into()])
    }
}

impl<const N: usize> From<[&str; N]> for AxisNames {
    fn from(names: [&str; N]) -> AxisNames {
        AxisNames(names.iter().map(|&n| n.into()).collect())
    }
}

impl From<&[AxisName]> for AxisNames {
    fn from(names: &[AxisName]) -> AxisNames {
        AxisNames(names.to_vec())
    }
}

static LISTS: Table<Box<[AxisName]>> = Table::new();

/// Returns an interned list of names. Equal lists share one value, which is never freed.
pub(crate) fn kept(names: &[AxisName]) -> &'static [AxisName] {
    LISTS.keep(names.into())
}

thread_local! {
    static BOUND: ThreadStack<(AxisName, usize)> = const { ThreadStack::new() };
}

/// Runs `f` with `name` bound to an axis of `size`.
pub(crate) fn with_axis<R>(name: Option<AxisName>, size: usize, f: impl FnOnce() -> R) -> R {
    match name {
        Some(name) => with_axes(&[(name, size)], f),
        None => f(),
    }
}

/// Runs `f` with these axes bound to these sizes.
pub(crate) fn with_axes<R>(axes: &[(AxisName, usize)], f: impl FnOnce() -> R) -> R {
    struct Unbind(usize);
    impl Drop for Unbind {
        fn drop(&mut self) {
            BOUND.with_borrow_mut(|bound| bound.truncate(self.0));
        }
    }
    let _unbind = Unbind(BOUND.with_borrow(Vec::len));
    BOUND.with_borrow_mut(|bound| bound.extend_from_slice(axes));
    f()
}

/// Returns the size of the innermost mapped axis of this name.
pub(crate) fn bound_size(name: AxisName) -> Option<usize> {
    BOUND.with_borrow(|bound| bound.iter().rev().find(|(n, _)| *n == name).map(|b| b.1))
}

/// Describes the mapped axes that are bound.
pub(crate) fn bound_names() -> String {
    BOUND.with_borrow(|bound| {
        let names: Vec<String> = bound
            .iter()
            .map(|(n, s)| format!("`{n}` (size {s})"))
            .collect();
        if names.is_empty() {
            "no axis is mapped".into()
        } else {
            format!("the mapped axes are {}", names.join(", "))
        }
    })
}

/// Returns the bound axes as numbers, since programs traced here may depend on them.
pub(crate) fn bound() -> SmallVec<[u64; 4]> {
    let numbers = |(name, size): &(AxisName, usize)| [name.0.as_ptr().addr() as u64, *size as u64];
    BOUND.with_borrow(|bound| bound.iter().flat_map(numbers).collect())
}

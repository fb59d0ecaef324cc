//! Sets of named axes.

use crate::sharding::AxisName;
use crate::types::axis::kept;
use std::hash::{Hash, Hasher};

/// A set of named axes.
#[derive(Clone, Copy)]
pub(crate) struct AxisSet(&'static [AxisName]);

const NONE: &[AxisName] = &[];

impl AxisSet {
    pub fn new(names: impl IntoIterator<Item = AxisName>) -> AxisSet {
        let mut names: Vec<AxisName> = names.into_iter().collect();
        if names.is_empty() {
            return AxisSet(NONE);
        }
        names.sort_unstable();
        names.dedup();
        AxisSet(kept(&names))
    }

    pub fn as_slice(self) -> &'static [AxisName] {
        self.0
    }

    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(self, name: AxisName) -> bool {
        self.0.contains(&name)
    }

    pub fn union(self, other: AxisSet) -> AxisSet {
        if self == other || other.is_empty() {
            return self;
        }
        AxisSet::new(self.0.iter().chain(other.0).copied())
    }

    /// Returns the axes that are not in `names`.
    pub fn without(self, names: &[AxisName]) -> AxisSet {
        if self.is_empty() {
            return self;
        }
        AxisSet::new(self.0.iter().copied().filter(|n| !names.contains(n)))
    }
}

impl Default for AxisSet {
    fn default() -> AxisSet {
        AxisSet(NONE)
    }
}

impl PartialEq for AxisSet {
    fn eq(&self, other: &AxisSet) -> bool {
        // Equal sets share one slice; the empty set has no unique address.
        self.0.len() == other.0.len()
            && (self.0.is_empty() || std::ptr::eq(self.0.as_ptr(), other.0.as_ptr()))
    }
}
impl Eq for AxisSet {}
impl Hash for AxisSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let address = if self.is_empty() {
            0
        } else {
            self.0.as_ptr().addr()
        };
        state.write_usize(address);
    }
}
impl std::fmt::Debug for AxisSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0).finish()
    }
}

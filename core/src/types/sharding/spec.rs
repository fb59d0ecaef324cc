//! `PartitionSpec`: the mesh axes along which the dimensions of an array are sharded.

use super::spec_data::{EntryData, SpecData};
use crate::sharding::AxisName;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;

/// The partitioning of one dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "EntryData", into = "EntryData")]
pub enum SpecEntry {
    /// Not sharded: every device has the whole dimension.
    #[default]
    None,
    /// Sharded over these mesh axes, the slowest-varying first.
    Axes(SmallVec<[AxisName; 2]>),
    /// Chosen by the compiler (`PartitionSpec.UNCONSTRAINED`), in sharding constraints.
    Unconstrained,
}

impl SpecEntry {
    /// Returns the axes.
    pub fn axes(&self) -> &[AxisName] {
        match self {
            SpecEntry::Axes(axes) => axes,
            SpecEntry::None | SpecEntry::Unconstrained => &[],
        }
    }

    pub(super) fn of(axes: impl IntoIterator<Item = AxisName>) -> SpecEntry {
        let axes: SmallVec<[AxisName; 2]> = axes.into_iter().collect();
        if axes.is_empty() {
            SpecEntry::None
        } else {
            SpecEntry::Axes(axes)
        }
    }
}

impl From<&str> for SpecEntry {
    fn from(axis: &str) -> SpecEntry {
        SpecEntry::of([axis.into()])
    }
}
impl From<AxisName> for SpecEntry {
    fn from(axis: AxisName) -> SpecEntry {
        SpecEntry::of([axis])
    }
}
impl From<Option<&str>> for SpecEntry {
    fn from(axis: Option<&str>) -> SpecEntry {
        SpecEntry::of(axis.map(AxisName::from))
    }
}
impl<const N: usize> From<[&str; N]> for SpecEntry {
    fn from(axes: [&str; N]) -> SpecEntry {
        SpecEntry::of(axes.map(AxisName::from))
    }
}
impl From<(&str, &str)> for SpecEntry {
    fn from((a, b): (&str, &str)) -> SpecEntry {
        [a, b].into()
    }
}
impl From<(&str, &str, &str)> for SpecEntry {
    fn from((a, b, c): (&str, &str, &str)) -> SpecEntry {
        [a, b, c].into()
    }
}
impl From<&[AxisName]> for SpecEntry {
    fn from(axes: &[AxisName]) -> SpecEntry {
        SpecEntry::of(axes.iter().copied())
    }
}

/// The mesh axes along which each dimension of an array is sharded
/// (`jax.sharding.PartitionSpec`). Dimensions after the last entry are not sharded. The macro
/// [`P!`](crate::P) creates one.
///
/// ```
/// use ramie_core::P;
/// let spec = P!["x", None, ("y", "z")];
/// assert_eq!(spec.to_string(), "P('x', None, ('y', 'z'))");
/// ```
///
/// In a configuration file, it is the list of its entries: the name of an axis, a list of names, `[]`
/// for `None`, or `"UNCONSTRAINED"`. A spec with unreduced or reduced axes is a table of `entries`,
/// `unreduced` and `reduced`.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "SpecData", into = "SpecData")]
pub struct PartitionSpec {
    entries: SmallVec<[SpecEntry; 4]>,
    unreduced: SmallVec<[AxisName; 1]>,
    reduced: SmallVec<[AxisName; 1]>,
}

/// Creates a [`PartitionSpec`] with an entry for each dimension: the name of a mesh axis, `None`,
/// several axes in a tuple, or a [`SpecEntry`](crate::sharding::SpecEntry).
///
/// ```
/// use ramie_core::sharding::SpecEntry;
/// use ramie_core::P;
/// assert_eq!(P![].to_string(), "P()");
/// assert_eq!(P![None, "x"].to_string(), "P(None, 'x')");
/// assert_eq!(P![SpecEntry::Unconstrained, "x"].to_string(), "P(UNCONSTRAINED, 'x')");
/// ```
#[macro_export]
macro_rules! P {
    ($($entry:expr),* $(,)?) => {
        $crate::PartitionSpec::new(<[$crate::sharding::SpecEntry]>::into_vec(
            ::std::boxed::Box::new([$($crate::sharding::SpecEntry::from($entry)),*]),
        ))
    };
}

impl PartitionSpec {
    /// Creates a spec with these entries.
    pub fn new(entries: impl IntoIterator<Item = SpecEntry>) -> PartitionSpec {
        PartitionSpec {
            entries: entries.into_iter().collect(),
            ..PartitionSpec::default()
        }
    }

    /// Sets the axes over which values remain to be summed (`P(.., unreduced={..})`).
    pub fn with_unreduced(mut self, axes: impl Into<crate::typing::AxisNames>) -> PartitionSpec {
        self.unreduced = sorted(axes.into().as_slice());
        self
    }

    /// Sets the axes over which the values' cotangents remain to be summed
    /// (`P(.., reduced={..})`).
    pub fn with_reduced(mut self, axes: impl Into<crate::typing::AxisNames>) -> PartitionSpec {
        self.reduced = sorted(axes.into().as_slice());
        self
    }

    /// Returns the entries, starting with the first dimension.
    pub fn entries(&self) -> &[SpecEntry] {
        &self.entries
    }

    /// Returns the entry of a dimension.
    pub fn entry(&self, dimension: usize) -> &SpecEntry {
        self.entries.get(dimension).unwrap_or(&SpecEntry::None)
    }

    /// Returns the axes over which values remain to be summed.
    pub fn unreduced(&self) -> &[AxisName] {
        &self.unreduced
    }

    /// Returns the axes over which cotangents remain to be summed.
    pub fn reduced(&self) -> &[AxisName] {
        &self.reduced
    }

    /// Returns all axes that shard a dimension.
    pub fn axes(&self) -> impl Iterator<Item = AxisName> + '_ {
        self.entries.iter().flat_map(|e| e.axes().iter().copied())
    }

    /// Returns the spec with an entry inserted before dimension `at`, such as for an axis that
    /// `vmap` adds.
    pub(crate) fn inserted(&self, at: usize, entry: SpecEntry) -> PartitionSpec {
        let mut out = self.clone();
        while out.entries.len() < at {
            out.entries.push(SpecEntry::None);
        }
        out.entries.insert(at, entry);
        out
    }

    /// Returns the spec with other entries.
    pub(crate) fn with_entries(
        &self,
        entries: impl IntoIterator<Item = SpecEntry>,
    ) -> PartitionSpec {
        PartitionSpec {
            entries: entries.into_iter().collect(),
            ..self.clone()
        }
    }

    /// Returns the spec of a value whose dimension `d` is dimension `to[d]` of the original.
    pub(crate) fn gathered(&self, to: &[usize]) -> PartitionSpec {
        self.with_entries(to.iter().map(|&d| self.entry(d).clone()))
    }

    /// Returns a spec with entries for all of `rank` dimensions, and only the axes for which
    /// `keep` returns true.
    pub(crate) fn filtered(&self, rank: usize, keep: impl Fn(AxisName) -> bool) -> PartitionSpec {
        let entry = |d| match self.entry(d) {
            SpecEntry::Axes(axes) => SpecEntry::of(axes.iter().copied().filter(|a| keep(*a))),
            other => other.clone(),
        };
        let names = |axes: &[AxisName]| axes.iter().copied().filter(|a| keep(*a)).collect();
        PartitionSpec {
            entries: (0..rank).map(entry).collect(),
            unreduced: names(&self.unreduced),
            reduced: names(&self.reduced),
        }
    }

    /// Returns the spec with an entry for each of `rank` dimensions.
    pub(crate) fn filled(&self, rank: usize) -> PartitionSpec {
        match rank.checked_sub(self.entries.len()) {
            _ if self.is_trivial() => PartitionSpec::default(),
            Some(_) => self.gathered(&(0..rank).collect::<Vec<_>>()),
            None => self.clone(),
        }
    }

    /// Returns whether nothing is sharded and nothing remains to be summed.
    pub(crate) fn is_trivial(&self) -> bool {
        self.axes().next().is_none()
            && self.unreduced.is_empty()
            && self.reduced.is_empty()
            && !self.entries.contains(&SpecEntry::Unconstrained)
    }

    /// Returns the spec of cotangents, which exchanges unreduced and reduced axes.
    pub(crate) fn of_cotangent(&self) -> PartitionSpec {
        PartitionSpec {
            entries: self.entries.clone(),
            unreduced: self.reduced.clone(),
            reduced: self.unreduced.clone(),
        }
    }
}

fn sorted(axes: &[AxisName]) -> SmallVec<[AxisName; 1]> {
    let mut axes: SmallVec<[AxisName; 1]> = axes.into();
    axes.sort_unstable();
    axes.dedup();
    axes
}

impl<const N: usize, T: Into<SpecEntry>> From<[T; N]> for PartitionSpec {
    fn from(entries: [T; N]) -> PartitionSpec {
        PartitionSpec::new(entries.map(Into::into))
    }
}

impl fmt::Display for SpecEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecEntry::None => f.write_str("None"),
            SpecEntry::Unconstrained => f.write_str("UNCONSTRAINED"),
            SpecEntry::Axes(axes) => match &axes[..] {
                [one] => write!(f, "{one:?}"),
                many => {
                    let names: Vec<String> = many.iter().map(|n| format!("{n:?}")).collect();
                    write!(f, "({})", names.join(", "))
                }
            },
        }
    }
}

/// Formats the spec as `P('x', None)`; with `{:#}`, a spec with one entry has Python's trailing
/// comma, `P('x',)`.
impl fmt::Display for PartitionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.entries.iter().map(ToString::to_string).collect();
        let set = |axes: &[AxisName]| {
            let names: Vec<String> = axes.iter().map(|n| format!("{n:?}")).collect();
            names.join(", ")
        };
        if !self.unreduced.is_empty() {
            parts.push(format!("unreduced={{{}}}", set(&self.unreduced)));
        }
        if !self.reduced.is_empty() {
            parts.push(format!("reduced={{{}}}", set(&self.reduced)));
        }
        // Python prints a 1-tuple with a trailing comma.
        let python = f.alternate() && parts.len() == 1 && self.entries.len() == 1;
        let comma = if python { "," } else { "" };
        write!(f, "P({}{comma})", parts.join(", "))
    }
}

impl fmt::Debug for PartitionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

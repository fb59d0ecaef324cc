//! Partition specs in configuration files.

use super::{PartitionSpec, SpecEntry};
use crate::sharding::AxisName;
use serde::{Deserialize, Serialize};

const UNCONSTRAINED: &str = "UNCONSTRAINED";

/// The partitioning of one dimension. TOML has no null, so an empty list is written for `None`. A
/// name in a list is always that of an axis.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "invalid entry of a PartitionSpec, expected the name of a mesh axis, a list of names, [] for a \
                 dimension that is not sharded, or \"UNCONSTRAINED\""
)]
pub(super) enum EntryData {
    Name(AxisName),
    Axes(Vec<AxisName>),
    Null,
}

impl From<EntryData> for SpecEntry {
    fn from(data: EntryData) -> SpecEntry {
        match data {
            EntryData::Name(name) if name.as_str() == UNCONSTRAINED => SpecEntry::Unconstrained,
            EntryData::Name(name) => name.into(),
            EntryData::Axes(axes) => SpecEntry::of(axes),
            EntryData::Null => SpecEntry::None,
        }
    }
}

impl From<SpecEntry> for EntryData {
    fn from(entry: SpecEntry) -> EntryData {
        match entry.axes() {
            _ if entry == SpecEntry::Unconstrained => EntryData::Name(UNCONSTRAINED.into()),
            [name] if name.as_str() != UNCONSTRAINED => EntryData::Name(*name),
            axes => EntryData::Axes(axes.to_vec()),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "invalid PartitionSpec, expected a list of entries (the name of a mesh axis, a list of names, or []), or \
                 a table of `entries`, `unreduced` and `reduced`"
)]
pub(super) enum SpecData {
    Entries(Vec<SpecEntry>),
    Sums(Sums),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sums {
    #[serde(default)]
    entries: Vec<SpecEntry>,
    #[serde(default)]
    unreduced: Vec<AxisName>,
    #[serde(default)]
    reduced: Vec<AxisName>,
}

impl From<SpecData> for PartitionSpec {
    fn from(data: SpecData) -> PartitionSpec {
        match data {
            SpecData::Entries(entries) => PartitionSpec::new(entries),
            SpecData::Sums(sums) => PartitionSpec::new(sums.entries)
                .with_unreduced(&sums.unreduced[..])
                .with_reduced(&sums.reduced[..]),
        }
    }
}

impl From<PartitionSpec> for SpecData {
    fn from(spec: PartitionSpec) -> SpecData {
        let entries = spec.entries().to_vec();
        if spec.unreduced().is_empty() && spec.reduced().is_empty() {
            return SpecData::Entries(entries);
        }
        SpecData::Sums(Sums {
            entries,
            unreduced: spec.unreduced().to_vec(),
            reduced: spec.reduced().to_vec(),
        })
    }
}

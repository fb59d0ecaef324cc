//! Building a tree of sorted keys.

use super::block::{self, Kind};
use super::cursor::common_prefix;
use super::location::{Location, Statistics};
use super::manifest::Config;
use super::node::{Child, MOST_ENTRIES, Value, write_inner, write_leaf};
use crate::Result;
use std::ops::Range;

/// Root of a tree, with its statistics.
pub(super) struct Tree {
    pub height: u8,
    pub location: Location,
    pub statistics: Statistics,
}

/// Builds the tree of sorted `entries`; `store` writes a node's block to a file. Returns `None` if
/// there are no entries.
pub(super) fn build(
    config: &Config,
    entries: Vec<(Vec<u8>, Value)>,
    mut store: impl FnMut(&[u8]) -> Result<Location>,
) -> Result<Option<Tree>> {
    let mut node = |prefix: usize, content: &[u8], mut statistics: Statistics| {
        let block = block::encode(Kind::Node, content, config.compression);
        statistics.nodes = statistics.nodes.saturating_add(block.len() as u64);
        Ok(Child {
            prefix,
            location: store(&block)?,
            statistics,
        })
    };
    let limit = config.max_decoded_node_bytes;
    let groups = divide(&entries, limit, 1, |value| match value {
        Value::Inline(bytes) => 16 + bytes.len(),
        Value::OutOfLine(location) => 32 + path_length(location),
    });
    let mut children = level(&entries, groups, |group, prefix| {
        let mut statistics = Statistics {
            keys: group.len() as u64,
            ..Statistics::default()
        };
        for (_, value) in group {
            if let Value::OutOfLine(location) = value {
                statistics.values = statistics.values.saturating_add(location.length);
            }
        }
        node(prefix, &write_leaf(prefix, group), statistics)
    })?;
    drop(entries);
    let mut height = 0;
    while children.len() > 1 {
        height += 1;
        // Each node needs at least two children; otherwise the loop would not end.
        let groups = divide(&children, limit, 2, |child| {
            56 + path_length(&child.location)
        });
        children = level(&children, groups, |group, prefix| {
            let least = group.iter().map(|(_, child)| child.prefix).min();
            let prefix = prefix.min(least.unwrap_or(0));
            let mut statistics = Statistics::default();
            for (_, child) in group {
                statistics.add(&child.statistics);
            }
            node(prefix, &write_inner(height, prefix, group), statistics)
        })?;
    }
    Ok(children.pop().map(|(_, child)| Tree {
        height,
        location: child.location,
        statistics: child.statistics,
    }))
}

/// Builds a node for each group of entries; `node` takes the group and the length of the prefix
/// that its keys share. Returns the nodes with their first keys.
fn level<T>(
    entries: &[(Vec<u8>, T)],
    groups: Vec<Range<usize>>,
    mut node: impl FnMut(&[(Vec<u8>, T)], usize) -> Result<Child>,
) -> Result<Vec<(Vec<u8>, Child)>> {
    let root = groups.len() == 1;
    let nodes = groups.into_iter().map(|group| {
        let group = &entries[group];
        let prefix = if root { 0 } else { shared(group) };
        Ok((group[0].0.clone(), node(group, prefix)?))
    });
    nodes.collect()
}

fn path_length(location: &Location) -> usize {
    location.file.base.len() + location.file.relative.len()
}

/// Returns the length of the common prefix of all keys, which are sorted.
fn shared<T>(entries: &[(Vec<u8>, T)]) -> usize {
    match entries {
        [] => 0,
        [(only, _)] => only.len(),
        [(first, _), .., (last, _)] => common_prefix(first, last),
    }
}

/// Splits entries into nodes of similar size with at least `least` entries and otherwise at most
/// `limit` bytes, counted as `size` plus the keys. A limit of 0 means no limit.
fn divide<T>(
    entries: &[(Vec<u8>, T)],
    limit: u32,
    least: usize,
    size: impl Fn(&T) -> usize,
) -> Vec<Range<usize>> {
    let limit = match limit {
        0 => usize::MAX,
        limit => limit as usize,
    };
    let sizes: Vec<usize> = entries.iter().map(|(k, v)| k.len() + size(v)).collect();
    let total: usize = sizes.iter().sum();
    let nodes = total
        .div_ceil(limit)
        .max(entries.len().div_ceil(MOST_ENTRIES));
    let target = total.div_ceil(nodes.max(1));
    let mut groups = Vec::with_capacity(nodes);
    let (mut start, mut taken) = (0, 0);
    for (i, &size) in sizes.iter().enumerate() {
        let count = i - start;
        let full = taken >= target || taken.saturating_add(size) > limit || count >= MOST_ENTRIES;
        if full && count >= least {
            groups.push(start..i);
            (start, taken) = (i, 0);
        }
        taken += size;
    }
    if start < entries.len() {
        groups.push(start..entries.len());
    }
    groups
}

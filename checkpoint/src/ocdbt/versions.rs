//! Versions of a database, and the nodes that list the older ones.

use super::cursor::{Cursor, Decoded, put_varint};
use super::data_files::{DataFile, Table, read_table};
use super::location::{
    Location, Statistics, read_locations, read_present, read_statistics, write_locations,
    write_statistics,
};
use std::sync::Arc;

/// Root of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Root {
    pub generation: u64,
    pub height: u8,
    /// Location of the root node; `None` if the version is empty.
    pub location: Option<Location>,
    pub statistics: Statistics,
    /// Commit time in nanoseconds since 1970.
    pub commit_time: u64,
}

/// Subtree of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Versions {
    /// Last generation in the subtree.
    pub generation: u64,
    pub location: Location,
    pub height: u8,
}

/// Checks that generations are at least 1 and ascending.
fn ascending(cursor: &Cursor<'_>, generations: &[u64]) -> Decoded<()> {
    let mut last = 0;
    for &generation in generations {
        if generation <= last {
            return cursor.bad(format!("generation {generation} follows {last}"));
        }
        last = generation;
    }
    Ok(())
}

/// Reads at least one root and at most `1 << arity_log2`.
pub(super) fn read_roots(
    cursor: &mut Cursor<'_>,
    files: &[DataFile],
    arity_log2: u8,
) -> Decoded<Vec<Root>> {
    let count = cursor.count(1 << arity_log2, 15, "the number of versions")?;
    if count == 0 {
        return cursor.bad("there are no versions");
    }
    let generations = cursor.varints(count)?;
    ascending(cursor, &generations)?;
    let heights = cursor.take(count)?;
    let locations = read_locations(cursor, files, count)?;
    let statistics = read_statistics(cursor, count)?;
    let mut roots = Vec::with_capacity(count);
    for (i, location) in locations.into_iter().enumerate() {
        if location.is_none() && (heights[i] != 0 || statistics[i] != Statistics::default()) {
            return cursor.bad(format!("generation {} has no root", generations[i]));
        }
        roots.push(Root {
            generation: generations[i],
            height: heights[i],
            location,
            statistics: statistics[i],
            commit_time: cursor.u64_le()?,
        });
    }
    Ok(roots)
}

/// Writes roots, whose files are in `table`.
pub(super) fn write_roots(out: &mut Vec<u8>, table: &Table, roots: &[Root], missing: &Location) {
    put_varint(out, roots.len() as u64);
    roots.iter().for_each(|r| put_varint(out, r.generation));
    out.extend(roots.iter().map(|r| r.height));
    let locations = roots.iter().map(|r| r.location.as_ref().unwrap_or(missing));
    write_locations(out, table, locations);
    write_statistics(out, roots.iter().map(|r| &r.statistics));
    for root in roots {
        out.extend(root.commit_time.to_le_bytes());
    }
}

/// Reads the manifest's subtrees, the oldest and highest first.
pub(super) fn read_top(cursor: &mut Cursor<'_>, files: &[DataFile]) -> Decoded<Vec<Versions>> {
    let mut all = read_subtrees(cursor, files, 63)?;
    let heights = cursor.take(all.len())?;
    for (versions, height) in all.iter_mut().zip(heights) {
        versions.height = *height;
    }
    if all.iter().any(|v| v.height == 0) || all.windows(2).any(|p| p[0].height <= p[1].height) {
        return cursor.bad("the version tree's node heights do not decrease to 1");
    }
    Ok(all)
}

/// Reads subtrees without their heights.
fn read_subtrees(
    cursor: &mut Cursor<'_>,
    files: &[DataFile],
    most: usize,
) -> Decoded<Vec<Versions>> {
    let count = cursor.count(most, 13, "the number of version nodes")?;
    let generations = cursor.varints(count)?;
    ascending(cursor, &generations)?;
    let locations = read_present(cursor, files, count)?;
    // Skip the number of versions below and the time of the first one.
    cursor.varints(count)?;
    cursor.take(8 * count)?;
    let all = generations.into_iter().zip(locations);
    Ok(all
        .map(|(generation, location)| Versions {
            generation,
            location,
            height: 0,
        })
        .collect())
}

/// Contents of a version node.
pub(super) enum Node {
    Leaf(Vec<Root>),
    Inner(Vec<Versions>),
}

/// Reads the contents of a version node whose file paths are relative to `base`.
pub(super) fn read_node(
    cursor: &mut Cursor<'_>,
    base: &Arc<str>,
    arity_log2: u8,
    expected: &Versions,
    limit: usize,
) -> Decoded<Node> {
    let arity = cursor.byte()?;
    let height = cursor.byte()?;
    if (arity, height) != (arity_log2, expected.height) {
        return cursor.bad(format!(
            "arity and height are 2^{arity} and {height}, not 2^{arity_log2} and {}",
            expected.height
        ));
    }
    let files = read_table(cursor, base, limit)?;
    let (node, last) = if height == 0 {
        let roots = read_roots(cursor, &files, arity)?;
        let last = roots.last().map(|r| r.generation);
        (Node::Leaf(roots), last)
    } else {
        let mut all = read_subtrees(cursor, &files, 1 << arity)?;
        all.iter_mut().for_each(|v| v.height = height - 1);
        let last = all.last().map(|v| v.generation);
        (Node::Inner(all), last)
    };
    match last {
        Some(last) if last == expected.generation => Ok(node),
        _ => cursor.bad(format!(
            "the last generation is not {}",
            expected.generation
        )),
    }
}

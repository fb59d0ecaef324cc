//! Iteration over a database's keys.

use super::database::Database;
use super::node::{Entries, Node, Value};
use crate::{Error, Result};
use std::sync::Arc;

/// Iterator over the keys of a database that begin with a prefix, in order; see
/// [`Database::keys`].
pub struct Keys<'d>(Entry<'d>);

impl<'d> Keys<'d> {
    pub(super) fn new(database: &'d Database, prefix: &[u8]) -> Keys<'d> {
        Keys(Entry::new(database, prefix))
    }
}

impl Iterator for Keys<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        Some(self.0.next()?.map(|(key, _)| key))
    }
}

impl std::fmt::Debug for Keys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Keys").field(self.0.database).finish()
    }
}

/// Iterator over the keys that begin with a prefix, with their values.
pub(super) struct Entry<'d> {
    database: &'d Database,
    prefix: Vec<u8>,
    /// Nodes from the root down; `None` before the first key.
    path: Option<Vec<Step>>,
    last: Option<Vec<u8>>,
}

/// A node on the path, the prefix that its keys omit, and the index of its next entry.
struct Step {
    node: Arc<Node>,
    path: Vec<u8>,
    next: usize,
}

impl<'d> Entry<'d> {
    pub fn new(database: &'d Database, prefix: &[u8]) -> Entry<'d> {
        Entry {
            database,
            prefix: prefix.into(),
            path: None,
            last: None,
        }
    }

    /// Creates a step at the first entry that can lead to keys with the prefix.
    fn step(&self, node: Arc<Node>, path: Vec<u8>) -> Step {
        let next = match self.prefix.strip_prefix(&*path) {
            // All keys below begin with the path.
            None if *path < *self.prefix => node.keys.len(),
            None => 0,
            Some(rest) => match &node.entries {
                Entries::Values(_) => node.keys.before(rest),
                Entries::Children(_) => node.keys.up_to(rest).saturating_sub(1),
            },
        };
        Step { node, path, next }
    }

    fn advance(&mut self) -> Result<Option<(Vec<u8>, Value)>> {
        let mut path = match self.path.take() {
            Some(path) => path,
            None => match self.database.root()? {
                Some(root) => vec![self.step(root, Vec::new())],
                None => Vec::new(),
            },
        };
        while let Some(step) = path.last_mut() {
            let index = step.next;
            step.next += 1;
            let mut key = step.path.clone();
            if index >= step.node.keys.len() {
                path.pop();
                continue;
            }
            match &step.node.entries {
                Entries::Values(values) => {
                    step.node.keys.append(index, &mut key);
                    if !key.starts_with(&self.prefix) {
                        break;
                    }
                    let value = values[index].clone();
                    if self.last.as_ref().is_some_and(|last| *last >= key) {
                        let message = "the database's keys are not in order";
                        return Err(Error::format(self.database.folder(), message));
                    }
                    self.last = Some(key.clone());
                    self.path = Some(path);
                    return Ok(Some((key, value)));
                }
                Entries::Children(children) => {
                    let child = &children[index];
                    let mut least = Vec::new();
                    step.node.keys.append(index, &mut least);
                    key.extend_from_slice(&least[..child.prefix]);
                    let height = step.node.height - 1;
                    let rest = &least[child.prefix..];
                    let below = self.database.node(&child.location, height, rest)?;
                    let below = self.step(below, key);
                    path.push(below);
                }
            }
        }
        self.path = Some(Vec::new());
        Ok(None)
    }
}

impl Iterator for Entry<'_> {
    type Item = Result<(Vec<u8>, Value)>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if next.is_err() {
            self.path = Some(Vec::new());
        }
        next.transpose()
    }
}

//! Maps as trees.

use super::{Key, Tree, Visitor, part};
use crate::Array;
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::Hash;

/// A type that can be a map's key in a tree.
pub trait MapKey: Ord + Hash + Clone + Debug + Send + Sync + 'static {
    /// Calls `f` with the step for this key.
    fn with_key(&self, f: &mut dyn FnMut(Key<'_>));
}
impl MapKey for String {
    fn with_key(&self, f: &mut dyn FnMut(Key<'_>)) {
        f(Key::Name(self));
    }
}
impl MapKey for &'static str {
    fn with_key(&self, f: &mut dyn FnMut(Key<'_>)) {
        f(Key::Name(self));
    }
}
impl MapKey for usize {
    fn with_key(&self, f: &mut dyn FnMut(Key<'_>)) {
        f(Key::Index(*self));
    }
}

fn walk_entries<'a, K: MapKey, T: Tree>(
    visitor: &mut dyn Visitor,
    len: usize,
    entries: impl Iterator<Item = (&'a K, &'a T)>,
) {
    visitor.fixed(&len);
    for (k, x) in entries {
        visitor.fixed(k);
        k.with_key(&mut |key| visitor.enter(key));
        x.walk(visitor);
        visitor.exit();
    }
}

impl<K: MapKey, T: Tree> Tree for BTreeMap<K, T> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        walk_entries(visitor, self.len(), self.iter());
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        for x in self.values_mut() {
            x.walk_mut(visit);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        self.iter()
            .map(|(k, x)| (k.clone(), x.rebuild(leaf)))
            .collect()
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        for x in self.values_mut() {
            part(x, visit);
        }
    }
}

/// In the order of the keys, whatever the table's own order.
impl<K: MapKey, T: Tree> Tree for HashMap<K, T> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|(k, _)| *k);
        walk_entries(visitor, self.len(), entries.into_iter());
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        let mut entries: Vec<_> = self.iter_mut().collect();
        entries.sort_by_key(|(k, _)| *k);
        for (_, x) in entries {
            x.walk_mut(visit);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|(k, _)| *k);
        entries
            .into_iter()
            .map(|(k, x)| (k.clone(), x.rebuild(leaf)))
            .collect()
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        let mut entries: Vec<_> = self.iter_mut().collect();
        entries.sort_by_key(|(k, _)| *k);
        for (_, x) in entries {
            part(x, visit);
        }
    }
}

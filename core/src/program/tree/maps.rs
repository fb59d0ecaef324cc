//! Maps as pytrees.

use super::{Key, Tree, Visitor, part};
use crate::Array;
use crate::base::stack::with_room;
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::Hash;

/// A type that can be the key of a map in a tree.
pub trait MapKey: Ord + Hash + Clone + Debug + Send + Sync + 'static {
    /// Calls `f` with the path step for this key.
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
    with_room(|| {
        for (k, x) in entries {
            visitor.fixed(k);
            k.with_key(&mut |key| visitor.enter(key));
            x.walk(visitor);
            visitor.exit();
        }
    });
}

impl<K: MapKey, T: Tree> Tree for BTreeMap<K, T> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        walk_entries(visitor, self.len(), self.iter());
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        with_room(|| self.values_mut().for_each(|x| x.walk_mut(visit)));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        let entries = self.iter().map(|(k, x)| (k.clone(), x.rebuild(leaf)));
        with_room(|| entries.collect())
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        with_room(|| self.values_mut().for_each(|x| part(x, visit)));
    }
}

/// Visits the entries in the order of the keys, regardless of the order of the hash table.
impl<K: MapKey, T: Tree> Tree for HashMap<K, T> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|(k, _)| *k);
        walk_entries(visitor, self.len(), entries.into_iter());
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        let mut entries: Vec<_> = self.iter_mut().collect();
        entries.sort_by_key(|(k, _)| *k);
        let entries = entries.into_iter();
        with_room(|| entries.for_each(|(_, x)| x.walk_mut(visit)));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|(k, _)| *k);
        let entries = entries.into_iter();
        let rebuilt = entries.map(|(k, x)| (k.clone(), x.rebuild(leaf)));
        with_room(|| rebuilt.collect())
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        let mut entries: Vec<_> = self.iter_mut().collect();
        entries.sort_by_key(|(k, _)| *k);
        let entries = entries.into_iter();
        with_room(|| entries.for_each(|(_, x)| part(x, visit)));
    }
}

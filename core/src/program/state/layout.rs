//! Paths of a state, shared by the states derived from it.

use crate::base::hash::WideHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// Path and kind of a leaf.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub path: Arc<str>,
    pub kind: Option<&'static str>,
}

impl Entry {
    pub fn new(path: &str, kind: Option<&'static str>) -> Entry {
        Entry {
            path: path.into(),
            kind,
        }
    }
}

/// Distinct paths in order, with lookup by path in logarithmic time.
#[derive(Clone, Default)]
pub(super) struct Layout {
    entries: Vec<Entry>,
    /// Indices of the entries in the order of their paths.
    sorted: Vec<u32>,
    /// Paths of empty parts, such as masked leaves, each with the number of entries before it.
    holes: Vec<(usize, Arc<str>)>,
    /// Hashes that `hash` feeds, computed once: of the paths alone, and of the kinds and holes.
    fingerprint: OnceLock<Fingerprint>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    paths: (u64, u64),
    kinds: u64,
}

impl Layout {
    /// Creates a layout of distinct paths. Returns the path that occurs twice, if there is one.
    pub fn new(entries: Vec<Entry>) -> Result<Layout, Arc<str>> {
        let count = u32::try_from(entries.len()).expect("fewer than 2^32 arrays");
        let mut sorted: Vec<u32> = (0..count).collect();
        sorted.sort_by(|&a, &b| entries[a as usize].path.cmp(&entries[b as usize].path));
        for pair in sorted.windows(2) {
            let path = &entries[pair[0] as usize].path;
            if *path == entries[pair[1] as usize].path {
                return Err(path.clone());
            }
        }
        Ok(Layout {
            entries,
            sorted,
            ..Layout::default()
        })
    }

    /// Returns the layout without the entries that the predicate rejects. They become holes.
    pub fn masked(&self, mut accepts: impl FnMut(usize) -> bool) -> Layout {
        let (mut entries, mut holes) = (Vec::new(), Vec::new());
        let mut old = self.holes.iter().peekable();
        for (i, entry) in self.entries.iter().enumerate() {
            // Empty parts that preceded the entry still precede it, whether it remains or becomes
            // one.
            while let Some((_, path)) = old.next_if(|(index, _)| *index <= i) {
                holes.push((entries.len(), path.clone()));
            }
            if accepts(i) {
                entries.push(entry.clone());
            } else {
                holes.push((entries.len(), entry.path.clone()));
            }
        }
        holes.extend(old.map(|(_, path)| (entries.len(), path.clone())));
        let layout = Layout::new(entries).expect("paths of one state differ");
        layout.with_holes(holes)
    }

    /// Returns the same entries with these holes.
    pub fn with_holes(self, holes: Vec<(usize, Arc<str>)>) -> Layout {
        Layout { holes, ..self }
    }

    /// Adds a hole after all entries, if the path is new.
    pub fn push_hole(&mut self, path: &str) {
        let known = self.holes.iter().any(|(_, hole)| **hole == *path);
        if !known && self.position(path).is_none() {
            self.holes.push((self.entries.len(), path.into()));
            self.fingerprint = OnceLock::new();
        }
    }

    /// Returns the paths of empty parts, such as masked leaves, each with the number of entries
    /// before it.
    pub fn holes(&self) -> &[(usize, Arc<str>)] {
        &self.holes
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the index of a path among the sorted paths, or the index at which to insert it.
    fn search(&self, path: &str) -> Result<usize, usize> {
        self.sorted
            .binary_search_by(|&i| (*self.entries[i as usize].path).cmp(path))
    }

    pub fn position(&self, path: &str) -> Option<usize> {
        self.search(path).ok().map(|i| self.sorted[i] as usize)
    }

    /// Adds a path, which must be new.
    pub fn push(&mut self, entry: Entry) {
        let index = self.search(&entry.path).unwrap_or_else(|index| index);
        let at = u32::try_from(self.entries.len()).expect("fewer than 2^32 arrays");
        self.sorted.insert(index, at);
        // The new entry replaces an empty part of the same path.
        self.holes.retain(|(_, hole)| *hole != entry.path);
        self.entries.push(entry);
        self.fingerprint = OnceLock::new();
    }

    pub fn remove(&mut self, at: usize) {
        self.entries.remove(at);
        self.sorted.retain(|&i| i as usize != at);
        for i in &mut self.sorted {
            *i -= u32::from(*i as usize > at);
        }
        for (index, _) in &mut self.holes {
            *index -= usize::from(*index > at);
        }
        self.fingerprint = OnceLock::new();
    }

    /// Returns the paths with every kind set to `kind`.
    pub fn with_kind(self: &Arc<Self>, kind: Option<&'static str>) -> Arc<Layout> {
        // Nothing changes, so the states keep sharing the layout and its fingerprint.
        if self.entries.iter().all(|e| e.kind == kind) {
            return self.clone();
        }
        let path = |e: &Entry| Entry {
            path: e.path.clone(),
            kind,
        };
        Arc::new(Layout {
            entries: self.entries.iter().map(path).collect(),
            sorted: self.sorted.clone(),
            holes: self.holes.clone(),
            fingerprint: OnceLock::new(),
        })
    }

    /// Returns whether both layouts have the same paths in the same order.
    pub fn same_paths(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        // The hashes have 128 bits, so that equal ones are taken for equal paths.
        Arc::ptr_eq(self, other) || self.fingerprint().paths == other.fingerprint().paths
    }

    fn fingerprint(&self) -> Fingerprint {
        *self.fingerprint.get_or_init(|| {
            let (mut paths, mut kinds) = (WideHasher::default(), WideHasher::default());
            for entry in &self.entries {
                entry.path.hash(&mut paths);
                entry.kind.hash(&mut kinds);
            }
            self.holes.hash(&mut kinds);
            Fingerprint {
                paths: paths.finish_wide(),
                kinds: kinds.finish(),
            }
        })
    }
}

/// Feeds the fingerprint: a state is hashed at every step of a training run, but its paths are
/// not.
impl Hash for Layout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Fingerprint { paths, kinds } = self.fingerprint();
        state.write_u64(paths.0);
        state.write_u64(paths.1);
        state.write_u64(kinds);
    }
}

/// Lists the paths, for messages about the specialization of a compiled function.
impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.entries.iter().map(|e| &e.path))
            .finish()
    }
}

/// Joins a prefix and a path. Either may be empty.
pub(super) fn join(prefix: &str, path: &str) -> String {
    match (prefix.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (_, true) => prefix.to_owned(),
        _ => format!("{prefix}.{path}"),
    }
}

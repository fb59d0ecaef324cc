//! `Root`: what all scopes of one `init` or `apply` share.

use super::streams::{Streams, fold_in_path};
use super::{CollectionFilter, Variables};
use ramie_core::random::Key;
use ramie_core::{Array, Aval};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Decides by the path of a module and the name of its class whether its
/// output is kept.
pub(crate) type Capture = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// What one call of a module took and gave; for tables.
#[allow(dead_code)] // Read by tables.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Names of the module, outermost first.
    pub path: Vec<String>,
    /// The name of its type.
    pub class: String,
    /// The types of its arrays.
    pub inputs: Vec<Aval>,
    /// The types of its results.
    pub outputs: Vec<Aval>,
}

/// What all scopes of one `init` or `apply` share.
pub(crate) struct Root {
    pub variables: Variables,
    /// Whether missing variables are made.
    pub initializing: bool,
    pub mutable: CollectionFilter,
    pub streams: Streams,
    /// How many names of a path are left out when keys are derived: those of
    /// the modules around a transformation, whose keys have them already.
    pub base: usize,
    /// Keys given, by the names of the scope and the stream.
    counts: HashMap<(Vec<String>, String), u32>,
    /// The names in use in each scope: of modules (`None`), and of variables in
    /// each collection.
    names: HashMap<Vec<String>, BTreeMap<String, BTreeSet<Option<String>>>>,
    /// How many modules of each class got a name in each scope.
    cursors: HashMap<(Vec<String>, String), usize>,
    pub capture: Option<Capture>,
    pub calls: Option<Vec<Call>>,
}

impl Root {
    pub fn new(variables: Variables, streams: Streams, mutable: CollectionFilter) -> Root {
        Root {
            variables,
            initializing: false,
            mutable,
            streams,
            base: 0,
            counts: HashMap::new(),
            names: HashMap::new(),
            cursors: HashMap::new(),
            capture: None,
            calls: None,
        }
    }

    /// The collections that may have changed.
    pub fn mutated(&self) -> Variables {
        let mut out = Variables::new();
        for (name, state) in self.variables.iter() {
            if self.mutable.accepts(name) && !(self.initializing && state.is_empty()) {
                out.set(name, state.clone());
                for path in state.paths() {
                    if let Some(metadata) = self.variables.metadata(name, path) {
                        out.set_metadata(name, path, metadata.clone());
                    }
                }
            }
        }
        out
    }

    /// The next key of a stream at a scope; none if neither the stream nor
    /// `params` is there.
    pub fn next_key(&mut self, path: &[String], stream: &str) -> Option<Key> {
        let stream = match self.streams.get(stream) {
            Some(_) => stream,
            None => "params",
        };
        let key = self.streams.get(stream)?;
        let count = self
            .counts
            .entry((path.to_vec(), stream.to_owned()))
            .or_insert(0);
        *count += 1;
        Some(fold_in_path(key, &path[self.base..], Some(*count)))
    }

    /// Begins a call of the module at a path: its names are free again.
    pub fn begin(&mut self, path: &[String]) {
        self.names.remove(path);
        self.cursors.retain(|(scope, _), _| scope != path);
    }

    /// Takes a name for a module, or for a variable of a collection; `false` if
    /// it is in use.
    pub fn reserve(&mut self, path: &[String], name: &str, collection: Option<&str>) -> bool {
        let names = self.names.entry(path.to_vec()).or_default();
        let uses = names.entry(name.to_owned()).or_default();
        let free = match collection {
            None => uses.is_empty(),
            Some(c) => !uses.contains(&None) && !uses.contains(&Some(c.to_owned())),
        };
        uses.insert(collection.map(str::to_owned));
        free
    }

    /// The next automatic name for a module of a class: `Dense_0`.
    pub fn automatic_name(&mut self, path: &[String], class: &str) -> String {
        let cursor = self
            .cursors
            .entry((path.to_vec(), class.to_owned()))
            .or_insert(0);
        let name = format!("{class}_{cursor}");
        *cursor += 1;
        name
    }

    /// Keeps a value of a module's call, after those that were kept before.
    pub fn sow(&mut self, collection: &str, path: &str, value: Array) {
        let kept = self.variables.get(collection);
        let count = kept.map_or(0, |state| {
            let below = |p: &&str| {
                p.strip_prefix(path)
                    .is_some_and(|rest| rest.starts_with('.'))
            };
            state.paths().filter(below).count()
        });
        self.variables
            .put(collection, &format!("{path}.{count}"), value);
    }
}

//! `Root`: what all scopes of one `init` or `apply` share.

use super::streams::{Streams, fold_in_path};
use super::{CollectionFilter, Variables};
use ramie_core::lock::lock;
use ramie_core::random::Key;
use ramie_core::{Aval, State};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

/// Decides by the path of a module and the name of its class whether its
/// output is kept.
pub(crate) type Capture = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// What one call of a module took and gave; for tables.
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

/// The calls of an `init` or `apply`, in the order in which they began; shared
/// with the scopes inside of transformations.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Vec<Call>>>);

impl Calls {
    /// Adds a call, and returns its place.
    pub fn push(&self, call: Call) -> usize {
        let mut calls = lock(&self.0);
        calls.push(call);
        calls.len() - 1
    }

    /// Says what a call returned.
    pub fn returned(&self, place: usize, outputs: Vec<Aval>) {
        if let Some(call) = lock(&self.0).get_mut(place) {
            call.outputs = outputs;
        }
    }

    /// The calls so far.
    pub fn to_vec(&self) -> Vec<Call> {
        lock(&self.0).clone()
    }
}

/// Keys given, by the names of the scope and the stream.
type Counts = Arc<Mutex<HashMap<(Vec<String>, String), u32>>>;

/// Something of each scope.
type ByScope<V> = HashMap<Vec<String>, V>;

/// What a scope has; its path is copied only where it had nothing.
fn of_scope<'a, V: Default>(all: &'a mut ByScope<V>, path: &[String]) -> &'a mut V {
    if !all.contains_key(path) {
        all.insert(path.to_vec(), V::default());
    }
    all.get_mut(path).expect("it has something now")
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
    /// How many names of a path are left out where variables are looked up:
    /// inside of a transformation the variables are those of one module.
    pub outer: usize,
    /// The transformation that these scopes are inside of.
    pub lent: Option<&'static str>,
    /// Shared with the scopes inside of transformations: a module that is
    /// called again gets other keys.
    counts: Counts,
    /// The names in use in each scope: of modules (`None`), and of variables in
    /// each collection.
    names: ByScope<BTreeMap<String, BTreeSet<Option<String>>>>,
    /// How many modules of each class got a name in each scope.
    cursors: ByScope<HashMap<String, usize>>,
    /// Where parts of a module are that are not below it, by their names there.
    pub adopted: ByScope<Vec<(&'static str, Vec<String>)>>,
    pub capture: Option<Capture>,
    pub calls: Option<Calls>,
}

impl Root {
    pub fn new(variables: Variables, streams: Streams, mutable: CollectionFilter) -> Root {
        Root {
            variables,
            initializing: false,
            mutable,
            streams,
            base: 0,
            outer: 0,
            lent: None,
            counts: Counts::default(),
            names: HashMap::new(),
            cursors: HashMap::new(),
            adopted: HashMap::new(),
            capture: None,
            calls: None,
        }
    }

    /// A root for the scopes inside of a transformation of the module at a path,
    /// with the variables and keys that it is given. Automatic names go on from
    /// here, as do counts of keys; names in use here may be used again, for the
    /// same parts.
    pub fn inner(&self, path: &[String]) -> Root {
        Root {
            variables: Variables::new(),
            initializing: self.initializing,
            mutable: self.mutable.clone(),
            streams: Streams::none(),
            base: self.base,
            outer: path.len(),
            lent: None,
            counts: self.counts.clone(),
            names: HashMap::new(),
            cursors: self.cursors.clone(),
            adopted: self.adopted.clone(),
            capture: self.capture.clone(),
            calls: self.calls.clone(),
        }
    }

    /// Goes on with automatic names where the inside of a transformation ended.
    pub fn take_names(&mut self, inner: Root) {
        self.cursors = inner.cursors;
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
        let count = {
            let mut counts = lock(&self.counts);
            let count = counts
                .entry((path.to_vec(), stream.to_owned()))
                .or_insert(0);
            *count += 1;
            *count
        };
        Some(fold_in_path(key, &path[self.base..], Some(count)))
    }

    /// Where the part of a module is, if that is not below the module.
    pub fn adopted_path(&self, path: &[String], name: &str) -> Option<Vec<String>> {
        let parts = self.adopted.get(path)?;
        let part = parts.iter().find(|(field, _)| *field == name);
        part.map(|(_, path)| path.clone())
    }

    /// Begins a call of the module at a path: its names are free again.
    pub fn begin(&mut self, path: &[String]) {
        self.names.remove(path);
        self.cursors.remove(path);
    }

    /// Takes a name for a module, or for a variable of a collection; `false` if
    /// it is in use.
    pub fn reserve(&mut self, path: &[String], name: &str, collection: Option<&str>) -> bool {
        let names = of_scope(&mut self.names, path);
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
        let cursors = of_scope(&mut self.cursors, path);
        let cursor = cursors.entry(class.to_owned()).or_insert(0);
        let name = format!("{class}_{cursor}");
        *cursor += 1;
        name
    }

    /// Where the next value that is kept under a name belongs: after those that
    /// were kept before.
    pub fn next_place(&self, collection: &str, path: &str) -> String {
        let kept = self.variables.get(collection).into_iter();
        let numbers = kept.flat_map(State::paths).filter_map(|p| {
            let rest = p.strip_prefix(path)?.strip_prefix('.')?;
            rest.split('.').next()?.parse::<usize>().ok()
        });
        let next = numbers.max().map_or(0, |last| last + 1);
        format!("{path}.{next}")
    }
}

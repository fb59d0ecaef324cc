//! `Root`: the state shared by all scopes of one `init` or `apply`.

use super::streams::{Streams, fold_in_path};
use super::within::LiftContext;
use super::{CollectionFilter, Variables};
use ramie_core::lock::lock;
use ramie_core::random::Key;
use ramie_core::{Aval, State};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

/// A predicate of the path of a module and the name of its class that selects the outputs to
/// record.
pub(crate) type Capture = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// A recorded call of a module, for tables.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The names of the module and its ancestors, outermost first.
    pub path: Vec<String>,
    /// The name of the module's type.
    pub class: String,
    /// The types of the argument's arrays.
    pub inputs: Vec<Aval>,
    /// The types of the result's arrays.
    pub outputs: Vec<Aval>,
}

/// The calls of an `init` or `apply`, in the order in which they began. Scopes inside of
/// transformations share them.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Vec<Call>>>);

impl Calls {
    /// Appends a call and returns its index.
    pub fn push(&self, call: Call) -> usize {
        let mut calls = lock(&self.0);
        calls.push(call);
        calls.len() - 1
    }

    /// Sets the result types of a call.
    pub fn returned(&self, place: usize, outputs: Vec<Aval>) {
        if let Some(call) = lock(&self.0).get_mut(place) {
            call.outputs = outputs;
        }
    }

    /// Returns the calls so far.
    pub fn to_vec(&self) -> Vec<Call> {
        lock(&self.0).clone()
    }
}

/// Numbers of keys returned, by the path of the scope and the name of the stream.
type Counts = Arc<Mutex<HashMap<(Vec<String>, String), u32>>>;

/// Values by the path of the scope.
type ByScope<V> = HashMap<Vec<String>, V>;

/// Returns the entry of a scope, inserting the default if absent. Copies the path only to
/// insert it.
fn of_scope<'a, V: Default>(all: &'a mut ByScope<V>, path: &[String]) -> &'a mut V {
    if !all.contains_key(path) {
        all.insert(path.to_vec(), V::default());
    }
    all.get_mut(path).expect("the entry was inserted")
}

/// The state shared by all scopes of one `init` or `apply`.
pub(crate) struct Root {
    pub variables: Variables,
    /// Whether missing variables are created.
    pub initializing: bool,
    pub mutable: CollectionFilter,
    pub streams: Streams,
    /// Number of leading path components to omit when keys are derived: those of the modules
    /// around a transformation, which its keys already include.
    pub base: usize,
    /// Number of leading path components to omit when variables are looked up: inside a
    /// transformation the variables are those of one module.
    pub outer: usize,
    /// The transformation that currently uses these variables.
    pub lent: Option<&'static str>,
    /// The transformation around these variables.
    pub within: Option<LiftContext>,
    /// Shared with scopes inside of transformations, so that another call of the same module
    /// gets other keys.
    counts: Counts,
    /// The names in use in each scope: of modules (`None`), and of variables in each
    /// collection.
    names: ByScope<BTreeMap<String, BTreeSet<Option<String>>>>,
    /// Number of automatically named modules of each class in each scope.
    cursors: ByScope<HashMap<String, usize>>,
    /// Paths of submodules that are stored outside of their module, by their names in it.
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
            within: None,
            counts: Counts::default(),
            names: HashMap::new(),
            cursors: HashMap::new(),
            adopted: HashMap::new(),
            capture: None,
            calls: None,
        }
    }

    /// Creates a root for scopes inside a transformation of the module at a path, to be filled
    /// with variables and keys. Automatic names and counts of keys continue from here. Names
    /// that are in use here are available inside, for the same submodules.
    pub fn inner(&self, path: &[String]) -> Root {
        Root {
            variables: Variables::new(),
            initializing: self.initializing,
            mutable: self.mutable.clone(),
            streams: Streams::none(),
            base: self.base,
            outer: path.len(),
            lent: None,
            within: self.within.clone(),
            counts: self.counts.clone(),
            names: HashMap::new(),
            cursors: self.cursors.clone(),
            adopted: self.adopted.clone(),
            capture: self.capture.clone(),
            calls: self.calls.clone(),
        }
    }

    /// Continues automatic names where the inside of a transformation ended.
    pub fn take_names(&mut self, inner: Root) {
        self.cursors = inner.cursors;
    }

    /// Returns the mutable collections.
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

    /// Returns the next key of a stream at a scope, or `None` if there is neither that stream
    /// nor `params`.
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

    /// Returns the path of a submodule if it is stored outside of its module.
    pub fn adopted_path(&self, path: &[String], name: &str) -> Option<Vec<String>> {
        let parts = self.adopted.get(path)?;
        let part = parts.iter().find(|(field, _)| *field == name);
        part.map(|(_, path)| path.clone())
    }

    /// Begins a call of the module at a path, which frees its names.
    pub fn begin(&mut self, path: &[String]) {
        self.names.remove(path);
        self.cursors.remove(path);
    }

    /// Reserves a name for a module, or for a variable of a collection. Returns `false` if it
    /// is in use.
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

    /// Returns the next automatic name for a module of a class, such as `Dense_0`.
    pub fn automatic_name(&mut self, path: &[String], class: &str) -> String {
        let cursors = of_scope(&mut self.cursors, path);
        let cursor = cursors.entry(class.to_owned()).or_insert(0);
        let name = format!("{class}_{cursor}");
        *cursor += 1;
        name
    }

    /// Returns the path of the next value recorded under a name, after all earlier ones.
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

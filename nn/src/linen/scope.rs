//! `Scope`: provides a module's variables, RNG keys and submodules.

use super::CollectionFilter;
use super::constrain::constrained;
use super::root::Root;
use crate::{Initializer, Metadata, Param};
use ramie_core::random::Key;
use ramie_core::text::listed;
use ramie_core::{Array, DType, State, Tree, tree};
use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

/// Provides a module's variables, RNG keys and submodules during a call.
///
/// Handles of the same scope share its state. A scope is valid until the `init` or `apply` that
/// created it returns.
pub struct Scope {
    root: Rc<RefCell<Root>>,
    path: Vec<String>,
}

impl Scope {
    pub(crate) fn of(root: Root) -> Scope {
        Scope::at(root, Vec::new())
    }

    /// Creates the scope of the module at a path.
    pub(super) fn at(root: Root, path: Vec<String>) -> Scope {
        Scope {
            root: Rc::new(RefCell::new(root)),
            path,
        }
    }

    #[track_caller]
    pub(crate) fn root(&self) -> Ref<'_, Root> {
        let root = self.root.borrow();
        self.check_not_lent(&root);
        root
    }

    #[track_caller]
    pub(crate) fn root_mut(&self) -> RefMut<'_, Root> {
        let root = self.root.borrow_mut();
        self.check_not_lent(&root);
        root
    }

    #[track_caller]
    fn check_not_lent(&self, root: &Root) {
        if let Some(operation) = root.lent {
            panic!(
                "linen::{operation}: the transformed function uses the scope of {} from outside \
                 of the transformation\n  help: use the scope that is passed to the function; \
                 call modules that were set up outside under the same name: \
                 scope.named(\"name\", &module, x)",
                self.shown()
            );
        }
    }

    /// Marks the variables as in use by a transformation, or as returned.
    pub(super) fn lend(&self, to: Option<&'static str>) {
        self.root.borrow_mut().lent = to;
    }

    /// Returns another handle of the same scope.
    pub(crate) fn handle(&self) -> Scope {
        self.scope_at(self.path.clone())
    }

    /// Returns the scope of the module at another path.
    pub(super) fn scope_at(&self, path: Vec<String>) -> Scope {
        Scope {
            root: self.root.clone(),
            path,
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.path
    }

    /// Returns the dotted path of the module; empty for the outermost one.
    pub fn path(&self) -> String {
        self.path.join(".")
    }

    /// Returns the name of the module in its parent, or `None` for the outermost one.
    pub fn name(&self) -> Option<&str> {
        self.path.last().map(String::as_str)
    }

    /// Formats the path for messages.
    fn shown(&self) -> String {
        if self.path.is_empty() {
            "the outermost module".into()
        } else {
            format!("module `{}`", self.path())
        }
    }

    /// Returns the path of a variable of this module.
    pub(crate) fn path_of(&self, name: &str) -> String {
        match self.place().as_str() {
            "" => name.to_owned(),
            place => format!("{place}.{name}"),
        }
    }

    /// Returns the path of the module's variables: its own path, or inside a transformation the
    /// part below the transformed module.
    pub(super) fn place(&self) -> String {
        self.path[self.root().outer..].join(".")
    }

    /// Returns `true` while `init` creates the variables.
    pub fn is_initializing(&self) -> bool {
        self.root().initializing
    }

    /// Returns `true` if the collection is mutable.
    pub fn is_mutable_collection(&self, collection: &str) -> bool {
        self.root().mutable.accepts(collection)
    }

    /// Returns `true` if the module has the variable.
    pub fn has_variable(&self, collection: &str, name: &str) -> bool {
        self.get_variable(collection, name).is_some()
    }

    /// Returns a variable of the module, if present.
    pub fn get_variable(&self, collection: &str, name: &str) -> Option<Array> {
        let path = self.path_of(name);
        self.root().variables.at(collection, &path).cloned()
    }

    /// Returns the module's variables of a collection, by their paths relative to the module.
    pub fn variables(&self, collection: &str) -> State {
        let place = self.place();
        let root = self.root();
        let all = root.variables.get(collection);
        if place.is_empty() {
            all.cloned().unwrap_or_default()
        } else {
            all.map_or_else(State::new, |s| s.subtree(&place))
        }
    }

    /// Sets a variable of the module.
    ///
    /// # Panics
    /// Panics if the collection is immutable.
    #[track_caller]
    pub fn put_variable(&mut self, collection: &str, name: &str, value: Array) {
        if !self.is_mutable_collection(collection) {
            panic!(
                "Scope::put_variable: cannot change `{name}` in {}, because the collection \
                 `{collection}` is immutable\n  help: make it mutable: \
                 model.apply_with(&variables, x, &Apply::new().mutable(\"{collection}\")), which \
                 returns (output, updates); or stop the layer from updating it, for example with \
                 use_running_average(true)",
                self.shown()
            );
        }
        let path = self.path_of(name);
        self.root_mut().variables.put(collection, &path, value);
    }

    #[track_caller]
    pub(super) fn reserve(&self, name: &str, collection: Option<&str>) {
        assert!(
            !name.is_empty() && !name.contains('.'),
            "Scope: `{name}` is not a valid name in {}\n  help: use a non-empty name without \
             dots, which separate the components of a path",
            self.shown()
        );
        let free = self.root_mut().reserve(&self.path, name, collection);
        let what = match collection {
            None => "a module".to_owned(),
            Some(c) => format!("a variable of `{c}`"),
        };
        assert!(
            free,
            "Scope: the name `{name}` is already in use in {}, so {what} cannot have it\n  help: \
             use a different name; to call one module several times, create it once with \
             scope.setup(\"{name}\", &module) and call that",
            self.shown()
        );
    }

    /// Returns a parameter. During initialization, creates it with a key from the stream
    /// `params`.
    ///
    /// # Panics
    /// Panics if the parameter is missing and cannot be created, if it has another shape, or if
    /// the name is in use.
    #[track_caller]
    pub fn param(
        &mut self,
        name: &str,
        init: &Initializer,
        shape: &[usize],
        dtype: DType,
    ) -> Param {
        let metadata = init.metadata().cloned();
        let value = self.param_with(name, metadata.as_ref(), |key| init.draw(&key, shape, dtype));
        assert!(
            value.shape() == shape,
            "Scope::param: `{}` has shape {:?} in the variables, expected {shape:?}\n  help: use \
             the module with the hyperparameters and the input that these variables were created \
             for, or load other variables",
            self.path_of(name),
            value.shape(),
        );
        let Some(metadata) = metadata else {
            return Param::new(value);
        };
        let value = match &metadata.sharding {
            Some(spec) => constrained(value, spec),
            None => value,
        };
        Param::new(value).with_metadata(metadata)
    }

    /// Returns a parameter whose initial value is a function of a key.
    ///
    /// # Panics
    /// Panics if the parameter is missing and cannot be created, or if the name is in use.
    #[track_caller]
    pub fn param_with(
        &mut self,
        name: &str,
        metadata: Option<&Metadata>,
        init: impl FnOnce(Key) -> Array,
    ) -> Array {
        self.reserve(name, Some("params"));
        if let Some(value) = self.get_variable("params", name) {
            return value;
        }
        self.may_make("params", name);
        let key = self.make_rng("params");
        let value = init(key);
        self.make("params", name, value.clone(), metadata);
        value
    }

    /// Returns a variable of a collection. If it is missing and the collection is mutable,
    /// creates it.
    ///
    /// # Panics
    /// Panics if the variable is missing and cannot be created, or if the name is in use.
    #[track_caller]
    pub fn variable(
        &mut self,
        collection: &str,
        name: &str,
        init: impl FnOnce() -> Array,
    ) -> Array {
        self.reserve(name, Some(collection));
        if let Some(value) = self.get_variable(collection, name) {
            return value;
        }
        self.may_make(collection, name);
        let value = init();
        self.make(collection, name, value.clone(), None);
        value
    }

    fn make(&mut self, collection: &str, name: &str, value: Array, metadata: Option<&Metadata>) {
        let path = self.path_of(name);
        let mut root = self.root_mut();
        root.variables.put(collection, &path, value);
        if let Some(metadata) = metadata {
            root.variables
                .set_metadata(collection, &path, metadata.clone());
        }
    }

    #[track_caller]
    fn may_make(&self, collection: &str, name: &str) {
        let root = self.root();
        if root.mutable.accepts(collection) {
            return;
        }
        let path = self.path_of(name);
        let found = root.variables.get(collection);
        let Some(state) = found.filter(|s| !s.is_empty()) else {
            let module = self.shown();
            let within = root.within.as_ref();
            if let Some(problem) = within.and_then(|w| w.withholds_collection(collection)) {
                panic!("Scope: {module} requests `{name}`, but {problem}");
            }
            let there = match found {
                Some(_) => format!("`{collection}` of the variables is empty"),
                None => format!(
                    "the variables only have the collections: {}",
                    listed(root.variables.names())
                ),
            };
            panic!(
                "Scope: {module} requests `{name}` of the collection `{collection}`, but \
                 {there}\n  help: pass all variables that init returned, or add the collection: \
                 Variables::with(\"{collection}\", ..)"
            )
        };
        panic!(
            "Scope: the variables have no `{path}` in `{collection}`\n  paths with this name: \
             {}\n  help: pass variables that were created by this module, with the same names of \
             submodules",
            listed(state.paths().filter(|p| p.ends_with(name)))
        )
    }

    /// Returns `true` if there is an RNG stream of this name, or a stream `params` to use
    /// instead.
    pub fn has_rng(&self, stream: &str) -> bool {
        self.root().streams.get(stream).is_some()
    }

    /// Returns the next key of an RNG stream.
    ///
    /// # Panics
    /// Panics if there is neither this stream nor `params`.
    #[track_caller]
    pub fn make_rng(&mut self, stream: &str) -> Key {
        let key = self.root_mut().next_key(&self.path, stream);
        if let Some(key) = key {
            return key;
        }
        let root = self.root();
        let within = root.within.as_ref();
        if let Some(problem) = within.and_then(|w| w.withholds_stream(stream)) {
            let module = self.shown();
            panic!("Scope::make_rng: {module} needs a key of the stream `{stream}`, but {problem}");
        }
        panic!(
            "Scope::make_rng: {} needs a key of the stream `{stream}`, but the streams are: \
             {}\n  help: pass a key: {}{}",
            self.shown(),
            listed(root.streams.names()),
            if root.initializing {
                format!("model.init([(\"{stream}\", key)], x)")
            } else {
                format!(
                    "model.apply_with(&variables, x, &Apply::new().rngs([(\"{stream}\", key)]))"
                )
            },
            match stream {
                "dropout" => "; or evaluate without dropout: deterministic(true)",
                _ => "",
            }
        )
    }

    /// Appends a value, an array or a pytree, to those recorded under a name in a collection.
    /// Does nothing and returns `false` if the collection is immutable.
    pub fn sow<T: Tree>(&mut self, collection: &str, name: &str, value: &T) -> bool {
        if !self.is_mutable_collection(collection) {
            return false;
        }
        let path = self.path_of(name);
        let mut root = self.root_mut();
        let place = root.next_place(collection, &path);
        tree::for_each_with_path(value, |leaf, _, array| {
            let whole = if leaf.is_empty() {
                place.clone()
            } else {
                format!("{place}.{leaf}")
            };
            root.variables.put(collection, &whole, array.clone());
        });
        true
    }

    /// Combines a value with the recorded one by `reduce`, starting from `init()` (`sow` with
    /// `reduce_fn` and `init_fn`). Does nothing and returns `false` if the collection is
    /// immutable.
    pub fn sow_with(
        &mut self,
        collection: &str,
        name: &str,
        value: &Array,
        init: impl FnOnce() -> Array,
        reduce: impl FnOnce(Array, &Array) -> Array,
    ) -> bool {
        if !self.is_mutable_collection(collection) {
            return false;
        }
        let before = self.get_variable(collection, name).unwrap_or_else(init);
        self.put_variable(collection, name, reduce(before, value));
        true
    }

    /// Adds a zero variable of the collection `perturbations` to a value; the variable's
    /// gradient is the gradient with respect to the value. Without the collection, returns the
    /// value.
    ///
    /// # Panics
    /// Panics if the collection exists, but not the variable.
    #[track_caller]
    pub fn perturb(&mut self, name: &str, value: Array) -> Array {
        const COLLECTION: &str = "perturbations";
        if self.is_mutable_collection(COLLECTION) && !self.has_variable(COLLECTION, name) {
            self.reserve(name, Some(COLLECTION));
            let path = self.path_of(name);
            let zeros = value.zeros_like();
            self.root_mut().variables.put(COLLECTION, &path, zeros);
        }
        if self.root().variables.get(COLLECTION).is_none() {
            return value;
        }
        match self.get_variable(COLLECTION, name) {
            Some(perturbation) => value + perturbation,
            None => panic!(
                "Scope::perturb: the collection `{COLLECTION}` has no `{}`\n  help: pass the \
                 perturbations that init returned, or remove the collection",
                self.path_of(name)
            ),
        }
    }

    /// Returns the mutable collections.
    pub fn mutable(&self) -> CollectionFilter {
        self.root().mutable.clone()
    }
}

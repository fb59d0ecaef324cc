//! `Pack`: a part of a model as a pure function of its variables and keys.
//!
//! All lifted transformations work this way: the variables and keys of a scope become arguments
//! of a pure function, which is then transformed, and the changed variables become results.

use crate::linen::root::Root;
use crate::linen::within::LiftContext;
use crate::linen::{CollectionFilter, Scope, Streams, Variables};
use ramie_core::lock::lock;
use std::sync::Mutex;

/// A scope whose variables and keys were taken for a transformation.
pub(super) struct Pack {
    path: Vec<String>,
    /// The template of inner scopes, without variables and keys.
    template: Root,
    /// The names in use after the last call.
    after: Mutex<Option<Root>>,
    /// The variables below the scope; next to them, the keys.
    variables: Variables,
    streams: Streams,
}

/// The part of a pack without arrays.
pub(super) struct PackStructure {
    path: Vec<String>,
    template: Root,
}

impl PackStructure {
    /// Calls a function in a scope with these variables and keys. Returns its result and the
    /// mutable collections.
    pub fn call<R>(
        &self,
        variables: Variables,
        streams: Streams,
        mutable: &CollectionFilter,
        f: impl FnOnce(&mut Scope) -> R,
    ) -> (R, Variables) {
        called(&self.template, &self.path, variables, streams, mutable, f).0
    }
}

fn called<R>(
    template: &Root,
    path: &[String],
    variables: Variables,
    streams: Streams,
    mutable: &CollectionFilter,
    f: impl FnOnce(&mut Scope) -> R,
) -> ((R, Variables), Root) {
    let mut root = template.inner(path);
    root.mutable = template.mutable.and(mutable);
    root.variables = variables;
    root.streams = streams;
    let mut scope = Scope::at(root, path.to_vec());
    let out = f(&mut scope);
    let root = scope.root();
    ((out, root.mutated()), root.inner(path))
}

impl Pack {
    /// Takes the variables and keys of a scope, which cannot be used until
    /// [`publish`](Pack::publish).
    #[track_caller]
    pub fn of(scope: &Scope, operation: &'static str) -> Pack {
        let place = scope.place();
        let path = scope.names().to_vec();
        let pack = {
            let root = scope.root();
            let mut template = root.inner(&path);
            template.within = Some(LiftContext::of(operation, &root));
            Pack {
                template,
                after: Mutex::default(),
                variables: root.variables.below(&place, &CollectionFilter::All),
                streams: root.streams.clone(),
                path,
            }
        };
        // Until `publish`, the function must use the scope that it gets: a variable that it reads
        // from this one would not be an argument of the transformation.
        scope.lend(Some(operation));
        pack
    }

    /// Replaces each stream by one that starts at its next key, as `jit` requires, so that the
    /// program does not depend on the path of the module.
    pub fn fork(&mut self) {
        let path = self.path.clone();
        let names: Vec<String> = self.streams.names().map(str::to_owned).collect();
        self.template.streams = self.streams.clone();
        let mut forked = Streams::none();
        for name in names {
            let key = self.template.next_key(&path, &name);
            forked = forked.with(&name, key.expect("a stream of this name"));
        }
        self.template.streams = Streams::none();
        // `next_key` folds in the part of a path from `base` on.
        self.template.base = path.len();
        self.streams = forked;
    }

    /// Returns the variables of the collections that a filter accepts.
    pub fn variables(&self, filter: &CollectionFilter) -> Variables {
        self.variables.below("", filter)
    }

    /// Returns the streams that a filter accepts.
    pub fn streams(&self, filter: &CollectionFilter) -> Streams {
        self.streams.filter(filter)
    }

    /// Returns the mutable collections.
    pub fn mutable(&self) -> &CollectionFilter {
        &self.template.mutable
    }

    /// Returns the part without arrays, for functions that are called later.
    pub fn inside(&self) -> PackStructure {
        PackStructure {
            path: self.path.clone(),
            template: self.template.inner(&self.path),
        }
    }

    /// Calls a function in a scope with these variables and keys. Collections that `mutable`
    /// accepts and that are mutable outside are mutable inside. Returns the function's result
    /// and the mutable collections.
    pub fn call<R>(
        &self,
        variables: Variables,
        streams: Streams,
        mutable: &CollectionFilter,
        f: impl FnOnce(&mut Scope) -> R,
    ) -> (R, Variables) {
        let (result, names) = called(&self.template, &self.path, variables, streams, mutable, f);
        *lock(&self.after) = Some(names);
        result
    }

    /// Returns the scope, with changed variables.
    pub fn publish(self, scope: &mut Scope, changed: &Variables) {
        scope.lend(None);
        let place = scope.place();
        let mut root = scope.root_mut();
        // A loop also returns immutable collections that it carried.
        let changed = changed.below("", &root.mutable);
        root.variables.put_below(&place, &changed);
        if let Some(names) = lock(&self.after).take() {
            root.take_names(names);
        }
    }
}

//! `Variables`: the arrays of a model by collection and path.

use super::CollectionFilter;
use crate::{Metadata, get_partition_spec};
use ramie_core::sharding::{LogicalAxisRules, Shardings};
use ramie_core::text::listed;
use ramie_core::tree::{Key, Tree, Visitor};
use ramie_core::{Array, Mesh, NamedSharding, PartitionSpec, State};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

/// The arrays of a model: a [`State`] for each collection, such as `params` and `batch_stats`.
///
/// It is a pytree whose paths begin with the collection: `params.Dense_0.kernel`.
///
/// ```
/// use ramie_core::{Array, DType, State};
/// use ramie_nn::linen::Variables;
/// let params = State::from_iter([("Dense_0.bias", Array::zeros(&[3], DType::F32))]);
/// let variables = Variables::from_params(params);
/// assert_eq!(variables["params"]["Dense_0.bias"].shape(), [3]);
/// ```
#[derive(Clone, Default)]
pub struct Variables {
    collections: BTreeMap<String, State>,
    /// The metadata by `collection.path`.
    metadata: BTreeMap<String, Metadata>,
}

/// Returns the kind of a collection's variables for filters and optimizers.
pub(crate) fn kind_of(collection: &str) -> Option<&'static str> {
    Some(match collection {
        "params" => crate::Param::KIND,
        "batch_stats" => crate::BatchStat::KIND,
        "cache" => crate::Cache::KIND,
        "intermediates" => crate::Intermediate::KIND,
        "perturbations" => crate::Perturbation::KIND,
        _ => return None,
    })
}

/// Joins the path of a module, "" for the outermost one, and a path below it.
fn joined(place: &str, path: &str) -> String {
    if place.is_empty() {
        path.to_owned()
    } else {
        format!("{place}.{path}")
    }
}

impl Variables {
    /// Creates variables without collections.
    pub fn new() -> Variables {
        Variables::default()
    }

    /// Creates variables with only the collection `params`.
    pub fn from_params(params: State) -> Variables {
        Variables::new().with("params", params)
    }

    /// Adds or replaces a collection.
    #[must_use]
    pub fn with(mut self, collection: &str, state: State) -> Variables {
        self.set(collection, state);
        self
    }

    /// Adds or replaces a collection in place.
    pub fn set(&mut self, collection: &str, state: State) {
        let state = match kind_of(collection) {
            Some(kind) => state.with_kind(Some(kind)),
            None => state,
        };
        self.collections.insert(collection.to_owned(), state);
    }

    /// Returns a collection, if present.
    pub fn get(&self, collection: &str) -> Option<&State> {
        self.collections.get(collection)
    }

    /// Removes a collection and returns it.
    pub fn remove(&mut self, collection: &str) -> Option<State> {
        self.collections.remove(collection)
    }

    /// Returns the collection `params`, or an empty state without it.
    pub fn params(&self) -> State {
        self.get("params").cloned().unwrap_or_default()
    }

    /// Returns an iterator over the names of the collections.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.collections.keys().map(String::as_str)
    }

    /// Returns an iterator over the names and collections.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &State)> {
        self.collections.iter().map(|(n, s)| (n.as_str(), s))
    }

    /// Returns `true` if there are no collections.
    pub fn is_empty(&self) -> bool {
        self.collections.is_empty()
    }

    /// Replaces collections by those of `updates`, as returned by
    /// [`apply_with`](super::Module::apply_with).
    ///
    /// ```no_run
    /// # use ramie_nn::linen::Variables;
    /// # let (variables, updates) = (Variables::new(), Variables::new());
    /// let variables = variables.updated(updates);
    /// ```
    #[must_use]
    pub fn updated(mut self, updates: Variables) -> Variables {
        self.collections.extend(updates.collections);
        self.metadata.extend(updates.metadata);
        self
    }

    /// Returns the partition spec in the metadata of each variable (`nn.get_partition_spec`),
    /// by collection and path: `params.Dense_0.kernel`.
    pub fn partition_spec(&self) -> BTreeMap<String, PartitionSpec> {
        get_partition_spec(self)
    }

    /// Like [`partition_spec`](Variables::partition_spec), with logical names translated to
    /// mesh axes by rules (`nn.logical_to_mesh(nn.get_partition_spec(variables), rules)`).
    ///
    /// ```
    /// use ramie_core::sharding::LogicalAxisRules;
    /// use ramie_core::{Array, DType, P, State};
    /// use ramie_nn::Metadata;
    /// use ramie_nn::linen::Variables;
    /// let kernel = State::from_iter([("kernel", Array::zeros(&[4, 8], DType::F32))]);
    /// let mut variables = Variables::from_params(kernel);
    /// variables.set_metadata("params", "kernel", Metadata::sharded(P!["embed", "mlp"]));
    /// let rules = LogicalAxisRules::new().rule("mlp", "model");
    /// assert_eq!(variables.mesh_spec(rules)["params.kernel"], P![None, "model"]);
    /// ```
    ///
    /// # Panics
    /// Panics if a name occurs twice in a spec.
    #[track_caller]
    pub fn mesh_spec(&self, rules: LogicalAxisRules) -> BTreeMap<String, PartitionSpec> {
        let specs = self.partition_spec().into_iter();
        specs
            .map(|(path, spec)| (path, rules.to_mesh(&spec)))
            .collect()
    }

    /// Returns the sharding of each variable over a mesh (`nn.get_sharding`), for
    /// [`JitOptions::out_shardings`](ramie_core::options::JitOptions) and
    /// [`device_put`](ramie_core::device_put). With rules, logical names are translated to mesh
    /// axes first.
    ///
    /// # Panics
    /// Panics if a spec has a name that is not an axis of the mesh.
    #[doc(alias = "get_sharding")]
    #[track_caller]
    pub fn sharding(&self, mesh: Mesh, rules: Option<LogicalAxisRules>) -> Shardings {
        let specs = match rules {
            Some(rules) => self.mesh_spec(rules),
            None => self.partition_spec(),
        };
        let named: BTreeMap<String, NamedSharding> = specs
            .into_iter()
            .map(|(path, spec)| (path, NamedSharding::new(mesh, spec)))
            .collect();
        // Variables without metadata are replicated.
        let whole = NamedSharding::new(mesh, PartitionSpec::default());
        Shardings::by_path(move |path| Some(named.get(path).copied().unwrap_or(whole).into()))
    }

    /// Removes all metadata (`nn.unbox`).
    #[must_use]
    pub fn unbox(mut self) -> Variables {
        self.metadata.clear();
        self
    }

    /// Returns the metadata of a variable, if any.
    pub fn metadata(&self, collection: &str, path: &str) -> Option<&Metadata> {
        self.metadata.get(&format!("{collection}.{path}"))
    }

    /// Sets the metadata of a variable.
    pub fn set_metadata(&mut self, collection: &str, path: &str, metadata: Metadata) {
        let path = format!("{collection}.{path}");
        if metadata.is_empty() {
            self.metadata.remove(&path)
        } else {
            self.metadata.insert(path, metadata)
        };
    }

    /// Returns the variables of a module in the collections that a filter accepts, by their
    /// paths relative to the module.
    pub(crate) fn below(&self, place: &str, filter: &CollectionFilter) -> Variables {
        let mut out = Variables::new();
        for (name, state) in self.iter().filter(|(name, _)| filter.accepts(name)) {
            let state = if place.is_empty() {
                state.clone()
            } else {
                state.subtree(place)
            };
            for path in state.paths() {
                if let Some(metadata) = self.metadata(name, &joined(place, path)) {
                    out.set_metadata(name, path, metadata.clone());
                }
            }
            out.collections.insert(name.to_owned(), state);
        }
        out
    }

    /// Sets the variables of a module.
    pub(crate) fn put_below(&mut self, place: &str, variables: &Variables) {
        for (name, state) in variables.iter() {
            for (path, array) in state.iter() {
                let whole = joined(place, path);
                self.put(name, &whole, array.clone());
                if let Some(metadata) = variables.metadata(name, path) {
                    self.set_metadata(name, &whole, metadata.clone());
                }
            }
        }
    }

    /// Splits the variables into the collections that a filter accepts and the others.
    pub(crate) fn split(&self, filter: &CollectionFilter) -> (Variables, Variables) {
        (self.below("", filter), self.below("", &filter.not()))
    }

    /// Merges two sets of variables that have no collection in common.
    pub(crate) fn joined_with(mut self, other: Variables) -> Variables {
        self.collections.extend(other.collections);
        self.metadata.extend(other.metadata);
        self
    }

    /// Returns the variable at a path of a collection.
    pub(crate) fn at(&self, collection: &str, path: &str) -> Option<&Array> {
        self.get(collection)?.get(path)
    }

    /// Sets the variable at a path of a collection.
    pub(crate) fn put(&mut self, collection: &str, path: &str, value: Array) {
        let state = self.collections.entry(collection.to_owned()).or_default();
        state.insert_of_kind(path, kind_of(collection), value);
    }
}

/// Returns a collection by name.
///
/// # Panics
/// Panics if the collection is missing.
impl Index<&str> for Variables {
    type Output = State;
    #[track_caller]
    fn index(&self, collection: &str) -> &State {
        if let Some(state) = self.get(collection) {
            return state;
        }
        let there = listed(self.names());
        panic!(
            "Variables: there is no collection `{collection}`; existing collections: {there}\n  \
             help: init creates collections other than `params` only if a module uses them"
        )
    }
}

impl Tree for Variables {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.node("Variables", self);
        visitor.fixed(&self.collections.len());
        for (name, state) in &self.collections {
            visitor.fixed(name);
            visitor.enter(Key::Name(name));
            // Metadata is static, so it must be visited: two sets of variables that differ in it
            // alone have different structures.
            if self.metadata.is_empty() {
                state.walk(visitor);
            } else {
                state.walk(&mut Annotated {
                    visitor: &mut *visitor,
                    collection: name,
                    path: String::new(),
                    metadata: &self.metadata,
                });
            }
            visitor.exit();
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        for state in self.collections.values_mut() {
            state.walk_mut(visit);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        let collections = self.collections.iter();
        Variables {
            collections: collections
                .map(|(n, s)| (n.clone(), s.rebuild(leaf)))
                .collect(),
            metadata: self.metadata.clone(),
        }
    }
}

/// Visits a collection with the metadata of its variables.
struct Annotated<'a> {
    visitor: &'a mut dyn Visitor,
    collection: &'a str,
    path: String,
    metadata: &'a BTreeMap<String, Metadata>,
}

impl Visitor for Annotated<'_> {
    fn leaf(&mut self, array: &Array) {
        let path = format!("{}.{}", self.collection, self.path);
        if let Some(metadata) = self.metadata.get(&path) {
            self.visitor.fixed(metadata);
            self.visitor.metadata(metadata);
        }
        self.visitor.leaf(array);
    }
    fn fixed(&mut self, value: &dyn ramie_core::tree::Fixed) {
        self.visitor.fixed(value);
    }
    fn enter(&mut self, key: Key<'_>) {
        // The keys of a state are whole paths.
        self.path = key.to_string();
        self.visitor.enter(key);
    }
    fn exit(&mut self) {
        self.path.clear();
        self.visitor.exit();
    }
    fn kind(&mut self, kind: &'static str) {
        self.visitor.kind(kind);
    }
    fn metadata(&mut self, metadata: &dyn Any) {
        self.visitor.metadata(metadata);
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables ")?;
        f.debug_map().entries(&self.collections).finish()
    }
}

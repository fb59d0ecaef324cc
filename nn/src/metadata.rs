//! `Metadata`: information about a variable besides its value.

use ramie_core::Array;
use ramie_core::PartitionSpec;
use ramie_core::tree::{Key, Tree, Visitor};
use std::any::Any;
use std::collections::BTreeMap;

/// Information about a variable besides its value: its sharding, and custom entries by name.
///
/// It is part of a variable's static structure: `jit` recompiles a function for variables
/// with different metadata.
///
/// ```
/// use ramie_core::P;
/// use ramie_nn::Metadata;
/// let metadata = Metadata::sharded(P![None, "model"]).with("decayed", "no");
/// assert_eq!(metadata.get("decayed"), Some("no"));
/// ```
#[doc(alias("AxisMetadata", "VariableMetadata"))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// The names of the dimensions: mesh axes, or logical axes that rules translate
    /// (`nnx.with_partitioning`, `nn.Partitioned`). Defaults to none.
    pub sharding: Option<PartitionSpec>,
    entries: BTreeMap<String, String>,
}

impl Metadata {
    /// Creates metadata with a sharding and no other entries.
    pub fn sharded(sharding: PartitionSpec) -> Metadata {
        Metadata {
            sharding: Some(sharding),
            ..Metadata::default()
        }
    }

    /// Adds or replaces an entry.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Metadata {
        self.entries.insert(name.to_owned(), value.into());
        self
    }

    /// Removes an entry, if present (`del_metadata`).
    #[doc(alias = "del_metadata")]
    #[must_use]
    pub fn without(mut self, name: &str) -> Metadata {
        self.entries.remove(name);
        self
    }

    /// Returns the value of an entry, if present.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.entries.get(name).map(String::as_str)
    }

    /// Returns an iterator over the entries, sorted by name.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }

    /// Returns `true` if there is neither a sharding nor an entry.
    pub fn is_empty(&self) -> bool {
        self.sharding.is_none() && self.entries.is_empty()
    }
}

/// Calls `f` with the dotted path, the kind, the metadata and the array of each leaf of a tree.
pub fn for_each_variable<T: Tree>(
    tree: &T,
    mut f: impl FnMut(&str, Option<&'static str>, Option<&Metadata>, &Array),
) {
    for_each_part(tree, |path, part| {
        if let Part::Variable(kind, metadata, array) = part {
            f(path, kind, metadata, array);
        }
    });
}

/// A part of a tree.
pub(crate) enum Part<'a> {
    /// The type's name and the value of a struct or an enum.
    Node(&'static str, &'a dyn Any),
    /// The kind, the metadata and the array of a leaf.
    Variable(Option<&'static str>, Option<&'a Metadata>, &'a Array),
}

/// Calls `f` with the dotted path of each part of a tree, each before the parts that it contains.
pub(crate) fn for_each_part<T: Tree>(tree: &T, f: impl FnMut(&str, Part<'_>)) {
    struct Parts<F> {
        path: String,
        open: Vec<(usize, Option<&'static str>)>,
        kind: Option<&'static str>,
        metadata: Option<Metadata>,
        f: F,
    }
    impl<F: FnMut(&str, Part<'_>)> Visitor for Parts<F> {
        fn leaf(&mut self, array: &Array) {
            let metadata = self.metadata.take();
            (self.f)(
                &self.path,
                Part::Variable(self.kind, metadata.as_ref(), array),
            );
        }
        fn enter(&mut self, key: Key<'_>) {
            self.open.push((self.path.len(), self.kind));
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(&key.to_string());
        }
        fn exit(&mut self) {
            if let Some((length, kind)) = self.open.pop() {
                self.path.truncate(length);
                self.kind = kind;
            }
        }
        fn kind(&mut self, kind: &'static str) {
            self.kind = Some(kind);
        }
        fn metadata(&mut self, metadata: &dyn Any) {
            self.metadata = metadata.downcast_ref::<Metadata>().cloned();
        }
        fn node(&mut self, name: &'static str, node: &dyn Any) {
            (self.f)(&self.path, Part::Node(name, node));
        }
    }
    tree.walk(&mut Parts {
        path: String::new(),
        open: Vec::new(),
        kind: None,
        metadata: None,
        f,
    });
}

/// Returns the partition spec in the metadata of each variable of a model, by path
/// (`nnx.get_partition_spec`). Variables without one get an empty spec, which replicates them.
///
/// ```
/// use ramie_core::{Array, DType, P};
/// use ramie_nn::{Metadata, Param, get_partition_spec};
/// let kernel = Param::new(Array::zeros(&[4, 8], DType::F32));
/// let model = vec![kernel.with_metadata(Metadata::sharded(P![None, "model"]))];
/// assert_eq!(get_partition_spec(&model)["0"], P![None, "model"]);
/// ```
pub fn get_partition_spec<T: Tree>(model: &T) -> BTreeMap<String, PartitionSpec> {
    let mut specs = BTreeMap::new();
    for_each_variable(model, |path, _, metadata, _| {
        let spec = metadata.and_then(|m| m.sharding.clone());
        specs.insert(path.to_owned(), spec.unwrap_or_default());
    });
    specs
}

/// Returns the metadata of the variables of a tree, by path. Variables without metadata are
/// omitted.
pub fn metadata_of<T: Tree>(tree: &T) -> BTreeMap<String, Metadata> {
    let mut all = BTreeMap::new();
    for_each_variable(tree, |path, _, metadata, _| {
        if let Some(metadata) = metadata {
            all.insert(path.to_owned(), metadata.clone());
        }
    });
    all
}

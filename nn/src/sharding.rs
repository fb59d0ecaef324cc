//! Sharding of models: derives shardings from the metadata of variables and places arrays
//! accordingly.

use crate::for_each_variable;
use ramie_core::sharding::{
    AxisName, AxisType, LogicalAxisRules, Shardings, SpecEntry, get_abstract_mesh,
    get_logical_axis_rules, get_mesh,
};
use ramie_core::{Array, Mesh, NamedSharding, PartitionSpec, Tree, device_put, tree};
use std::collections::BTreeMap;

/// Returns the sharding of each variable of a model on a mesh, by path, from the variable's
/// metadata. Variables without metadata are replicated (`nnx.get_named_sharding`,
/// `nn.get_sharding`).
///
/// Names for which the current logical axis rules have a rule are translated; all other names
/// must be axes of the mesh. The model may consist of abstract arrays, as returned by
/// [`eval_shape`](ramie_core::eval_shape).
///
/// ```no_run
/// use ramie_core::{P, make_mesh};
/// use ramie_nn::{Linear, Rngs, get_named_sharding, init, put_sharded};
/// let mesh = make_mesh(&[2, 4], &["data", "model"])?;
/// let kernel_init = init::lecun_normal().with_partitioning(P![None, "model"]);
/// let model = Linear::features(32).kernel_init(kernel_init).build(8, &mut Rngs::new(0));
/// let shardings = get_named_sharding(&model, mesh);
/// assert_eq!(shardings["kernel"].spec(), &P![None, "model"]);
/// let model = put_sharded(&model, &shardings);
/// assert_eq!(model.kernel.addressable_shards()[0].data().shape(), [8, 8]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics if a variable names an axis that has no rule and is not an axis of the mesh.
#[track_caller]
pub fn get_named_sharding<T: Tree>(model: &T, mesh: Mesh) -> BTreeMap<String, NamedSharding> {
    named(model, mesh, |names| match get_logical_axis_rules() {
        Some(rules) => translated(rules, names),
        None => names.clone(),
    })
}

/// Returns the sharding of each variable of a model on a mesh, by path, from logical axis
/// rules. Dimensions whose names have no rule are not sharded (`nn.logical_to_mesh_sharding` of
/// `nn.get_partition_spec`).
///
/// ```no_run
/// use ramie_core::sharding::LogicalAxisRules;
/// use ramie_core::{make_mesh, random, Array, DType, P};
/// use ramie_nn::linen::{Dense, Module};
/// use ramie_nn::{init, logical_to_mesh_sharding};
/// let mesh = make_mesh(&[2, 4], &["data", "model"])?;
/// let kernel_init = init::lecun_normal().with_partitioning(P!["embed", "mlp"]);
/// let dense = Dense::new(32).kernel_init(kernel_init);
/// let variables = dense.init(random::key(0), Array::zeros(&[1, 8], DType::F32));
/// let rules = LogicalAxisRules::new().rule("mlp", "model");
/// let shardings = logical_to_mesh_sharding(&variables, mesh, rules);
/// assert_eq!(shardings["params.kernel"].spec(), &P![None, "model"]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics if a rule names an axis that the mesh does not have, or if a variable uses one name
/// for two dimensions.
#[track_caller]
pub fn logical_to_mesh_sharding<T: Tree>(
    model: &T,
    mesh: Mesh,
    rules: LogicalAxisRules,
) -> BTreeMap<String, NamedSharding> {
    named(model, mesh, |names| rules.to_mesh(names))
}

/// Returns the entries of a spec with a new axis `name` inserted at index `at`.
pub(crate) fn with_axis(spec: &PartitionSpec, at: usize, name: AxisName) -> Vec<SpecEntry> {
    let mut entries = spec.entries().to_vec();
    entries.resize(entries.len().max(at), SpecEntry::None);
    entries.insert(at, SpecEntry::from(name));
    entries
}

/// Returns the entries of a spec without the one at index `at`, and the removed entry.
pub(crate) fn without_axis(spec: &PartitionSpec, at: usize) -> (Vec<SpecEntry>, Option<SpecEntry>) {
    let mut entries = spec.entries().to_vec();
    let removed = (at < entries.len()).then(|| entries.remove(at));
    (entries, removed)
}

#[track_caller]
fn named<T: Tree>(
    model: &T,
    mesh: Mesh,
    spec: impl Fn(&PartitionSpec) -> PartitionSpec,
) -> BTreeMap<String, NamedSharding> {
    let mut names = Vec::new();
    for_each_variable(model, |path, _, metadata, _| {
        let of = metadata.and_then(|m| m.sharding.clone());
        names.push((path.to_owned(), of.unwrap_or_default()));
    });
    let mut shardings = BTreeMap::new();
    for (path, names) in names {
        shardings.insert(path, NamedSharding::new(mesh, spec(&names)));
    }
    shardings
}

/// Translates the names that have a rule; keeps all others.
#[track_caller]
fn translated(rules: LogicalAxisRules, names: &PartitionSpec) -> PartitionSpec {
    let logical = |entry: &SpecEntry| entry.axes().iter().any(|axis| rules.covers(axis.as_str()));
    let only = |keep: bool| {
        let kept = move |entry: &SpecEntry| {
            if logical(entry) == keep {
                entry.clone()
            } else {
                SpecEntry::None
            }
        };
        PartitionSpec::new(names.entries().iter().map(kept))
    };
    let by_rules = rules.to_mesh(&only(true));
    let entries = only(false);
    let entries = entries.entries().iter().zip(by_rules.entries());
    PartitionSpec::new(entries.map(|(own, ruled)| match own {
        SpecEntry::None => ruled.clone(),
        own => own.clone(),
    }))
}

/// Places a new value on the current mesh as its dimension names specify. Returns it unchanged
/// if no mesh is current, if a name is neither a mesh axis nor has a rule, or if the mesh has
/// manual axes.
#[track_caller]
pub(crate) fn on_current_mesh(value: Array, names: &PartitionSpec) -> Array {
    let (Some(mesh), Some(axes)) = (get_mesh(), get_abstract_mesh()) else {
        return value;
    };
    let spec = match get_logical_axis_rules() {
        Some(rules) => translated(rules, names),
        None => names.clone(),
    };
    let placed = |axis| !matches!(axes.axis_type(axis), None | Some(AxisType::Manual));
    let manual = axes.axis_types().contains(&AxisType::Manual);
    if !manual && spec.axes().all(placed) {
        device_put(&value, NamedSharding::new(mesh, spec))
    } else {
        value
    }
}

/// Places each array of the model on the sharding of its path. Arrays whose paths are not in
/// `shardings` stay where they are.
///
/// In a traced function, such as a compiled initialization, this makes the compiler create the
/// arrays with these shardings.
///
/// # Panics
/// Panics if a dimension does not divide evenly over its mesh axes.
#[must_use]
#[track_caller]
pub fn put_sharded<T: Tree>(model: &T, shardings: &BTreeMap<String, NamedSharding>) -> T {
    let mut arrays: Vec<Array> = Vec::new();
    tree::for_each_with_path(model, |path, _, array| {
        arrays.push(array.clone());
        if let (Some(sharding), Some(last)) = (shardings.get(path), arrays.last_mut()) {
            *last = device_put(last, *sharding);
        }
    });
    tree::with_leaves(model, arrays)
}

/// Converts shardings by path to the [`out_shardings`](ramie_core::options::JitOptions::out_shardings)
/// of a compiled function. The compiler chooses the sharding of all other paths.
///
/// ```no_run
/// use ramie_core::options::JitOptions;
/// use ramie_core::{eval_shape, jit_with, make_mesh, random, P};
/// use ramie_nn::{Linear, Rngs, get_named_sharding, init, shardings_by_path};
/// let mesh = make_mesh(&[2, 4], &["data", "model"])?;
/// let make = |key: random::Key| {
///     let kernel_init = init::lecun_normal().with_partitioning(P![None, "model"]);
///     Linear::features(32).kernel_init(kernel_init).build(8, &mut Rngs::from_key(key))
/// };
/// // Create a model that is too large for one device directly in its shards.
/// let shardings = get_named_sharding(&eval_shape(make, random::key(0)), mesh);
/// let options = JitOptions {
///     out_shardings: Some(shardings_by_path(shardings)),
///     ..JitOptions::default()
/// };
/// let model = jit_with(make, options)(random::key(0));
/// # Ok::<(), ramie_core::Error>(())
/// ```
#[doc(alias = "StateSharding")]
pub fn shardings_by_path(shardings: BTreeMap<String, NamedSharding>) -> Shardings {
    Shardings::by_path(move |path| shardings.get(path).map(|&sharding| sharding.into()))
}

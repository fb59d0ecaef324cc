//! Sharding constraints and resharding inside programs.

use crate::base::location::fail;
use crate::passes::{cast_sharding, resharded};
use crate::prim::sharding::ShardingConstraint;
use crate::program::specs::{Shardings, Specs};
use crate::program::trace::bind1;
use crate::program::tree;
use crate::sharding::AxisName;
use crate::transform::Function;
use crate::types::sharding::{
    AbstractMesh, AxisType, Context, NamedSharding, PartitionSpec, Placed, check_spec,
};
use crate::typing::AxisNames;
use crate::{Array, Aval, Tree};

/// Constrains the sharding of `x`, if the mesh axes are managed by the compiler.
#[track_caller]
pub(crate) fn constrain(x: &Array, sharding: NamedSharding) -> Array {
    let axes = sharding.mesh().abstract_mesh();
    let context = Context::current().axes.unwrap_or(axes);
    let explicit = |n| context.axis_type(n) == Some(AxisType::Explicit);
    if sharding.spec().axes().any(explicit) || x.aval().sharding().is_some() {
        resharded(x, context, sharding.spec())
    } else {
        bind1(ShardingConstraint { sharding }, &[x])
    }
}

/// Constrains the sharding of a tree's arrays (`jax.lax.with_sharding_constraint`). Outside
/// traced functions, the arrays are resharded immediately. Dimensions with
/// [`SpecEntry::Unconstrained`](crate::sharding::SpecEntry::Unconstrained) are left to the compiler.
///
/// ```no_run
/// use ramie_core::sharding::{with_mesh, with_sharding_constraint};
/// use ramie_core::{jit, make_mesh, Array, P};
/// let mesh = make_mesh(&[4, 2], &["x", "y"])?;
/// let f = jit(|x: Array, w: Array, v: Array| {
///     let hidden = with_sharding_constraint(&x.matmul(&w), P!["x", "y"]);
///     hidden.matmul(&v)
/// });
/// # let (x, w, v) = (Array::from(1.0f32), Array::from(1.0f32), Array::from(1.0f32));
/// let out = with_mesh(mesh, || f(x, w, v));
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics if a dimension is not divisible by its number of shards, or if a spec is passed and no
/// mesh is current.
#[track_caller]
pub fn with_sharding_constraint<T: Tree>(x: &T, shardings: impl Into<Shardings>) -> T {
    let paths = tree::paths(x);
    let wanted = match shardings.into().of_paths("shardings", &paths) {
        Ok(wanted) => wanted,
        Err(e) => fail(&format!("with_sharding_constraint: {e}")),
    };
    let mut outs = Vec::new();
    for (array, to) in tree::leaves(x).iter().zip(&wanted) {
        outs.push(match to.as_ref().map(|to| named(to)) {
            None => array.clone(),
            Some(to) if array.is_tracer() => constrain(array, to),
            Some(to) => crate::device_put(array, to),
        });
    }
    tree::with_leaves(x, outs)
}

#[track_caller]
fn named(to: &Placed) -> NamedSharding {
    match to.sharding("with_sharding_constraint").named() {
        Some(named) => named,
        None => fail(
            "with_sharding_constraint: a device is not a sharding over a mesh\n  help: use \
             NamedSharding::new(mesh, spec), or a PartitionSpec on the current mesh",
        ),
    }
}

/// Returns the mesh of the explicit axes for an array of this type in the current context.
#[track_caller]
fn explicit_mesh(operation: &str, x: &Array) -> AbstractMesh {
    let here = x.aval().sharding().map(|s| s.mesh());
    here.or(Context::current().axes).unwrap_or_else(|| {
        fail(&format!(
            "{operation}: no mesh is current, and {} is not sharded over one\n  help: make a mesh \
             current with `set_mesh(mesh)`",
            x.aval()
        ))
    })
}

/// Reshards an array by `spec` over explicit axes of the mesh, which changes its type; the
/// compiler moves the elements (`jax.sharding.reshard`).
///
/// # Panics
/// Panics if no mesh is current and the array's type has none, if `spec` names axes that are not
/// explicit, or if a dimension is not divisible by its number of shards.
#[track_caller]
pub fn reshard(x: &Array, spec: impl Into<PartitionSpec>) -> Array {
    let spec = spec.into();
    let axes = explicit_mesh("reshard", x);
    if let Err(e) = check_spec(axes, &spec) {
        fail(&e.render("reshard", &[x.describe()]));
    }
    let implicit = |n: &AxisName| axes.axis_type(*n) != Some(AxisType::Explicit);
    if let Some(name) = spec.axes().find(implicit) {
        fail(&format!(
            "reshard: the axis {name:?} of {axes:?} is not explicit, so it is not part of array \
             types\n  help: use with_sharding_constraint for automatic axes, or make the axis \
             explicit with make_mesh_with or explicit_axes"
        ));
    }
    resharded(x, axes, &spec)
}

/// Computes a result that the compiler shards by `spec`, with all axes managed by the compiler.
/// Used for operations whose types alone do not determine the sharding.
#[track_caller]
pub(crate) fn placed_by_compiler(
    operation: &str,
    operands: &[&Array],
    spec: &PartitionSpec,
    f: impl FnOnce(&[Array]) -> Array,
) -> Array {
    let found = operands.iter().find_map(|x| x.aval().sharding());
    let context = Context::current();
    let Some(outside) = found.map(|s| s.mesh()).or(context.axes) else {
        fail(&format!(
            "{operation}: out_sharding is {spec}, but no mesh is current\n  help: make a mesh \
             with explicit axes current with `set_mesh(mesh)`"
        ))
    };
    let inside = outside.with_types(|_, t| match t {
        AxisType::Explicit => AxisType::Auto,
        other => other,
    });
    let given: Vec<Array> = operands
        .iter()
        .map(|x| cast_sharding(x, inside, &x.aval().spec()))
        .collect();
    let within = Context {
        axes: Some(inside),
        ..context
    };
    let out = within.within(|| f(&given));
    if let Err(e) = crate::types::sharding::check_out(outside, spec, out.ndim()) {
        fail(&e.render(operation, &[]));
    }
    cast_sharding(&out, outside, spec)
}

/// Returns the array's type (`jax.typeof`): shape, dtype, and on a mesh its sharding over
/// explicit axes and the manual axes over which it varies. `{}` prints `f32[8@x,2@y]`, `{:#}`
/// prints `float32[8@x,2@y]`.
#[doc(alias = "typeof")]
pub fn type_of(x: &Array) -> Aval {
    x.aval()
}

/// Wraps a function so that inside it the given axes of the current mesh have the type `to`.
/// Arguments and results are converted by their specs.
#[track_caller]
fn with_axes_as<F, M>(
    operation: &'static str,
    f: F,
    axes: AxisNames,
    to: AxisType,
    specs: Specs,
    specs_are_of_results: bool,
) -> Box<F::Fn<'static, F::Output>>
where
    F: Function<M> + 'static,
    M: 'static,
{
    F::untupled(move |args| {
        let Some(outside) = Context::current().axes else {
            fail(&format!(
                "{operation}: no mesh is current\n  help: make one current with `set_mesh(mesh)`"
            ))
        };
        let named = |n| axes.as_slice().is_empty() || axes.as_slice().contains(&n);
        let changes = |n, t| named(n) && t != AxisType::Manual;
        let inside = outside.with_types(|n, t| if changes(n, t) { to } else { t });
        let of = |x: &Array| x.aval().spec();
        let told = |what: &str, paths: &[String]| match specs.of_paths(what, paths) {
            Ok(specs) => specs,
            Err(e) => fail(&format!("{operation}: {e}")),
        };
        let paths = tree::paths(&args);
        let given: Vec<PartitionSpec> = if specs_are_of_results {
            tree::leaves(&args).iter().map(of).collect()
        } else {
            told("in_sharding", &paths)
        };
        let ins = tree::leaves(&args);
        let ins = ins
            .iter()
            .zip(&given)
            .map(|(x, spec)| cast_sharding(x, inside, spec));
        let args = tree::with_leaves(&args, ins.collect::<Vec<_>>());
        let context = Context {
            axes: Some(inside),
            ..Context::current()
        };
        let result = context.within(|| f.call(args));
        let wanted: Vec<PartitionSpec> = if specs_are_of_results {
            told("out_sharding", &tree::paths(&result))
        } else {
            tree::leaves(&result).iter().map(of).collect()
        };
        let outs = tree::leaves(&result);
        let outs = outs
            .iter()
            .zip(&wanted)
            .map(|(x, spec)| cast_sharding(x, outside, spec));
        tree::with_leaves(&result, outs.collect::<Vec<_>>())
    })
}

/// Wraps a function so that the given axes of the current mesh are managed by the compiler inside
/// it, all axes if none is given (`jax.sharding.auto_axes`). Results are sharded by
/// `out_sharding`.
///
/// ```no_run
/// use ramie_core::sharding::auto_axes;
/// use ramie_core::{jit, Array, P};
/// // `cumsum` along a sharded dimension has no sharding rule; the compiler finds a way.
/// let f = jit(auto_axes(|x: Array| x.cumsum(0), [], P!["x"]));
/// ```
///
/// # Panics
/// The returned function panics if no mesh is current, or specs do not fit.
#[track_caller]
pub fn auto_axes<F, M>(
    f: F,
    axes: impl Into<AxisNames>,
    out_sharding: impl Into<Specs>,
) -> Box<F::Fn<'static, F::Output>>
where
    F: Function<M> + 'static,
    M: 'static,
{
    let specs = out_sharding.into();
    with_axes_as("auto_axes", f, axes.into(), AxisType::Auto, specs, true)
}

/// Wraps a function so that the given axes of the current mesh are explicit inside it, all axes
/// if none is given (`jax.sharding.explicit_axes`). Arguments are sharded by `in_sharding`.
///
/// # Panics
/// The returned function panics if no mesh is current, or specs do not fit.
#[track_caller]
pub fn explicit_axes<F, M>(
    f: F,
    axes: impl Into<AxisNames>,
    in_sharding: impl Into<Specs>,
) -> Box<F::Fn<'static, F::Output>>
where
    F: Function<M> + 'static,
    M: 'static,
{
    let specs = in_sharding.into();
    with_axes_as(
        "explicit_axes",
        f,
        axes.into(),
        AxisType::Explicit,
        specs,
        false,
    )
}

/// Constrains the array's sharding by the current rules for its dimension names
/// (`flax.linen.with_logical_constraint`). If no rules or no mesh are current, returns the array
/// unchanged, so that the same model runs on one device. Inside a
/// [`shard_map`](crate::shard_map), manual axes are omitted.
///
/// ```no_run
/// use ramie_core::sharding::{set_logical_axis_rules, with_logical_constraint, LogicalAxisRules};
/// use ramie_core::{jit, make_mesh, set_mesh, Array, P};
/// let _mesh = set_mesh(make_mesh(&[4, 2], &["data", "model"])?);
/// let rules = LogicalAxisRules::new().rule("batch", "data").rule("mlp", "model");
/// let _rules = set_logical_axis_rules(rules);
/// let hidden = jit(|x: Array, w: Array| {
///     with_logical_constraint(&x.matmul(&w), P!["batch", "mlp"])
/// });
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics in the same cases as [`LogicalAxisRules::to_mesh`](crate::sharding::LogicalAxisRules::to_mesh) and
/// [`with_sharding_constraint`].
#[track_caller]
pub fn with_logical_constraint(x: &Array, logical: PartitionSpec) -> Array {
    let context = Context::current();
    let (Some(rules), Some(axes)) = (context.rules, context.axes) else {
        return x.clone();
    };
    let spec = rules.to_mesh(&logical);
    let free = |axis| axes.axis_type(axis) != Some(AxisType::Manual);
    with_sharding_constraint(x, spec.filtered(spec.entries().len(), free))
}

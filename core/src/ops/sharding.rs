//! How values are sharded, said in a program.

use crate::prim::sharding::{Reshard, ShardingConstraint};
use crate::sharding::{
    AbstractMesh, AxisType, Context, NamedSharding, PartitionSpec, Placed, Shardings, Specs,
    check_spec,
};
use crate::trace::{bind1, fail};
use crate::transform::{ArgTuple, Function};
use crate::{Array, Aval, AxisName, AxisNames, Tree, tree};

/// The value sharded so, where its mesh's axes are the compiler's matter.
#[track_caller]
pub(crate) fn constrain(x: &Array, sharding: NamedSharding) -> Array {
    let axes = sharding.mesh().abstract_mesh();
    let context = Context::current().axes.unwrap_or(axes);
    let explicit = |n| context.axis_type(n) == Some(AxisType::Explicit);
    match sharding.spec().axes().any(explicit) || x.aval().sharding().is_some() {
        true => resharded(x, context, sharding.spec()),
        false => bind1(ShardingConstraint { sharding }, &[x]),
    }
}

/// The value with its type sharded so.
#[track_caller]
pub(crate) fn resharded(x: &Array, axes: AbstractMesh, spec: &PartitionSpec) -> Array {
    retyped(x, axes, spec, false)
}

/// The value as it passes between axes that types speak of and those that the
/// compiler sees to.
#[track_caller]
fn cast(x: &Array, axes: AbstractMesh, spec: &PartitionSpec) -> Array {
    retyped(x, axes, spec, true)
}

#[track_caller]
fn retyped(x: &Array, axes: AbstractMesh, spec: &PartitionSpec, cast: bool) -> Array {
    let reshard = Reshard {
        axes,
        mesh: Context::current().mesh,
        spec: spec.clone(),
        cast,
    };
    bind1(reshard, &[x])
}

/// The tree with its arrays sharded so by the compiler
/// (`jax.lax.with_sharding_constraint`). Outside of traced functions the arrays
/// are laid out so. Dimensions with
/// [`SpecEntry::Unconstrained`](crate::SpecEntry::Unconstrained) are left to the
/// compiler.
///
/// ```no_run
/// use ramie_core::{Array, P, jit, make_mesh, with_mesh, with_sharding_constraint};
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
/// If a dimension does not come apart into equal parts, or a spec is given and
/// no mesh is current.
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

/// The mesh that explicit axes are of, for arrays of these types here.
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

/// The array with its type sharded by `spec` over explicit axes of the mesh; the
/// compiler moves the elements (`jax.sharding.reshard`).
///
/// # Panics
/// If no mesh is current and the array's type speaks of none, if `spec` names
/// axes that are not explicit, or a dimension does not come apart into equal
/// parts.
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
            "reshard: the axis {name:?} of {axes:?} is not explicit, so that types do not speak of \
             it\n  help: use with_sharding_constraint for automatic axes, or make the axis explicit \
             with make_mesh_with or explicit_axes"
        ));
    }
    resharded(x, axes, &spec)
}

/// A result that the compiler shards by `spec`, computed from operands with all
/// axes in its hands: for operations whose types alone do not say how to.
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
            "{operation}: out_sharding is {spec}, and no mesh is current\n  help: make a mesh with \
             explicit axes current with `set_mesh(mesh)`"
        ))
    };
    let inside = outside.with_types(|_, t| match t {
        AxisType::Explicit => AxisType::Auto,
        other => other,
    });
    let given: Vec<Array> = operands
        .iter()
        .map(|x| cast(x, inside, &x.aval().spec()))
        .collect();
    let within = Context {
        axes: Some(inside),
        ..context
    };
    let out = within.within(|| f(&given));
    if let Err(e) = crate::sharding::check_out(outside, spec, out.ndim()) {
        fail(&e.render(operation, &[]));
    }
    cast(&out, outside, spec)
}

/// The array's type (`jax.typeof`): shape, element type, and on a mesh how it is
/// sharded over explicit axes and over which manual axes it varies. `{}` prints
/// `f32[8@x,2@y]`, `{:#}` prints `float32[8@x,2@y]`.
pub fn type_of(x: &Array) -> Aval {
    x.aval()
}

/// A function inside of which the named axes of the current mesh are `to`, with
/// arguments and results that pass in and out by their specs.
#[track_caller]
fn with_axes_as<F, M>(
    operation: &'static str,
    f: F,
    axes: AxisNames,
    to: AxisType,
    specs: Specs,
    specs_are_of_results: bool,
) -> Box<<F::Args as ArgTuple>::Fn<'static, F::Output>>
where
    F: Function<M> + 'static,
    M: 'static,
{
    F::Args::spread(move |args| {
        let Some(outside) = Context::current().axes else {
            fail(&format!(
                "{operation}: no mesh is current\n  help: make one current with `set_mesh(mesh)`"
            ))
        };
        let named = |n| axes.as_slice().is_empty() || axes.as_slice().contains(&n);
        let inside = outside.with_types(|n, t| match named(n) && t != AxisType::Manual {
            true => to,
            false => t,
        });
        let of = |x: &Array| x.aval().spec();
        let told = |what: &str, paths: &[String]| match specs.of_paths(what, paths) {
            Ok(specs) => specs,
            Err(e) => fail(&format!("{operation}: {e}")),
        };
        let paths = tree::paths(&args);
        let given: Vec<PartitionSpec> = match specs_are_of_results {
            true => tree::leaves(&args).iter().map(of).collect(),
            false => told("in_sharding", &paths),
        };
        let ins = tree::leaves(&args);
        let ins = ins
            .iter()
            .zip(&given)
            .map(|(x, spec)| cast(x, inside, spec));
        let args = tree::with_leaves(&args, ins.collect::<Vec<_>>());
        let context = Context {
            axes: Some(inside),
            ..Context::current()
        };
        let result = context.within(|| f.call(args));
        let wanted: Vec<PartitionSpec> = match specs_are_of_results {
            true => told("out_sharding", &tree::paths(&result)),
            false => tree::leaves(&result).iter().map(of).collect(),
        };
        let outs = tree::leaves(&result);
        let outs = outs
            .iter()
            .zip(&wanted)
            .map(|(x, spec)| cast(x, outside, spec));
        tree::with_leaves(&result, outs.collect::<Vec<_>>())
    })
}

/// The function with the named axes of the current mesh in the hands of the
/// compiler, all if none is named (`jax.sharding.auto_axes`). Results are sharded
/// by `out_sharding`.
///
/// ```no_run
/// use ramie_core::{Array, P, auto_axes, jit};
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
) -> Box<<F::Args as ArgTuple>::Fn<'static, F::Output>>
where
    F: Function<M> + 'static,
    M: 'static,
{
    let specs = out_sharding.into();
    with_axes_as("auto_axes", f, axes.into(), AxisType::Auto, specs, true)
}

/// The function with the named axes of the current mesh in types, all if none is
/// named (`jax.sharding.explicit_axes`). Arguments are sharded by `in_sharding`.
///
/// # Panics
/// The returned function panics if no mesh is current, or specs do not fit.
#[track_caller]
pub fn explicit_axes<F, M>(
    f: F,
    axes: impl Into<AxisNames>,
    in_sharding: impl Into<Specs>,
) -> Box<<F::Args as ArgTuple>::Fn<'static, F::Output>>
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

//! `shard_map`: runs a function on each device of a mesh, on the device's shards.

use super::{ArgTuple, Function};
use crate::base::location;
use crate::base::location::fail;
use crate::extend::Jaxpr;
use crate::prim::sharding::ShardMap;
use crate::program::jaxpr::ClosedJaxpr;
use crate::program::specs::Specs;
use crate::program::{trace, tree};
use crate::sharding::{AbstractMesh, AxisName, AxisType};
use crate::types::sharding::{Context, Mesh, PartitionSpec, check_spec};
use crate::typing::AxisNames;
use crate::{Array, Aval};
use std::panic::Location;
use std::sync::Arc;

/// Takes the specs of a `shard_map`'s arguments from their types over explicit mesh axes
/// (`jax.sharding.Infer`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Infer;

/// The specs of a `shard_map`'s arguments. [`Specs`] and [`Infer`] convert into it.
#[derive(Clone, Debug)]
pub enum InSpecs {
    /// The spec of each array.
    Specs(Box<Specs>),
    /// The specs of the arrays' types. All axes that are manual in the function must be explicit.
    Infer,
}

impl<S: Into<Specs>> From<S> for InSpecs {
    fn from(specs: S) -> InSpecs {
        InSpecs::Specs(Box::new(specs.into()))
    }
}
impl From<Infer> for InSpecs {
    fn from(_: Infer) -> InSpecs {
        InSpecs::Infer
    }
}

/// Options of [`shard_map_with`].
///
/// ```no_run
/// use ramie_core::lax::psum;
/// use ramie_core::options::ShardMapOptions;
/// use ramie_core::{make_mesh, shard_map_with, Array, P};
/// let mesh = make_mesh(&[4, 2], &["x", "y"])?;
/// // Along `y` the compiler still chooses.
/// let options = ShardMapOptions {
///     mesh: Some(mesh),
///     axis_names: Some("x".into()),
///     ..ShardMapOptions::new(P!["x"], P![])
/// };
/// let sum = shard_map_with(|x: Array| psum(&x.sum(), "x"), options);
/// # Ok::<(), ramie_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShardMapOptions {
    /// Mesh to use. Defaults to the current one.
    pub mesh: Option<Mesh>,
    /// Specs by which the arguments' arrays are split into shards, or [`Infer`].
    pub in_specs: InSpecs,
    /// Specs by which the results' arrays are assembled from shards. The result is the same along
    /// axes that a spec omits.
    pub out_specs: Specs,
    /// Mesh axes that are manual in the function. Defaults to all.
    pub axis_names: Option<AxisNames>,
    /// Whether types track the mesh axes over which values may vary, and results are checked to
    /// be the same where `out_specs` requires it. Defaults to `true`.
    pub check_vma: bool,
}

impl ShardMapOptions {
    /// Creates options with these specs, over all axes of the current mesh.
    pub fn new(in_specs: impl Into<InSpecs>, out_specs: impl Into<Specs>) -> ShardMapOptions {
        ShardMapOptions {
            mesh: None,
            in_specs: in_specs.into(),
            out_specs: out_specs.into(),
            axis_names: None,
            check_vma: true,
        }
    }
}

/// Returns a function that runs `f` on each device of `mesh`, on the device's shards of the
/// arguments (`jax.shard_map`). Arrays in `f` are shards of one device, and collectives such as
/// [`psum`](crate::lax::psum) communicate along the axes of the mesh.
///
/// ```no_run
/// use ramie_core::lax::pmean;
/// use ramie_core::{make_mesh, shard_map, Array, P};
/// let mesh = make_mesh(&[2, 4], &["x", "y"])?;
/// let slice_and_average = |x: Array| pmean(&x.slice_in_dim(0, 4, 1, 0), ["x", "y"]);
/// let f = shard_map(slice_and_average, mesh, P![("x", "y")], P![]);
/// assert_eq!(f(Array::arange(512)).shape(), [4]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// Over explicit axes, [`Infer`] takes the specs of the arguments from their types:
///
/// ```no_run
/// use ramie_core::lax::psum;
/// use ramie_core::sharding::{AxisType, Infer, make_mesh_with};
/// use ramie_core::{Array, DType, P, set_mesh, shard_map};
/// let mesh = make_mesh_with(&[8], &["x"], AxisType::Explicit)?;
/// let _current = set_mesh(mesh);
/// let x = Array::full_with(&[16], 1, DType::F32, P!["x"]);
/// let sum = shard_map(|x: Array| psum(&x.sum(), "x"), mesh, Infer, P![])(x);
/// assert_eq!(sum.item::<f32>(), 16.0);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// The returned function panics if `f` panics, if a spec names an axis that the mesh does not
/// have or does not fit its array, and if a result may vary over an axis that its spec in
/// `out_specs` omits.
#[track_caller]
pub fn shard_map<'f, F, M>(
    f: F,
    mesh: Mesh,
    in_specs: impl Into<InSpecs>,
    out_specs: impl Into<Specs>,
) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let options = ShardMapOptions {
        mesh: Some(mesh),
        ..ShardMapOptions::new(in_specs, out_specs)
    };
    shard_map_with(f, options)
}

/// Same as [`shard_map`], with all its options.
///
/// # Panics
/// Panics in the same cases as [`shard_map`], and if no mesh is given and none is current.
#[track_caller]
pub fn shard_map_with<'f, F, M>(f: F, options: ShardMapOptions) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let at = Location::caller();
    if let InSpecs::Specs(specs) = &options.in_specs
        && let Some(n) = specs.count()
        && n != F::Args::COUNT
    {
        fail(&format!(
            "shard_map: in_specs has {n} entries for the {} arguments of the function\n  help: \
             pass a spec for each argument, or one for all",
            F::Args::COUNT
        ));
    }
    F::untupled(move |args| location::at_location(at, || apply(&f, args, &options, at)))
}

#[track_caller]
fn refuse(at: &'static Location<'static>, message: &str) -> ! {
    panic!("shard_map: {message}\n  shard_map was called at {at}")
}

/// Checks a mesh that is passed where another one holds: a program is divided over one mesh.
fn check_mesh(passed: AbstractMesh, current: AbstractMesh, at: &'static Location<'static>) {
    let alike = passed.axis_names() == current.axis_names();
    // A mesh that is only current gives way; one that an enclosing shard_map divides over cannot.
    let differs = if alike {
        passed.axis_sizes() != current.axis_sizes()
    } else {
        current.has(AxisType::Manual)
    };
    if differs {
        refuse(
            at,
            &format!(
                "the mesh ({}) is not the current one ({})\n  help: pass no mesh, or divide over axes of \
                 one mesh with axis_names",
                passed.describe(),
                current.describe()
            ),
        );
    }
}

/// Returns the description of a call, without the program.
fn frame(options: &ShardMapOptions, at: &'static Location<'static>) -> ShardMap {
    let context = Context::current();
    let mesh = options.mesh.or(context.mesh);
    if let (Some(mesh), Some(axes)) = (options.mesh, context.axes) {
        check_mesh(mesh.abstract_mesh(), axes, at);
    }
    let around = match (options.mesh, context.axes) {
        // Inside another shard_map some axes are already manual.
        (Some(mesh), Some(axes)) if mesh.axis_names() == axes.axis_names() => Some(axes),
        (Some(mesh), _) => Some(mesh.abstract_mesh()),
        (None, axes) => axes,
    };
    let Some(axes) = around else {
        refuse(
            at,
            "no mesh was passed, and none is current\n  help: pass one in ShardMapOptions, or make \
             one current with `set_mesh(mesh)`",
        )
    };
    let free = |n: &AxisName| axes.axis_type(*n) != Some(AxisType::Manual);
    let manual: Vec<AxisName> = match &options.axis_names {
        None => axes.axis_names().iter().copied().filter(free).collect(),
        Some(names) => {
            for name in names.as_slice() {
                if axes.position(*name).is_none() {
                    refuse(
                        at,
                        &format!(
                            "axis_names contains {name:?}, which the mesh ({}) does not have\n  help: \
                             use axes of the mesh",
                            axes.describe()
                        ),
                    );
                }
                if !free(name) {
                    refuse(
                        at,
                        &format!(
                            "axis_names contains {name:?}, which is already manual here\n  help: \
                             remove it; the function may still use it"
                        ),
                    );
                }
            }
            // In the order of the mesh, whatever the order in `axis_names`.
            let chosen = |n: &AxisName| names.as_slice().contains(n);
            axes.axis_names().iter().copied().filter(chosen).collect()
        }
    };
    ShardMap {
        // A placeholder, which `bind` replaces by the traced program.
        jaxpr: Arc::new(Jaxpr::new(vec![], vec![], vec![], vec![], vec![])),
        axes,
        mesh,
        manual,
        in_specs: Vec::new(),
        out_specs: Vec::new(),
        check_vma: options.check_vma,
    }
}

fn apply<F: Function<M>, M>(
    f: &F,
    args: F::Args,
    options: &ShardMapOptions,
    at: &'static Location<'static>,
) -> F::Output {
    let map = frame(options, at);
    let paths = tree::paths(&args);
    let leaves = tree::leaves(&args);
    let in_specs = match &options.in_specs {
        InSpecs::Specs(specs) => match specs.of_paths("in_specs", &paths) {
            Ok(specs) => specs,
            Err(e) => refuse(at, &e),
        },
        InSpecs::Infer => inferred(&map, &leaves, at),
    };
    let mut locals = Vec::with_capacity(leaves.len());
    for ((leaf, spec), path) in leaves.iter().zip(&in_specs).zip(&paths) {
        let checked = check(&map, spec).and_then(|()| map.shard(spec, leaf.aval()));
        match checked {
            Ok(local) => locals.push(local),
            Err(e) => {
                let what = format!("argument `{path}`, in_specs {spec}");
                refuse(at, &e.render(&what, &[]));
            }
        }
    }
    // The traced closure returns arrays, and its tree leaves it here.
    let mut result = None;
    let program = map.scope(|| {
        trace::trace_to_jaxpr(&locals, |tracers| {
            let args = tree::with_leaves(&args, tracers.iter().cloned());
            let out = location::in_user_code(|| f.call(args));
            let leaves = tree::leaves(&out);
            result = Some(out);
            leaves
        })
    });
    let result = result.expect("the function ran");
    let names = tree::paths(&result);
    let out_specs = match options.out_specs.of_paths("out_specs", &names) {
        Ok(specs) => specs,
        Err(e) => refuse(at, &e),
    };
    check_results(&map, &program, &out_specs, &names, at);
    let outs = map.bind(program, &leaves, &in_specs, out_specs);
    tree::with_leaves(&result, outs)
}

/// Returns the specs of the types of arrays along the axes that become manual.
fn inferred(
    map: &ShardMap,
    leaves: &[Array],
    at: &'static Location<'static>,
) -> Vec<PartitionSpec> {
    let explicit = |n: AxisName| map.axes.axis_type(n) == Some(AxisType::Explicit);
    if let Some(name) = map.manual.iter().find(|n| !explicit(**n)) {
        refuse(
            at,
            &format!(
                "in_specs is Infer, but the mesh axis {name:?} of ({}) is not explicit\n  help: pass \
                 the spec of each argument, or make the mesh with `make_mesh_with(.., \
                 AxisType::Explicit)`",
                map.axes.describe()
            ),
        );
    }
    let specs = leaves.iter().map(|leaf| {
        let aval = leaf.aval();
        let manual = |n| map.manual.contains(&n);
        aval.spec().filtered(aval.ndim(), manual)
    });
    specs.collect()
}

/// Checks that a spec names axes of the mesh, and only axes that become manual.
fn check(map: &ShardMap, spec: &PartitionSpec) -> Result<(), crate::ShapeError> {
    check_spec(map.axes, spec)?;
    if let Some(name) = spec.axes().find(|a| !map.manual.contains(a)) {
        return Err(crate::ShapeError::new(format!(
            "{spec} contains {name:?}, which is not one of the manual axes {:?}",
            map.manual
        ))
        .help(
            "add it to axis_names, or remove it from the spec: shardings along other axes are \
             preserved",
        ));
    }
    Ok(())
}

/// Checks that results fit their specs, and are the same along the axes that these omit.
fn check_results(
    map: &ShardMap,
    program: &ClosedJaxpr,
    specs: &[PartitionSpec],
    paths: &[String],
    at: &'static Location<'static>,
) {
    let outs: Vec<Aval> = program.jaxpr.out_avals();
    for ((aval, spec), path) in outs.iter().zip(specs).zip(paths) {
        let place = if path.is_empty() {
            "the result".to_string()
        } else {
            format!("the result `{path}`")
        };
        if let Err(e) = check(map, spec) {
            refuse(at, &e.render(&format!("{place}, out_specs {spec}"), &[]));
        }
        if spec.entries().len() > aval.ndim() {
            refuse(
                at,
                &format!(
                    "out_specs {spec} has {} entries for {place}, which is {aval}\n  help: pass at \
                     most one entry for each dimension; a 0-d result cannot be assembled, so add a \
                     dimension with reshape(&[1]) or reduce it with psum",
                    spec.entries().len()
                ),
            );
        }
        let mentioned: Vec<AxisName> = spec.axes().collect();
        let loose = aval.varying_set().without(&mentioned);
        // Values may vary over the axes of an enclosing `shard_map`, whose own `out_specs` are
        // checked.
        let loose: Vec<AxisName> = loose
            .as_slice()
            .iter()
            .copied()
            .filter(|n| map.manual.contains(n))
            .collect();
        if map.check_vma && !loose.is_empty() {
            refuse(
                at,
                &format!(
                    "{place} is {aval}, and out_specs {spec} requires it to be the same along \
                     {loose:?}, which can't be statically inferred\n  help: reduce or gather it \
                     over {loose:?} (psum, pmean, all_gather), add the axes to out_specs, or pass \
                     check_vma: false to disable this check"
                ),
            );
        }
    }
}

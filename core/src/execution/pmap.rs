//! `pmap`: runs a function on several devices, each for one example.

use crate::base::location::{self, Caller, fail};
use crate::extend::Jaxpr;
use crate::prim::sharding::ShardMap;
use crate::program::{trace, tree};
use crate::sharding::AxisName;
use crate::transform::map_axes::MapAxes;
use crate::transform::vmap::batch_axes;
use crate::transform::{ArgTuple, Function};
use crate::types::sharding::{AbstractMesh, AxisType, Mesh, PartitionSpec, SpecEntry};
use crate::{Array, Device, Tree, jit};
use std::sync::Arc;

/// Options of [`pmap_with`].
///
/// ```no_run
/// use ramie_core::lax::psum;
/// use ramie_core::options::PmapOptions;
/// use ramie_core::{devices, pmap_with, Array};
/// let share = |x: Array| &x / psum(&x, "i");
/// let options = PmapOptions {
///     axis_name: Some("i".into()),
///     devices: Some(devices()[4..].to_vec()),
///     ..PmapOptions::default()
/// };
/// let out = pmap_with(share, options)(Array::from([1.0f32, 2.0, 1.0, 4.0]));
/// ```
#[derive(Clone, Debug)]
pub struct PmapOptions {
    /// Mapped axis of the arguments' arrays: each device gets one index along it. Defaults to the
    /// first. `None` passes the whole array to all devices.
    pub in_axes: MapAxes,
    /// Position of the mapped axis in results. Defaults to the first. `None` asserts that a
    /// result is the same on all devices.
    pub out_axes: MapAxes,
    /// Name of the mapped axis, for collectives in the function.
    pub axis_name: Option<AxisName>,
    /// Devices to use, as many as the size of the mapped axis. Defaults to the first devices.
    pub devices: Option<Vec<Device>>,
    /// Number of devices, required only if no argument has a mapped axis.
    pub axis_size: Option<usize>,
}

impl Default for PmapOptions {
    fn default() -> Self {
        PmapOptions {
            in_axes: 0.into(),
            out_axes: 0.into(),
            axis_name: None,
            devices: None,
            axis_size: None,
        }
    }
}

/// Compiles the function and runs it on as many devices as the size of the first axis of its
/// arguments' arrays, each for one index of that axis (`jax.pmap`). Results have that axis first,
/// and stay on the devices.
///
/// This is [`shard_map`](crate::shard_map) inside [`jit`](crate::jit) over a mesh with one axis.
/// In contrast to `shard_map`, the function sees arrays without the mapped axis.
///
/// ```no_run
/// use ramie_core::{Array, DType, pmap};
/// let square = pmap(|x: Array| &x * &x);
/// let x = Array::iota(&[8, 3], 0, DType::F32);
/// assert_eq!(square(x).shape(), [8, 3]);
/// ```
///
/// # Panics
/// The returned function panics if `f` panics, if an array has no axes, if sizes differ, or if
/// there are fewer devices than indices.
#[track_caller]
pub fn pmap<'f, F, M>(f: F) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    pmap_with(f, PmapOptions::default())
}

/// Same as [`pmap`], with all its options: axes, a name for the mapped axis, the devices.
///
/// # Panics
/// Panics if `in_axes` is a list whose length is not the number of arguments. The returned
/// function panics in the same cases as that of [`pmap`], and if the number of `devices` is not
/// the size of the mapped axis.
#[track_caller]
pub fn pmap_with<'f, F, M>(f: F, options: PmapOptions) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let caller = Caller::of("pmap");
    options.in_axes.check_arguments("pmap", F::Args::COUNT);
    let staged = jit(move |args: F::Args| apply(&f, args, &options, caller));
    F::untupled(move |args| location::at_location(caller.at, || staged(args)))
}

fn refuse(caller: Caller, message: &str) -> ! {
    panic!("pmap: {message}\n  {caller}")
}

/// Returns a mesh with one axis of `size` over the devices.
fn mesh(options: &PmapOptions, size: usize, caller: Caller) -> (Mesh, AxisName) {
    let name = options.axis_name.unwrap_or_else(|| "<axis of pmap>".into());
    let axes = AbstractMesh::new(&[size], &[name.as_str()], AxisType::Auto);
    let mesh = match &options.devices {
        Some(devices) if devices.len() == size => Mesh::new(devices, axes),
        Some(devices) => refuse(
            caller,
            &format!(
                "{} devices were passed, but the mapped axis has size {size}\n  help: pass a \
                 device for each index of the axis",
                devices.len()
            ),
        ),
        None => {
            let all = crate::devices();
            match all.get(..size) {
                Some(devices) => Mesh::new(devices, axes),
                None => refuse(
                    caller,
                    &format!(
                        "the mapped axis has size {size}, but there are {} devices\n  help: map \
                         the rest with `vmap` in the function, or shard it with `jit`",
                        all.len()
                    ),
                ),
            }
        }
    };
    (mesh, name)
}

/// Returns a spec that shards dimension `at` over the axis.
fn along(name: AxisName, at: Option<usize>) -> PartitionSpec {
    match at {
        None => PartitionSpec::default(),
        Some(at) => PartitionSpec::default().inserted(at, SpecEntry::from(&[name][..])),
    }
}

fn apply<F: Function<M>, M>(
    f: &F,
    args: F::Args,
    options: &PmapOptions,
    caller: Caller,
) -> F::Output {
    let leaves = tree::leaves(&args);
    let paths = tree::paths(&args);
    let given = options.in_axes.of("in_axes", &args, caller);
    let (axes, size) = batch_axes(&leaves, &paths, &given, options.axis_size, caller);
    let (mesh, name) = mesh(options, size, caller);
    let map = ShardMap {
        // A placeholder, which `bind` replaces by the traced program.
        jaxpr: Arc::new(Jaxpr::new(vec![], vec![], vec![], vec![], vec![])),
        axes: mesh.abstract_mesh(),
        mesh: Some(mesh),
        manual: vec![name],
        in_specs: Vec::new(),
        out_specs: Vec::new(),
        check_vma: false,
    };
    let in_specs: Vec<PartitionSpec> = axes.iter().map(|at| along(name, *at)).collect();
    let locals = leaves.iter().zip(&in_specs).map(|(leaf, spec)| {
        let local = map.shard(spec, leaf.aval());
        local.unwrap_or_else(|e| fail(&e.render("pmap", &[])))
    });
    let locals: Vec<_> = locals.collect();
    let mut found = None;
    let program = map.scope(|| {
        trace::trace_to_jaxpr(&locals, |tracers| {
            // The axis has an index for each device, so a shard has size 1 along it: `[8, 3]`
            // becomes `[1, 3]`, and `f` gets `[3]`.
            let examples = tracers.iter().zip(&axes).map(|(x, at)| match at {
                Some(at) => x.squeeze(&[*at as isize]),
                None => x.clone(),
            });
            let args = tree::with_leaves(&args, examples.collect::<Vec<_>>());
            let out = location::in_user_code(|| f.call(args));
            let results = tree::leaves(&out);
            let out_axes = result_axes(&out, &results, options, caller);
            // Shards are assembled along an axis of size 1: `[3]` becomes `[1, 3]`, and the result
            // is `[8, 3]`.
            let wide = results.iter().zip(&out_axes).map(|(x, at)| match at {
                Some(at) => x.expand_dims(&[*at as isize]),
                None => x.clone(),
            });
            let wide = wide.collect();
            found = Some((out, out_axes));
            wide
        })
    });
    let (result, out_axes) = found.expect("the function ran");
    let out_specs = out_axes.iter().map(|at| along(name, *at)).collect();
    let outs = map.bind(program, &leaves, &in_specs, out_specs);
    tree::with_leaves(&result, outs)
}

/// Returns the position of the mapped axis in each result.
fn result_axes<T: Tree>(
    out: &T,
    results: &[Array],
    options: &PmapOptions,
    caller: Caller,
) -> Vec<Option<usize>> {
    let wanted = options.out_axes.of("out_axes", out, caller);
    let normalized = |(x, wanted): (&Array, Option<isize>)| {
        let wanted = wanted?;
        let rank = x.ndim() as isize + 1;
        let to = if wanted < 0 { wanted + rank } else { wanted };
        if !(0..rank).contains(&to) {
            let message = format!(
                "out_axis {wanted} is out of range for a result of {rank} axes\n  help: out_axes \
                 counts the axes of the whole result, from {} to {}",
                -rank,
                rank - 1
            );
            refuse(caller, &message);
        }
        Some(to as usize)
    };
    results.iter().zip(wanted).map(normalized).collect()
}

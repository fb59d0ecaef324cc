//! `vmap`: applies a function to many examples at once.

use super::map_axes::VmapOptions;
use super::{ArgTuple, Function};
use crate::base::location::{self, Caller};
use crate::passes::batch_eval;
use crate::prim::{BatchAxis, example};
use crate::program::array::Repr;
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::sharding::AxisName;
use crate::types::axis;
use crate::types::sharding::SpecEntry;
use crate::{Array, Tree};

/// Returns a function that applies `f` to every example along the first axis of each array of its
/// arguments, all at once. Results are stacked along their first axis (`jax.vmap`).
///
/// ```no_run
/// use ramie_core::{Array, vmap};
/// let dot = |a: Array, b: Array| (&a * &b).sum_over(0);
/// let batch = Array::from(vec![1.0f32, 2.0, 3.0, 4.0]).reshape(&[2, 2]);
/// assert_eq!(vmap(dot)(batch.clone(), batch).to_vec::<f32>(), [5.0, 25.0]);
/// ```
///
/// # Panics
/// The returned function panics if an array has no axes, or if sizes differ.
#[track_caller]
pub fn vmap<'f, F, M>(f: F) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    vmap_with(f, VmapOptions::default())
}

/// Same as [`vmap`], with the batch axes of the arguments (`in_axes`; see
/// [`MapAxes`](crate::typing::MapAxes)), a pair of the axes of the arguments and of the results
/// (`out_axes`), or all options.
///
/// ```
/// use ramie_core::{Array, vmap_with};
/// let scaled = |scale: Array, x: Array| x * scale;
/// let out = vmap_with(scaled, [None, Some(0)])(Array::from(2.0f32), Array::from([1.0f32, 3.0]));
/// assert_eq!(out.to_vec::<f32>(), [2.0, 6.0]);
/// ```
///
/// With `sum_match`, a result that depends on the example is summed where `out_axes` is `None`:
///
/// ```
/// use ramie_core::options::VmapOptions;
/// use ramie_core::{Array, vmap_with};
/// let options = VmapOptions { out_axes: None.into(), sum_match: true, ..VmapOptions::default() };
/// let sum = vmap_with(|x: Array| x * 2.0, options)(Array::from([0.0f32, 1.0, 2.0]));
/// assert_eq!(sum.item::<f32>(), 6.0);
/// ```
///
/// # Panics
/// Panics if `in_axes` is a list whose length is not the number of arguments. The returned
/// function panics if no argument has a batch axis and `axis_size` is not set, if an array lacks
/// its batch axis, if sizes differ, and if a result that `out_axes` marks as the same for all
/// examples depends on the example, unless `sum_match` is set.
#[track_caller]
pub fn vmap_with<'f, F, M>(f: F, options: impl Into<VmapOptions>) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let options = options.into();
    let caller = Caller::of("vmap");
    options.in_axes.check_arguments("vmap", F::Args::COUNT);
    F::untupled(move |args| apply(&f, args, &options, caller))
}

fn apply<F: Function<M>, M>(
    f: &F,
    args: F::Args,
    options: &VmapOptions,
    caller: Caller,
) -> F::Output {
    let leaves = tree::leaves(&args);
    let paths = tree::paths(&args);
    let given = options.in_axes.of("in_axes", &args, caller);
    let (axes, size) = batch_axes(&leaves, &paths, &given, options.axis_size, caller);
    // `f` is traced for one example: an array `[8, 3]` with batch axis 0 is `[3]` in it.
    let mut next = leaves.iter().zip(&axes);
    let examples: F::Args = args.rebuild(&mut |_| {
        let (leaf, axis) = next.next().expect("as many arrays");
        Array(Repr::Abstract(example(leaf.aval(), *axis), None))
    });
    let axis = BatchAxis {
        size,
        name: options.axis_name,
        spmd: match &options.spmd_axis_name {
            Some(names) => crate::types::axis::kept(names.as_slice()),
            None => &[],
        },
        explicit: explicit_axes(&leaves, &paths, &axes, caller),
    };
    // The name is bound while `f` runs, so that its collectives find the axis.
    let traced = axis::with_axis(axis.name, size, || {
        location::at_location(caller.at, || trace_tree(&examples, |args| f.call(args)))
    });
    let program = &traced.program;
    // The batch axis of a result is `None` if all examples share the result.
    let (outs, out_axes) = batch_eval(&program.jaxpr, &program.consts, &leaves, &axes, axis);
    let wanted = options.out_axes.of("out_axes", &traced.result, caller);
    let paths = tree::paths(&traced.result);
    let all = outs.iter().zip(out_axes).zip(wanted).zip(&paths);
    let placed = all.map(|(((out, out_axis), wanted), path)| match wanted {
        Some(wanted) => placed(out, out_axis, wanted, axis, caller),
        None => match out_axis {
            Some(at) if options.sum_match => out.sum_over(at as isize),
            found => {
                expect_shared(found, path, caller);
                out.clone()
            }
        },
    });
    let outs: Vec<Array> = placed.collect();
    tree::with_leaves(&traced.result, outs)
}

/// Moves the batch axis of a result to the index `wanted`, which may count from the end.
fn placed(
    out: &Array,
    found: Option<usize>,
    wanted: isize,
    axis: BatchAxis,
    caller: Caller,
) -> Array {
    // A result without a batch axis gets one, since it is broadcast over the examples.
    let rank = out.ndim() as isize + isize::from(found.is_none());
    let to = if wanted < 0 { wanted + rank } else { wanted };
    assert!(
        (0..rank).contains(&to),
        "vmap: out_axis {wanted} is out of range for a result of {rank} axes\n  {caller}\n  help: \
         out_axes counts the axes of the batched result, from {} to {}",
        -rank,
        rank - 1
    );
    crate::prim::move_batch_axis(out, found, to as usize, axis)
}

/// Panics if a result without an axis differs between examples.
fn expect_shared(found: Option<usize>, path: &str, caller: Caller) {
    let result = || match path {
        "" => "the result".to_string(),
        path => format!("the result `{path}`"),
    };
    assert!(
        found.is_none(),
        "vmap: out_axes requires {} to be the same for all examples, but it depends on them\n  \
         {caller}\n  help: set its axis in out_axes, or reduce it over the mapped axis, for example \
         with `pmean`, or with sum_match in VmapOptions",
        result()
    );
}

/// Returns the explicit mesh axes along which examples are sharded, which are the same for all
/// batched arrays.
fn explicit_axes(
    leaves: &[Array],
    paths: &[String],
    axes: &[Option<usize>],
    caller: Caller,
) -> &'static [AxisName] {
    let mut found: Option<(SpecEntry, &String)> = None;
    for ((leaf, axis), path) in leaves.iter().zip(axes).zip(paths) {
        let Some(axis) = *axis else { continue };
        let entry = leaf.aval().spec().entry(axis).clone();
        match &found {
            Some((other, who)) if *other != entry => panic!(
                "vmap: Mapped away dimension of inputs passed to vmap should be sharded the same. \
                 Got inconsistent axis specs: {other} of argument `{who}` vs {entry} of argument \
                 `{path}`\n  {caller}\n  help: reshard one of them to the other's \
                 sharding with `reshard`"
            ),
            Some(_) => {}
            None => found = Some((entry, path)),
        }
    }
    let names = found.map_or(&[][..], |(entry, _)| crate::types::axis::kept(entry.axes()));
    // Results of such an array and a batched one would be sharded over a mesh axis twice, in the
    // batch axis and in another one, which types do not allow.
    for ((leaf, axis), path) in leaves.iter().zip(axes).zip(paths) {
        let aval = leaf.aval();
        assert!(
            axis.is_some() || !aval.spec().axes().any(|a| names.contains(&a)),
            "vmap: Unmapped values passed to vmap cannot be sharded along the mesh axis you are \
             vmapping over. Argument `{path}` is {aval}, the examples are sharded over {names:?}\n  \
             {caller}\n  help: unshard it along that axis with `reshard`"
        );
    }
    names
}

/// Returns the batch axis of each array, and the number of examples.
pub(crate) fn batch_axes(
    leaves: &[Array],
    paths: &[String],
    given: &[Option<isize>],
    axis_size: Option<usize>,
    caller: Caller,
) -> (Vec<Option<usize>>, usize) {
    let mut axes: Vec<Option<usize>> = Vec::with_capacity(leaves.len());
    // The size with its origin, for the message about an array of another size.
    let mut size: Option<(usize, String)> = axis_size.map(|n| (n, format!("axis_size is {n}")));
    for ((leaf, axis), path) in leaves.iter().zip(given).zip(paths) {
        let Some(axis) = *axis else {
            axes.push(None);
            continue;
        };
        let rank = leaf.ndim() as isize;
        let normal = if axis < 0 { axis + rank } else { axis };
        assert!(
            (0..rank).contains(&normal),
            "{}: argument `{path}` is {}, which has no axis {axis} to batch over\n  {caller}\n  help: \
             add an axis with expand_dims, or set its in_axes to None",
            caller.operation,
            leaf.aval()
        );
        let n = leaf.shape()[normal as usize];
        match &size {
            Some((other, who)) if *other != n => panic!(
                "{}: batch sizes differ: {who}, argument `{path}` has {n}\n  {caller}\n  help: batched \
                 axes must have the same size; set in_axes to None for arrays that are the same \
                 for all examples",
                caller.operation
            ),
            Some(_) => {}
            None => size = Some((n, format!("argument `{path}` has {n}"))),
        }
        axes.push(Some(normal as usize));
    }
    let Some((size, _)) = size else {
        panic!(
            "{}: no argument has a batch axis\n  {caller}\n  help: set an axis in in_axes, or set \
             axis_size",
            caller.operation
        );
    };
    (axes, size)
}

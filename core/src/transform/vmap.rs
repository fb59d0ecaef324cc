//! Batching: a jaxpr evaluated for many examples at once.

use super::{ArgTuple, Function};
use crate::jaxpr::{Atom, Jaxpr, read};
use crate::trace::{self, at_location, bind_arc};
use crate::{Array, Tree, tree};
use smallvec::SmallVec;
use std::panic::Location;

/// Evaluates a jaxpr with some inputs batched; captured values are not.
pub(crate) fn batch_eval(
    jaxpr: &Jaxpr,
    consts: &[Array],
    args: &[Array],
    axes: &[Option<usize>],
    size: usize,
) -> (Vec<Array>, Vec<Option<usize>>) {
    let mut values: Vec<Option<Array>> = vec![None; jaxpr.num_vars()];
    let mut places: Vec<Option<usize>> = vec![None; jaxpr.num_vars()];
    for (v, a) in jaxpr.constvars.iter().zip(consts) {
        values[v.index()] = Some(a.clone());
    }
    for ((v, a), ax) in jaxpr.invars.iter().zip(args).zip(axes) {
        values[v.index()] = Some(a.clone());
        places[v.index()] = *ax;
    }
    let place = |places: &[Option<usize>], atom: &Atom| match atom {
        Atom::Var(v) => places[v.index()],
        Atom::Literal(_) => None,
    };
    for eqn in &jaxpr.eqns {
        let ins: SmallVec<[Array; 4]> = eqn.inputs.iter().map(|a| read(&values, a)).collect();
        let axes: SmallVec<[Option<usize>; 4]> =
            eqn.inputs.iter().map(|a| place(&places, a)).collect();
        at_location(eqn.location, || {
            if axes.iter().all(Option::is_none) {
                let refs: SmallVec<[&Array; 4]> = ins.iter().collect();
                let outs = bind_arc(eqn.primitive.clone(), &refs);
                for (v, out) in eqn.outputs.iter().zip(outs) {
                    values[v.index()] = Some(out);
                }
                return;
            }
            let (outs, out_axes) = eqn.primitive.batch(&ins, &axes, size);
            for ((v, out), ax) in eqn.outputs.iter().zip(outs).zip(out_axes) {
                debug_assert!(
                    ax.is_none_or(|ax| out.shape()[ax] == size),
                    "{}: the batching rule gave {} with batch axis {ax:?} of size {size}",
                    eqn.primitive.name(),
                    out.aval()
                );
                values[v.index()] = Some(out);
                places[v.index()] = ax;
            }
        });
    }
    let outs = jaxpr.outvars.iter().map(|a| read(&values, a)).collect();
    let axes = jaxpr.outvars.iter().map(|a| place(&places, a)).collect();
    (outs, axes)
}

/// Which axis of each argument's arrays runs over the examples; `None` for
/// arguments that are the same for all.
#[derive(Clone, Debug)]
pub struct InAxes(Vec<Option<isize>>);

impl<const N: usize> From<[Option<isize>; N]> for InAxes {
    fn from(axes: [Option<isize>; N]) -> Self {
        InAxes(axes.to_vec())
    }
}

impl From<isize> for InAxes {
    fn from(axis: isize) -> Self {
        InAxes(vec![Some(axis)])
    }
}

/// The function applied to every example along the first axis of each array of
/// its arguments, at once; results are stacked along their first axis
/// (`jax.vmap`).
///
/// ```no_run
/// use ramie_core::{Array, vmap};
/// let dot = |a: Array, b: Array| (&a * &b).sum_axes(&[0]);
/// let batch = Array::from(vec![1.0f32, 2.0, 3.0, 4.0]).reshape(&[2, 2]);
/// assert_eq!(vmap(dot)(batch.clone(), batch).to_vec::<f32>(), [5.0, 25.0]);
/// ```
///
/// # Panics
/// The returned function panics if an array has no axes, or sizes differ.
#[track_caller]
pub fn vmap<'f, F, M>(f: F) -> Box<<F::Args as ArgTuple>::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    vmap_axes(f, 0, 0)
}

/// [`vmap`] with the batch axis of each argument, or one for all, and that of
/// the results (`jax.vmap(f, in_axes, out_axes)`).
///
/// # Panics
/// If the number of axes is neither 1 nor that of the arguments. The returned
/// function panics if all axes are `None`, or arrays lack theirs, or sizes
/// differ.
#[track_caller]
pub fn vmap_axes<'f, F, M>(
    f: F,
    in_axes: impl Into<InAxes>,
    out_axis: isize,
) -> Box<<F::Args as ArgTuple>::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let at = Location::caller();
    let mut in_axes = in_axes.into().0;
    if in_axes.len() == 1 {
        in_axes = vec![in_axes[0]; F::Args::COUNT];
    }
    assert_eq!(
        in_axes.len(),
        F::Args::COUNT,
        "vmap: in_axes names {} arguments, the function has {}\n  help: give an axis or None for \
         each argument",
        in_axes.len(),
        F::Args::COUNT
    );
    F::Args::spread(move |args| apply(&f, args, &in_axes, out_axis, at))
}

fn apply<F: Function<M>, M>(
    f: &F,
    args: F::Args,
    in_axes: &[Option<isize>],
    out_axis: isize,
    at: &'static Location<'static>,
) -> F::Output {
    let leaves = tree::leaves(&args);
    let paths = tree::paths(&args);
    let mut axes: Vec<Option<usize>> = Vec::with_capacity(leaves.len());
    let per_leaf = args
        .leaf_counts()
        .into_iter()
        .zip(in_axes)
        .flat_map(|(n, ax)| std::iter::repeat_n(*ax, n));
    let mut size: Option<(usize, usize)> = None;
    for (i, (leaf, axis)) in leaves.iter().zip(per_leaf).enumerate() {
        let Some(axis) = axis else {
            axes.push(None);
            continue;
        };
        let rank = leaf.ndim() as isize;
        let normal = if axis < 0 { axis + rank } else { axis };
        assert!(
            (0..rank).contains(&normal),
            "vmap: argument `{}` is {}, it has no axis {axis} to batch over\n  vmap was called at \
             {at}\n  help: add an axis with expand_dims, or set its in_axes to None",
            paths[i],
            leaf.aval()
        );
        let n = leaf.shape()[normal as usize];
        match size {
            Some((other, first)) if other != n => panic!(
                "vmap: batch sizes differ: argument `{}` has {other}, argument `{}` has {n}\n  \
                 vmap was called at {at}",
                paths[first], paths[i]
            ),
            _ => size = size.or(Some((n, i))),
        }
        axes.push(Some(normal as usize));
    }
    let Some((size, _)) = size else {
        panic!(
            "vmap: no argument has a batch axis\n  vmap was called at {at}\n  help: at least one of \
             in_axes must be an axis"
        );
    };
    let examples: F::Args = {
        let mut next = leaves.iter().zip(&axes);
        args.rebuild(&mut |_| {
            let (leaf, ax) = next.next().expect("as many arrays");
            let mut shape: crate::Dims = leaf.shape().into();
            if let Some(ax) = ax {
                shape.remove(*ax);
            }
            Array(crate::array::Repr::Abstract(leaf.aval().with_shape(&shape)))
        })
    };
    let traced = trace::at_location(at, || super::grad::trace(&examples, |args| f.call(args)));
    let (outs, out_axes) = batch_eval(
        &traced.program.jaxpr,
        &traced.program.consts,
        &leaves,
        &axes,
        size,
    );
    let outs = outs.iter().zip(out_axes).map(|(out, ax)| {
        let rank = out.ndim() as isize + isize::from(ax.is_none());
        let to = if out_axis < 0 {
            out_axis + rank
        } else {
            out_axis
        };
        assert!(
            (0..rank).contains(&to),
            "vmap: out_axis {out_axis} is out of range for a result of {rank} axes\n  vmap was \
             called at {at}"
        );
        crate::prim::move_batch_axis(out, ax, to as usize, size)
    });
    tree::with_leaves(&traced.result, outs)
}

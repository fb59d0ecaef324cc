//! Batching: evaluates a jaxpr for many examples at once.

use crate::Array;
use crate::program::jaxpr::Jaxpr;
use crate::program::rules::BatchAxis;
use smallvec::SmallVec;

/// Evaluates a jaxpr with some inputs batched; captured values are not batched.
pub(crate) fn batch_eval(
    jaxpr: &Jaxpr,
    consts: &[Array],
    args: &[Array],
    axes: &[Option<usize>],
    axis: BatchAxis,
) -> (Vec<Array>, Vec<Option<usize>>) {
    let consts = consts.iter().map(|a| (a.clone(), None));
    let args = args.iter().cloned().zip(axes.iter().copied());
    let outs = jaxpr.evaluate(consts, args, |eqn, operands| {
        let (ins, axes): (SmallVec<[Array; 4]>, SmallVec<[Option<usize>; 4]>) =
            operands.into_iter().unzip();
        // An operation on values that all examples share runs once, unless it refers to the mapped
        // axis by name, as collectives do: their results may depend on the axis's size.
        if axes.iter().all(Option::is_none) && !axis.is_used_by(&*eqn.primitive) {
            let outs = eqn.bind(&ins).into_iter();
            return outs.map(|out| (out, None)).collect();
        }
        let (outs, out_axes) = eqn.primitive.batch(&ins, &axes, axis);
        let outs: SmallVec<[(Array, Option<usize>); 1]> = outs.into_iter().zip(out_axes).collect();
        for (out, ax) in &outs {
            debug_assert!(
                ax.is_none_or(|ax| out.shape()[ax] == axis.size),
                "{}: the batching rule returned {} with batch axis {ax:?} of size {}",
                eqn.primitive.name(),
                out.aval(),
                axis.size
            );
        }
        outs
    });
    outs.into_iter().unzip()
}

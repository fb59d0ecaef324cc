//! Programs on scalars, used by general reductions.

use crate::base::location;
use crate::passes::{batch_eval, jvp_of};
use crate::prim::{Batched, move_batch_axis};
use crate::program::jaxpr::{Atom, Jaxpr};
use crate::program::lower::{Lowering, Region, Value};
use crate::program::trace::{Outputs, trace_to_jaxpr};
use crate::typing::Dims;
use crate::{Array, Aval, DType};
use std::sync::Arc;

/// Traces a computation on scalars of the given types.
///
/// # Panics
/// Panics if it captures arrays, which the region of a reduction cannot access.
#[track_caller]
pub(crate) fn scalar_program(
    operation: &str,
    types: &[DType],
    computation: impl FnOnce(&[Array]) -> Vec<Array>,
) -> Arc<Jaxpr> {
    let scalars: Vec<Aval> = types.iter().map(|&d| Aval::scalar(d)).collect();
    let program = trace_to_jaxpr(&scalars, |args| {
        let outs = computation(args);
        // A literal result has the right dtype, but is weakly typed.
        let strong = |out: Array| {
            if out.aval().weak_type() {
                out.astype(out.dtype())
            } else {
                out
            }
        };
        outs.into_iter().map(strong).collect()
    });
    if let Some(captured) = program.consts.first() {
        location::fail(&format!(
            "{operation}: the computation captures {}\n  help: it can only use its arguments and \
             numbers; pass other values as additional operands",
            captured.describe()
        ));
    }
    program.jaxpr
}

/// Traces the computation of a reduction, which combines two scalars of each dtype into one.
///
/// # Panics
/// Panics if it captures arrays, or if its results are not one scalar of each dtype.
#[track_caller]
pub(crate) fn reduction_program(
    operation: &str,
    types: &[DType],
    computation: impl FnOnce(&[Array], &[Array]) -> Vec<Array>,
) -> Arc<Jaxpr> {
    let both = [types, types].concat();
    let n = types.len();
    let jaxpr = scalar_program(operation, &both, |args| computation(&args[..n], &args[n..]));
    let expected: Vec<Aval> = types.iter().map(|&d| Aval::scalar(d)).collect();
    let results = jaxpr.out_avals();
    assert!(
        results
            .iter()
            .map(Aval::strong)
            .eq(expected.iter().copied()),
        "{operation}: the computation returns {results:?}, expected {expected:?}\n  help: its \
         results must be scalars of the operands' dtypes: convert them with astype"
    );
    jaxpr
}

/// Returns the name of the only operation of a program, if the program combines two scalars by
/// it.
pub(crate) fn monoid(jaxpr: &Jaxpr) -> Option<&'static str> {
    let ([a, b], [eqn], [out]) = (
        jaxpr.invars.as_slice(),
        jaxpr.eqns.as_slice(),
        jaxpr.outvars.as_slice(),
    ) else {
        return None;
    };
    let operands = [Atom::Var(*a), Atom::Var(*b)];
    let whole = eqn.inputs.as_slice() == operands && *out == Atom::Var(eqn.outputs[0]);
    whole.then(|| eqn.primitive.name())
}

/// Emits the StableHLO region of a program whose scalars have the types `outside`.
fn region(ctx: &mut Lowering<'_>, jaxpr: &Jaxpr, outside: &[Aval]) -> Region {
    ctx.region(outside, |ctx, args| {
        let args = args.iter().zip(jaxpr.in_avals());
        let args: Vec<Value> = args.map(|(x, own)| ctx.convert(*x, own.dtype())).collect();
        // Outside, elements are whole bytes; the program computes in its own dtypes.
        let outs = ctx.inline(jaxpr, &args).into_iter();
        outs.map(|x| ctx.convert(x, x.dtype().whole_bytes()))
            .collect()
    })
}

/// Lowers `operation`, which combines elements by programs. The compiler only combines several
/// arrays together if their elements are whole bytes.
pub(crate) fn lower_in_whole_bytes(
    ctx: &mut Lowering<'_>,
    operation: &str,
    jaxprs: &[&Jaxpr],
    args: &[Value],
    outs: &[Aval],
    attributes: &str,
) -> Vec<Value> {
    let whole = |a: &Aval| a.with_dtype(a.dtype().whole_bytes());
    let operands: Vec<Value> = args
        .iter()
        .map(|x| ctx.convert(*x, x.dtype().whole_bytes()))
        .collect();
    let regions: Vec<Region> = jaxprs
        .iter()
        .map(|jaxpr| {
            let scalars: Vec<Aval> = jaxpr.in_avals().iter().map(whole).collect();
            region(ctx, jaxpr, &scalars)
        })
        .collect();
    let to: Vec<Aval> = outs.iter().map(whole).collect();
    let results = ctx.op(operation, &operands, &to, attributes, &regions);
    let results = results.into_iter().zip(outs);
    results.map(|(x, to)| ctx.convert(x, to.dtype())).collect()
}

/// Applies a program on scalars elementwise to arrays of the same shape.
pub(crate) fn elementwise(jaxpr: &Jaxpr, args: &[Array]) -> Vec<Array> {
    let Some(first) = args.first() else {
        return jaxpr.eval(&[], args);
    };
    let (shape, size) = (first.shape(), first.size());
    if shape.is_empty() {
        return jaxpr.eval(&[], args);
    }
    // The elements are the examples of a batch, so the batching rules make the scalar program
    // elementwise. One flat axis is enough for all.
    let flat: Vec<Array> = args.iter().map(Array::ravel).collect();
    let axes = vec![Some(0); flat.len()];
    let (outs, out_axes) = batch_eval(jaxpr, &[], &flat, &axes, size.into());
    let whole = |(out, axis): (Array, Option<usize>)| match axis {
        Some(_) => out.reshape(shape),
        // A result that depends on no argument has no batch axis.
        None => out.broadcast_in_dim(shape, &[]),
    };
    outs.into_iter().zip(out_axes).map(whole).collect()
}

/// Combines lists of arrays of the same shape by a reduction's program.
pub(crate) fn combine(jaxpr: &Jaxpr, a: &[Array], b: &[Array]) -> Vec<Array> {
    elementwise(jaxpr, &[a, b].concat())
}

/// Combines the elements along the first axis of each array, which is removed, by repeated
/// halving. There must be at least one element.
pub(crate) fn combine_halves(jaxpr: &Jaxpr, arrays: &[Array]) -> Vec<Array> {
    let n = arrays[0].shape()[0];
    let part = |from: usize, to: usize| -> Vec<Array> {
        arrays.iter().map(|x| x.slice_axis(0, from, to)).collect()
    };
    if n == 1 {
        return arrays.iter().map(|x| x.squeeze(&[0])).collect();
    }
    // Element `i` is paired with `i + half`, not with its neighbor: this needs two slices and no
    // strides, but a commutative operation.
    let half = n / 2;
    let mut combined = combine(jaxpr, &part(0, half), &part(half, 2 * half));
    if n % 2 == 1 {
        // With an odd number the last element waits: 5 → 2 + 1 → 1 + 1 → 1.
        let rest = part(2 * half, n);
        let pairs = combined.iter().zip(&rest);
        combined = pairs.map(|(c, r)| crate::concatenate(&[c, r], 0)).collect();
    }
    combine_halves(jaxpr, &combined)
}

/// Broadcasts a scalar to a shape.
pub(crate) fn repeated(scalar: &Array, shape: &[usize]) -> Array {
    scalar.broadcast_in_dim(shape, &[])
}

/// Returns the program on pairs of a value and whether it is present: a missing value leaves the
/// other unchanged. It reduces a batch with different initial values, which are then combined
/// with the results.
fn flagged(jaxpr: &Jaxpr) -> Arc<Jaxpr> {
    let types: Vec<DType> = jaxpr.out_avals().iter().map(Aval::dtype).collect();
    let n = types.len();
    let with_flag: Vec<DType> = types.iter().copied().chain([DType::Bool]).collect();
    reduction_program("reduce", &with_flag, |a, b| {
        let both = jaxpr.eval(&[], &[&a[..n], &b[..n]].concat());
        let mut outs: Vec<Array> = (0..n)
            // Combined if both values are present, otherwise the one that is.
            .map(|i| a[n].select(&b[n].select(&both[i], &a[i]), &b[i]))
            .collect();
        outs.push(a[n].bitwise_or(&b[n]));
        outs
    })
}

/// Combines the results of a [`flagged`] reduction of a batch, whose axis is first, with the
/// initial values, one for each example.
fn started(jaxpr: &Jaxpr, reduced: &[Array], starts: &[Array]) -> Vec<Array> {
    let n = starts.len();
    let shape = reduced[0].shape();
    let starts: Vec<Array> = starts
        .iter()
        .map(|s| match s.ndim() {
            0 => repeated(s, shape),
            _ => s.broadcast_in_dim(shape, &[0]),
        })
        .collect();
    let both = combine(jaxpr, &starts, &reduced[..n]);
    let pairs = both.iter().zip(&starts);
    pairs.map(|(x, s)| reduced[n].select(x, s)).collect()
}

/// Implements the batching rule of a reduction by a program: `reduce` applies the program, or
/// another one, to arrays whose first axis is the batch axis, and to scalars.
pub(crate) fn batched_reduction(
    jaxpr: &Arc<Jaxpr>,
    args: &[Array],
    axes: &[Option<usize>],
    size: usize,
    reduce: impl FnOnce(Arc<Jaxpr>, &[&Array]) -> Outputs,
) -> Batched {
    let n = args.len() / 2;
    let mut arrays: Vec<Array> = (0..n)
        .map(|i| move_batch_axis(&args[i], axes[i], 0, size))
        .collect();
    let outs = if axes[n..].iter().all(Option::is_none) {
        let all: Vec<&Array> = arrays.iter().chain(&args[n..]).collect();
        reduce(jaxpr.clone(), &all)
    } else {
        arrays.push(Array::full(arrays[0].shape(), true, DType::Bool));
        // StableHLO reduces with one initial value for the whole batch. An absent value is neutral
        // for every program, so the examples' own initial values are combined with the results
        // afterwards.
        let mut nothing: Vec<Array> = (0..n).map(|i| Array::scalar(0, args[i].dtype())).collect();
        nothing.push(Array::scalar(false, DType::Bool));
        let all: Vec<&Array> = arrays.iter().chain(&nothing).collect();
        let reduced = reduce(flagged(jaxpr), &all);
        started(jaxpr, &reduced, &args[n..]).into()
    };
    (outs, (0..n).map(|_| Some(0)).collect())
}

/// Computes the tangents of `f`, a function of arrays, some of which have tangents.
pub(crate) fn tangents(
    f: impl Fn(&[Array]) -> Vec<Array>,
    primals: &[Array],
    tangents: &[Option<Array>],
) -> Vec<Option<Array>> {
    let moving: Vec<usize> = (0..primals.len())
        .filter(|&i| tangents[i].is_some())
        .collect();
    let restricted = |xs: &[Array]| {
        let mut all = primals.to_vec();
        for (&i, x) in moving.iter().zip(xs) {
            all[i] = x.clone();
        }
        f(&all)
    };
    let at: Vec<Array> = moving.iter().map(|&i| primals[i].clone()).collect();
    let along: Vec<Option<Array>> = moving.iter().map(|&i| tangents[i].clone()).collect();
    let (outs, dots) = jvp_of(restricted, &at, &along);
    let floats = outs.iter().map(|o| o.dtype().is_inexact());
    floats
        .zip(dots)
        .map(|(float, dot)| float.then_some(dot))
        .collect()
}

/// Returns the axes of an array in the order: those in `named`, then the others.
pub(crate) fn named_first(rank: usize, named: &[usize]) -> (Vec<isize>, Dims) {
    let kept: Dims = (0..rank).filter(|d| !named.contains(d)).collect();
    let order = named.iter().chain(&kept).map(|&d| d as isize).collect();
    (order, kept)
}

//! `custom_vjp`: functions with a reverse rule of their own.

use super::custom::{Call, First, Given, Packed, Rest, apply, some};
use super::custom_jvp::refuse_others;
use super::tangents::Tangents;
use super::{ArgTuple, Function};
use crate::jit::short_name;
use crate::prim::custom::{BackwardRule, CustomVjpCall, Forward, ForwardRule, Identity};
use crate::{Array, Tree, trace, tree};
use std::panic::Location;
use std::sync::Arc;

/// Cotangents of the arguments' arrays, `None` being zero.
type Grads = Vec<Option<Array>>;

/// Both rules, in the form that all forms are brought to: the forward rule is
/// told which arrays are differentiated, the backward rule gets the arguments'
/// types, the residuals and the cotangents of the result's arrays.
struct Rules<Fwd, Bwd> {
    names: (&'static str, &'static str),
    symbolic_zeros: bool,
    fwd: Fwd,
    bwd: Bwd,
}

fn with_rules<'f, F, M, S, Fwd, Bwd>(
    f: F,
    rules: Rules<Fwd, Bwd>,
    at: &'static Location<'static>,
) -> Box<<F::Args as ArgTuple>::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    S: Tree,
    Fwd: Fn(Packed<F, M>, &[bool]) -> (F::Output, S) + Send + Sync + 'static,
    Bwd: Fn(&Packed<F, M>, S, Tangents<F::Output>) -> Grads + Send + Sync + 'static,
{
    let function = short_name::<F>();
    let (fwd, bwd) = (Arc::new(rules.fwd), Arc::new(rules.bwd));
    F::Args::spread(move |args| {
        apply(&f, args, at, |call| {
            let Call {
                jaxpr,
                num_consts,
                args,
                out,
            } = call;
            let structure = vec![tree::structure(&args), tree::structure(&out)];
            let identity = Identity::new(&fwd, structure.clone());
            // Nothing else tells calls apart that differ in the backward rule.
            let both = identity.and(&Identity::new(&bwd, structure));
            let (fwd, bwd) = (fwd.clone(), bwd.clone());
            let run = move |primals: &[Array], perturbed: &[bool]| {
                let primals = tree::with_leaves(&args, primals.iter().cloned());
                let (result, residuals) = trace::in_user_code(|| fwd(primals, perturbed));
                let outs = some(&result);
                let given = Given {
                    operation: "custom_vjp",
                    function,
                    rule: "forward rule",
                    what: "value",
                    of: "result",
                };
                given.check_structure(&out, &result);
                given.check(&out, &outs, false);
                Forward {
                    outs: outs.into_iter().flatten().collect(),
                    residuals: tree::leaves(&residuals),
                    backward: backward(
                        function,
                        &bwd,
                        (
                            tree::shape_dtype_structs(&args),
                            tree::shape_dtype_structs(&out),
                            tree::shape_dtype_structs(&residuals),
                        ),
                    ),
                }
            };
            CustomVjpCall {
                name: function.into(),
                call_jaxpr: jaxpr,
                num_consts,
                symbolic_zeros: rules.symbolic_zeros,
                fwd: ForwardRule::new(rules.names.0, both, Arc::new(run)),
                bwd: rules.names.1,
            }
        })
    })
}

/// What a backward rule gives.
fn cotangent(function: &str) -> Given<'_> {
    Given {
        operation: "custom_vjp",
        function,
        rule: "backward rule",
        what: "cotangent",
        of: "argument",
    }
}

/// The backward rule for trees of these types: arguments, result, residuals.
fn backward<A: Tree, R: Tree, S: Tree, Bwd>(
    function: &'static str,
    bwd: &Arc<Bwd>,
    (args, out, residuals): (A, R, S),
) -> BackwardRule
where
    Bwd: Fn(&A, S, Tangents<R>) -> Grads + Send + Sync + 'static,
{
    let structure = vec![
        tree::structure(&args),
        tree::structure(&out),
        tree::structure(&residuals),
    ];
    let identity = Identity::new(bwd, structure);
    let bwd = bwd.clone();
    let run = move |kept: &[Array], cts: &[Option<Array>]| {
        let kept = tree::with_leaves(&residuals, kept.iter().cloned());
        let cts = Tangents::new(&out, cts.to_vec());
        let grads = trace::in_user_code(|| bwd(&args, kept, cts));
        cotangent(function).check(&args, &grads, true);
        let floats = tree::leaves(&args).into_iter().zip(grads);
        floats
            .map(|(arg, grad)| grad.filter(|_| arg.dtype().is_inexact()))
            .collect()
    };
    BackwardRule::new("bwd", identity, Arc::new(run))
}

/// The function with a rule of its own for reverse mode (`jax.custom_vjp`).
/// `fwd` gives the result and residuals, a tree of whatever the derivative
/// needs; `bwd` gives the cotangents of the arguments from the residuals and the
/// cotangent of the result. There is no forward mode through it.
///
/// `fwd` takes the arguments as one value, and `bwd` gives cotangents of it: a
/// single argument itself, several as a tuple. Cotangents of arrays that are not
/// floating-point are ignored.
///
/// What `f` captures is not differentiated. What the rules capture must
/// not be a value of a function that is being traced, since they are called
/// after that has ended: pass such values as arguments.
///
/// ```no_run
/// use ramie_core::{Array, custom_vjp, grad};
/// // The identity, with a gradient that is kept between -1 and 1.
/// let clipped = custom_vjp(
///     |x: Array| x,
///     |x: Array| (x, ()),
///     |(), ct: Array| ct.clip(-1.0, 1.0),
/// );
/// let slope = grad(move |x: Array| clipped(x) * 10.0)(Array::from(3.0f32));
/// assert_eq!(slope.item::<f32>(), 1.0);
/// ```
///
/// # Panics
/// The derivative panics where a rule gives other types than those of the
/// function's arguments and result, in forward mode, and where a captured value
/// is being differentiated.
#[track_caller]
pub fn custom_vjp<'f, F, M, S, Fwd, Bwd>(
    f: F,
    fwd: Fwd,
    bwd: Bwd,
) -> Box<<F::Args as ArgTuple>::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    S: Tree,
    Fwd: Fn(Packed<F, M>) -> (F::Output, S) + Send + Sync + 'static,
    Bwd: Fn(S, F::Output) -> Packed<F, M> + Send + Sync + 'static,
{
    let rules = Rules {
        names: (short_name::<Fwd>(), short_name::<Bwd>()),
        symbolic_zeros: false,
        fwd: move |args: Packed<F, M>, _: &[bool]| fwd(args),
        bwd: move |args: &Packed<F, M>, residuals: S, cts: Tangents<F::Output>| {
            let grads = bwd(residuals, cts.instantiate());
            cotangent(short_name::<F>()).check_structure(args, &grads);
            some(&grads)
        },
    };
    with_rules(f, rules, Location::caller())
}

/// [`custom_vjp`] with a forward rule that is told which arrays of the arguments
/// are differentiated, in order, and a backward rule that sees which cotangents
/// are zero, and may say so of those it gives (`jax.custom_vjp` with
/// `symbolic_zeros=True`).
///
/// # Panics
/// As [`custom_vjp`].
#[track_caller]
pub fn custom_vjp_symbolic_zeros<'f, F, M, S, Fwd, Bwd>(
    f: F,
    fwd: Fwd,
    bwd: Bwd,
) -> Box<<F::Args as ArgTuple>::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    S: Tree,
    Fwd: Fn(Packed<F, M>, &[bool]) -> (F::Output, S) + Send + Sync + 'static,
    Bwd: Fn(S, Tangents<F::Output>) -> Tangents<Packed<F, M>> + Send + Sync + 'static,
{
    let rules = Rules {
        names: (short_name::<Fwd>(), short_name::<Bwd>()),
        symbolic_zeros: true,
        fwd,
        bwd: move |_: &Packed<F, M>, residuals: S, cts: Tangents<F::Output>| {
            bwd(residuals, cts).into_leaves()
        },
    };
    with_rules(f, rules, Location::caller())
}

/// [`custom_vjp`] of a function that is differentiated in its first argument
/// only: the others are given to the forward rule and have no cotangents (JAX's
/// `nondiff_argnums`).
///
/// ```no_run
/// use ramie_core::{Array, custom_vjp_nondiff};
/// // The gradient is that of the value before rounding to a grid.
/// let rounded = custom_vjp_nondiff(
///     |x: Array, step: Array| (x / &step).floor() * step,
///     |x: Array, (step,): (Array,)| ((x / &step).floor() * step, ()),
///     |(), ct: Array| ct,
/// );
/// ```
///
/// # Panics
/// As [`custom_vjp`]; the derivative panics also where another argument than the
/// first is being differentiated.
#[track_caller]
pub fn custom_vjp_nondiff<'f, F, M, S, Fwd, Bwd>(
    f: F,
    fwd: Fwd,
    bwd: Bwd,
) -> Box<<F::Args as ArgTuple>::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    S: Tree,
    Fwd: Fn(First<F, M>, Rest<F, M>) -> (F::Output, S) + Send + Sync + 'static,
    Bwd: Fn(S, F::Output) -> First<F, M> + Send + Sync + 'static,
{
    let rules = Rules {
        names: (short_name::<Fwd>(), short_name::<Bwd>()),
        symbolic_zeros: false,
        fwd: move |args: Packed<F, M>, perturbed: &[bool]| {
            let (first, rest) = F::Args::unpack(args).split();
            let others = perturbed[tree::count(&first)..].iter().copied();
            refuse_others("custom_vjp", short_name::<F>(), others);
            fwd(first, rest)
        },
        bwd: move |args: &Packed<F, M>, residuals: S, cts: Tangents<F::Output>| {
            let given = bwd(residuals, cts.instantiate());
            let (first, rest) = F::Args::unpack(tree::map(args, Array::clone)).split();
            cotangent(short_name::<F>()).check_structure(&first, &given);
            let mut grads = some(&given);
            grads.resize(grads.len() + tree::count(&rest), None);
            grads
        },
    };
    with_rules(f, rules, Location::caller())
}

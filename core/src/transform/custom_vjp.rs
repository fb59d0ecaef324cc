//! `custom_vjp`: functions with custom reverse-mode rules.

use super::custom::{Call, First, Given, Packed, Rest, apply, some};
use super::custom_jvp::refuse_others;
use super::tangents::Tangents;
use super::{ArgTuple, Function};
use crate::base::location;
use crate::base::names::short_name;
use crate::prim::custom::{BackwardRule, CustomVjpCall, Forward, ForwardRule, Identity};
use crate::program::tree;
use crate::{Array, Tree};
use std::panic::Location;
use std::sync::Arc;

/// Cotangents of the arguments' arrays, where `None` is zero.
type Grads = Vec<Option<Array>>;

/// The common form of all pairs of rules: the forward rule receives which arrays are
/// differentiated; the backward rule receives the arguments' types, the residuals and the
/// cotangents of the result's arrays.
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
) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    S: Tree,
    Fwd: Fn(Packed<F, M>, &[bool]) -> (F::Output, S) + Send + Sync + 'static,
    Bwd: Fn(&Packed<F, M>, S, Tangents<F::Output>) -> Grads + Send + Sync + 'static,
{
    let function = short_name::<F>();
    let (fwd, bwd) = (Arc::new(rules.fwd), Arc::new(rules.bwd));
    F::untupled(move |args| {
        apply(&f, args, at, |call| {
            let Call {
                jaxpr,
                num_consts,
                args,
                out,
            } = call;
            let structure = vec![tree::fingerprint(&args), tree::fingerprint(&out)];
            let identity = Identity::new(&fwd, structure.clone());
            // The identity includes the backward rule, since calls may differ in nothing else.
            let both = identity.and(&Identity::new(&bwd, structure));
            let (fwd, bwd) = (fwd.clone(), bwd.clone());
            let run = move |primals: &[Array], perturbed: &[bool]| {
                let primals = tree::with_leaves(&args, primals.iter().cloned());
                let (result, residuals) = location::in_user_code(|| fwd(primals, perturbed));
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

/// Describes what a backward rule returns.
fn cotangent(function: &str) -> Given<'_> {
    Given {
        operation: "custom_vjp",
        function,
        rule: "backward rule",
        what: "cotangent",
        of: "argument",
    }
}

/// Returns the backward rule for trees of these types: arguments, result, residuals.
fn backward<A: Tree, R: Tree, S: Tree, Bwd>(
    function: &'static str,
    bwd: &Arc<Bwd>,
    (args, out, residuals): (A, R, S),
) -> BackwardRule
where
    Bwd: Fn(&A, S, Tangents<R>) -> Grads + Send + Sync + 'static,
{
    let structure = vec![
        tree::fingerprint(&args),
        tree::fingerprint(&out),
        tree::fingerprint(&residuals),
    ];
    let identity = Identity::new(bwd, structure);
    let bwd = bwd.clone();
    let run = move |kept: &[Array], cts: &[Option<Array>]| {
        let kept = tree::with_leaves(&residuals, kept.iter().cloned());
        let cts = Tangents::new(&out, cts.to_vec());
        let grads = location::in_user_code(|| bwd(&args, kept, cts));
        cotangent(function).check(&args, &grads, true);
        let floats = tree::leaves(&args).into_iter().zip(grads);
        floats
            .map(|(arg, grad)| grad.filter(|_| arg.dtype().is_inexact()))
            .collect()
    };
    BackwardRule::new("bwd", identity, Arc::new(run))
}

/// Defines a custom reverse-mode rule of a function (`jax.custom_vjp`). `fwd` returns the result
/// and residuals, a tree of whatever the derivative needs; `bwd` returns the cotangents of the
/// arguments from the residuals and the cotangent of the result. Forward-mode differentiation is
/// not supported.
///
/// `fwd` takes the arguments as one value, and `bwd` returns cotangents of it: a single argument
/// itself, several as a tuple. Cotangents of arrays that are not floating-point are ignored.
///
/// Values captured by `f` are not differentiated. The rules must not capture tracers of an
/// enclosing trace, since they are called after the trace has ended: pass such values as
/// arguments.
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
/// The derivative panics if a rule returns other types than those of the function's arguments and
/// result, in forward mode, and if a captured value is differentiated.
#[track_caller]
pub fn custom_vjp<'f, F, M, S, Fwd, Bwd>(f: F, fwd: Fwd, bwd: Bwd) -> Box<F::Fn<'f, F::Output>>
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

/// Same as [`custom_vjp`], but the forward rule also receives which arrays of the arguments are
/// differentiated, in order, and the backward rule receives zero cotangents as symbolic zeros and
/// may return symbolic zeros (`jax.custom_vjp` with `symbolic_zeros=True`).
///
/// # Panics
/// Panics in the same cases as [`custom_vjp`].
#[track_caller]
pub fn custom_vjp_symbolic_zeros<'f, F, M, S, Fwd, Bwd>(
    f: F,
    fwd: Fwd,
    bwd: Bwd,
) -> Box<F::Fn<'f, F::Output>>
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

/// Same as [`custom_vjp`], but the function is only differentiated with respect to its first
/// argument: the forward rule receives the others, which have no cotangents (`nondiff_argnums` in
/// JAX).
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
/// Panics in the same cases as [`custom_vjp`]. The derivative also panics if an argument other
/// than the first is differentiated.
#[track_caller]
pub fn custom_vjp_nondiff<'f, F, M, S, Fwd, Bwd>(
    f: F,
    fwd: Fwd,
    bwd: Bwd,
) -> Box<F::Fn<'f, F::Output>>
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

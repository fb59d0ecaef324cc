//! `custom_vjp`: functions with custom reverse-mode rules.

use super::Function;
use super::custom::{Call, Dots, Packed, RuleOptions, RuleResult, apply, refuse_others};
use super::tangents::Tangents;
use crate::base::location;
use crate::base::names::short_name;
use crate::prim::custom::{BackwardRule, CustomVjpCall, Forward, ForwardRule, Identity};
use crate::program::tree;
use crate::{Array, Tree};
use std::panic::Location;
use std::sync::Arc;

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
    with_rules::<F, M, (), S, Fwd, Bwd>(f, fwd, bwd, Location::caller())
}

/// Same as [`custom_vjp`], with [`SymbolicZeros`](super::SymbolicZeros) or only with respect to the
/// first argument, [`FirstOnly`](super::FirstOnly) (`jax.custom_vjp` with `symbolic_zeros` or
/// `nondiff_argnums`).
///
/// ```no_run
/// use ramie_core::options::FirstOnly;
/// use ramie_core::{custom_vjp_with, Array};
/// // The gradient is that of the value before rounding to a grid.
/// let rounded = custom_vjp_with(
///     |x: Array, step: Array| (x / &step).floor() * step,
///     FirstOnly,
///     |(x, step): (Array, Array)| ((x / &step).floor() * step, ()),
///     |(), ct: Array| ct,
/// );
/// ```
///
/// # Panics
/// Panics in the same cases as [`custom_vjp`]. With [`FirstOnly`](super::FirstOnly), the derivative
/// also panics if another argument is differentiated.
#[track_caller]
pub fn custom_vjp_with<'f, F, M, O, S, Fwd, Bwd>(
    f: F,
    options: O,
    fwd: Fwd,
    bwd: Bwd,
) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    O: RuleOptions<F::Args>,
    S: Tree,
    Fwd: Fn(O::Primals) -> (F::Output, S) + Send + Sync + 'static,
    Bwd: Fn(S, O::Dots<F::Output>) -> O::Dots<O::Differentiated> + Send + Sync + 'static,
{
    let _ = options;
    with_rules::<F, M, O, S, Fwd, Bwd>(f, fwd, bwd, Location::caller())
}

fn with_rules<'f, F, M, O, S, Fwd, Bwd>(
    f: F,
    fwd: Fwd,
    bwd: Bwd,
    at: &'static Location<'static>,
) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    O: RuleOptions<F::Args>,
    S: Tree,
    Fwd: Fn(O::Primals) -> (F::Output, S) + Send + Sync + 'static,
    Bwd: Fn(S, O::Dots<F::Output>) -> O::Dots<O::Differentiated> + Send + Sync + 'static,
{
    let function = short_name::<F>();
    let (fwd, bwd) = (Arc::new(fwd), Arc::new(bwd));
    let stage = move |call: Call<Packed<F, M>, F::Output>| {
        let (args, out) = (call.args, call.out);
        let structure = vec![tree::fingerprint(&args), tree::fingerprint(&out)];
        let identity = Identity::new(&fwd, structure.clone());
        // The identity includes the backward rule, since calls may differ in nothing else.
        let both = identity.and(&Identity::new(&bwd, structure));
        let (fwd, bwd) = (fwd.clone(), bwd.clone());
        let run = move |primals: &[Array], perturbed: &[bool]| {
            let primals = tree::with_leaves(&args, primals.iter().cloned());
            let (result, residuals) = location::in_user_code(|| {
                let count = tree::count(&O::differentiated(&primals));
                let others = perturbed[count..].iter().copied();
                refuse_others("custom_vjp", function, others);
                fwd(O::primals(primals, perturbed))
            });
            let given = RuleResult {
                operation: "custom_vjp",
                function,
                rule: "forward rule",
                what: "value",
                of: "result",
            };
            let outs = given.leaves(&out, result.into(), false);
            Forward {
                outs: outs.into_iter().flatten().collect(),
                residuals: tree::leaves(&residuals),
                backward: backward::<F, M, O, S, Bwd>(&bwd, &args, &out, &residuals),
            }
        };
        CustomVjpCall {
            name: function.into(),
            call_jaxpr: call.jaxpr,
            num_consts: call.num_consts,
            symbolic_zeros: O::SYMBOLIC_ZEROS,
            fwd: ForwardRule::new(short_name::<Fwd>(), both, Arc::new(run)),
            bwd: short_name::<Bwd>(),
        }
    };
    F::untupled(move |args| apply(&f, args, at, &stage))
}

/// Returns the backward rule for trees of these types.
fn backward<F, M, O, S, Bwd>(
    bwd: &Arc<Bwd>,
    args: &Packed<F, M>,
    out: &F::Output,
    residuals: &S,
) -> BackwardRule
where
    F: Function<M>,
    O: RuleOptions<F::Args>,
    S: Tree,
    Bwd: Fn(S, O::Dots<F::Output>) -> O::Dots<O::Differentiated> + Send + Sync + 'static,
{
    let (args, out) = (
        tree::shape_dtype_structs(args),
        tree::shape_dtype_structs(out),
    );
    let residuals = tree::shape_dtype_structs(residuals);
    let structure = vec![
        tree::fingerprint(&args),
        tree::fingerprint(&out),
        tree::fingerprint(&residuals),
    ];
    let identity = Identity::new(bwd, structure);
    let given = RuleResult {
        operation: "custom_vjp",
        function: short_name::<F>(),
        rule: "backward rule",
        what: "cotangent",
        of: "argument",
    };
    let bwd = bwd.clone();
    let run = move |kept: &[Array], cts: &[Option<Array>]| {
        let kept = tree::with_leaves(&residuals, kept.iter().cloned());
        let cts = Tangents::new(&out, cts.to_vec());
        let grads = location::in_user_code(|| bwd(kept, Dots::receive(cts)));
        let mut grads = given.leaves(&O::differentiated(&args), grads.give(), true);
        grads.resize(tree::count(&args), None);
        grads
    };
    BackwardRule::new("bwd", identity, Arc::new(run))
}

//! `custom_vjp` for functions of a scope.

use super::pack::Pack;
use crate::linen::{CollectionFilter, Scope, Streams, Variables};
use ramie_core::options::FirstOnly;
use ramie_core::{Tree, custom_vjp_with};

/// Calls a function of a scope with a custom reverse-mode rule (`flax.linen.custom_vjp`).
///
/// When a gradient is taken, `fwd` is called instead of `f`. It also returns residuals. From
/// these and the cotangent of the result, `bwd` computes the cotangents of the argument and of
/// the variables in the collections `variables`, by their paths relative to the scope, in the
/// scope's order. `bwd` has no scope; if it needs variables, `fwd` can return them from
/// [`Scope::variables`] as residuals.
///
/// ```no_run
/// use ramie_core::{Array, State, vjp};
/// use ramie_nn::linen::{self, Apply, Dense, Module, Scope, Variables};
/// # fn f(scope: &mut Scope, x: Array) -> Array {
/// // Replace the gradients of the parameters by their signs.
/// let dense = |scope: &mut Scope, x: Array| Dense::new(3).call(scope, x);
/// linen::custom_vjp(
///     scope,
///     dense,
///     move |scope, x| (dense(scope, x.clone()), (scope.variables("params"), x)),
///     |(params, x): (State, Array), y_bar: Array| {
///         let again = |(params, x): (State, Array)| {
///             Dense::new(3).apply(&Variables::from_params(params), x)
///         };
///         let (params, x) = vjp(again, (params, x)).1(y_bar);
///         (Variables::from_params(params.map(|g| g.sign())), x)
///     },
///     "params",
///     x,
/// )
/// # }
/// ```
///
/// # Panics
/// The derivative panics if `bwd` returns types that differ from those of the variables and the
/// argument, or if variables of other collections are differentiated.
#[track_caller]
pub fn custom_vjp<A: Tree, R: Tree, S: Tree>(
    scope: &mut Scope,
    f: impl Fn(&mut Scope, A) -> R + Send + Sync,
    fwd: impl Fn(&mut Scope, A) -> (R, S) + Send + Sync + 'static,
    bwd: impl Fn(S, R) -> (Variables, A) + Send + Sync + 'static,
    variables: impl Into<CollectionFilter>,
    args: A,
) -> R {
    let all = CollectionFilter::All;
    let pack = Pack::of(scope, "custom_vjp");
    let (differentiated, others) = pack.variables(&all).split(&variables.into());
    let streams = pack.streams(&all);
    // The rules are called after the scope has been returned.
    let inside = pack.inside();
    let (out, changed) = {
        let f = |(variables, args): (Variables, A), others: Variables, streams: Streams| {
            let variables = others.joined_with(variables);
            pack.call(variables, streams, &CollectionFilter::All, |s| f(s, args))
        };
        let fwd = move |(first, others, streams): ((Variables, A), Variables, Streams)| {
            let variables = others.joined_with(first.0);
            let ((out, kept), changed) =
                inside.call(variables, streams, &CollectionFilter::All, |s| {
                    fwd(s, first.1)
                });
            ((out, changed), kept)
        };
        let bwd = move |kept: S, (out, _): (R, Variables)| bwd(kept, out);
        custom_vjp_with(f, FirstOnly, fwd, bwd)((differentiated, args), others, streams)
    };
    pack.publish(scope, &changed);
    out
}

//! `custom_jvp`: functions with custom tangent rules.

use super::Function;
use super::custom::{Call, Dots, Packed, RuleOptions, RuleResult, apply, refuse_others};
use super::tangents::Tangents;
use crate::Array;
use crate::base::location;
use crate::base::names::short_name;
use crate::prim::custom::{CustomJvpCall, Identity, JvpRule};
use crate::program::tree;
use std::panic::Location;
use std::sync::Arc;

/// Defines a custom derivative of a function (`jax.custom_jvp`): `rule` returns the result and
/// its tangent from the arguments and their tangents. Forward and reverse mode use the rule, so
/// the tangent must be linear in the tangents. The rule may be differentiated again.
///
/// The rule takes the arguments as one value: a single argument itself, several as a tuple.
/// Tangents of arrays that are not floating-point are zeros, and the tangents that the rule
/// returns for such results are ignored.
///
/// Values captured by `f` are not differentiated. The rule must not capture tracers of an
/// enclosing trace, since it is called after the trace has ended: pass such values as arguments.
///
/// ```no_run
/// use ramie_core::{Array, custom_jvp, grad};
/// // The derivative of log(1 + eˣ) without the overflow of eˣ.
/// let log1pexp = custom_jvp(
///     |x: Array| (x.exp() + 1.0).log(),
///     |x: Array, dx: Array| ((x.exp() + 1.0).log(), dx * (1.0 - 1.0 / (1.0 + x.exp()))),
/// );
/// let slope = grad(move |x: Array| log1pexp(x))(Array::from(100.0f32));
/// assert_eq!(slope.item::<f32>(), 1.0);
/// ```
///
/// # Panics
/// The derivative panics if the rule returns other types than the function, or if a captured
/// value is differentiated.
#[doc(alias = "defjvps")]
#[track_caller]
pub fn custom_jvp<'f, F, M, R>(f: F, rule: R) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    R: Fn(Packed<F, M>, Packed<F, M>) -> (F::Output, F::Output) + Send + Sync + 'static,
{
    with_rule::<F, M, (), R>(f, rule, Location::caller())
}

/// Same as [`custom_jvp`], with [`SymbolicZeros`](super::SymbolicZeros) or only with respect to the
/// first argument, [`FirstOnly`](super::FirstOnly) (`jax.custom_jvp` with `symbolic_zeros` or
/// `nondiff_argnums`).
///
/// ```no_run
/// use ramie_core::options::FirstOnly;
/// use ramie_core::typing::{SymbolicZeros, Tangents};
/// use ramie_core::{custom_jvp_with, where_, Array};
/// let masked = custom_jvp_with(
///     |x: Array, mask: Array| where_(&mask, &x, 0.0),
///     FirstOnly,
///     |(x, mask): (Array, Array), dx: Array| {
///         (where_(&mask, &x, 0.0), where_(&mask, &dx, 0.0))
///     },
/// );
/// let scale = custom_jvp_with(
///     |x: Array, w: Array| x * w,
///     SymbolicZeros,
///     |(x, w): (Array, Array), dots: Tangents<(Array, Array)>| {
///         let out = &x * &w;
///         let parts = [dots.get("0").map(|dx| dx * &w), dots.get("1").map(|dw| dw * &x)];
///         let dot = parts.into_iter().flatten().reduce(|a, b| a + b);
///         let dot = Tangents::new(&out, vec![dot]);
///         (out, dot)
///     },
/// );
/// ```
///
/// # Panics
/// Panics in the same cases as [`custom_jvp`]. With [`FirstOnly`](super::FirstOnly), the derivative
/// also panics if another argument is differentiated.
#[track_caller]
pub fn custom_jvp_with<'f, F, M, O, R>(f: F, options: O, rule: R) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    O: RuleOptions<F::Args>,
    R: Fn(Packed<F, M>, O::Dots<O::Differentiated>) -> (F::Output, O::Dots<F::Output>)
        + Send
        + Sync
        + 'static,
{
    let _ = options;
    with_rule::<F, M, O, R>(f, rule, Location::caller())
}

fn with_rule<'f, F, M, O, R>(
    f: F,
    rule: R,
    at: &'static Location<'static>,
) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    O: RuleOptions<F::Args>,
    R: Fn(Packed<F, M>, O::Dots<O::Differentiated>) -> (F::Output, O::Dots<F::Output>)
        + Send
        + Sync
        + 'static,
{
    let function = short_name::<F>();
    let given = move |what| RuleResult {
        operation: "custom_jvp",
        function,
        rule: "rule",
        what,
        of: "result",
    };
    let rule = Arc::new(rule);
    let stage = move |call: Call<Packed<F, M>, F::Output>| {
        let (args, out) = (call.args, call.out);
        let structure = vec![tree::fingerprint(&args), tree::fingerprint(&out)];
        let identity = Identity::new(&rule, structure);
        let rule = rule.clone();
        let run = move |primals: &[Array], tangents: &[Option<Array>]| {
            let primals = tree::with_leaves(&args, primals.iter().cloned());
            let (result, dot) = location::in_user_code(|| {
                let first = O::differentiated(&primals);
                let (tangents, others) = tangents.split_at(tree::count(&first));
                let others = others.iter().map(Option::is_some);
                refuse_others("custom_jvp", function, others);
                rule(
                    primals,
                    Dots::receive(Tangents::new(&first, tangents.to_vec())),
                )
            });
            let outs = given("value").leaves(&out, result.into(), false);
            let dots = given("tangent").leaves(&out, dot.give(), true);
            (outs.into_iter().flatten().collect(), dots)
        };
        CustomJvpCall {
            name: function.into(),
            call_jaxpr: call.jaxpr,
            num_consts: call.num_consts,
            symbolic_zeros: O::SYMBOLIC_ZEROS,
            jvp: JvpRule::new(short_name::<R>(), identity, Arc::new(run)),
        }
    };
    F::untupled(move |args| apply(&f, args, at, &stage))
}

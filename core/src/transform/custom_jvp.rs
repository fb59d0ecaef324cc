//! `custom_jvp`: functions with custom tangent rules.

use super::custom::{Call, First, Given, Packed, Rest, apply, some};
use super::tangents::{Tangents, filled};
use super::{ArgTuple, Function};
use crate::Array;
use crate::base::location;
use crate::base::names::short_name;
use crate::prim::custom::{CustomJvpCall, Identity, JvpRule};
use crate::program::tree;
use std::panic::Location;
use std::sync::Arc;

/// The common form of all rules: returns the results' tangents from the arguments and their
/// tangents, where `None` is zero.
type Dots = Vec<Option<Array>>;

fn with_rule<'f, F, M, R>(
    f: F,
    name: &'static str,
    symbolic_zeros: bool,
    rule: R,
    at: &'static Location<'static>,
) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    R: Fn(Packed<F, M>, &[Option<Array>]) -> (F::Output, Dots) + Send + Sync + 'static,
{
    let rule = Arc::new(rule);
    F::untupled(move |args| {
        let names = (name, short_name::<F>());
        stage(&f, args, names, symbolic_zeros, &rule, at)
    })
}

/// Calls `f` with its rule; `names` contains the names of the rule and of the function.
fn stage<F, M, R>(
    f: &F,
    args: F::Args,
    names: (&'static str, &'static str),
    symbolic_zeros: bool,
    rule: &Arc<R>,
    at: &'static Location<'static>,
) -> F::Output
where
    F: Function<M>,
    R: Fn(Packed<F, M>, &[Option<Array>]) -> (F::Output, Dots) + Send + Sync + 'static,
{
    let (name, function) = names;
    apply(f, args, at, |call| {
        let Call {
            jaxpr,
            num_consts,
            args,
            out,
        } = call;
        let structure = vec![tree::fingerprint(&args), tree::fingerprint(&out)];
        let identity = Identity::new(rule, structure);
        let rule = rule.clone();
        let run = move |primals: &[Array], tangents: &[Option<Array>]| {
            let primals = tree::with_leaves(&args, primals.iter().cloned());
            let (result, dots) = location::in_user_code(|| rule(primals, tangents));
            let outs = some(&result);
            given(function, "value").check_structure(&out, &result);
            given(function, "value").check(&out, &outs, false);
            given(function, "tangent").check(&out, &dots, true);
            let outs: Vec<Array> = outs.into_iter().flatten().collect();
            let dots = dots.into_iter().zip(&outs);
            let dots = dots.map(|(dot, out)| dot.filter(|_| out.dtype().is_inexact()));
            let dots = dots.collect();
            (outs, dots)
        };
        CustomJvpCall {
            name: function.into(),
            call_jaxpr: jaxpr,
            num_consts,
            symbolic_zeros,
            jvp: JvpRule::new(name, identity, Arc::new(run)),
        }
    })
}

/// Describes the value or the tangent that the rule returned for a result.
fn given<'a>(function: &'a str, what: &'static str) -> Given<'a> {
    Given {
        operation: "custom_jvp",
        function,
        rule: "rule",
        what,
        of: "result",
    }
}

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
#[track_caller]
pub fn custom_jvp<'f, F, M, R>(f: F, rule: R) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    R: Fn(Packed<F, M>, Packed<F, M>) -> (F::Output, F::Output) + Send + Sync + 'static,
{
    let name = short_name::<R>();
    let rule = move |primals: Packed<F, M>, tangents: &[Option<Array>]| {
        let tangents = filled(&primals, tangents.iter().cloned());
        let (out, dot) = rule(primals, tangents);
        given(short_name::<F>(), "tangent").check_structure(&out, &dot);
        (out, some(&dot))
    };
    with_rule(f, name, false, rule, Location::caller())
}

/// Same as [`custom_jvp`], but the rule receives zero tangents as symbolic zeros and may return
/// symbolic zeros (`jax.custom_jvp` with `symbolic_zeros=True`).
///
/// ```no_run
/// use ramie_core::{Array, Tangents, custom_jvp_symbolic_zeros};
/// let scale = custom_jvp_symbolic_zeros(
///     |x: Array, w: Array| x * w,
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
/// Panics in the same cases as [`custom_jvp`].
#[track_caller]
pub fn custom_jvp_symbolic_zeros<'f, F, M, R>(f: F, rule: R) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    R: Fn(Packed<F, M>, Tangents<Packed<F, M>>) -> (F::Output, Tangents<F::Output>)
        + Send
        + Sync
        + 'static,
{
    let name = short_name::<R>();
    let rule = move |primals: Packed<F, M>, tangents: &[Option<Array>]| {
        let tangents = Tangents::new(&primals, tangents.to_vec());
        let (out, dot) = rule(primals, tangents);
        (out, dot.into_leaves())
    };
    with_rule(f, name, true, rule, Location::caller())
}

/// Same as [`custom_jvp`], but the function is only differentiated with respect to its first
/// argument: the rule receives the others, without tangents (`nondiff_argnums` in JAX).
///
/// ```no_run
/// use ramie_core::{Array, custom_jvp_nondiff, where_};
/// let masked = custom_jvp_nondiff(
///     |x: Array, mask: Array| where_(&mask, &x, 0.0),
///     |x: Array, (mask,): (Array,), dx: Array| {
///         (where_(&mask, &x, 0.0), where_(&mask, &dx, 0.0))
///     },
/// );
/// ```
///
/// # Panics
/// Panics in the same cases as [`custom_jvp`]. The derivative also panics if an argument other
/// than the first is differentiated.
#[track_caller]
pub fn custom_jvp_nondiff<'f, F, M, R>(f: F, rule: R) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    R: Fn(First<F, M>, Rest<F, M>, First<F, M>) -> (F::Output, F::Output) + Send + Sync + 'static,
{
    let name = short_name::<R>();
    let rule = move |primals: Packed<F, M>, tangents: &[Option<Array>]| {
        let (first, rest) = F::Args::unpack(primals).split();
        let (tangents, others) = tangents.split_at(tree::count(&first));
        refuse_others(
            "custom_jvp",
            short_name::<F>(),
            others.iter().map(Option::is_some),
        );
        let tangents = filled(&first, tangents.iter().cloned());
        let (out, dot) = rule(first, rest, tangents);
        given(short_name::<F>(), "tangent").check_structure(&out, &dot);
        (out, some(&dot))
    };
    with_rule(f, name, false, rule, Location::caller())
}

/// Panics if an argument after the first is differentiated.
#[track_caller]
pub(super) fn refuse_others(
    operation: &str,
    function: &str,
    mut others: impl Iterator<Item = bool>,
) {
    if others.any(|differentiated| differentiated) {
        location::fail(&format!(
            "{operation}: an argument of `{function}` after the first is being differentiated, but \
             its rule returns no derivative for it\n  help: pass value.stop_gradient(), or use a \
             rule for all arguments"
        ));
    }
}

/// The contribution of one argument to the derivative, from its tangent, the result, and all
/// arguments.
pub type JvpTerm<P> = Box<dyn Fn(&Array, &Array, &P) -> Array + Send + Sync>;

/// Same as [`custom_jvp`], with one rule for each array of the arguments; the derivative is the
/// sum of their results. The derivative with respect to an array without a rule is zero
/// (`jax.custom_jvp.defjvps`).
///
/// ```no_run
/// use ramie_core::{Array, JvpTerm, custom_jvp_terms};
/// let terms: Vec<Option<JvpTerm<(Array, Array)>>> = vec![
///     Some(Box::new(|dx, _, (_, y)| dx * y)),
///     Some(Box::new(|dy, _, (x, _)| dy * x)),
/// ];
/// let product = custom_jvp_terms(|x: Array, y: Array| x * y, terms);
/// ```
///
/// # Panics
/// Panics in the same cases as [`custom_jvp`]. The derivative also panics if the number of rules
/// differs from the number of arrays.
#[track_caller]
pub fn custom_jvp_terms<F, M>(
    f: F,
    terms: Vec<Option<JvpTerm<Packed<F, M>>>>,
) -> Box<F::Fn<'static, Array>>
where
    F: Function<M, Output = Array> + 'static,
    M: 'static,
{
    let at = Location::caller();
    let shared = Arc::new((f, terms));
    F::untupled(move |args| apply_terms(&shared, args, at))
}

type Terms<F, M> = (F, Vec<Option<JvpTerm<Packed<F, M>>>>);

/// Applies the function; its rule calls `apply_terms` again, so that higher-order derivatives use
/// the terms, too.
fn apply_terms<F, M>(
    shared: &Arc<Terms<F, M>>,
    args: F::Args,
    at: &'static Location<'static>,
) -> Array
where
    F: Function<M, Output = Array> + 'static,
    M: 'static,
{
    let again = shared.clone();
    let rule = move |primals: Packed<F, M>, tangents: &[Option<Array>]| {
        let terms = &again.1;
        if terms.len() != tangents.len() {
            location::fail(&format!(
                "custom_jvp_terms: {} rules for {} arrays of arguments\n  help: pass a rule or \
                 None for each",
                terms.len(),
                tangents.len()
            ));
        }
        let args = F::Args::unpack(tree::map(&primals, Array::clone));
        let out = apply_terms(&again, args, at);
        let dots = terms.iter().zip(tangents);
        let dots = dots.filter_map(|(term, t)| Some(term.as_ref()?(t.as_ref()?, &out, &primals)));
        let dot = dots.reduce(|a, b| a + b);
        (out, vec![dot])
    };
    stage(
        &shared.0,
        args,
        ("jvp", short_name::<F>()),
        false,
        &Arc::new(rule),
        at,
    )
}

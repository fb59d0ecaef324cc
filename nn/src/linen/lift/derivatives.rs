//! Derivatives of functions of a scope.

use super::axes::map_arrays;
use super::pack::Pack;
use crate::linen::{CollectionFilter, Scope, Variables};
use ramie_core::lock::lock;
use ramie_core::options::HasAux;
use ramie_core::typing::Objective;
use ramie_core::{Array, Tree, make_jaxpr, tree, vjp_with};
use std::sync::Mutex;

/// Returns the value of a function of a scope, and a function that maps a cotangent to those of
/// the argument and of the variables in some collections (`flax.linen.vjp`).
///
/// Variables are given by their paths relative to the scope. Variables that the function
/// changes are updated in the scope.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::linen::{self, Dense, Scope};
/// # fn f(scope: &mut Scope, x: Array) -> Array {
/// let dense = |scope: &mut Scope, x: Array| scope.child(&Dense::new(3), x);
/// let (y, pull) = linen::vjp(scope, dense, x, "params");
/// let (gradients, x_bar) = pull(y.ones_like());
/// let kernel = &gradients["params"]["Dense_0.kernel"];
/// # x_bar
/// # }
/// ```
///
/// # Panics
/// The returned function panics if its argument does not have the types of the result.
#[track_caller]
pub fn vjp<A: Tree, R: Tree>(
    scope: &mut Scope,
    f: impl Fn(&mut Scope, A) -> R + Send + Sync,
    primals: A,
    variables: impl Into<CollectionFilter>,
) -> (R, Pullback<R, A>) {
    let all = CollectionFilter::All;
    let pack = Pack::of(scope, "vjp");
    let (differentiated, others) = pack.variables(&all).split(&variables.into());
    let streams = pack.streams(&all);
    // The traced program may outlive the borrows of the function.
    let structure = Mutex::new(None);
    let traced = |variables: Variables, args: A| {
        let variables = others.clone().joined_with(variables);
        let out = pack.call(variables, streams.clone(), &all, |scope| f(scope, args));
        *lock(&structure) = Some(tree::copy(&out));
        out
    };
    let primals = (differentiated, primals);
    let (variables, args) = tree::copy(&primals);
    let program = make_jaxpr(traced)(variables, args);
    let out = lock(&structure).take().expect("the function was traced");
    let run = move |args: (Variables, A)| -> (R, Variables) {
        tree::with_leaves(&out, program.eval(&tree::leaves(&args)))
    };
    let (out, pull, changed) = vjp_with(run, primals, HasAux);
    pack.publish(scope, &changed);
    (out, Box::new(pull))
}

/// The function that [`vjp`] returns: maps a cotangent of the result to those of the variables
/// and of the argument.
pub type Pullback<R, A> = Box<dyn Fn(R) -> (Variables, A) + Send + Sync>;

/// Returns the value of a function of a scope and its directional derivative
/// (`flax.linen.jvp`), along `tangents` of the argument and along `variable_tangents` of
/// variables. The latter are given by their paths relative to the scope.
///
/// ```no_run
/// use ramie_core::{Array, DType, State};
/// use ramie_nn::linen::{self, Dense, Scope, Variables};
/// # fn f(scope: &mut Scope, x: Array) -> (Array, Array) {
/// let dense = |scope: &mut Scope, x: Array| scope.child(&Dense::new(3), x);
/// let tangent = x.ones_like();
/// linen::jvp(scope, dense, x, tangent, &Variables::new())
/// # }
/// ```
///
/// # Panics
/// Panics if a tangent does not have the type of its primal, or if a variable of a collection
/// in `variable_tangents` has no tangent.
#[track_caller]
pub fn jvp<A: Tree, R: Tree>(
    scope: &mut Scope,
    f: impl FnOnce(&mut Scope, A) -> R,
    primals: A,
    tangents: A,
    variable_tangents: &Variables,
) -> (R, R) {
    let all = CollectionFilter::All;
    let names = variable_tangents.iter().filter(|(_, s)| !s.is_empty());
    let names = CollectionFilter::Only(names.map(|(n, _)| n.to_owned()).collect());
    let pack = Pack::of(scope, "jvp");
    let (differentiated, others) = pack.variables(&all).split(&names);
    let streams = pack.streams(&all);
    let along = map_arrays(&differentiated, |collection, path, _| {
        let tangent = variable_tangents.at(collection, path);
        tangent.cloned().unwrap_or_else(|| {
            panic!(
                "linen::jvp: the tangents of `{collection}` have none for `{path}`\n  help: pass \
                 one for each variable of the collection, zero for variables that do not change"
            )
        })
    });
    let ((out, changed), (tangent, _)) = ramie_core::jvp(
        |(variables, args): (Variables, A)| {
            let variables = others.joined_with(variables);
            pack.call(variables, streams, &all, |scope| f(scope, args))
        },
        (differentiated, primals),
        (along, tangents),
    );
    pack.publish(scope, &changed);
    (out, tangent)
}

/// Returns the value of a function of a scope, a scalar loss or `(loss, aux)`, and its gradient
/// with respect to the argument (`flax.linen.value_and_grad`).
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::linen::{self, Dense, Scope};
/// # fn f(scope: &mut Scope, x: Array) -> Array {
/// let energy = |scope: &mut Scope, x: Array| scope.child(&Dense::new(1), x).sum();
/// let (energy, force) = linen::value_and_grad(scope, energy, x);
/// # force
/// # }
/// ```
///
/// # Panics
/// Panics if the loss is not a floating-point scalar.
#[track_caller]
pub fn value_and_grad<A: Tree, R: Objective>(
    scope: &mut Scope,
    f: impl FnOnce(&mut Scope, A) -> R,
    args: A,
) -> (R, A) {
    let all = CollectionFilter::All;
    let pack = Pack::of(scope, "value_and_grad");
    let (variables, streams) = (pack.variables(&all), pack.streams(&all));
    let (loss, pull, (out, changed)) = vjp_with(
        |args: A| {
            let (out, changed) = pack.call(variables, streams, &all, |scope| f(scope, args));
            let loss = out.loss().clone();
            assert!(
                loss.ndim() == 0 && loss.dtype().is_float(),
                "linen::value_and_grad: the function must return a floating-point scalar loss, \
                 but it returned {}\n  help: reduce it, for example with .sum()",
                loss.aval()
            );
            (loss, (out, changed))
        },
        args,
        HasAux,
    );
    let gradient = pull(Array::scalar(1.0, loss.dtype()));
    drop(pull);
    pack.publish(scope, &changed);
    (out, gradient)
}

/// Returns the gradient of a function of a scope with respect to the argument
/// (`flax.linen.grad`); see [`value_and_grad`].
///
/// # Panics
/// Panics as [`value_and_grad`] does.
#[track_caller]
pub fn grad<A: Tree, R: Objective>(
    scope: &mut Scope,
    f: impl FnOnce(&mut Scope, A) -> R,
    args: A,
) -> A {
    value_and_grad(scope, f, args).1
}

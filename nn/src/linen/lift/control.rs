//! `cond`, `switch` and `while_loop` for functions of a scope.

use super::pack::Pack;
use crate::linen::{CollectionFilter, Scope, Streams, Variables};
use crate::setters::setters;
use ramie_core::{Array, DType, IntoArray, Tree};

/// The operands of a branch.
type Operands<A> = (Variables, Streams, A);

/// Calls one of two functions of a scope, selected by a boolean scalar (`flax.linen.cond`).
///
/// Both must create and change the same variables. To initialize submodules that only one
/// branch has, call both functions while [`is_initializing`](Scope::is_initializing) is true.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::linen::{self, Dense, Scope};
/// # fn f(scope: &mut Scope, large: Array, x: Array) -> Array {
/// let branch = |scope: &mut Scope, x: Array| scope.named("dense", &Dense::new(8), x);
/// let other = |scope: &mut Scope, x: Array| -scope.named("dense", &Dense::new(8), x);
/// linen::cond(scope, large, branch, other, x)
/// # }
/// ```
///
/// # Panics
/// Panics if the predicate is not a scalar, or if results or variables of the branches have
/// different types.
#[track_caller]
pub fn cond<A: Tree, R: Tree>(
    scope: &mut Scope,
    pred: impl IntoArray,
    true_fn: impl FnOnce(&mut Scope, A) -> R,
    false_fn: impl FnOnce(&mut Scope, A) -> R,
    operands: A,
) -> R {
    let all = CollectionFilter::All;
    let pack = Pack::of(scope, "cond");
    let (variables, streams) = (pack.variables(&all), pack.streams(&all));
    let (out, changed) = ramie_core::lax::cond(
        pred,
        |(v, s, a): Operands<A>| pack.call(v, s, &all, |scope| true_fn(scope, a)),
        |(v, s, a): Operands<A>| pack.call(v, s, &all, |scope| false_fn(scope, a)),
        (variables, streams, operands),
    );
    pack.publish(scope, &changed);
    out
}

/// Calls one of several functions of a scope, selected by an integer (`flax.linen.switch`); see
/// [`cond`].
///
/// # Panics
/// Panics if there are no branches, if the index is not an integer scalar, or if results or
/// variables of the branches have different types.
#[track_caller]
pub fn switch<A: Tree, R: Tree>(
    scope: &mut Scope,
    index: impl IntoArray,
    branches: &[&dyn Fn(&mut Scope, A) -> R],
    operands: A,
) -> R {
    let all = CollectionFilter::All;
    let pack = Pack::of(scope, "switch");
    let (variables, streams) = (pack.variables(&all), pack.streams(&all));
    let pure: Vec<_> = branches
        .iter()
        .map(|f| |(v, s, a): Operands<A>| pack.call(v, s, &all, |scope| f(scope, a)))
        .collect();
    let pure: Vec<&dyn Fn(Operands<A>) -> (R, Variables)> =
        pure.iter().map(|f| f as &dyn Fn(_) -> _).collect();
    let (out, changed) = ramie_core::lax::switch(index, &pure, (variables, streams, operands));
    pack.publish(scope, &changed);
    out
}

/// Options of a [`while_loop`]: its variables and RNG streams.
///
/// ```
/// use ramie_nn::linen::While;
/// let options = While::carrying("state").split_rngs("dropout", true);
/// ```
#[derive(Clone, Debug)]
pub struct While {
    carry: CollectionFilter,
    broadcast: CollectionFilter,
    rngs: Vec<(CollectionFilter, bool)>,
}

impl Default for While {
    /// Makes all variables available as constants, without RNG streams.
    fn default() -> While {
        While::carrying(CollectionFilter::None)
    }
}

impl While {
    /// Creates the options of a loop that changes the variables of these collections; all
    /// others are available as constants.
    pub fn carrying(collections: impl Into<CollectionFilter>) -> While {
        While {
            carry: collections.into(),
            broadcast: CollectionFilter::All,
            rngs: Vec::new(),
        }
    }

    setters! {
        /// Sets the collections that are available as constants. Defaults to all that the loop does
        /// not change.
        broadcast: [CollectionFilter as into],
    }

    /// Adds RNG streams. If `split` is true, each iteration has its own keys.
    #[must_use]
    pub fn split_rngs(mut self, streams: impl Into<CollectionFilter>, split: bool) -> While {
        self.rngs.push((streams.into(), split));
        self
    }

    fn streams(&self) -> CollectionFilter {
        let groups = self.rngs.iter();
        groups.fold(CollectionFilter::None, |all, (f, _)| all.or(f))
    }

    /// Returns the keys of an iteration.
    fn folded(&self, streams: &Streams, round: &Array) -> Streams {
        streams.map(|name, key| {
            let group = self.rngs.iter().find(|(f, _)| f.accepts(name));
            match group {
                Some((_, true)) => key.fold_in(round),
                _ => key.clone(),
            }
        })
    }
}

/// Calls a function of a scope while a condition is true (`flax.linen.while_loop`). Variables
/// cannot be created inside; call the body once before the loop to initialize them.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::linen::{self, Dense, Scope, While};
/// # fn f(scope: &mut Scope, x: Array) -> Array {
/// scope.variable("state", "rounds", || Array::scalar(0, DType::I32));
/// linen::while_loop(
///     scope,
///     &While::carrying("state"),
///     |scope, _: Array| scope.get_variable("state", "rounds").unwrap().lt(3),
///     |scope, x| {
///         let rounds = scope.get_variable("state", "rounds").unwrap() + 1;
///         scope.put_variable("state", "rounds", rounds);
///         x * 2.0
///     },
///     x,
/// )
/// # }
/// ```
///
/// # Panics
/// Panics if the condition does not return a boolean scalar, or if the type of the carry or of
/// a variable changes.
#[track_caller]
pub fn while_loop<C: Tree>(
    scope: &mut Scope,
    options: &While,
    condition: impl Fn(&mut Scope, C) -> Array,
    body: impl Fn(&mut Scope, C) -> C,
    init: C,
) -> C {
    let pack = Pack::of(scope, "while_loop");
    let carried = pack.variables(&options.carry);
    let shared = pack.variables(&options.carry.not().and(&options.broadcast));
    let streams = pack.streams(&options.streams());
    let variables = |carried: Variables| shared.clone().joined_with(carried);
    let start = Array::scalar(0, DType::I32);
    let (_, carried, out) = ramie_core::lax::while_loop(
        |(round, carried, c): (Array, Variables, C)| {
            let streams = options.folded(&streams, &-round);
            let none = CollectionFilter::None;
            let call = |scope: &mut Scope| condition(scope, c);
            pack.call(variables(carried), streams, &none, call).0
        },
        |(round, carried, c): (Array, Variables, C)| {
            let streams = options.folded(&streams, &round);
            let call = |scope: &mut Scope| body(scope, c);
            let before = carried.clone();
            let (c, changed) = pack.call(variables(carried), streams, &options.carry, call);
            check_made(&before, &changed);
            (round + 1, before.joined_with(changed), c)
        },
        (start, carried, init),
    );
    pack.publish(scope, &carried);
    out
}

/// Checks that an iteration created no variable.
#[track_caller]
fn check_made(before: &Variables, after: &Variables) {
    for (name, state) in after.iter() {
        for path in state.paths() {
            assert!(
                before.at(name, path).is_some(),
                "linen::while_loop: the variable `{path}` of `{name}` was created in the loop, \
                 but carried variables must exist before it\n  help: create it before the loop, \
                 for example by calling the body once while scope.is_initializing()"
            );
        }
    }
}

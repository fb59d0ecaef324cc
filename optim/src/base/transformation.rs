//! `GradientTransformation`: an `init` function, an `update` function, and the state that passes
//! between them.

use crate::ExtraArgs;
use crate::base::any_tree::{as_state, from_state, into_state};
use crate::base::extra_args::expect_params;
use crate::base::mistake::{is_outermost, refuse, within};
use crate::base::rounding::{KahanSummationState, StochasticRoundingState};
use crate::base::wide::{NarrowDtypes, into_wide, wide_state};
use ramie_core::tree::{KeepEmpty, Tree, Visitor};
use ramie_core::{Array, State};
use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Init = dyn Fn(&State) -> OptState + Send + Sync;
type Update =
    dyn Fn(State, OptState, Option<&State>, &ExtraArgs<'_>) -> (State, OptState) + Send + Sync;

/// A pair of functions that turns gradients into updates of the parameters and keeps a state
/// between steps (`optax.GradientTransformation`).
///
/// Use [`chain`](crate::chain) to compose transformations. In a tree, a transformation is a fixed
/// value: a compiled function is compiled for this transformation and its clones only.
///
/// Transformations compute in at least `f32`: they see parameters and gradients of narrower
/// floating-point dtypes as `f32`, so their states are in at least `f32`, too. The updates that the
/// caller receives have the dtypes of the gradients, but at least those of the parameters; they are
/// rounded once, after the last transformation of a chain. [`state_dtype`](crate::state_dtype()) stores a state in a narrower dtype.
#[doc(alias("GradientTransformationExtraArgs", "with_extra_args_support"))]
#[derive(Clone)]
pub struct GradientTransformation {
    /// Identifies the transformation. Clones behave the same and share the id.
    id: u64,
    init: Arc<Init>,
    update: Arc<Update>,
}

impl GradientTransformation {
    /// Creates a transformation from its two functions, which share a state type.
    ///
    /// `init` creates the initial state from the parameters. `update` receives the incoming
    /// updates (initially the gradients), the state, and the parameters if the caller passes
    /// them, and returns the new updates and state. Both functions see arrays of `bf16`, `f16` and
    /// narrower floats as `f32`.
    ///
    /// ```
    /// use ramie_core::State;
    /// use ramie_optim::GradientTransformation;
    /// let halve = GradientTransformation::new(
    ///     |_: &State| (),
    ///     |updates: State, (), _params: Option<&State>| (updates.map(|u| u * 0.5), ()),
    /// );
    /// ```
    pub fn new<S: Tree>(
        init: impl Fn(&State) -> S + Send + Sync + 'static,
        update: impl Fn(State, S, Option<&State>) -> (State, S) + Send + Sync + 'static,
    ) -> GradientTransformation {
        GradientTransformation::with_extra_args(init, move |updates, state, params, _| {
            update(updates, state, params)
        })
    }

    /// Creates a transformation whose `update` also receives the extra arguments that the caller
    /// passes to [`update_with`](GradientTransformation::update_with)
    /// (`GradientTransformationExtraArgs`).
    ///
    /// ```
    /// use ramie_core::State;
    /// use ramie_optim::{ExtraArgs, GradientTransformation};
    /// let by_loss = GradientTransformation::with_extra_args(
    ///     |_: &State| (),
    ///     |updates: State, (), _params: Option<&State>, extra: &ExtraArgs<'_>| {
    ///         let loss = extra.expect_value("by_loss");
    ///         (updates.map(|u| u * loss), ())
    ///     },
    /// );
    /// ```
    pub fn with_extra_args<S: Tree>(
        init: impl Fn(&State) -> S + Send + Sync + 'static,
        update: impl Fn(State, S, Option<&State>, &ExtraArgs<'_>) -> (State, S) + Send + Sync + 'static,
    ) -> GradientTransformation {
        GradientTransformation::passing_on(
            move |params| init(&wide_state(params)),
            move |updates, state, params, extra| {
                extra.widely(params, |extra| {
                    let params = params.map(wide_state);
                    update(into_wide(updates), state, params.as_deref(), extra)
                })
            },
        )
    }

    /// Creates a transformation whose functions see parameters and updates in their own dtypes.
    /// Combinators use it, so that an inner [`kahan_summation`](crate::kahan_summation()) knows the
    /// dtype to which the parameters are rounded.
    pub(crate) fn passing_on<S: Tree>(
        init: impl Fn(&State) -> S + Send + Sync + 'static,
        update: impl Fn(State, S, Option<&State>, &ExtraArgs<'_>) -> (State, S) + Send + Sync + 'static,
    ) -> GradientTransformation {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        GradientTransformation {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            init: Arc::new(move |params| OptState::new(init(params))),
            update: Arc::new(move |updates, state, params, extra| {
                let (updates, state) = update(updates, state.into::<S>(), params, extra);
                (updates, OptState::new(state))
            }),
        }
    }

    /// Creates a transformation without state.
    pub fn stateless(
        update: impl Fn(State, Option<&State>) -> State + Send + Sync + 'static,
    ) -> GradientTransformation {
        GradientTransformation::new(
            |_| (),
            move |updates, (), params| (update(updates, params), ()),
        )
    }

    /// Creates a transformation without state that maps each array of the updates and its
    /// parameter to the new update.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_core::Array;
    /// use ramie_optim::GradientTransformation;
    /// let towards_zero = GradientTransformation::stateless_with_tree_map(|_update, param| param * -0.1);
    /// ```
    pub fn stateless_with_tree_map(
        f: impl Fn(&Array, &Array) -> Array + Send + Sync + 'static,
    ) -> GradientTransformation {
        GradientTransformation::stateless(move |updates, params| {
            updates.zip(expect_params("stateless_with_tree_map", params), &f)
        })
    }

    /// Returns the state before the first step.
    ///
    /// The parameters are a [`State`] or any other tree: a struct that derives `Tree`, a tuple, a
    /// map. Transformations see the arrays by their paths.
    ///
    /// ```
    /// use ramie_core::{Array, value_and_grad};
    /// use ramie_optim::{adam, apply_updates};
    /// let mut params = (Array::from([1.0f32, 2.0]), Array::from(3.0f32));
    /// let tx = adam(0.1);
    /// let mut state = tx.init(&params);
    /// let loss = |(w, b): (Array, Array)| (w * b).square().sum();
    /// let (before, grads) = value_and_grad(loss)(params.clone());
    /// let (updates, after) = tx.update(grads, state, Some(&params));
    /// (params, state) = (apply_updates(&params, &updates), after);
    /// assert!(loss(params).item::<f32>() < before.item::<f32>());
    /// # let _ = state;
    /// ```
    #[track_caller]
    pub fn init<T: Tree>(&self, params: &T) -> OptState {
        let at = Location::caller();
        let params = as_state(params);
        within("init", at, || (self.init)(&params))
    }

    /// Returns the updates for the gradients and the state for the next step. The updates have the
    /// dtypes of the gradients, or `f32` for gradients in a narrower dtype of parameters in `f32`. Those
    /// of [`kahan_summation`](crate::kahan_summation()) and
    /// [`stochastic_rounding`](crate::stochastic_rounding()) are always in at least `f32`.
    ///
    /// # Panics
    /// Panics if the state belongs to another transformation, if the gradients do not have the
    /// paths that `init` saw, or if the transformation needs `params` and they are `None`.
    #[track_caller]
    pub fn update<T: Tree>(
        &self,
        updates: T,
        state: OptState,
        params: Option<&T>,
    ) -> (T, OptState) {
        self.update_with(updates, state, params, &ExtraArgs::new())
    }

    /// Computes an [`update`](GradientTransformation::update) with the extra arguments that some
    /// transformations need.
    ///
    /// # Panics
    /// Panics in the same cases as `update`, and if the transformation needs an extra argument
    /// that is missing.
    #[track_caller]
    pub fn update_with<T: Tree>(
        &self,
        updates: T,
        state: OptState,
        params: Option<&T>,
        extra: &ExtraArgs<'_>,
    ) -> (T, OptState) {
        let at = Location::caller();
        let (updates, like) = into_state(updates);
        let params = params.map(as_state);
        let narrow = if is_outermost() {
            NarrowDtypes::of(&updates, params.as_deref())
        } else {
            None
        };
        let (updates, state) = within("update", at, || {
            (self.update)(updates, state, params.as_deref(), extra)
        });
        let updates = match narrow {
            Some(narrow) if !rounds_parameters(&state) => narrow.cast(&updates),
            _ => updates,
        };
        (from_state(like.as_ref(), updates), state)
    }
}

impl fmt::Debug for GradientTransformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GradientTransformation #{}", self.id)
    }
}
impl PartialEq for GradientTransformation {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl Eq for GradientTransformation {}
impl Hash for GradientTransformation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.id);
    }
}
ramie_core::fixed_tree!(GradientTransformation);

/// The type-erased state of a [`GradientTransformation`].
pub struct OptState(Box<dyn AnyTree>);

impl OptState {
    /// Creates a type-erased state.
    pub fn new<S: Tree>(state: S) -> OptState {
        OptState(Box::new(state))
    }

    /// Returns the state if it has the type `S`.
    pub fn get<S: Tree>(&self) -> Option<&S> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    /// Returns the state mutably if it has the type `S`.
    pub fn get_mut<S: Tree>(&mut self) -> Option<&mut S> {
        (&mut *self.0 as &mut dyn Any).downcast_mut()
    }

    /// Returns whether the state has no arrays.
    pub fn is_empty(&self) -> bool {
        ramie_core::tree::leaves(self).is_empty()
    }

    #[track_caller]
    fn into<S: Tree>(self) -> S {
        let found = (*self.0).type_name();
        match (self.0 as Box<dyn Any>).downcast() {
            Ok(state) => *state,
            Err(_) => refuse(&format!(
                "update: the state belongs to another transformation\n  expected {}\n  got \
                 {found}\n  help: pass the state that this transformation's `init` or last \
                 `update` returned",
                type_name::<S>()
            )),
        }
    }
}

/// The type of a state, for visitors.
struct StateType(TypeId);

/// Returns whether a state contains that of a transformation that rounds parameters itself. The
/// sum of its updates and the parameters is exact, so the updates must not be rounded.
fn rounds_parameters(state: &OptState) -> bool {
    struct Found(bool);
    impl Visitor for Found {
        fn leaf(&mut self, _: &Array) {}
        fn metadata(&mut self, metadata: &dyn Any) {
            let rounding = [
                TypeId::of::<KahanSummationState>(),
                TypeId::of::<StochasticRoundingState>(),
            ];
            if let Some(StateType(found)) = metadata.downcast_ref() {
                self.0 |= rounding.contains(found);
            }
        }
    }
    let mut found = Found(false);
    Tree::walk(state, &mut found);
    found.0
}

/// An object-safe [`Tree`].
trait AnyTree: Any + Send + Sync {
    fn walk(&self, visitor: &mut dyn Visitor);
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array));
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Box<dyn AnyTree>;
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any));
    fn type_name(&self) -> &'static str;
}

impl<T: Tree> AnyTree for T {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.fixed(&TypeId::of::<T>());
        visitor.metadata(&StateType(TypeId::of::<T>()));
        Tree::walk(self, visitor);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        Tree::walk_mut(self, visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Box<dyn AnyTree> {
        Box::new(Tree::rebuild(self, leaf))
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        Tree::visit_parts(self, visit);
    }
    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }
}

impl Tree for OptState {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.metadata(&KeepEmpty);
        (*self.0).walk(visitor);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        (*self.0).walk_mut(visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        OptState((*self.0).rebuild(leaf))
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        (*self.0).visit_parts(visit);
    }
}

impl Clone for OptState {
    fn clone(&self) -> OptState {
        ramie_core::tree::copy(self)
    }
}

impl fmt::Debug for OptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        ramie_core::tree::for_each_with_path(self, |path, _, a| {
            map.entry(&path, &a.aval());
        });
        map.finish()
    }
}

/// Creates the transformation that returns the updates unchanged.
pub fn identity() -> GradientTransformation {
    GradientTransformation::passing_on(|_| (), |updates, (), _, _| (updates, ()))
}

/// Creates the transformation that sets all updates to zero.
pub fn set_to_zero() -> GradientTransformation {
    GradientTransformation::passing_on(|_| (), |updates, (), _, _| (updates.zeros_like(), ()))
}

//! `split` and `merge`: convert models to their structure and their arrays, and back.

use super::filter::{Filter, Leaf};
use crate::for_each_variable;
use ramie_core::lost::{self, History};
use ramie_core::text::listed;
use ramie_core::tree::{self, Fixed, Visitor};
use ramie_core::{Array, State, Tree, is_tracing};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A filter, or a tuple of filters. Each leaf belongs to the first filter that accepts it. `()`
/// accepts all leaves.
pub trait Filters {
    /// A [`State`] per filter.
    type States: States;
    #[doc(hidden)]
    const COUNT: usize;
    #[doc(hidden)]
    fn first(&self, leaf: &Leaf<'_>) -> Option<usize>;
    #[doc(hidden)]
    fn gather(states: Vec<State>) -> Self::States;
}

/// A state, or a tuple of states.
pub trait States {
    /// Returns the states, in order.
    fn list(self) -> Vec<State>;
}

impl States for State {
    fn list(self) -> Vec<State> {
        vec![self]
    }
}
impl States for &State {
    fn list(self) -> Vec<State> {
        vec![self.clone()]
    }
}
impl States for Vec<State> {
    fn list(self) -> Vec<State> {
        self
    }
}

fn one(mut states: Vec<State>) -> State {
    states.pop().unwrap_or_default()
}

impl<F: Filter> Filters for F {
    type States = State;
    const COUNT: usize = 1;
    fn first(&self, leaf: &Leaf<'_>) -> Option<usize> {
        self.accepts(leaf).then_some(0)
    }
    fn gather(states: Vec<State>) -> State {
        one(states)
    }
}

impl Filters for () {
    type States = State;
    const COUNT: usize = 1;
    fn first(&self, _: &Leaf<'_>) -> Option<usize> {
        Some(0)
    }
    fn gather(states: Vec<State>) -> State {
        one(states)
    }
}

macro_rules! several {
    ($n:literal; $($f:ident $i:tt $state:ty),+) => {
        impl<$($f: Filter),+> Filters for ($($f,)+) {
            type States = ($($state,)+);
            const COUNT: usize = $n;
            fn first(&self, leaf: &Leaf<'_>) -> Option<usize> {
                $( if self.$i.accepts(leaf) { return Some($i); } )+
                None
            }
            fn gather(states: Vec<State>) -> Self::States {
                let mut states = states.into_iter();
                ($( { let _ = $i; states.next().unwrap_or_default() }, )+)
            }
        }
        impl States for ($($state,)+) {
            fn list(self) -> Vec<State> {
                vec![$( self.$i ),+]
            }
        }
    };
}
several!(1; A 0 State);
several!(2; A 0 State, B 1 State);
several!(3; A 0 State, B 1 State, C 2 State);
several!(4; A 0 State, B 1 State, C 2 State, D 3 State);
several!(5; A 0 State, B 1 State, C 2 State, D 3 State, E 4 State);

/// Returns the leaves of each filter, and the paths of the leaves that no filter accepts.
#[track_caller]
fn divide<M: Tree, F: Filters>(model: &M, filters: &F) -> (F::States, Vec<String>) {
    let mut found = Vec::new();
    for_each_variable(model, |path, kind, metadata, array| {
        found.push(filters.first(&Leaf {
            path,
            kind,
            metadata,
            array,
        }));
    });
    divided::<F>(&State::of(model), &found)
}

/// Returns the leaves of each filter, given the index of the filter of each leaf, and the paths of
/// the leaves without one.
pub(crate) fn divided<F: Filters>(
    all: &State,
    found: &[Option<usize>],
) -> (F::States, Vec<String>) {
    // `State::of` and `for_each_variable` visit the leaves in the same order, so the indices of the
    // filters belong to the leaves of `all`, one by one.
    let of = |filter: Option<usize>| {
        let mut next = found.iter();
        all.filter(|_, _| next.next() == Some(&filter))
    };
    let states = (0..F::COUNT).map(|i| of(Some(i))).collect();
    (
        F::gather(states),
        of(None).paths().map(str::to_owned).collect(),
    )
}

/// The structure of a model without its arrays (`nnx.GraphDef`): its type, its static values,
/// and the paths and types of its arrays.
///
/// It is a static part of a pytree. A compiled function can take it as an argument and is
/// compiled for its value.
pub struct GraphDef<M> {
    model: M,
    /// The paths of the leaves.
    paths: Arc<[String]>,
}

impl<M: Tree> GraphDef<M> {
    /// Returns the structure of a model.
    pub fn of(model: &M) -> GraphDef<M> {
        GraphDef {
            model: tree::shape_dtype_structs(model),
            paths: tree::paths(model).into(),
        }
    }

    /// Returns the model with abstract arrays, which only have types.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Creates the model with the arrays of these states; see [`merge`].
    ///
    /// # Panics
    /// Panics if a leaf is in none or in several of the states, or if a state has a leaf that
    /// the model lacks.
    #[track_caller]
    pub fn merge(&self, states: impl States) -> M {
        merge(self, states)
    }
}

impl<M: Tree> Clone for GraphDef<M> {
    fn clone(&self) -> Self {
        GraphDef {
            model: copy(&self.model),
            paths: self.paths.clone(),
        }
    }
}

/// Forwards only the static values of a tree.
struct FixedOnly<'a>(&'a mut dyn Visitor);

impl Visitor for FixedOnly<'_> {
    fn leaf(&mut self, _: &Array) {}
    fn fixed(&mut self, value: &dyn Fixed) {
        self.0.fixed(value);
    }
}

impl<M: Tree> Tree for GraphDef<M> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        // The arrays of the model are placeholders: only static values, and the paths, identify a
        // structure.
        visitor.node("GraphDef", self);
        visitor.fixed(&self.paths);
        self.model.walk(&mut FixedOnly(visitor));
    }
    fn walk_mut(&mut self, _: &mut dyn FnMut(&mut Array)) {}
    fn rebuild(&self, _: &mut dyn FnMut(&Array) -> Array) -> Self {
        self.clone()
    }
}

impl<M: Tree> fmt::Debug for GraphDef<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GraphDef ")?;
        fmt::Debug::fmt(&State::of(&self.model), f)
    }
}

/// Splits a model into its structure and its arrays (`nnx.split`): one [`State`] per filter, or
/// a single one with all arrays for `()`. Each leaf belongs to the first filter that accepts
/// it. The model is unchanged, and no data is copied.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_nn::nnx::{self, Everything, of_type};
/// use ramie_nn::{BatchStat, Param};
/// let zeros = || Array::zeros(&[2], DType::F32);
/// let model = (Param::new(zeros()), BatchStat::new(zeros()));
/// let (graphdef, (params, others)) = nnx::split(&model, (of_type::<Param>(), Everything));
/// assert_eq!((params.len(), others.len()), (1, 1));
/// let again = nnx::merge(&graphdef, (params, others));
/// assert_eq!(again.0.shape(), [2]);
/// ```
///
/// # Panics
/// Panics if no filter accepts a leaf; the message lists these leaves.
#[track_caller]
pub fn split<M: Tree, F: Filters>(model: &M, filters: F) -> (GraphDef<M>, F::States) {
    let (states, others) = divide(model, &filters);
    assert!(
        others.is_empty(),
        "nnx::split: no filter accepts {}\n  help: add `Everything` as the last filter, or \
         select only some leaves with nnx::state",
        listed(&others)
    );
    (GraphDef::of(model), states)
}

/// Creates a model from a structure and the arrays of all states (`nnx.merge`). Shapes may
/// differ from those of the model that was split.
///
/// # Panics
/// Panics if a leaf is in none or in several of the states, or if a state has a leaf that the
/// model lacks. The message lists these leaves.
#[track_caller]
pub fn merge<M: Tree>(graphdef: &GraphDef<M>, states: impl States) -> M {
    let mut arrays: BTreeMap<String, Array> = BTreeMap::new();
    let mut twice = Vec::new();
    for state in states.list() {
        for (path, array) in state.iter() {
            if arrays.insert(path.to_owned(), array.clone()).is_some() {
                twice.push(path.to_owned());
            }
        }
    }
    // Each array that the model takes is removed, so the remaining ones are not in the model. All
    // mistakes are collected, so that one message lists them.
    let mut missing = Vec::new();
    let model = tree::map_with_path(&graphdef.model, |path, empty| match arrays.remove(path) {
        Some(array) => array,
        None => {
            missing.push(path.to_owned());
            empty.clone()
        }
    });
    let extra: Vec<&String> = arrays.keys().collect();
    let mut wrong = Vec::new();
    for (what, none, paths) in [
        ("missing", missing.is_empty(), listed(&missing)),
        ("not in the model", extra.is_empty(), listed(&extra)),
        ("in two states", twice.is_empty(), listed(&twice)),
    ] {
        if !none {
            wrong.push(format!("\n  {what}: {paths}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "nnx::merge: the states do not match the model{}\n  help: pass all states that \
         nnx::split returned with this GraphDef; use nnx::update to change some leaves of a model",
        wrong.concat()
    );
    model
}

/// Returns the leaves of a model that a filter accepts, or one state per filter of a tuple
/// (`nnx.state`).
pub fn state<M: Tree, F: Filters>(model: &M, filters: F) -> F::States {
    divide(model, &filters).0
}

/// Returns the structure of a model (`nnx.graphdef`).
pub fn graphdef<M: Tree>(model: &M) -> GraphDef<M> {
    GraphDef::of(model)
}

/// Replaces the arrays of a model by those of the states, by path (`nnx.update`). Other arrays
/// are unchanged.
///
/// # Panics
/// Panics if a state has a leaf that the model lacks, or that has another shape or dtype.
/// [`State::update`] returns an error instead.
#[track_caller]
pub fn update<M: Tree>(model: &mut M, states: impl States) {
    for state in states.list() {
        if let Err(mismatch) = state.update(model) {
            panic!("nnx::update: {mismatch}");
        }
    }
}

/// Returns a copy of the model (`nnx.clone`). It shares the arrays, which are never changed in
/// place while both models have them.
///
/// Changes of the copy do not affect the model. In a traced function, a warning on stderr
/// reports a copy that draws keys or updates statistics and is then dropped.
pub fn clone<M: Tree>(model: &M) -> M {
    lost::copying(|| copy(model))
}

/// Copies the model for a transformation, which later writes the changes back to the model.
pub(crate) fn copy<M: Tree>(model: &M) -> M {
    tree::copy(model)
}

/// Replaces a model by its state after a transformation. The history of its variables is kept:
/// a copy stays a copy.
pub(crate) fn replace<M: Tree>(model: &mut M, after: M) {
    // The variables of `after` are new, but if those of `model` are copies, lost writes must still
    // be reported. Outside of a trace nothing is reported. Both walks have the same order.
    let mut before = Vec::new();
    if is_tracing() {
        for_each_history(model, |history| {
            let mut taken = History::default();
            history.pass_on(&mut taken);
            before.push(taken);
        });
    }
    *model = after;
    if !before.is_empty() {
        let mut before = before.iter_mut();
        for_each_history(model, |history| {
            if let Some(before) = before.next() {
                before.pass_on(history);
            }
        });
    }
}

/// Returns the writes to the variables of a model, for [`add_writes`].
pub(crate) fn writes<M: Tree>(model: &mut M) -> Vec<History> {
    let mut writes = Vec::new();
    for_each_history(model, |history| writes.push(history.writes()));
    writes
}

/// Adds writes to the history of another model of the same structure.
pub(crate) fn add_writes<M: Tree>(model: &mut M, writes: &[History]) {
    let mut writes = writes.iter();
    for_each_history(model, |history| {
        if let Some(writes) = writes.next() {
            history.join(writes);
        }
    });
}

fn for_each_history<M: Tree>(model: &mut M, mut f: impl FnMut(&mut History)) {
    tree::part(model, &mut |part| {
        if let Some(history) = part.downcast_mut::<History>() {
            f(history);
        }
    });
}

//! `split` and `merge`: models as their structure and their arrays.

use super::filter::{Filter, Leaf};
use crate::for_each_variable;
use ramie_core::lost::{self, History};
use ramie_core::tree::{self, Fixed, Visitor};
use ramie_core::{Array, State, Tree, is_tracing};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A filter, or several in a tuple, each of which gets the leaves that no filter
/// before it took. `()` takes all.
pub trait Filters {
    /// A [`State`] for each filter.
    type States: States;
    #[doc(hidden)]
    const COUNT: usize;
    #[doc(hidden)]
    fn first(&self, leaf: &Leaf<'_>) -> Option<usize>;
    #[doc(hidden)]
    fn gather(states: Vec<State>) -> Self::States;
}

/// A state, or several in a tuple.
pub trait States {
    /// The states, in order.
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

/// Paths in a message.
pub(crate) fn listed<S: AsRef<str>>(paths: &[S]) -> String {
    const LISTED: usize = 8;
    let mut text: Vec<&str> = paths.iter().take(LISTED).map(AsRef::as_ref).collect();
    let more = format!("and {} more", paths.len().saturating_sub(LISTED));
    if paths.len() > LISTED {
        text.push(&more);
    }
    text.join(", ")
}

/// The leaves of each filter, and the paths of those that none accepts.
#[track_caller]
fn divide<M: Tree, F: Filters>(model: &M, filters: &F) -> (F::States, Vec<String>) {
    let mut place = Vec::new();
    let mut others = Vec::new();
    for_each_variable(model, |path, kind, metadata, array| {
        let found = filters.first(&Leaf {
            path,
            kind,
            metadata,
            array,
        });
        if found.is_none() {
            others.push(path.to_owned());
        }
        place.push(found);
    });
    let all = State::of(model);
    let states = (0..F::COUNT).map(|i| {
        let mut next = place.iter();
        all.filter(|_, _| next.next() == Some(&Some(i)))
    });
    (F::gather(states.collect()), others)
}

/// The structure of a model without its arrays (`nnx.GraphDef`): its type, its
/// fixed values, and the paths and types of the arrays.
///
/// It is a fixed part of a tree, so that a compiled function can take it as an
/// argument, and is compiled for it.
pub struct GraphDef<M> {
    model: M,
    /// The paths of its leaves.
    paths: Arc<[String]>,
}

impl<M: Tree> GraphDef<M> {
    /// The structure of a model.
    pub fn of(model: &M) -> GraphDef<M> {
        GraphDef {
            model: tree::shape_dtype_structs(model),
            paths: tree::paths(model).into(),
        }
    }

    /// The model with types in the place of arrays.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The model with the arrays of these states; see [`merge`].
    ///
    /// # Panics
    /// If a leaf is in none of the states, or in two, or a state has a leaf that
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

/// Shows the fixed values of a tree alone.
struct FixedOnly<'a>(&'a mut dyn Visitor);

impl Visitor for FixedOnly<'_> {
    fn leaf(&mut self, _: &Array) {}
    fn fixed(&mut self, value: &dyn Fixed) {
        self.0.fixed(value);
    }
}

impl<M: Tree> Tree for GraphDef<M> {
    fn walk(&self, visitor: &mut dyn Visitor) {
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

/// A model as its structure and its arrays: a [`State`] for each filter, or one
/// of all arrays for `()` (`nnx.split`). A leaf goes to the first filter that
/// accepts it. The model itself stays as it is; nothing is copied.
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
/// If no filter accepts a leaf; the message names the leaves.
#[track_caller]
pub fn split<M: Tree, F: Filters>(model: &M, filters: F) -> (GraphDef<M>, F::States) {
    let (states, others) = divide(model, &filters);
    assert!(
        others.is_empty(),
        "nnx::split: no filter accepts {}\n  help: add `Everything` as the last filter, or take \
         some leaves only with nnx::state",
        listed(&others)
    );
    (GraphDef::of(model), states)
}

/// The model of a structure and the arrays of all states (`nnx.merge`). Shapes
/// may be others than those of the model that was split.
///
/// # Panics
/// If a leaf is in none of the states, or in two, or a state has a leaf that the
/// model lacks. The message names them.
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
    for (what, paths) in [
        ("missing", listed(&missing)),
        ("not in the model", listed(&extra)),
        ("in two states", listed(&twice)),
    ] {
        if !paths.is_empty() {
            wrong.push(format!("\n  {what}: {paths}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "nnx::merge: the states are not those of the model{}\n  help: give all states that \
         nnx::split returned with this GraphDef; nnx::update changes some leaves of a model",
        wrong.concat()
    );
    model
}

/// The leaves of a model that a filter accepts, or a state for each filter of a
/// tuple (`nnx.state`).
pub fn state<M: Tree, F: Filters>(model: &M, filters: F) -> F::States {
    divide(model, &filters).0
}

/// The structure of a model (`nnx.graphdef`).
pub fn graphdef<M: Tree>(model: &M) -> GraphDef<M> {
    GraphDef::of(model)
}

/// Replaces those arrays of a model that states have, by path (`nnx.update`).
///
/// # Panics
/// If a state has a leaf that the model lacks, or of another shape or element
/// type. [`State::update`] reports it as an error.
#[track_caller]
pub fn update<M: Tree>(model: &mut M, states: impl States) {
    for state in states.list() {
        if let Err(mismatch) = state.update(model) {
            panic!("nnx::update: {mismatch}");
        }
    }
}

/// Returns a copy of the model (`nnx.clone`): handles to the same arrays, which
/// nothing changes in place while both have them.
///
/// What the copy changes, the model does not see. In a traced function, a copy that
/// draws keys or updates statistics and is then dropped is reported on stderr.
pub fn clone<M: Tree>(model: &M) -> M {
    lost::copying(|| copy(model))
}

/// The model for a transformation, whose changes go back to it.
pub(crate) fn copy<M: Tree>(model: &M) -> M {
    tree::map(model, Array::clone)
}

/// Replaces a model by what a transformation made of it. A copy stays a copy.
pub(crate) fn replace<M: Tree>(model: &mut M, after: M) {
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

/// The writes to the variables of a model, for [`add_writes`].
pub(super) fn writes<M: Tree>(model: &mut M) -> Vec<History> {
    let mut writes = Vec::new();
    for_each_history(model, |history| writes.push(history.writes()));
    writes
}

/// Records writes to a model in another of the same structure.
pub(super) fn add_writes<M: Tree>(model: &mut M, writes: &[History]) {
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

/// What differs in the structure of two trees, if anything does: paths, or fixed
/// values.
pub(crate) fn difference<T: Tree>(before: &T, after: &T) -> Option<String> {
    struct Parts(Vec<String>);
    impl Visitor for Parts {
        fn leaf(&mut self, _: &Array) {
            self.0.push("array".into());
        }
        fn fixed(&mut self, value: &dyn Fixed) {
            self.0.push(value.describe());
        }
        fn enter(&mut self, key: tree::Key<'_>) {
            self.0.push(format!("`{key}`"));
        }
        fn node(&mut self, name: &'static str, _: &dyn Any) {
            self.0.push(name.into());
        }
    }
    let parts = |tree: &T| {
        let mut parts = Parts(Vec::new());
        tree.walk(&mut parts);
        parts.0
    };
    let (before, after) = (parts(before), parts(after));
    let at = before.iter().zip(&after).position(|(a, b)| a != b);
    let at = at.or((before.len() != after.len()).then_some(before.len().min(after.len())))?;
    let inside = before[..at].iter().rev().find(|p| p.starts_with('`'));
    let show = |parts: &[String]| parts.get(at).cloned().unwrap_or_else(|| "nothing".into());
    Some(format!(
        "{}{} became {}",
        inside.map_or(String::new(), |p| format!("in {p}, ")),
        show(&before),
        show(&after)
    ))
}

//! Traces of jitted functions.

use crate::base::{events, location};
use crate::program::array::type_only;
use crate::program::jaxpr::{Atom, ClosedJaxpr, Scope};
use crate::program::trace::OpenTrace;
use crate::program::tree::{self, Visitor, Walk};
use crate::{Array, Tree};
use std::any::Any;
use std::panic::Location;

/// State and result of a function, with tracers as leaves.
pub(crate) trait Trees: Any + Send + Sync {
    /// Visits the state.
    fn walk_state(&self, visitor: &mut dyn Visitor);
    /// Visits the result.
    fn walk_result(&self, visitor: &mut dyn Visitor);
}

impl<S: Tree, R: Tree> Trees for (S, R) {
    fn walk_state(&self, visitor: &mut dyn Visitor) {
        self.0.walk(visitor);
    }
    fn walk_result(&self, visitor: &mut dyn Visitor) {
        self.1.walk(visitor);
    }
}

/// The result of tracing a function once. The types of its state and its result are not part of the
/// type, so that most code around calls is compiled once for all functions.
pub(crate) struct Trace {
    pub program: ClosedJaxpr,
    /// State and result as the function left them.
    pub trees: Box<dyn Trees>,
    /// Number of leaves of the state among the inputs, and among the outputs.
    pub state_ins: usize,
    pub state_outs: usize,
    /// Whether the state kept its structure and fixed values.
    pub in_place: bool,
}

/// A trace under way.
pub(super) struct Tracing {
    open: OpenTrace,
    state: (u64, u64),
    state_ins: usize,
    _event: Option<events::Span>,
}

impl Tracing {
    /// Starts to trace the function `name` for a call with this state.
    pub fn start(name: &str, state: &Walk<'_>, at: &'static Location<'static>) -> Tracing {
        Tracing {
            _event: events::span(|| events::Event::named(format!("trace {name}"))),
            open: location::at_location(at, || OpenTrace::full()),
            state: tree::fingerprint_of(state),
            state_ins: tree::count_of(state),
        }
    }

    /// Returns a tracer like this array.
    pub fn input(&self, array: &Array) -> Array {
        self.open.input(array.aval())
    }

    /// Runs the user's function. The trace is shared by calls in any scope, so it starts in an empty
    /// one.
    pub fn run(&self, function: &mut dyn FnMut()) {
        location::in_user_code(|| Scope::default().within(function));
    }

    /// Ends the trace. `trees` are the state and the result that the function left.
    pub fn finish(self, trees: Box<dyn Trees>) -> Trace {
        let state: &Walk<'_> = &|v| trees.walk_state(v);
        let result: &Walk<'_> = &|v| trees.walk_result(v);
        let mut outs = tree::leaves_of(state);
        let state_outs = outs.len();
        outs.extend(tree::leaves_of(result));
        // Computed on demand, since only the warning about a lost write needs the paths.
        let path = |i: usize| {
            if i < state_outs {
                tree::paths_of(state).into_iter().nth(i)
            } else {
                tree::paths_of(result).into_iter().nth(i - state_outs)
            }
        };
        Trace {
            program: self.open.finish_named(&outs, path),
            // Includes static values: a state in which one changed is rebuilt.
            in_place: self.state == tree::fingerprint_of(state),
            state_ins: self.state_ins,
            state_outs,
            trees,
        }
    }
}

impl Trace {
    /// Returns whether output `i` is the new value of the state's array `i`.
    pub fn keeps_state(&self, i: usize) -> bool {
        let jaxpr = &self.program.jaxpr;
        self.in_place
            && i < self.state_ins
            && jaxpr.in_avals()[i].shape() == jaxpr.out_avals()[i].shape()
    }

    /// Returns whether each output is an array of the state that the function leaves unchanged;
    /// empty if there are none. See [`kept`](super::place::Plan::kept).
    pub fn unchanged(&self) -> Vec<bool> {
        let jaxpr = &self.program.jaxpr;
        let pairs = jaxpr
            .outvars
            .iter()
            .zip(&jaxpr.invars)
            .take(self.state_outs);
        let kept: Vec<bool> = pairs
            // Output `i` is the new value of input `i` only in a state of the same structure.
            .map(|(out, input)| self.in_place && *out == Atom::Var(*input))
            .collect();
        if kept.contains(&true) {
            kept
        } else {
            Vec::new()
        }
    }

    /// Returns state and result as the function left them. `S` and `R` are their types.
    pub fn typed<S: Tree, R: Tree>(&self) -> &(S, R) {
        let trees: &dyn Any = &*self.trees;
        trees.downcast_ref().expect("the types of the function")
    }

    /// Replaces the state's arrays by its new ones, and returns the result with the others.
    pub fn put<S: Tree, R: Tree>(&self, state: &mut S, outs: &mut dyn Iterator<Item = Array>) -> R {
        let mut next = || outs.next().expect("an output for every leaf");
        let (left, result) = self.typed::<S, R>();
        // If the function replaced parts of the state, the structure that it left is kept, too.
        if self.in_place {
            state.walk_mut(&mut |a| *a = next());
        } else {
            *state = left.rebuild(&mut |_| next());
        }
        result.rebuild(&mut |_| next())
    }

    /// Returns the result as arrays without elements. `S` and `R` are the types of the function.
    pub fn out_info<S: Tree, R: Tree>(&self) -> R {
        self.typed::<S, R>().1.rebuild(&mut type_only)
    }
}

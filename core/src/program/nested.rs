//! Primitives that run programs, and a state threaded through these for `checkify`.

use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::lists::avals;
use crate::program::trace::trace_to_jaxpr;
use crate::sharding::AxisName;
use crate::{Array, Aval};
use smallvec::SmallVec;
use std::sync::Arc;

/// The programs that a primitive runs.
pub type Jaxprs<'a> = SmallVec<[&'a Arc<Jaxpr>; 2]>;

/// A primitive that runs programs. Effects, mapped axes, meshes and checks inside them are then
/// found.
pub trait Nested {
    /// Returns the programs.
    fn jaxprs(&self) -> Jaxprs<'_>;

    /// Returns the program that the operation calls with its operands, if it does nothing else. A
    /// printed jaxpr uses the same names for the program's results as for the operation's.
    fn callee(&self) -> Option<&Arc<Jaxpr>> {
        None
    }

    /// Returns whether an axis of this name in the programs is one that the operation introduces,
    /// and not one of a transformation around it.
    fn binds(&self, _name: AxisName) -> bool {
        false
    }

    /// Applies the operation with a state that is threaded through its programs:
    /// [`checkify`](crate::transform::checkify::checkify) passes its error this way. The programs
    /// are run with the state before their arguments. Returns the new state followed by the
    /// results, or `None` if the operation does not support it.
    fn thread_state(&self, _pass: &StatePass<'_>, _args: &[Array]) -> Option<Vec<Array>> {
        None
    }
}

type Run<'a> = dyn Fn(&Jaxpr, &[Array], &[Array]) -> Vec<Array> + 'a;

/// A state that is threaded through a program.
pub struct StatePass<'a> {
    pub(crate) state: &'a [Array],
    pub(crate) run: &'a Run<'a>,
    pub(crate) changes: &'a dyn Fn(&Jaxpr) -> bool,
    pub(crate) requires: &'a dyn Fn(&Jaxpr) -> bool,
}

impl StatePass<'_> {
    /// Returns the state before the operation.
    pub fn state(&self) -> &[Array] {
        self.state
    }

    /// Returns the types of the state.
    pub fn avals(&self) -> Vec<Aval> {
        avals(self.state)
    }

    /// Runs a program on a state and arguments; returns the new state, followed by the results.
    pub fn run(&self, jaxpr: &Jaxpr, state: &[Array], args: &[Array]) -> Vec<Array> {
        (self.run)(jaxpr, state, args)
    }

    /// Returns the program from the state and arguments of the given types to the new state and
    /// the results.
    pub fn program(&self, jaxpr: &Jaxpr, avals: &[Aval]) -> ClosedJaxpr {
        let all = [&self.avals(), avals].concat();
        trace_to_jaxpr(&all, |args| {
            let (state, args) = args.split_at(self.state.len());
            self.run(jaxpr, state, args)
        })
    }

    /// Returns the state followed by the arguments, as [`program`](StatePass::program) takes
    /// them.
    pub fn with(&self, args: &[Array]) -> Vec<Array> {
        [self.state, args].concat()
    }

    /// Returns whether the program may change the state.
    pub fn changes(&self, jaxpr: &Jaxpr) -> bool {
        (self.changes)(jaxpr)
    }

    /// Returns whether the program cannot run without the state.
    pub fn requires(&self, jaxpr: &Jaxpr) -> bool {
        (self.requires)(jaxpr)
    }
}

//! Support for `checkify` in primitives: positions, and a state threaded through the programs
//! they run.

use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::lists::avals;
use crate::program::trace::trace_to_jaxpr;
use crate::{Array, Aval};

/// Positions in an operand.
pub struct Positions {
    /// Start positions: vectors along the last axis.
    pub starts: Array,
    /// Axes of the operand to which the vector's elements refer.
    pub axes: Vec<usize>,
    /// Number of elements of each axis that are read or written from there.
    pub sizes: Vec<usize>,
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

//! Programs derived from others: other inputs, other outputs.

use super::{Atom, ClosedJaxpr, Jaxpr, Var};
use std::sync::Arc;

impl Jaxpr {
    /// Returns a program of the same equations with other arguments and results.
    pub(crate) fn with_interface(&self, invars: Vec<Var>, outvars: Vec<Atom>) -> Jaxpr {
        Jaxpr::new(
            self.constvars.clone(),
            invars,
            self.eqns.clone(),
            outvars,
            self.avals.clone(),
        )
    }

    /// Returns, for each result that is an unchanged argument, the argument's index.
    pub(crate) fn forwarded(&self) -> Vec<Option<usize>> {
        let argument = |atom: &Atom| match atom {
            Atom::Var(v) => self.invars.iter().position(|i| i == v),
            Atom::Literal(_) => None,
        };
        self.outvars.iter().map(argument).collect()
    }
}

impl ClosedJaxpr {
    /// Returns the program with its captured values as first arguments, and these values.
    pub(crate) fn open(self) -> (Arc<Jaxpr>, Vec<crate::Array>) {
        (self.jaxpr.with_consts_as_inputs(), self.consts)
    }

    /// Removes unused equations, and captured values that only those use.
    pub(crate) fn pruned(self) -> ClosedJaxpr {
        let (mut jaxpr, used) = self.jaxpr.dce();
        let mut keep = used.iter();
        jaxpr
            .constvars
            .retain(|_| *keep.next().expect("one for each"));
        let consts = self.consts.into_iter().zip(&used);
        ClosedJaxpr {
            consts: consts.filter(|(_, used)| **used).map(|(c, _)| c).collect(),
            jaxpr: Arc::new(jaxpr),
        }
    }
}

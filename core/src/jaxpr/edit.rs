//! Programs made of others by taking them apart: other inputs, other outputs.

use super::{Atom, ClosedJaxpr, Jaxpr, Var};
use std::sync::Arc;

impl Jaxpr {
    /// The same equations with other arguments and results.
    pub(crate) fn with_interface(&self, invars: Vec<Var>, outvars: Vec<Atom>) -> Jaxpr {
        Jaxpr::new(
            self.constvars.clone(),
            invars,
            self.eqns.clone(),
            outvars,
            self.avals.clone(),
        )
    }

    /// For each result that is an argument unchanged, which one.
    pub(crate) fn forwarded(&self) -> Vec<Option<usize>> {
        let argument = |atom: &Atom| match atom {
            Atom::Var(v) => self.invars.iter().position(|i| i == v),
            Atom::Literal(_) => None,
        };
        self.outvars.iter().map(argument).collect()
    }
}

impl ClosedJaxpr {
    /// The program with what it captured as its first arguments, and what that
    /// is.
    pub(crate) fn open(self) -> (Arc<Jaxpr>, Vec<crate::Array>) {
        (self.jaxpr.with_consts_as_inputs(), self.consts)
    }

    /// The program without equations that nothing uses, and without captured
    /// values that only those used.
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

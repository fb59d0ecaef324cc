//! Programs derived from others: other inputs, other outputs.

use super::{Atom, ClosedJaxpr, Jaxpr, Var};
use crate::Aval;
use std::sync::Arc;

/// An argument of a program derived from another one.
pub(crate) enum Input {
    /// A variable of the original program.
    Own(Var),
    /// An additional argument that no equation reads.
    Unused(Aval),
}

impl Input {
    /// Returns the variable, or an unused argument of type `aval` without one.
    pub fn own_or(own: Option<Var>, aval: Aval) -> Input {
        own.map_or(Input::Unused(aval), Input::Own)
    }
}

impl Jaxpr {
    /// Returns a program of the same equations and results with these arguments, which include
    /// all captured values that it reads.
    pub(crate) fn with_inputs(&self, inputs: impl IntoIterator<Item = Input>) -> Jaxpr {
        let mut avals = self.avals.clone();
        let variable = |input| match input {
            Input::Own(v) => v,
            Input::Unused(aval) => {
                avals.push(aval);
                Var(avals.len() as u32 - 1)
            }
        };
        let invars = inputs.into_iter().map(variable).collect();
        let (eqns, outvars) = (self.eqns.clone(), self.outvars.clone());
        Jaxpr::new(Vec::new(), invars, eqns, outvars, avals)
    }

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
        let argument = |atom: &Atom| {
            let v = atom.var()?;
            self.invars.iter().position(|i| *i == v)
        };
        self.outvars.iter().map(argument).collect()
    }
}

impl ClosedJaxpr {
    /// Returns a program that captures no values.
    pub(crate) fn without_consts(jaxpr: impl Into<Arc<Jaxpr>>) -> ClosedJaxpr {
        ClosedJaxpr {
            jaxpr: jaxpr.into(),
            consts: Vec::new(),
        }
    }

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

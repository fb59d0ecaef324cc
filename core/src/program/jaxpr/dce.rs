//! Dead code elimination.

use super::{Atom, Eqn, Jaxpr};

impl Jaxpr {
    /// Returns the program without equations whose results are unused, and whether each captured
    /// value and argument is still used. Unused arguments and equations with effects are kept.
    pub fn dce(&self) -> (Jaxpr, Vec<bool>) {
        let mut live = vec![false; self.num_vars()];
        let mark = |live: &mut [bool], atoms: &[Atom]| {
            for a in atoms {
                if let Atom::Var(v) = a {
                    live[v.index()] = true;
                }
            }
        };
        mark(&mut live, &self.outvars);
        let mut kept: Vec<&Eqn> = Vec::new();
        for eqn in self.eqns.iter().rev() {
            if eqn.primitive.has_effects() || eqn.outputs.iter().any(|v| live[v.index()]) {
                mark(&mut live, &eqn.inputs);
                kept.push(eqn);
            }
        }
        let used = self
            .constvars
            .iter()
            .chain(&self.invars)
            .map(|v| live[v.index()])
            .collect();
        let jaxpr = Jaxpr::new(
            self.constvars.clone(),
            self.invars.clone(),
            kept.into_iter().rev().cloned().collect(),
            self.outvars.clone(),
            self.avals().to_vec(),
        );
        (jaxpr, used)
    }
}

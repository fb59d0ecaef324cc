//! The checker: every variable is bound once before its use, and every equation has the types
//! that its rule infers.

use super::{Atom, Jaxpr, Var};
use crate::Aval;
use crate::program::primitive::infer;
use smallvec::SmallVec;

impl Jaxpr {
    /// Checks scoping and types.
    ///
    /// # Errors
    /// Returns a message that names the equation and describes the problem.
    pub fn check(&self) -> Result<(), String> {
        let mut bound = vec![false; self.num_vars()];
        let mut bind = |v: Var, at: &str| match bound.get_mut(v.index()) {
            None => Err(format!("{at}: variable {} has no type", v.0)),
            Some(true) => Err(format!("{at}: variable {} is bound twice", v.0)),
            Some(slot) => {
                *slot = true;
                Ok(())
            }
        };
        for v in self.constvars.iter().chain(&self.invars) {
            bind(*v, "inputs")?;
        }
        let mut order: Vec<usize> = vec![usize::MAX; self.num_vars()];
        for v in self.constvars.iter().chain(&self.invars) {
            order[v.index()] = 0;
        }
        for (i, eqn) in self.eqns.iter().enumerate() {
            let at = format!("equation {i} ({})", eqn.primitive.name());
            for input in &eqn.inputs {
                if let Atom::Var(v) = input
                    && order.get(v.index()).is_none_or(|&o| o > i)
                {
                    return Err(format!("{at}: variable {} is read before it is bound", v.0));
                }
            }
            let ins: SmallVec<[Aval; 4]> = eqn.inputs.iter().map(|a| self.aval(a)).collect();
            let outs = infer(&*eqn.primitive, &ins).map_err(|e| format!("{at}: {e}"))?;
            if outs.len() != eqn.outputs.len() {
                return Err(format!(
                    "{at}: has {} results, but its rule infers {}",
                    eqn.outputs.len(),
                    outs.len()
                ));
            }
            for (v, expected) in eqn.outputs.iter().zip(outs) {
                bind(*v, &at)?;
                order[v.index()] = i + 1;
                let got = self.var_aval(*v);
                if got.strong() != expected.strong() {
                    return Err(format!(
                        "{at}: result is {got}, but its rule infers {expected}"
                    ));
                }
            }
        }
        for out in &self.outvars {
            if let Atom::Var(v) = out
                && order.get(v.index()).is_none_or(|&o| o == usize::MAX)
            {
                return Err(format!("outputs: variable {} is never bound", v.0));
            }
        }
        Ok(())
    }
}

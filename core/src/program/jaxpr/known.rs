//! Results of programs that are known without their arguments.

use super::{Atom, ClosedJaxpr, Evaluation};
use crate::Array;

impl ClosedJaxpr {
    /// Returns the results that do not depend on the arguments, and `None` for the others.
    /// Computes only what they need.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, make_jaxpr};
    /// let f = |x: Array| (x.sin(), Array::ones(&[2], DType::F32) * 3.0);
    /// let program = make_jaxpr(f)(Array::shape_dtype_struct(&[3], DType::F32));
    /// let known = program.known();
    /// assert!(known[0].is_none());
    /// assert_eq!(known[1].as_ref().unwrap().to_vec::<f32>(), [3.0, 3.0]);
    /// ```
    pub fn known(&self) -> Vec<Option<Array>> {
        let jaxpr = &*self.jaxpr;
        let of = |table: &[bool], atom: &Atom| match atom {
            Atom::Var(v) => table[v.index()],
            Atom::Literal(_) => false,
        };
        let mut depends = vec![false; jaxpr.num_vars()];
        for v in &jaxpr.invars {
            depends[v.index()] = true;
        }
        for eqn in &jaxpr.eqns {
            if eqn.inputs.iter().any(|a| of(&depends, a)) {
                for v in &eqn.outputs {
                    depends[v.index()] = true;
                }
            }
        }
        let mut needed = vec![false; jaxpr.num_vars()];
        let mark = |needed: &mut [bool], atom: &Atom| {
            if let Atom::Var(v) = atom {
                needed[v.index()] = true;
            }
        };
        for atom in jaxpr.outvars.iter().filter(|a| !of(&depends, a)) {
            mark(&mut needed, atom);
        }
        for eqn in jaxpr.eqns.iter().rev() {
            if eqn.outputs.iter().any(|v| needed[v.index()]) {
                eqn.inputs.iter().for_each(|a| mark(&mut needed, a));
            }
        }
        let mut evaluation = Evaluation::new(jaxpr);
        evaluation.set(&jaxpr.constvars, self.consts.iter().cloned());
        for eqn in &jaxpr.eqns {
            if eqn.outputs.iter().any(|v| needed[v.index()]) {
                evaluation.apply(eqn, |operands| eqn.bind(&operands));
            }
        }
        let value = |atom: &Atom| evaluation.get(atom).filter(|_| !of(&depends, atom));
        jaxpr.outvars.iter().map(value).collect()
    }
}

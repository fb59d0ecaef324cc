//! Evaluation of programs equation by equation, shared by transformations, checks and
//! rematerialization.

use super::{Atom, Eqn, Jaxpr, Var};
use crate::Array;
use crate::dtypes::Literal;
use crate::extend::Outputs;
use crate::program::trace::{at_equation, bind_arc};
use smallvec::SmallVec;

/// The value of a variable during an evaluation: an array, alone or with the data of a
/// transformation.
pub(crate) trait Value: Clone {
    fn literal(literal: Literal) -> Self;
}

impl Value for Array {
    fn literal(literal: Literal) -> Array {
        Array::literal(literal)
    }
}

impl<T: Clone> Value for (Array, Option<T>) {
    fn literal(literal: Literal) -> Self {
        (Array::literal(literal), None)
    }
}

/// The values of one equation's operands.
pub(crate) type Operands<V> = SmallVec<[V; 4]>;

/// The current values of a program's variables.
pub(crate) struct Evaluation<V> {
    values: Vec<Option<V>>,
}

impl<V: Value> Evaluation<V> {
    /// Creates an evaluation in which no variable has a value.
    pub fn new(jaxpr: &Jaxpr) -> Evaluation<V> {
        Evaluation {
            values: vec![None; jaxpr.num_vars()],
        }
    }

    /// Sets the values of variables.
    pub fn set<'a>(
        &mut self,
        vars: impl IntoIterator<Item = &'a Var>,
        values: impl IntoIterator<Item = V>,
    ) {
        for (var, value) in vars.into_iter().zip(values) {
            self.values[var.index()] = Some(value);
        }
    }

    /// Returns the value of an operand, if it has one.
    pub fn get(&self, atom: &Atom) -> Option<V> {
        match atom {
            Atom::Var(v) => self.values[v.index()].clone(),
            Atom::Literal(l) => Some(V::literal(*l)),
        }
    }

    /// Returns the values of operands, all of which must have one.
    pub fn read<C: FromIterator<V>>(&self, atoms: &[Atom]) -> C {
        let value = |atom| {
            self.get(atom)
                .expect("a variable is bound before it is read")
        };
        atoms.iter().map(value).collect()
    }

    /// Removes the value of a variable.
    pub fn take(&mut self, var: Var) -> Option<V> {
        self.values[var.index()].take()
    }

    /// Applies an equation by `f`, which runs in the equation's named scopes and at its source
    /// line. A variable that already has a value keeps it.
    pub fn apply<O: IntoIterator<Item = V>>(
        &mut self,
        eqn: &Eqn,
        f: impl FnOnce(Operands<V>) -> O,
    ) {
        let operands = self.read(&eqn.inputs);
        let outs = at_equation(eqn, || f(operands));
        for (var, out) in eqn.outputs.iter().zip(outs) {
            self.values[var.index()].get_or_insert(out);
        }
    }
}

impl Jaxpr {
    /// Evaluates the program on captured values and arguments, with `f` applied to each equation.
    pub(crate) fn evaluate<V: Value, O: IntoIterator<Item = V>>(
        &self,
        consts: impl IntoIterator<Item = V>,
        args: impl IntoIterator<Item = V>,
        mut f: impl FnMut(&Eqn, Operands<V>) -> O,
    ) -> Vec<V> {
        let mut evaluation = Evaluation::new(self);
        evaluation.set(&self.constvars, consts);
        evaluation.set(&self.invars, args);
        for eqn in &self.eqns {
            evaluation.apply(eqn, |operands| f(eqn, operands));
        }
        evaluation.read(&self.outvars)
    }
}

impl Eqn {
    /// Binds the equation's primitive again: runs it immediately or adds it to the open trace.
    pub(crate) fn bind(&self, operands: &[Array]) -> Outputs {
        let refs: SmallVec<[&Array; 4]> = operands.iter().collect();
        bind_arc(self.primitive.clone(), &refs)
    }
}

//! The intermediate representation: a jaxpr, a typed list of equations.

mod check;
mod dce;
mod edit;
mod evaluate;
mod known;
mod layout;
mod print;
mod scope;

use crate::base::hash::FastHasher;
use crate::base::stack::with_room;
use crate::dtypes::Literal;
use crate::program::primitive::Primitive;
use crate::{Array, Aval};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::mem::take;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

pub(crate) use edit::Input;
pub(crate) use evaluate::Evaluation;
pub use scope::{NamedScope, Scope, enter_named_scope, named_scope};

/// A variable of one jaxpr: an index into its table of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub(crate) u32);

impl Var {
    /// Returns the variable's index in tables of values.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operand: a variable or a scalar literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A variable bound earlier.
    Var(Var),
    /// A constant.
    Literal(Literal),
}

impl Atom {
    /// Returns the variable, unless the operand is a literal.
    pub(crate) fn var(&self) -> Option<Var> {
        match self {
            Atom::Var(v) => Some(*v),
            Atom::Literal(_) => None,
        }
    }
}

/// One application of a primitive.
#[doc(alias = "JaxprEqn")]
#[derive(Clone, Debug)]
pub struct Eqn {
    /// Primitive that is applied.
    pub primitive: Arc<dyn Primitive>,
    /// Operands of the primitive.
    pub inputs: SmallVec<[Atom; 3]>,
    /// Variables bound to the results.
    pub outputs: SmallVec<[Var; 1]>,
    /// Line of the user's program that created the equation.
    pub location: &'static Location<'static>,
    /// Named scopes around that line.
    pub scope: Scope,
}

/// A typed program: inputs, equations in order, outputs.
///
/// `constvars` represent captured values, which [`ClosedJaxpr`] stores separately.
pub struct Jaxpr {
    /// Variables for captured values.
    pub constvars: Vec<Var>,
    /// Arguments.
    pub invars: Vec<Var>,
    /// Equations of the program, in order.
    pub eqns: Vec<Eqn>,
    /// Results.
    pub outvars: Vec<Atom>,
    /// The type of each variable, by index.
    avals: Vec<Aval>,
    hash: OnceLock<u64>,
}

impl Jaxpr {
    /// Returns the mesh on whose devices some operation of the program runs.
    pub(crate) fn mesh(&self) -> Option<crate::Mesh> {
        let of_equation = |e: &Eqn| {
            let nested = || e.primitive.jaxprs().iter().find_map(|jaxpr| jaxpr.mesh());
            e.primitive.mesh().or_else(nested)
        };
        with_room(|| self.eqns.iter().find_map(of_equation))
    }

    /// Returns whether an equation uses a mapped axis of this name.
    pub(crate) fn uses_axis(&self, name: crate::sharding::AxisName) -> bool {
        with_room(|| self.eqns.iter().any(|e| e.primitive.uses_axis(name)))
    }

    /// Creates a jaxpr from its parts, which debug builds check.
    ///
    /// # Panics
    /// Panics in debug builds if the parts do not type-check.
    pub fn new(
        constvars: Vec<Var>,
        invars: Vec<Var>,
        eqns: Vec<Eqn>,
        outvars: Vec<Atom>,
        avals: Vec<Aval>,
    ) -> Jaxpr {
        let jaxpr = Jaxpr {
            constvars,
            invars,
            eqns,
            outvars,
            avals,
            hash: OnceLock::new(),
        };
        if cfg!(debug_assertions)
            && let Err(problem) = jaxpr.check()
        {
            panic!(
                "internal error: a transformation produced an ill-formed jaxpr: {problem}\n{jaxpr}",
            );
        }
        jaxpr
    }

    /// Returns the type of a variable.
    pub fn var_aval(&self, var: Var) -> Aval {
        self.avals[var.index()]
    }

    /// Returns the type of an operand.
    pub fn aval(&self, atom: &Atom) -> Aval {
        match atom {
            Atom::Var(v) => self.var_aval(*v),
            Atom::Literal(l) => l.aval(),
        }
    }

    /// Returns the number of variables, for tables indexed by [`Var::index`].
    pub fn num_vars(&self) -> usize {
        self.avals.len()
    }

    /// Returns the types of the arguments.
    pub fn in_avals(&self) -> Vec<Aval> {
        self.invars.iter().map(|v| self.var_aval(*v)).collect()
    }

    /// Returns the types of the results.
    pub fn out_avals(&self) -> Vec<Aval> {
        self.outvars.iter().map(|a| self.aval(a)).collect()
    }

    pub(crate) fn avals(&self) -> &[Aval] {
        &self.avals
    }

    /// Returns a copy that can be modified.
    pub(crate) fn duplicate(&self) -> Jaxpr {
        Jaxpr {
            constvars: self.constvars.clone(),
            invars: self.invars.clone(),
            eqns: self.eqns.clone(),
            outvars: self.outvars.clone(),
            avals: self.avals.clone(),
            hash: OnceLock::new(),
        }
    }

    /// Returns the same program with the captured values as its first arguments.
    pub fn consts_as_inputs(mut self) -> Jaxpr {
        let mut inputs = take(&mut self.constvars);
        inputs.append(&mut self.invars);
        Jaxpr::new(
            Vec::new(),
            inputs,
            take(&mut self.eqns),
            take(&mut self.outvars),
            take(&mut self.avals),
        )
    }

    /// Same as [`consts_as_inputs`](Jaxpr::consts_as_inputs), for a shared program; returns the
    /// program itself if it captures nothing.
    pub(crate) fn with_consts_as_inputs(self: Arc<Jaxpr>) -> Arc<Jaxpr> {
        if self.constvars.is_empty() {
            return self;
        }
        let parts = Arc::try_unwrap(self).unwrap_or_else(|shared| shared.duplicate());
        Arc::new(parts.consts_as_inputs())
    }

    /// Returns whether an equation has effects.
    pub(crate) fn has_effects(&self) -> bool {
        with_room(|| self.eqns.iter().any(|e| e.primitive.has_effects()))
    }

    /// Evaluates the program on captured values and arguments. Each equation is bound again, so
    /// that it runs immediately or is added to the open trace.
    ///
    /// # Panics
    /// Panics if the number of captured values or arguments is wrong.
    pub fn eval(&self, consts: &[Array], args: &[Array]) -> Vec<Array> {
        assert_eq!(
            (consts.len(), args.len()),
            (self.constvars.len(), self.invars.len()),
            "eval: wrong number of captured values and arguments"
        );
        let (consts, args) = (consts.iter().cloned(), args.iter().cloned());
        self.evaluate(consts, args, |eqn, operands| eqn.bind(&operands))
    }

    /// Returns a hash of the structure, which ignores source lines.
    pub(crate) fn structural_hash(&self) -> u64 {
        *self.hash.get_or_init(|| {
            let mut h = FastHasher::default();
            (&self.constvars, &self.invars, &self.outvars).hash(&mut h);
            for v in self.constvars.iter().chain(&self.invars) {
                self.var_aval(*v).hash(&mut h);
            }
            with_room(|| {
                for e in &self.eqns {
                    e.primitive.dyn_hash(&mut h);
                    (&e.inputs, &e.outputs).hash(&mut h);
                }
            });
            h.finish()
        })
    }
}

/// Prints the program.
impl std::fmt::Debug for Jaxpr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Drops nested programs, with sufficient stack.
impl Drop for Jaxpr {
    fn drop(&mut self) {
        with_room(|| self.eqns.clear());
    }
}

/// Compares structures: the same equations on the same variables, regardless of source lines.
impl PartialEq for Jaxpr {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Eqn, &Eqn)| {
            a.inputs == b.inputs
                && a.outputs == b.outputs
                && a.primitive.dyn_eq(b.primitive.as_any())
        };
        std::ptr::eq(self, other)
            || (self.structural_hash() == other.structural_hash()
                && self.constvars == other.constvars
                && self.invars == other.invars
                && self.outvars == other.outvars
                && self.avals == other.avals
                && self.eqns.len() == other.eqns.len()
                && with_room(|| self.eqns.iter().zip(&other.eqns).all(same)))
    }
}
impl Eq for Jaxpr {}
impl Hash for Jaxpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.structural_hash());
    }
}

/// A jaxpr with its captured values.
#[derive(Clone, Debug)]
pub struct ClosedJaxpr {
    /// The program.
    pub jaxpr: Arc<Jaxpr>,
    /// Value of each variable in `constvars`.
    pub consts: Vec<Array>,
}

impl ClosedJaxpr {
    /// Evaluates the program; see [`Jaxpr::eval`].
    ///
    /// # Panics
    /// Panics if the number of arguments is wrong.
    pub fn eval(&self, args: &[Array]) -> Vec<Array> {
        self.jaxpr.eval(&self.consts, args)
    }
}

impl std::fmt::Display for ClosedJaxpr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.jaxpr.fmt(f)
    }
}

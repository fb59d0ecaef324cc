//! Floating-point operations of the modules of a model.

use crate::linen::{Apply, CollectionFilter, Module, Streams, Variables, apply};
use crate::model;
use ramie_core::extend::{Atom, ClosedJaxpr, Eqn, Jaxpr, Var};
use ramie_core::{Array, Aval, DType, Tree, jit, make_jaxpr, vjp};
use std::collections::HashSet;
use std::sync::Arc;

/// The program of a whole model. Named scopes assign its operations to modules.
pub(super) struct Program {
    /// The program itself and those nested in its operations: loops, branches and compiled
    /// functions.
    jaxprs: Vec<Arc<Jaxpr>>,
    /// The name of the outermost module in named scopes.
    root: String,
}

/// The operations of one module.
pub(super) struct Part {
    program: ClosedJaxpr,
    inputs: Vec<Aval>,
}

impl Program {
    /// Traces a module for arguments of these types.
    #[track_caller]
    pub fn of<M, A: Tree, O: Tree>(
        module: &M,
        variables: &Variables,
        rngs: &Streams,
        args: A,
    ) -> Program
    where
        M: Module<A, O> + Sync,
    {
        let run = |variables: Variables, rngs: Streams, args: A| {
            let options = Apply::new().rngs(rngs).mutable(CollectionFilter::All);
            let (out, changed) = apply(&variables, &options, |scope| scope.run(module, args));
            (out, changed)
        };
        let program = make_jaxpr(run)(variables.clone(), rngs.clone(), args);
        let mut jaxprs = vec![program.jaxpr];
        let mut next = 0;
        while let Some(jaxpr) = jaxprs.get(next).cloned() {
            for eqn in &jaxpr.eqns {
                let params = eqn.primitive.params(&[]);
                jaxprs.extend(params.iter().flat_map(|(_, p)| p.jaxprs()).cloned());
            }
            next += 1;
        }
        Program {
            jaxprs,
            root: module.class_name().into_owned(),
        }
    }

    /// Returns the operations of the module at a path.
    pub fn part(&self, path: &[String]) -> Part {
        let mut scope = self.root.clone();
        for name in path {
            scope.push('/');
            scope.push_str(name);
        }
        let within = |eqn: &&Eqn| {
            let rest = eqn.scope.name().strip_prefix(scope.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // The body of a loop counts once.
        let has = |jaxpr: &&Arc<Jaxpr>| jaxpr.eqns.iter().any(|e| within(&e));
        let jaxpr = self.jaxprs.iter().find(has).unwrap_or(&self.jaxprs[0]);
        let eqns: Vec<Eqn> = jaxpr.eqns.iter().filter(within).cloned().collect();
        let made: HashSet<Var> = eqns
            .iter()
            .flat_map(|e| e.outputs.iter().copied())
            .collect();
        let mut invars = Vec::new();
        let mut seen = HashSet::new();
        for atom in eqns.iter().flat_map(|e| &e.inputs) {
            if let Atom::Var(v) = atom
                && !made.contains(v)
                && seen.insert(*v)
            {
                invars.push(*v);
            }
        }
        let outside = jaxpr.eqns.iter().filter(|e| !within(e));
        let used: HashSet<Var> = outside
            .flat_map(|e| &e.inputs)
            .chain(&jaxpr.outvars)
            .filter_map(|atom| match atom {
                Atom::Var(v) => Some(*v),
                Atom::Literal(_) => None,
            })
            .collect();
        let mut outvars: Vec<Var> = made.into_iter().filter(|v| used.contains(v)).collect();
        outvars.sort();
        let inputs = invars.iter().map(|v| jaxpr.var_aval(*v)).collect();
        let outvars = outvars.into_iter().map(Atom::Var).collect();
        let jaxpr = Jaxpr::new(Vec::new(), invars, eqns, outvars, types(jaxpr));
        Part {
            program: ClosedJaxpr {
                jaxpr: Arc::new(jaxpr),
                consts: Vec::new(),
            },
            inputs,
        }
    }
}

/// Returns the table of types, by variable.
fn types(jaxpr: &Jaxpr) -> Vec<Aval> {
    let bound = jaxpr.constvars.iter().chain(&jaxpr.invars);
    let bound = bound.chain(jaxpr.eqns.iter().flat_map(|e| &e.outputs));
    let mut types = vec![Aval::scalar(DType::F32); jaxpr.num_vars()];
    for v in bound {
        types[v.index()] = jaxpr.var_aval(*v);
    }
    types
}

impl Part {
    fn arguments(&self) -> Vec<Array> {
        let of = |a: &Aval| Array::shape_dtype_struct(a.shape(), a.dtype());
        self.inputs.iter().map(of).collect()
    }

    /// Returns the floating-point operations of the compiled module.
    pub fn flops(&self) -> u64 {
        let program = self.program.clone();
        cost(
            move |args: Vec<Array>| program.eval(&args),
            self.arguments(),
        )
    }

    /// Returns the floating-point operations of the compiled module including its reverse-mode
    /// derivative.
    pub fn vjp_flops(&self) -> u64 {
        let program = self.program.clone();
        let run = move |args: Vec<Array>| {
            let (out, pull) = vjp(|args: Vec<Array>| program.eval(&args), args);
            pull(out)
        };
        cost(run, self.arguments())
    }
}

/// Compiles a function and returns its floating-point operations, or 0 if the compiler does not
/// report them.
fn cost(f: impl Fn(Vec<Array>) -> Vec<Array> + Send + Sync, args: Vec<Array>) -> u64 {
    model::flops(jit(f).compile((args,))).map_or(0, |n| n as u64)
}

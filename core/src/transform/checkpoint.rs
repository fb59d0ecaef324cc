//! `checkpoint`: rematerialization, which saves memory by recomputing residuals, and tools that
//! list residuals.

use super::Function;
use super::custom::{self, apply};
use crate::base::location;
use crate::extend::{Jaxpr, Primitive};
use crate::passes::linearize_eval;
use crate::prim::call::Call;
use crate::prim::remat::{CheckpointPolicy, Name, Remat};
use crate::prim::shape::ReducePrecision;
use crate::program::jaxpr::{Atom, Var};
use crate::program::trace::trace_to_jaxpr;
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::{Array, Aval};
use std::fmt;
use std::panic::Location;

/// Options of [`checkpoint_with`].
#[derive(Clone, Debug)]
pub struct CheckpointOptions {
    /// Policy that selects the residuals to save. Defaults to `None`, which saves only the
    /// arguments.
    pub policy: Option<CheckpointPolicy>,
    /// Whether to prevent the compiler from merging recomputed values with the original ones
    /// (common subexpression elimination), which would undo the memory savings. Inside `scan` the
    /// compiler cannot merge them, and `false` allows more optimizations.
    pub prevent_cse: bool,
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        CheckpointOptions {
            policy: None,
            prevent_cse: true,
        }
    }
}

impl From<CheckpointPolicy> for CheckpointOptions {
    fn from(policy: CheckpointPolicy) -> Self {
        CheckpointOptions {
            policy: Some(policy),
            ..CheckpointOptions::default()
        }
    }
}

/// Returns a function with the same value whose derivative saves only its arguments and
/// recomputes intermediate values (`jax.checkpoint`, `jax.remat`). It needs less memory, and
/// about as much additional time as the function takes.
///
/// ```
/// use ramie_core::{Array, checkpoint, grad, saved_residuals};
/// let f = |x: Array| x.sin().sin().sin();
/// let x = Array::from(0.5f32);
/// assert_eq!(saved_residuals(f)(x.clone()).len(), 3);
/// assert_eq!(saved_residuals(checkpoint(f))(x.clone()).len(), 1);
/// let slope = grad(checkpoint(f))(x.clone());
/// assert_eq!(slope.item::<f32>(), grad(f)(x).item::<f32>());
/// ```
#[track_caller]
pub fn checkpoint<'f, F, M>(f: F) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    checkpoint_with(f, CheckpointOptions::default())
}

/// Same as [`checkpoint`], with a policy or other options.
///
/// ```
/// use ramie_core::{Array, CheckpointPolicy, checkpoint_name, checkpoint_with, saved_residuals};
/// let layer = |x: Array| {
///     let hidden = checkpoint_name(x.sin(), "hidden");
///     hidden.sin().sin()
/// };
/// let policy = CheckpointPolicy::save_only_these_names(["hidden"]);
/// let kept = saved_residuals(checkpoint_with(layer, policy))(Array::from(0.5f32));
/// assert!(kept.iter().any(|r| r.to_string().starts_with("f32[] named 'hidden'")));
/// ```
#[track_caller]
pub fn checkpoint_with<'f, F, M>(
    f: F,
    options: impl Into<CheckpointOptions>,
) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let at = Location::caller();
    let options = options.into();
    F::untupled(move |args| {
        apply(&f, args, at, |call: custom::Call<_, F::Output>| Remat {
            jaxpr: call.jaxpr,
            differentiated: false,
            policy: options.policy.clone(),
            prevent_cse: options.prevent_cse,
        })
    })
}

/// A value that the derivative of a function saves.
#[derive(Clone, Debug)]
pub struct Residual {
    /// Type of the value.
    pub aval: Aval,
    /// Description of its origin.
    pub source: String,
}

impl fmt::Display for Residual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.aval, self.source)
    }
}

/// Returns a function that lists the values which reverse mode saves between the function and its
/// derivative (`jax.ad_checkpoint.saved_residuals`). Nothing is computed, so arrays without
/// elements are accepted as arguments.
#[track_caller]
pub fn saved_residuals<'f, F, M>(f: F) -> Box<F::Fn<'f, Vec<Residual>>>
where
    F: Function<M> + 'f,
    M: 'f,
{
    let at = Location::caller();
    F::untupled(move |args| location::at_location(at, || residuals(&f, args)))
}

/// Prints [`saved_residuals`], one per line.
#[track_caller]
pub fn print_saved_residuals<'f, F, M>(f: F) -> Box<F::Fn<'f, ()>>
where
    F: Function<M> + 'f,
    M: 'f,
{
    let at = Location::caller();
    F::untupled(move |args| {
        for residual in location::at_location(at, || residuals(&f, args)) {
            println!("{residual}");
        }
    })
}

fn residuals<F: Function<M>, M>(f: &F, args: F::Args) -> Vec<Residual> {
    let leaves = tree::leaves(&args);
    let paths = tree::paths(&args);
    let perturbed: Vec<bool> = leaves.iter().map(|a| a.dtype().is_inexact()).collect();
    let avals: Vec<Aval> = leaves.iter().map(Array::aval).collect();
    let traced = trace_tree(&args, |args| f.call(args)).program;
    // Linearized inside a trace, so that nothing is computed and the equation of each residual is
    // known.
    let program = trace_to_jaxpr(&avals, |args| {
        let lin = linearize_eval(&traced.jaxpr, &traced.consts, args, &perturbed);
        // A captured value that only an unused tangent needs is not saved.
        let (_, used) = lin.linear.jaxpr.dce();
        let kept = lin.linear.consts.iter().zip(used);
        kept.filter(|(_, used)| *used)
            .map(|(value, _)| value.clone())
            .collect()
    });
    let jaxpr = &*program.jaxpr;
    let mut saved = Vec::new();
    let mut kept: Vec<Var> = Vec::new();
    for out in &jaxpr.outvars {
        match out {
            Atom::Literal(l) => saved.push(Residual {
                aval: l.aval(),
                source: "from a literal".into(),
            }),
            // `checkpoint` rounds saved values to their dtype. The list names the operations
            // before.
            Atom::Var(v) => kept.push(before_rounding(jaxpr, *v)),
        }
    }
    let mut note = |v: &Var, source: String| {
        if kept.contains(v) {
            let aval = jaxpr.var_aval(*v);
            saved.push(Residual { aval, source });
        }
    };
    for v in &jaxpr.constvars {
        note(v, "from a constant".into());
    }
    for (v, path) in jaxpr.invars.iter().zip(&paths) {
        note(v, format!("from the argument {path}"));
    }
    for eqn in &jaxpr.eqns {
        for v in &eqn.outputs {
            note(
                v,
                format!("{} from {}", described(&*eqn.primitive), eqn.location),
            );
        }
    }
    saved
}

/// Returns the operand of the rounding that computes a value, or else the value.
fn before_rounding(jaxpr: &Jaxpr, v: Var) -> Var {
    let by = jaxpr.eqns.iter().find(|e| e.outputs.contains(&v));
    match by.map(|e| (e.primitive.as_any().is::<ReducePrecision>(), &e.inputs)) {
        Some((true, inputs)) => match inputs[0] {
            Atom::Var(operand) => operand,
            Atom::Literal(_) => v,
        },
        _ => v,
    }
}

/// Describes the results of an operation.
fn described(primitive: &dyn Primitive) -> String {
    let any = primitive.as_any();
    match (any.downcast_ref::<Name>(), any.downcast_ref::<Call>()) {
        (Some(name), _) => format!("named '{}'", name.name),
        (_, Some(call)) => format!("output of jitted function '{}'", call.name),
        _ => format!("output of {}", primitive.name()),
    }
}

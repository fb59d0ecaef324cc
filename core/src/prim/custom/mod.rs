//! Functions with custom rules: `custom_jvp_call`, `custom_vjp_call` and `custom_vmap_call`.
//!
//! Such a primitive contains the function's program, which normally runs, and rules in Rust,
//! which are called when it is differentiated or batched.

/// Defines the methods that the calls of functions with rules share. `$program` is the field with
/// the program, and `$kind` the name of the transformation.
macro_rules! runs_program {
    ($program:ident, $kind:literal) => {
        fn nested(&self) -> Option<&dyn Nested> {
            Some(self)
        }
        fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
            let what = format_args!(concat!("the ", $kind, " function `{}`"), self.name);
            nested::infer(what, &self.$program, args)
        }
        fn evaluate(&self, args: &[&Array]) -> Option<Result<Outputs>> {
            Some(nested::evaluate(&self.$program, args))
        }
        fn differentiation(&self) -> Differentiation<'_> {
            Differentiation::Nested(self)
        }
        fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
            ctx.inline(&self.$program, args)
        }
    };
}

/// Implements [`Nested`] for the call of a function with rules.
macro_rules! nested_program {
    ($ty:ident, $program:ident) => {
        impl Nested for $ty {
            fn jaxprs(&self) -> Jaxprs<'_> {
                Jaxprs::from_slice(&[&self.$program])
            }
            fn thread_state(&self, pass: &StatePass<'_>, args: &[Array]) -> Option<Vec<Array>> {
                // The user's rule applies to the function as a whole, so the state is threaded
                // through only if it must be.
                pass.requires(&self.$program)
                    .then(|| pass.run(&self.$program, pass.state(), args))
            }
        }
    };
}

mod jvp;
mod linear;
mod vjp;
mod vmap;

pub use jvp::{CustomJvpCall, JvpRule};
pub use linear::{BackwardRule, CustomLin};
pub use vjp::{CustomVjpCall, Forward, ForwardRule};
pub use vmap::{CustomVmapCall, VmapRule};

use super::nested;
use super::{BatchAxis, Batched, Primitive};
use crate::base::location;
use crate::passes::batch_eval;
use crate::prim::example;
use crate::program::jaxpr::Jaxpr;
use crate::program::lists::avals;
use crate::program::trace::{bind, trace_to_jaxpr};
use crate::sharding::AxisName;
use crate::{Array, Aval};
use smallvec::SmallVec;
use std::any::TypeId;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The identity of a rule: the function, the structure of the trees to which it is applied, and
/// the transformations applied to it. A function that captures nothing is identified by its type,
/// others by their address, which the rule keeps alive. Rules that consist of programs are
/// identified by these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    functions: Vec<Function>,
    structure: Vec<(u64, u64)>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Function {
    Type(TypeId),
    Address(usize),
    Program(Arc<Jaxpr>),
}

/// A transformation applied to a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Step {
    Batch {
        axes: Vec<Option<usize>>,
        size: usize,
        name: Option<AxisName>,
    },
    /// A rule for values became a rule for values and the tangents of these arguments.
    Tangents(Vec<bool>),
}

impl Identity {
    /// Returns the identity of a function applied to trees of these structures.
    pub(crate) fn new<F: 'static>(function: &Arc<F>, structure: Vec<(u64, u64)>) -> Identity {
        let function = match size_of::<F>() {
            0 => Function::Type(TypeId::of::<F>()),
            _ => Function::Address(Arc::as_ptr(function).addr()),
        };
        Identity {
            functions: vec![function],
            structure,
            steps: Vec::new(),
        }
    }

    /// Returns the identity of a rule that consists only of programs.
    pub(crate) fn of_programs(programs: impl IntoIterator<Item = Arc<Jaxpr>>) -> Identity {
        Identity {
            functions: programs.into_iter().map(Function::Program).collect(),
            structure: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Returns the identity of a pair of functions.
    pub(crate) fn and(mut self, other: &Identity) -> Identity {
        self.functions.extend_from_slice(&other.functions);
        self
    }

    fn batched(&self, axes: &[Option<usize>], axis: BatchAxis) -> Identity {
        let mut identity = self.clone();
        identity.steps.push(Step::Batch {
            axes: axes.to_vec(),
            size: axis.size,
            name: axis.name,
        });
        identity
    }

    fn differentiated(&self, perturbed: &[bool]) -> Identity {
        let mut identity = self.clone();
        identity.steps.push(Step::Tangents(perturbed.to_vec()));
        identity
    }
}

/// A rule: a function and its identity.
pub struct Rule<F: ?Sized> {
    name: &'static str,
    identity: Identity,
    run: Arc<F>,
}

impl<F: ?Sized> Rule<F> {
    pub(crate) fn new(name: &'static str, identity: Identity, run: Arc<F>) -> Rule<F> {
        Rule {
            name,
            identity,
            run,
        }
    }
}

impl<F: ?Sized> Clone for Rule<F> {
    fn clone(&self) -> Self {
        Rule::new(self.name, self.identity.clone(), self.run.clone())
    }
}

impl<F: ?Sized> fmt::Debug for Rule<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<F: ?Sized> PartialEq for Rule<F> {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}
impl<F: ?Sized> Eq for Rule<F> {}
impl<F: ?Sized> Hash for Rule<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity.hash(state);
    }
}

fn examples(args: &[Array], axes: &[Option<usize>]) -> Vec<Aval> {
    let args = args.iter().zip(axes);
    args.map(|(a, axis)| example(a.aval(), *axis)).collect()
}

/// Runs a rule for all examples at once: `f` sees one example.
fn batched_run(
    args: &[Array],
    axes: &[Option<usize>],
    axis: BatchAxis,
    f: impl FnOnce(&[Array]) -> Vec<Array>,
) -> (Vec<Array>, Vec<Option<usize>>) {
    let program = crate::types::axis::with_axis(axis.name, axis.size, || {
        trace_to_jaxpr(&examples(args, axes), f)
    });
    batch_eval(&program.jaxpr, &program.consts, args, axes, axis)
}

/// Binds a batched call. `call` creates the primitive from the function's batched program and the
/// number of additional captured values. Every result has its batch axis first, since it is
/// unknown before a rule is called which of its results are batched, and rule and program must
/// agree.
fn bind_batched<P: Primitive>(
    jaxpr: &Jaxpr,
    args: &[Array],
    axes: &[Option<usize>],
    axis: BatchAxis,
    call: impl FnOnce(Arc<Jaxpr>, usize) -> P,
) -> Batched {
    let (program, out_axes) = nested::batched(jaxpr, &avals(args), axes, axis, |_, _| Some(0));
    let (jaxpr, consts) = program.open();
    let all: SmallVec<[&Array; 8]> = consts.iter().chain(args).collect();
    (bind(call(jaxpr, consts.len()), &all), out_axes.into())
}

/// Panics if a captured value is differentiated, since rules do not cover captured values.
#[track_caller]
fn refuse_captured(what: &str, name: &str, tangents: &[Option<Array>]) {
    if tangents.iter().any(Option::is_some) {
        location::fail(&format!(
            "{what}: the function `{name}` captures a value that is being differentiated, but its \
             rule only covers its arguments\n  help: pass the value as an argument, or capture \
             value.stop_gradient()"
        ));
    }
}

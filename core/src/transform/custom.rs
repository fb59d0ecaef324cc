//! Code shared by `custom_jvp`, `custom_vjp` and `custom_vmap`: stages the function and checks
//! what its rules return.

use super::{ArgTuple, Function};
use crate::base::location;
use crate::prim::Primitive;
use crate::program::traced::trace_tree;
use crate::program::{trace, tree};
use crate::{Array, Jaxpr, Tree};
use std::panic::Location;
use std::sync::Arc;

pub(super) type Packed<F, M> = <<F as Function<M>>::Args as ArgTuple>::Packed;
pub(super) type First<F, M> = <<F as Function<M>>::Args as ArgTuple>::First;
pub(super) type Rest<F, M> = <<F as Function<M>>::Args as ArgTuple>::Rest;

/// A function staged at the types of its arguments.
pub(super) struct Call<P, R> {
    /// Its program; captured values are the first inputs.
    pub jaxpr: Arc<Jaxpr>,
    /// Number of captured values.
    pub num_consts: usize,
    /// Arguments, as types without elements.
    pub args: P,
    /// Result, as types without elements.
    pub out: R,
}

/// Returns the arrays of a tree of tangents or cotangents, none of which is a symbolic zero.
pub(super) fn some<T: Tree>(tree: &T) -> Vec<Option<Array>> {
    tree::leaves(tree).into_iter().map(Some).collect()
}

/// Calls a function with a rule: immediately if nothing is traced, otherwise as the primitive
/// that `stage` returns.
pub(super) fn apply<F: Function<M>, M, P: Primitive>(
    f: &F,
    args: F::Args,
    at: &'static Location<'static>,
    stage: impl FnOnce(Call<Packed<F, M>, F::Output>) -> P,
) -> F::Output {
    if !trace::is_tracing() {
        return f.call(args);
    }
    location::at_location(at, || {
        let leaves = tree::leaves(&args);
        let traced = trace_tree(&args, |args| f.call(args));
        let consts = traced.program.consts;
        let out = tree::shape_dtype_structs(&traced.result);
        let primitive = stage(Call {
            jaxpr: traced.program.jaxpr.with_consts_as_inputs(),
            num_consts: consts.len(),
            args: tree::shape_dtype_structs(&args).pack(),
            out: tree::shape_dtype_structs(&traced.result),
        });
        let all: Vec<&Array> = consts.iter().chain(&leaves).collect();
        tree::with_leaves(&out, trace::bind(primitive, &all))
    })
}

/// Describes the value that a rule returned, for the messages of its checks.
pub(super) struct Given<'a> {
    /// Name of the transformation, such as `custom_jvp`.
    pub operation: &'static str,
    /// Name of the function.
    pub function: &'a str,
    /// Name of the rule.
    pub rule: &'static str,
    /// Name of the value that the rule returned, such as "the tangent".
    pub what: &'static str,
    /// The value to which it belongs.
    pub of: &'static str,
}

impl Given<'_> {
    /// Checks the structure of the value that the rule returned.
    ///
    /// # Panics
    /// Panics if the structure differs from that of `like`.
    #[track_caller]
    pub fn check_structure<T: Tree>(&self, like: &T, given: &T) {
        let names = ["expected", "given"];
        if let Some(lines) = tree::structure_mismatch(names, like, given) {
            location::fail(&format!(
                "{}: the {} of `{}` returned a {} with another structure than the {}\n  {lines}\n  help: \
                 return a tree with the same containers and keys",
                self.operation, self.rule, self.function, self.what, self.of
            ));
        }
    }

    /// Checks the types of the arrays, in order. If `floats` is set, skips arrays that are not
    /// differentiable.
    ///
    /// # Panics
    /// Panics if the types differ from those of `like`.
    #[track_caller]
    pub fn check<T: Tree>(&self, like: &T, given: &[Option<Array>], floats: bool) {
        let Given {
            operation,
            function,
            rule,
            what,
            of,
        } = self;
        let wanted = tree::leaves(like);
        if wanted.len() != given.len() {
            location::fail(&format!(
                "{operation}: the {rule} of `{function}` returned {} {what}s, expected {}, one for \
                 each array of the {of}s",
                given.len(),
                wanted.len()
            ));
        }
        for (i, (wanted, given)) in wanted.iter().zip(given).enumerate() {
            let Some(given) = given else { continue };
            if (floats && !wanted.dtype().is_inexact()) || given.aval().matches(wanted.aval()) {
                continue;
            }
            let place = match tree::paths(like)[i].as_str() {
                "" => String::new(),
                path => format!(" `{path}`"),
            };
            location::fail(&format!(
                "{operation}: the {rule} of `{function}` returned a {what} {} for the {of}{place}, \
                 which is {}\n  help: shapes and dtypes must be the same; sum over axes that were \
                 broadcast, and convert with astype",
                given.aval(),
                wanted.aval()
            ));
        }
    }
}

//! Code shared by `custom_jvp`, `custom_vjp` and `custom_vmap`: stages the function and checks
//! what its rules return.

use super::{ArgTuple, Function, Tangents};
use crate::base::location;
use crate::extend::Jaxpr;
use crate::prim::Primitive;
use crate::program::traced::trace_tree;
use crate::program::{trace, tree};
use crate::{Array, Tree};
use std::panic::Location;
use std::sync::Arc;

pub(super) type Packed<F, M> = <<F as Function<M>>::Args as ArgTuple>::Packed;
pub(super) type First<F, M> = <<F as Function<M>>::Args as ArgTuple>::First;

/// The options of [`custom_jvp_with`](super::custom_jvp_with) and
/// [`custom_vjp_with`](super::custom_vjp_with): [`SymbolicZeros`] or [`FirstOnly`].
pub trait RuleOptions<A: ArgTuple>: Copy + Send + Sync + 'static {
    /// The input of the forward rule of `custom_vjp_with`.
    type Primals;
    /// The arguments that are differentiated.
    type Differentiated: Tree;
    /// A tree of tangents or cotangents: the tree itself, or [`Tangents`].
    type Dots<T: Tree>: Dots<T>;
    /// Whether programs are printed with `symbolic_zeros=True`.
    const SYMBOLIC_ZEROS: bool = false;
    /// Returns the input of the forward rule, given which arrays are differentiated.
    fn primals(args: A::Packed, perturbed: &[bool]) -> Self::Primals;
    /// Returns the arguments that are differentiated.
    fn differentiated(args: &A::Packed) -> Self::Differentiated;
}

/// Tangents or cotangents of a tree: a tree of the same type, or [`Tangents`].
pub trait Dots<T: Tree> {
    /// Converts tangents to this form.
    fn receive(tangents: Tangents<T>) -> Self;
    /// Converts this form to tangents.
    fn give(self) -> Tangents<T>;
}

impl<T: Tree> Dots<T> for T {
    fn receive(tangents: Tangents<T>) -> T {
        tangents.instantiate()
    }
    fn give(self) -> Tangents<T> {
        self.into()
    }
}

impl<T: Tree> Dots<T> for Tangents<T> {
    fn receive(tangents: Tangents<T>) -> Self {
        tangents
    }
    fn give(self) -> Tangents<T> {
        self
    }
}

/// The absence of options.
impl<A: ArgTuple> RuleOptions<A> for () {
    type Primals = A::Packed;
    type Differentiated = A::Packed;
    type Dots<T: Tree> = T;
    fn primals(args: A::Packed, _: &[bool]) -> A::Packed {
        args
    }
    fn differentiated(args: &A::Packed) -> A::Packed {
        tree::copy(args)
    }
}

/// Passes zero tangents and cotangents to rules as symbolic zeros, in [`Tangents`]; rules may return
/// symbolic zeros (`symbolic_zeros=True` in JAX). The forward rule of
/// [`custom_vjp_with`](super::custom_vjp_with) also receives which arrays of the arguments are
/// differentiated, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct SymbolicZeros;

impl<A: ArgTuple> RuleOptions<A> for SymbolicZeros {
    type Primals = (A::Packed, Vec<bool>);
    type Differentiated = A::Packed;
    type Dots<T: Tree> = Tangents<T>;
    const SYMBOLIC_ZEROS: bool = true;
    fn primals(args: A::Packed, perturbed: &[bool]) -> Self::Primals {
        (args, perturbed.to_vec())
    }
    fn differentiated(args: &A::Packed) -> A::Packed {
        tree::copy(args)
    }
}

/// Differentiates only with respect to the first argument: rules receive and return tangents and
/// cotangents of that argument alone (`nondiff_argnums` in JAX).
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstOnly;

impl<A: ArgTuple> RuleOptions<A> for FirstOnly {
    type Primals = A::Packed;
    type Differentiated = A::First;
    type Dots<T: Tree> = T;
    fn primals(args: A::Packed, _: &[bool]) -> A::Packed {
        args
    }
    fn differentiated(args: &A::Packed) -> A::First {
        A::unpack(tree::copy(args)).split().0
    }
}

/// Panics if an argument after the first is differentiated that the rule returns no derivative for.
#[track_caller]
pub(super) fn refuse_others(
    operation: &str,
    function: &str,
    mut others: impl Iterator<Item = bool>,
) {
    if others.any(|differentiated| differentiated) {
        location::fail(&format!(
            "{operation}: an argument of `{function}` after the first is being differentiated, but \
             its rule returns no derivative for it\n  help: pass value.stop_gradient(), or use a \
             rule for all arguments"
        ));
    }
}

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
    if !trace::records(|| tree::leaves(&args)) {
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
pub(super) struct RuleResult<'a> {
    /// Name of the transformation, such as `custom_jvp`.
    pub operation: &'static str,
    /// Name of the function.
    pub function: &'a str,
    /// Name of the rule.
    pub rule: &'static str,
    /// Name of the value that the rule returned, such as "tangent".
    pub what: &'static str,
    /// Name of the value to which it belongs.
    pub of: &'static str,
}

impl RuleResult<'_> {
    /// Returns the arrays of the value that the rule returned. If `floats` is set, arrays that are
    /// not differentiable are zero.
    ///
    /// # Panics
    /// Panics if the structure or the types differ from those of `like`.
    #[track_caller]
    pub fn leaves<T: Tree>(
        &self,
        like: &T,
        given: Tangents<T>,
        floats: bool,
    ) -> Vec<Option<Array>> {
        let names = ["expected", "given"];
        if let Some(lines) = tree::structure_mismatch(names, like, given.like()) {
            location::fail(&format!(
                "{}: the {} of `{}` returned a {} with another structure than the {}\n  {lines}\n  help: \
                 return a tree with the same containers and keys",
                self.operation, self.rule, self.function, self.what, self.of
            ));
        }
        let wanted = tree::leaves(like);
        let mut given = given.into_leaves();
        for (i, (wanted, given)) in wanted.iter().zip(&mut given).enumerate() {
            given.take_if(|_| floats && !wanted.dtype().is_inexact());
            let Some(given) = given else { continue };
            if given.aval().matches(wanted.aval()) {
                continue;
            }
            let place = match tree::paths(like)[i].as_str() {
                "" => String::new(),
                path => format!(" `{path}`"),
            };
            let RuleResult {
                operation,
                function,
                rule,
                what,
                of,
            } = self;
            location::fail(&format!(
                "{operation}: the {rule} of `{function}` returned a {what} {} for the {of}{place}, \
                 which is {}\n  help: shapes and dtypes must be the same; sum over axes that were \
                 broadcast, and convert with astype",
                given.aval(),
                wanted.aval()
            ));
        }
        given
    }
}

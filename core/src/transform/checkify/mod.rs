//! Runtime checks that work inside compiled functions (`checkify`).
//!
//! A traced function cannot panic depending on a value that is only known when it runs.
//! [`checkify`] transforms a function into one that also returns an [`Error`], which contains the
//! message of the first failed check, if any. It includes the checks that the function makes with
//! [`check`], and automatic checks of operations: whether a result is NaN, a divisor is zero, or
//! an index is out of bounds.
//!
//! ```no_run
//! use ramie_core::checkify::{self, Errors, checkify};
//! use ramie_core::{Array, jit};
//! let root = |x: Array| {
//!     checkify::check(x.ge(0.0), "{} has no root", &[&x]);
//!     x.sqrt()
//! };
//! let checked = jit(checkify(root, Errors::USER | Errors::NAN));
//! let (error, _) = checked(Array::from(-4.0f32));
//! assert!(error.get().unwrap().starts_with("-4.0 has no root"));
//! let (error, y) = checked(Array::from(4.0f32));
//! error.into_result()?;
//! assert_eq!(y.item::<f32>(), 2.0);
//! # Ok::<(), ramie_core::Error>(())
//! ```
//!
//! Checks work inside `jit`, `grad`, `vmap`, `scan`, `while_loop` and `cond`, in whatever order
//! these and `checkify` are applied, with one exception: if the examples of a `vmap` take
//! different branches or numbers of steps, use `vmap(checkify(f))`, not `checkify(vmap(f))`.

mod automatic;
mod error;
mod failure;
mod nested;
mod pass;
mod primitive;

pub use crate::program::checks::Errors;
pub use error::Error;
pub(crate) use error::Layout;

use crate::base::location;
use crate::program::trace::bind;
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::transform::checkify::primitive::Check;
use crate::typing::Function;
use crate::{Array, DType, IntoArray, where_};
use failure::{Category, Failure};
use std::panic::Location;

/// Transforms a function to return the outcome of its checks, an [`Error`], beside its result
/// (`jax.experimental.checkify.checkify`).
///
/// The whole result is computed even if a check fails. Custom derivatives are kept, unless the
/// function that defines them contains a [`check`], which makes it an ordinary function.
///
/// # Panics
/// The returned function panics if `f` panics, and if a loop that contains checks runs a
/// different number of steps for each example of a `vmap`.
#[track_caller]
pub fn checkify<'f, F, M>(f: F, errors: Errors) -> Box<F::Fn<'f, (Error, F::Output)>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let at = Location::caller();
    F::untupled(move |args| {
        let traced = location::at_location(at, || trace_tree(&args, |args| f.call(args)));
        let program = &traced.program;
        let layout = Layout::of(&program.jaxpr, errors);
        let mut pass = pass::Pass::new(errors, layout.clone(), layout.no_error());
        let outs = pass.run(&program.jaxpr, &program.consts, &tree::leaves(&args));
        let error = Error::new(layout, pass.into_state());
        (error, tree::with_leaves(&traced.result, outs))
    })
}

/// Checks that `pred`, a scalar, is true (`jax.experimental.checkify.check`).
///
/// Inside a function passed to [`checkify`], a failed check sets the returned error. Each `{}` in
/// `message` is replaced by one of the arrays `args`, as in
/// [`debug::print`](crate::debug::print). Outside traced functions a failed check panics.
///
/// # Panics
/// Panics if the check fails outside traced functions, if `pred` is not a scalar `bool`, or if
/// the number of placeholders in `message` is not the number of `args`. Compiling a program with
/// checks, but without [`checkify`], also panics.
#[track_caller]
pub fn check(pred: impl IntoArray, message: &str, args: &[&Array]) {
    check_at(pred.into_array(), message, args, false, Location::caller());
}

/// Checks like [`check`], but is ignored without [`checkify`]
/// (`jax.experimental.checkify.debug_check`).
///
/// # Panics
/// Panics in the same cases as [`check`], except that it never fails outside traced functions and
/// can always be compiled.
#[track_caller]
pub fn debug_check(pred: impl IntoArray, message: &str, args: &[&Array]) {
    check_at(pred.into_array(), message, args, true, Location::caller());
}

#[track_caller]
fn check_at(
    pred: Array,
    message: &str,
    args: &[&Array],
    debug: bool,
    at: &'static Location<'static>,
) {
    assert!(
        pred.ndim() == 0 && pred.dtype() == DType::Bool,
        "check: the predicate must be a scalar bool, but it is {}\n  help: compare, for example \
         x.ge(0.0); for many elements use .all() or .any()",
        pred.aval()
    );
    let format =
        crate::program::array::format::Format::new("check", message, &vec![""; args.len()]);
    let signature: Vec<crate::Aval> = args.iter().map(|a| a.aval().strong()).collect();
    let failure = Failure {
        category: Category::User(format),
        location: at,
        signature: signature.clone(),
    };
    let fine = Array::scalar(0, DType::I32);
    let code = where_(&pred, &fine, Array::scalar(failure.code(), DType::I32));
    let operands: Vec<&Array> = std::iter::once(&code).chain(args.iter().copied()).collect();
    let signatures = vec![signature];
    bind(
        Check {
            signatures,
            debug,
            at,
        },
        &operands,
    );
}

/// Checks that an error of [`checkify`] reports no failure (`checkify.check_error`). Inside
/// another checkified function, the failure becomes that function's error.
///
/// # Panics
/// Panics outside traced functions if there is an error; otherwise in the same cases as
/// [`check`].
#[track_caller]
pub fn check_error(error: &Error) {
    let at = Location::caller();
    let operands = tree::leaves(error);
    let signatures = error.signatures().to_vec();
    let check = Check {
        signatures,
        debug: false,
        at,
    };
    bind(check, &operands.iter().collect::<Vec<_>>());
}

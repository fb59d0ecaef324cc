//! Checks on values that work inside of compiled functions (`checkify`).
//!
//! A traced function cannot panic on a value that it does not know yet.
//! [`checkify`] turns a function into one that also returns an [`Error`]: what
//! the first failed check says, or nothing. Checks are those that the function
//! makes with [`check`], and those that operations make by themselves: whether
//! a result is NaN, a divisor zero, an index out of bounds.
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
//! Checks go through `jit`, `grad`, `vmap`, `scan`, `while_loop` and `cond`, in
//! whatever order these and `checkify` are applied, with one exception: examples
//! of a `vmap` that take different branches or numbers of steps are checked by
//! `vmap(checkify(f))`, not by `checkify(vmap(f))`.

mod automatic;
mod error;
mod failure;
mod nested;
mod pass;

pub use error::Error;
pub(crate) use error::Layout;

use crate::prim::check::Check;
use crate::trace::bind;
use crate::transform::trace_tree;
use crate::{ArgTuple, Array, DType, Function, IntoArray, tree, where_};
use failure::{Category, Failure};
use std::ops::BitOr;
use std::panic::Location;

/// Which checks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Errors(u8);

impl Errors {
    /// Those that the function makes with [`check`].
    pub const USER: Errors = Errors(1);
    /// Whether an operation's result is NaN.
    pub const NAN: Errors = Errors(2);
    /// Whether a divisor is zero.
    pub const DIV: Errors = Errors(4);
    /// Whether an index is out of bounds.
    pub const INDEX: Errors = Errors(8);
    /// NaN and division.
    pub const FLOAT: Errors = Errors(2 | 4);
    /// All that operations make by themselves.
    pub const AUTOMATIC: Errors = Errors(2 | 4 | 8);
    /// All.
    pub const ALL: Errors = Errors(15);

    /// None.
    pub const NONE: Errors = Errors(0);

    /// Whether some check of `other` is among these.
    pub fn intersects(self, other: Errors) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all checks of `other` are among these.
    pub fn contains(self, other: Errors) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Errors {
    type Output = Errors;
    fn bitor(self, other: Errors) -> Errors {
        Errors(self.0 | other.0)
    }
}

/// The function with its checks made values: it returns what the first failed
/// check says beside its result (`jax.experimental.checkify.checkify`).
///
/// The result is computed to the end also where a check fails. The derivatives
/// of functions with rules of their own are kept unless they contain a
/// [`check`], which makes them ordinary functions.
///
/// # Panics
/// The returned function panics where `f` does, and if a loop whose steps differ
/// between the examples of a `vmap` has checks in it.
#[track_caller]
pub fn checkify<'f, F, M>(
    f: F,
    errors: Errors,
) -> Box<<F::Args as ArgTuple>::Fn<'f, (Error, F::Output)>>
where
    F: Function<M> + 'f,
    F::Output: 'f,
    M: 'f,
{
    let at = Location::caller();
    F::Args::spread(move |args| {
        let traced = crate::trace::at_location(at, || trace_tree(&args, |args| f.call(args)));
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
/// Inside of a function given to [`checkify`] a failed check is what the error
/// says. Each `{}` in `message` stands for one of the arrays `args`, as in
/// [`debug::print`](crate::debug::print). Outside of traced functions a failed
/// check panics.
///
/// # Panics
/// If it fails outside of traced functions; if `pred` is not a scalar `bool`; if
/// the places in `message` are not as many as `args`. A program that is compiled
/// without [`checkify`] is refused.
#[track_caller]
pub fn check(pred: impl IntoArray, message: &str, args: &[&Array]) {
    check_at(pred.into_array(), message, args, false, Location::caller());
}

/// [`check`] that is left out where there is no [`checkify`]
/// (`jax.experimental.checkify.debug_check`).
///
/// # Panics
/// As [`check`], but it never fails outside of traced functions and is never
/// refused.
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
        "check: the predicate must be a scalar bool, it is {}\n  help: compare, for example x.ge(0.0); \
         for many elements use .all() or .any()",
        pred.aval()
    );
    let format = crate::callback::format::Format::new("check", message, args.len());
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

/// Checks that an error of [`checkify`] is none (`checkify.check_error`): inside
/// of another checkified function it becomes that one's error.
///
/// # Panics
/// Outside of traced functions, if it is an error; else as [`check`].
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

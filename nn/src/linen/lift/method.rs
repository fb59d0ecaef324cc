//! `Method`: a function of a scope as a module.

use crate::linen::{Module, Scope};
use ramie_core::Tree;
use std::borrow::Cow;

/// A function of a scope as a module. [`method`] creates it.
#[derive(Clone, Debug)]
pub struct Method<F>(F);

/// Converts a function of a scope to a module, to transform a part of a module's `call` or
/// another method.
///
/// Called as `module.call(scope, args)`, it computes in that scope: submodules have the same
/// names as without it.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::linen::{self, Dense, Module, Scope};
/// # fn f(scope: &mut Scope, x: Array) -> Array {
/// let two_layers = linen::method(|scope: &mut Scope, x: Array| {
///     let x = scope.child(&Dense::new(8), x).tanh();
///     scope.child(&Dense::new(8), x)
/// });
/// linen::remat(two_layers).call(scope, x)
/// # }
/// ```
pub fn method<A: Tree, O: Tree, F: Fn(&mut Scope, A) -> O>(f: F) -> Method<F> {
    Method(f)
}

impl<A: Tree, O: Tree, F: Fn(&mut Scope, A) -> O> Module<A, O> for Method<F> {
    #[track_caller]
    fn call(&self, scope: &mut Scope, args: A) -> O {
        (self.0)(scope, args)
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed("Method")
    }
}

//! `Bound`: a module bound to its variables.

use super::{Apply, Module, Scope, Variables};
use ramie_core::Tree;
use std::fmt;

/// A module bound to its variables, for interactive use (`Module.bind`).
///
/// Changes of mutable collections persist between calls.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use ramie_nn::linen::{Apply, Dense, Module};
/// let x = Array::ones(&[2, 4], DType::F32);
/// let variables = Dense::new(3).init(random::key(0), x.clone());
/// let mut dense = Dense::new(3).bind(&variables, &Apply::new());
/// assert_eq!(dense.call(x).shape(), [2, 3]);
/// let (module, variables) = dense.unbind();
/// ```
pub struct Bound<M> {
    module: M,
    scope: Scope,
}

impl<M> Bound<M> {
    pub(crate) fn new(module: M, variables: &Variables, options: &Apply) -> Bound<M> {
        Bound {
            module,
            scope: Scope::of(options.root(variables.clone())),
        }
    }

    /// Calls the module.
    ///
    /// # Panics
    /// Panics as [`Module::apply`] does.
    #[track_caller]
    pub fn call<A: Tree, O: Tree>(&mut self, args: A) -> O
    where
        M: Module<A, O>,
    {
        self.scope.run(&self.module, args)
    }

    /// Calls another method of the module.
    pub fn with<R>(&mut self, method: impl FnOnce(&M, &mut Scope) -> R) -> R {
        self.scope.root_mut().begin(&[]);
        method(&self.module, &mut self.scope)
    }

    /// Returns the current variables.
    pub fn variables(&self) -> Variables {
        self.scope.root().variables.clone()
    }

    /// Returns the module and its current variables.
    pub fn unbind(self) -> (M, Variables) {
        let variables = self.variables();
        (self.module, variables)
    }
}

/// Formats the module with its hyperparameters, and the types of its variables.
impl<M: fmt::Debug> fmt::Debug for Bound<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.scope.root();
        let mut out = f.debug_struct("Bound");
        out.field("module", &self.module)
            .field("variables", &root.variables);
        out.finish()
    }
}

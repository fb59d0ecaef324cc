//! `jit` of modules, and `fold_rngs`.

use super::pack::Pack;
use crate::linen::{CollectionFilter, Module, Scope, Streams, Variables};
use ramie_core::Tree;
use std::borrow::Cow;

/// A module that is compiled by itself; made by [`jit`].
#[derive(Clone, Debug)]
pub struct Jit<M> {
    module: M,
    variables: CollectionFilter,
    rngs: CollectionFilter,
}

/// A module that is compiled by itself (`flax.linen.jit`): within a compiled
/// program, one function that is called as often as there are such modules. The
/// default name is that of the class with `Jit` before it.
///
/// What is compiled must not depend on where in the model it is. So its keys are
/// other ones than those of the module alone: they begin with a key of each
/// stream of the scope.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::linen::{self, Dense, Scope};
/// # fn f(scope: &mut Scope, x: Array) -> Array {
/// scope.child(&linen::jit(Dense::new(8)), x)
/// # }
/// ```
pub fn jit<M>(module: M) -> Jit<M> {
    Jit {
        module,
        variables: CollectionFilter::All,
        rngs: CollectionFilter::All,
    }
}

impl<M> Jit<M> {
    /// The collections that are there inside; all by default.
    #[must_use]
    pub fn variables(mut self, collections: impl Into<CollectionFilter>) -> Self {
        self.variables = collections.into();
        self
    }

    /// The streams of keys that are there inside; all by default.
    #[must_use]
    pub fn rngs(mut self, streams: impl Into<CollectionFilter>) -> Self {
        self.rngs = streams.into();
        self
    }
}

impl<A: Tree, O: Tree, M: Module<A, O> + Send + Sync> Module<A, O> for Jit<M> {
    fn call(&self, scope: &mut Scope, args: A) -> O {
        let mut pack = Pack::of(scope, "jit");
        pack.fork();
        let (variables, streams) = (pack.variables(&self.variables), pack.streams(&self.rngs));
        let (out, changed) = {
            let body = |variables: Variables, streams: Streams, args: A| {
                let call = |scope: &mut Scope| self.module.call(scope, args);
                pack.call(variables, streams, &self.variables, call)
            };
            ramie_core::jit(body)(variables, streams, args)
        };
        pack.publish(scope, &changed);
        out
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("Jit{}", self.module.class_name()))
    }
}

/// A module whose keys begin anew; made by [`fold_rngs`].
#[derive(Clone, Debug)]
pub struct FoldRngs<M> {
    module: M,
}

/// A module whose keys begin with a key of each stream of the scope, as those
/// of [`jit`] do (`flax.linen.fold_rngs`).
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::linen::{self, Dense, Scope};
/// # fn f(scope: &mut Scope, x: Array) -> Array {
/// scope.child(&linen::fold_rngs(Dense::new(8)), x)
/// # }
/// ```
pub fn fold_rngs<M>(module: M) -> FoldRngs<M> {
    FoldRngs { module }
}

impl<A: Tree, O: Tree, M: Module<A, O>> Module<A, O> for FoldRngs<M> {
    fn call(&self, scope: &mut Scope, args: A) -> O {
        let all = CollectionFilter::All;
        let mut pack = Pack::of(scope, "fold_rngs");
        pack.fork();
        let call = |scope: &mut Scope| self.module.call(scope, args);
        let (out, changed) = pack.call(pack.variables(&all), pack.streams(&all), &all, call);
        pack.publish(scope, &changed);
        out
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("Fold_rngs{}", self.module.class_name()))
    }
}

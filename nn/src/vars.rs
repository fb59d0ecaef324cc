//! `Vars`: the source of a layer's variables during construction.

use crate::linen::Scope;
use crate::{Initializer, Param, RngStream, Rngs, Variable};
use ramie_core::{Array, DType};

/// The source of a layer's variables during construction.
///
/// A layer is built by one function, which requests its variables by name. In NNX style, `Vars`
/// draws them from [`Rngs`] and the layer stores them. In Linen style, `Vars` reads them from a
/// [`Scope`], or draws them and stores them in the scope while a model is initialized.
///
/// ```no_run
/// use ramie_core::DType;
/// use ramie_nn::{Param, Rngs, VarSource, init};
/// let mut rngs = Rngs::new(0);
/// let mut vars = rngs.vars();
/// let kernel: Param = vars.param("kernel", &init::lecun_normal(), &[4, 8], DType::F32);
/// ```
pub struct Vars<'a>(Source<'a>);

enum Source<'a> {
    Rngs(&'a mut Rngs),
    Scope(&'a mut Scope),
}

/// A value that provides a layer's variables: [`Rngs`], a [`Scope`] or [`Vars`].
///
/// Layers take `&mut impl VarSource`, so that a function with an argument `rngs: &mut Rngs` passes
/// `rngs` to one layer after another.
pub trait VarSource {
    /// Returns the source of the variables.
    fn vars(&mut self) -> Vars<'_>;
}

impl VarSource for Rngs {
    fn vars(&mut self) -> Vars<'_> {
        Vars(Source::Rngs(self))
    }
}

impl VarSource for Scope {
    fn vars(&mut self) -> Vars<'_> {
        Vars(Source::Scope(self))
    }
}

impl VarSource for Vars<'_> {
    fn vars(&mut self) -> Vars<'_> {
        Vars(match &mut self.0 {
            Source::Rngs(rngs) => Source::Rngs(rngs),
            Source::Scope(scope) => Source::Scope(scope),
        })
    }
}

impl Vars<'_> {
    /// Returns a parameter. A new parameter takes a key from the stream `params`.
    ///
    /// # Panics
    /// Panics if the scope has no such parameter and cannot create one, or if its parameter has
    /// another shape.
    #[track_caller]
    pub fn param(
        &mut self,
        name: &str,
        init: &Initializer,
        shape: &[usize],
        dtype: DType,
    ) -> Param {
        match &mut self.0 {
            Source::Rngs(rngs) => {
                let value = Param::new(init.draw(&rngs.params(), shape, dtype));
                match init.metadata() {
                    Some(metadata) => value.with_metadata(metadata.clone()),
                    None => value,
                }
            }
            Source::Scope(scope) => scope.param(name, init, shape, dtype),
        }
    }

    /// Returns a parameter if `there_is` is true.
    #[track_caller]
    pub(crate) fn param_if(
        &mut self,
        there_is: bool,
        name: &str,
        init: &Initializer,
        shape: &[usize],
        dtype: DType,
    ) -> Option<Param> {
        if there_is {
            Some(self.param(name, init, shape, dtype))
        } else {
            None
        }
    }

    /// Returns a variable of another kind that is drawn like a parameter. A new variable takes
    /// a key from the stream `params`.
    ///
    /// # Panics
    /// Panics if the scope has no such variable and cannot create one.
    #[track_caller]
    pub fn drawn<V: Variable>(
        &mut self,
        name: &str,
        init: &Initializer,
        shape: &[usize],
        dtype: DType,
    ) -> V {
        let value = match &mut self.0 {
            Source::Rngs(rngs) => init.draw(&rngs.params(), shape, dtype),
            Source::Scope(scope) => {
                let collection = crate::collection_of(V::KIND);
                let there = scope.has_variable(&collection, name);
                let key = (!there && scope.is_mutable_collection(&collection))
                    .then(|| scope.make_rng("params"));
                scope.variable(&collection, name, || {
                    let key = key.expect("a key for the new variable");
                    init.draw(&key, shape, dtype)
                })
            }
        };
        match init.metadata() {
            Some(metadata) => V::from(value).with_metadata(metadata.clone()),
            None => V::from(value),
        }
    }

    /// Returns a variable of another kind, whose initial value needs no key.
    ///
    /// # Panics
    /// Panics if the scope has no such variable and cannot create one.
    #[track_caller]
    pub fn variable<V: Variable>(&mut self, name: &str, init: impl FnOnce() -> Array) -> V {
        match &mut self.0 {
            Source::Rngs(_) => V::from(init()),
            Source::Scope(scope) => {
                V::from(scope.variable(&crate::collection_of(V::KIND), name, init))
            }
        }
    }

    /// Returns `true` if the scope has this variable. Always returns `false` for `Rngs`.
    pub fn has<V: Variable>(&self, name: &str) -> bool {
        match &self.0 {
            Source::Rngs(_) => false,
            Source::Scope(scope) => scope.has_variable(&crate::collection_of(V::KIND), name),
        }
    }

    /// Builds a sublayer under a name: in a scope, its variables are stored below that name.
    #[track_caller]
    pub fn child<R>(&mut self, name: &str, f: impl FnOnce(&mut Vars<'_>) -> R) -> R {
        match &mut self.0 {
            Source::Rngs(rngs) => f(&mut Vars(Source::Rngs(rngs))),
            Source::Scope(scope) => f(&mut Vars(Source::Scope(&mut scope.enter(name)))),
        }
    }

    /// Returns an RNG stream for the layer to store, forked from the stream of this name.
    /// Returns `None` for a scope, which has its own streams ([`Scope::make_rng`]).
    ///
    /// # Panics
    /// Panics if neither the stream nor `default` exists.
    #[track_caller]
    pub fn fork_rng(&mut self, stream: &str) -> Option<RngStream> {
        match &mut self.0 {
            Source::Rngs(rngs) => Some(rngs.get(stream).fork()),
            Source::Scope(_) => None,
        }
    }

    /// Returns `true` if the variables belong to a Linen scope.
    pub fn in_scope(&self) -> bool {
        matches!(self.0, Source::Scope(_))
    }
}

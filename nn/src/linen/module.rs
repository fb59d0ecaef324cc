//! `Module`: a computation whose variables are in a scope.

use super::apply::initializing;
use super::{Adopted, Apply, Bound, Scope, Streams, Summary, Tabulate, Variables};
use super::{lazy, tabulate};
use ramie_core::Array;
use ramie_core::Tree;
use ramie_core::text::type_name;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A computation whose variables are in a [`Scope`]; the module itself contains only
/// hyperparameters (`flax.linen.Module`).
///
/// `Args` is the type of the argument, an array or a pytree such as a tuple; `Out` is the type
/// of the result. A type can be a module for several types of arguments.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use ramie_nn::init;
/// use ramie_nn::linen::{Module, Scope};
///
/// /// Scales each feature by a positive parameter.
/// #[derive(Clone)]
/// struct Scale;
///
/// impl Module for Scale {
///     fn call(&self, scope: &mut Scope, x: Array) -> Array {
///         let features = x.shape()[x.ndim() - 1];
///         let scale = scope.param("scale", &init::zeros(), &[features], DType::F32);
///         x * scale.exp()
///     }
/// }
///
/// let x = Array::ones(&[2, 3], DType::F32);
/// let variables = Scale.init(random::key(0), x.clone());
/// assert_eq!(Scale.apply(&variables, x).shape(), [2, 3]);
/// ```
///
/// A module cannot be called without a scope; Flax calls that an unbound module:
/// ```compile_fail,E0061
/// # use ramie_core::{Array, DType};
/// # use ramie_nn::linen::{Dense, Module};
/// let y = Dense::new(3).call(Array::ones(&[2, 3], DType::F32));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Linen module from `{Args}` to `{Out}`",
    note = "a module takes one argument, an array or a tuple; flags have types of their own: \
            BatchNorm takes `(x, UseRunningAverage(!train))`, Dropout `(x, Deterministic(!train))`",
    note = "implement `linen::Module<Args, Out>` for your own types; \
            `#[derive(Module)]` is for models in NNX style"
)]
pub trait Module<Args: Tree = Array, Out: Tree = Array> {
    /// Computes the output in a scope.
    fn call(&self, scope: &mut Scope, args: Args) -> Out;

    /// Returns the name of the type, from which automatic names are made.
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(type_name::<Self>())
    }

    /// Returns the modules that this module was constructed with, in the order of its fields,
    /// for their automatic names.
    fn adopted(&self) -> Vec<Adopted> {
        Vec::new()
    }

    /// Initializes the variables, for arguments like these. Intermediate values are omitted.
    ///
    /// # Panics
    /// Panics if an RNG stream is missing, and as the module does.
    #[track_caller]
    fn init(&self, rngs: impl Into<Streams>, args: Args) -> Variables
    where
        Self: Sized,
    {
        self.init_with_output(rngs, args).1
    }

    /// Initializes the variables, and also returns the output.
    ///
    /// # Panics
    /// Panics as [`init`](Module::init) does.
    #[track_caller]
    fn init_with_output(&self, rngs: impl Into<Streams>, args: Args) -> (Out, Variables)
    where
        Self: Sized,
    {
        let mut scope = initializing(rngs.into(), &Apply::initializing());
        let out = scope.run(self, args);
        let made = scope.root().mutated();
        (out, made)
    }

    /// Initializes the variables from the types of the arguments alone, which can be abstract
    /// arrays ([`Array::shape_dtype_struct`]). Only the initial values are computed.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// use ramie_nn::linen::{Dense, Module};
    /// let x = Array::shape_dtype_struct(&[2, 4], DType::F32);
    /// let variables = Dense::new(3).lazy_init(0, x);
    /// assert_eq!(variables["params"]["kernel"].shape(), [4, 3]);
    /// ```
    ///
    /// # Panics
    /// Panics if an initial value depends on values of the arguments, and as
    /// [`init`](Module::init) does.
    #[track_caller]
    fn lazy_init(&self, rngs: impl Into<Streams>, args: Args) -> Variables
    where
        Self: Sized + Sync,
    {
        lazy::lazy_init(self, rngs.into(), args)
    }

    /// Returns a table of the submodules with their types and variables. Nothing is computed;
    /// the arguments can be abstract arrays.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// use ramie_nn::linen::{Dense, Module, Tabulate};
    /// let x = Array::shape_dtype_struct(&[2, 4], DType::F32);
    /// let summary = Dense::new(3).tabulate(0, x, &Tabulate::default());
    /// println!("{summary}");
    /// assert_eq!(summary.total("params").elements, 15);
    /// ```
    ///
    /// # Panics
    /// Panics as [`init`](Module::init) does.
    #[track_caller]
    fn tabulate(&self, rngs: impl Into<Streams>, args: Args, options: &Tabulate) -> Summary
    where
        Self: Sized + Sync,
    {
        tabulate::summary(self, rngs.into(), args, options)
    }

    /// Returns the dotted paths of the module and its submodules, with the names of their
    /// types; the path of the module itself is empty. Nothing is computed.
    ///
    /// # Panics
    /// Panics as [`init`](Module::init) does.
    #[track_caller]
    fn module_paths(&self, rngs: impl Into<Streams>, args: Args) -> BTreeMap<String, String>
    where
        Self: Sized,
    {
        let (calls, _) = tabulate::calls_of(self, &rngs.into(), args);
        let named = calls.into_iter().map(|c| (c.path.join("."), c.class));
        named.collect()
    }

    /// Computes the output with the given variables, which do not change.
    ///
    /// # Panics
    /// Panics if a variable is missing or has another shape, if a variable would change, or if
    /// an RNG stream is missing, and as the module does.
    #[track_caller]
    fn apply(&self, variables: &Variables, args: Args) -> Out
    where
        Self: Sized,
    {
        self.apply_with(variables, args, &Apply::new()).0
    }

    /// Computes the output with the given variables. Also returns the collections that
    /// [`Apply::mutable`] selects, with their updated values.
    ///
    /// # Panics
    /// Panics as [`apply`](Module::apply) does.
    #[track_caller]
    fn apply_with(&self, variables: &Variables, args: Args, options: &Apply) -> (Out, Variables)
    where
        Self: Sized,
    {
        let mut scope = Scope::of(options.root(variables.clone()));
        let out = scope.run(self, args);
        let updates = scope.root().mutated();
        (out, updates)
    }

    /// Binds the module to its variables, for repeated calls.
    fn bind(&self, variables: &Variables, options: &Apply) -> Bound<Self>
    where
        Self: Sized + Clone,
    {
        Bound::new(self.clone(), variables, options)
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => { $(
        impl<A: Tree, O: Tree, M: Module<A, O> + ?Sized> Module<A, O> for $pointer {
            #[track_caller]
            fn call(&self, scope: &mut Scope, args: A) -> O {
                (**self).call(scope, args)
            }
            fn class_name(&self) -> Cow<'static, str> {
                (**self).class_name()
            }
            fn adopted(&self) -> Vec<Adopted> {
                (**self).adopted()
            }
        }
    )* };
}
pointers!(&M, Box<M>);

/// A submodule, which can be called several times with the same variables; see
/// [`Scope::setup`].
pub struct Child<M> {
    scope: Scope,
    module: M,
}

impl<M> Child<M> {
    pub(crate) fn new(scope: Scope, module: M) -> Child<M> {
        Child { scope, module }
    }

    /// Calls the module.
    ///
    /// # Panics
    /// Panics as the module does.
    #[track_caller]
    pub fn call<A: Tree, O: Tree>(&mut self, args: A) -> O
    where
        M: Module<A, O>,
    {
        self.scope.run(&self.module, args)
    }

    /// Calls another method of the module, in the module's scope.
    ///
    /// ```no_run
    /// # use ramie_core::Array;
    /// # use ramie_nn::linen::{Dense, Module, Scope};
    /// # fn f(scope: &mut Scope, x: Array) {
    /// let mut decoder = scope.setup("decoder", &Dense::new(8));
    /// let y: Array = decoder.with(|dense, scope| dense.call(scope, x) * 2.0);
    /// # }
    /// ```
    pub fn with<R>(&mut self, method: impl FnOnce(&M, &mut Scope) -> R) -> R {
        let mut scope = self.scope.handle();
        scope.root_mut().begin(self.scope.names());
        method(&self.module, &mut scope)
    }

    /// Returns the module.
    pub fn module(&self) -> &M {
        &self.module
    }
}

impl<M: fmt::Debug> fmt::Debug for Child<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Child");
        out.field("path", &self.scope.path())
            .field("module", &self.module);
        out.finish_non_exhaustive()
    }
}

/// Merges a hyperparameter that is passed either to the constructor or to the call
/// (`nn.merge_param`).
///
/// ```
/// use ramie_nn::linen::merge_param;
/// assert_eq!(merge_param("deterministic", None, Some(true)), true);
/// ```
///
/// # Panics
/// Panics if neither or both values are present.
#[track_caller]
pub fn merge_param<T>(name: &str, made_with: Option<T>, called_with: Option<T>) -> T {
    match (made_with, called_with) {
        (Some(value), None) | (None, Some(value)) => value,
        (None, None) => panic!(
            "linen: `{name}` is not set\n  help: pass it to the constructor of the module or to \
             the call"
        ),
        (Some(_), Some(_)) => panic!(
            "linen: `{name}` is set both in the constructor of the module and in the call\n  \
             help: remove one of them"
        ),
    }
}

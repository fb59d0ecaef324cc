//! `jit` and `fold_rngs` for modules.

use super::pack::Pack;
use crate::linen::{CollectionFilter, Module, Scope, Streams, Variables};
use crate::setters::setters;
use ramie_core::extend::Jaxpr;
use ramie_core::lock::lock;
use ramie_core::stages::Jitted;
use ramie_core::{Array, Tree, make_jaxpr, tree};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// A module that is compiled separately. [`jit`] creates it.
#[derive(Clone, Debug)]
pub struct Jit<M> {
    module: M,
    variables: CollectionFilter,
    rngs: CollectionFilter,
}

/// Compiles a module separately (`flax.linen.jit`). Within a compiled program, equal modules
/// become one function, which is called for each of them. The default name is that of the class
/// with the prefix `Jit`.
///
/// The compiled function must not depend on the module's path in the model. Its keys therefore
/// differ from those of the module without `jit`: they are derived from one key of each stream
/// of the scope.
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
    setters! {
        /// Sets the collections that the module can access. Defaults to all.
        variables: [CollectionFilter as into],
        /// Sets the RNG streams that the module can access. Defaults to all.
        rngs: [CollectionFilter as into],
    }
}

impl<A: Tree, O: Tree, M: Module<A, O> + Send + Sync> Module<A, O> for Jit<M> {
    #[track_caller]
    fn call(&self, scope: &mut Scope, args: A) -> O {
        let mut pack = Pack::of(scope, "jit");
        pack.fork();
        let (variables, streams) = (pack.variables(&self.variables), pack.streams(&self.rngs));
        let structure: Mutex<Option<(O, Variables)>> = Mutex::new(None);
        let body = |variables: Variables, streams: Streams, args: A| {
            let call = |scope: &mut Scope| self.module.call(scope, args);
            let out = pack.call(variables, streams, &self.variables, call);
            *lock(&structure) = Some(tree::copy(&out));
            out
        };
        let leaves = [
            tree::leaves(&variables),
            tree::leaves(&streams),
            tree::leaves(&args),
        ];
        let program = make_jaxpr(body)(variables, streams, args);
        let out = lock(&structure).take().expect("the module was traced");
        let results = compiled(program.jaxpr)(program.consts, leaves.concat());
        let (out, changed) = tree::with_leaves(&out, results);
        pack.publish(scope, &changed);
        out
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("Jit{}", self.module.class_name()))
    }
}

/// A function of captured values and arguments.
type Run = dyn Fn(Vec<Array>, Vec<Array>) -> Vec<Array> + Send + Sync;

/// A compiled function of captured values and arguments.
type Compiled = Arc<Jitted<'static, (), (Vec<Array>, Vec<Array>), Vec<Array>, Run>>;

/// Maximum number of cached programs.
const LIMIT: usize = 256;

/// Returns the compiled function of a program. A module is traced at each call, but its program
/// is compiled once. Modules with equal programs share it.
fn compiled(jaxpr: Arc<Jaxpr>) -> Compiled {
    static PROGRAMS: LazyLock<Mutex<HashMap<Arc<Jaxpr>, Compiled>>> = LazyLock::new(Mutex::default);
    let mut programs = lock(&PROGRAMS);
    if let Some(known) = programs.get(&jaxpr) {
        return known.clone();
    }
    if programs.len() >= LIMIT {
        programs.clear();
    }
    let run = jaxpr.clone();
    let jitted =
        ramie_core::jit(move |consts: Vec<Array>, args: Vec<Array>| run.eval(&consts, &args));
    let made: Compiled = Arc::new(jitted);
    programs.insert(jaxpr, made.clone());
    made
}

/// A module with newly derived keys. [`fold_rngs`] creates it.
#[derive(Clone, Debug)]
pub struct FoldRngs<M> {
    module: M,
}

/// Derives the keys of a module from one key of each stream of the scope, as [`jit`] does
/// (`flax.linen.fold_rngs`).
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
    #[track_caller]
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

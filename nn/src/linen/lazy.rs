//! `lazy_init`: initializes parameters without computing the model.

use super::{Apply, Module, Streams, Variables, init_with_output};
use ramie_core::lock::lock;
use ramie_core::{Array, Tree, make_jaxpr, tree};
use std::sync::Mutex;

/// Initializes the variables of a module from the types of its arguments.
#[track_caller]
pub(super) fn lazy_init<M, A: Tree, O: Tree>(module: &M, rngs: Streams, args: A) -> Variables
where
    M: Module<A, O> + Sync,
{
    let structure = Mutex::new(None);
    let types = tree::shape_dtype_structs(&args);
    let traced = |args: A| {
        let call = |scope: &mut super::Scope| scope.run(module, args);
        let (_, made) = init_with_output(rngs.clone(), &Apply::initializing(), call);
        *lock(&structure) = Some(made.clone());
        made
    };
    let program = make_jaxpr(traced)(types);
    let made = lock(&structure).take().expect("the module was traced");
    let paths = tree::paths(&made);
    let known = program.known().into_iter().zip(paths);
    let known = known.map(|(value, path)| {
        value.unwrap_or_else(|| {
            panic!(
                "Module::lazy_init: the initial value of `{path}` depends on the values of the \
                 arguments, but only their types are available\n  help: use init, with concrete \
                 arguments, or an initial value that only depends on shapes"
            )
        })
    });
    let known: Vec<Array> = known.collect();
    tree::with_leaves(&made, known)
}

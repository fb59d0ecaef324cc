//! `ApplyFn`: the forward computation stored in a `TrainState`.

use crate::linen::Variables;
use ramie_core::text::without_modules;
use std::any::{Any, type_name};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function from variables and an input to an output, such as the `apply` of a model, as a
/// static part of a tree. A compiled function is compiled for this function and its clones only.
#[derive(Clone)]
pub struct ApplyFn {
    /// Identifies the function. Clones share the id.
    id: u64,
    /// A `Box<Erased<I, O>>`.
    function: Arc<dyn Any + Send + Sync>,
    /// The types of the input and the output.
    types: [&'static str; 2],
}

type Erased<I, O> = dyn Fn(&Variables, I) -> O + Send + Sync;

impl ApplyFn {
    /// Stores a function.
    pub fn new<I: 'static, O: 'static>(
        f: impl Fn(&Variables, I) -> O + Send + Sync + 'static,
    ) -> ApplyFn {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let function: Box<Erased<I, O>> = Box::new(f);
        ApplyFn {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            function: Arc::new(function),
            types: [type_name::<I>(), type_name::<O>()],
        }
    }

    /// Calls the function.
    ///
    /// # Panics
    /// Panics if the function has other types.
    #[track_caller]
    pub fn call<I: 'static, O: 'static>(&self, variables: &Variables, input: I) -> O {
        let Some(function) = self.function.downcast_ref::<Box<Erased<I, O>>>() else {
            let called = [type_name::<I>(), type_name::<O>()];
            let [takes, returns] = self.types.map(without_modules);
            let [passes, expects] = called.map(without_modules);
            panic!(
                "TrainState::apply_fn: the function takes {takes} and returns {returns}, but the \
                 call passes {passes} and expects {expects}\n  help: pass the input that the function of \
                 `with_apply_fn` takes, and annotate the result: `let y: {returns} = \
                 state.apply_fn(&variables, x);`"
            )
        };
        function(variables, input)
    }
}

impl fmt::Debug for ApplyFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [takes, returns] = self.types;
        write!(f, "ApplyFn({takes}) -> {returns}")
    }
}
impl PartialEq for ApplyFn {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl Eq for ApplyFn {}
impl Hash for ApplyFn {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.id);
    }
}

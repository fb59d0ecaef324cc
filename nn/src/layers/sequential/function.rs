//! `Function`: a function between layers.

use crate::shared_fn::SharedFn;
use ramie_core::Array;
use std::any::TypeId;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A function of an array between layers.
///
/// As a static value, a function without captures is identified by its type. A function with
/// captures equals only its clones.
#[derive(Clone)]
pub(super) struct Function {
    f: SharedFn<dyn Fn(&Array) -> Array + Send + Sync>,
    of: TypeId,
    captures: bool,
    name: &'static str,
}

impl Function {
    pub fn new<F: Fn(&Array) -> Array + Send + Sync + 'static>(f: F) -> Function {
        Function {
            f: SharedFn::new(Arc::new(f)),
            of: TypeId::of::<F>(),
            captures: size_of::<F>() > 0,
            name: std::any::type_name::<F>(),
        }
    }

    #[track_caller]
    pub fn call(&self, x: &Array) -> Array {
        (self.f)(x)
    }
}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.of.hash(state);
        if self.captures {
            self.f.hash(state);
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

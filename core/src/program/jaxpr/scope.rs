//! Named scopes: names for parts of a program, stored with its equations.

use crate::base::lock::lock;
use crate::base::scoped::Scoped;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Mutex;

/// The named scopes around an equation, outermost first and joined by `/`; empty outside all
/// scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope(&'static str);

static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
thread_local! { static CURRENT: Cell<Scope> = const { Cell::new(Scope("")) }; }

impl Scope {
    /// Returns the scope with this name. Names are never freed: programs have few.
    fn new(name: String) -> Scope {
        let mut names = lock(&NAMES);
        let names = names.get_or_insert_default();
        match names.get(name.as_str()) {
            Some(known) => Scope(known),
            None => {
                let name: &'static str = Box::leak(name.into_boxed_str());
                names.insert(name);
                Scope(name)
            }
        }
    }

    /// Returns the name, such as `encoder/attention`.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Returns the scope `inner` nested in this one.
    pub(crate) fn join(self, inner: Scope) -> Scope {
        match (self.0, inner.0) {
            ("", _) => inner,
            (_, "") => self,
            (outer, inner) => Scope::new(format!("{outer}/{inner}")),
        }
    }

    /// Returns the current scope of this thread.
    pub(crate) fn current() -> Scope {
        CURRENT.get()
    }

    /// Runs `f` in this scope instead of the current one.
    pub(crate) fn within<R>(self, f: impl FnOnce() -> R) -> R {
        let _entered = self.enter();
        f()
    }

    fn enter(self) -> NamedScope {
        NamedScope {
            _scoped: Scoped::set(&CURRENT, self),
            of_thread: PhantomData,
        }
    }
}

/// A guard of a named scope, which ends when this is dropped; returned by [`enter_named_scope`].
#[must_use]
pub struct NamedScope {
    _scoped: Scoped<Scope>,
    of_thread: PhantomData<*const ()>,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Runs `f` with a name for the operations in it (`jax.named_scope`).
///
/// Scopes nest: `attention` inside `encoder` is `encoder/attention`. They appear in the locations
/// of the lowered program, which compilers and profilers show. Equations keep their scopes
/// through transformations, and
/// [`Jaxpr::to_string_with_scopes`](crate::extend::Jaxpr::to_string_with_scopes) prints them.
///
/// ```
/// use ramie_core::{Array, DType, make_jaxpr, named_scope};
/// let f = |x: Array| named_scope("norm", || &x / &x.square().sum_over(0));
/// let jaxpr = make_jaxpr(f)(Array::shape_dtype_struct(&[3], DType::F32));
/// assert!(jaxpr.jaxpr.eqns.iter().all(|e| e.scope.name() == "norm"));
/// ```
#[doc(alias = "named_call")]
pub fn named_scope<R>(name: &str, f: impl FnOnce() -> R) -> R {
    let _entered = enter_named_scope(name);
    f()
}

/// Enters a scope like [`named_scope`], until the result is dropped. In contrast to code in a
/// closure, operations in the scope are attributed to their callers' source lines.
///
/// ```
/// use ramie_core::{Array, DType, enter_named_scope, make_jaxpr};
/// let f = |x: Array| {
///     let _norm = enter_named_scope("norm");
///     x.square()
/// };
/// let jaxpr = make_jaxpr(f)(Array::shape_dtype_struct(&[3], DType::F32));
/// assert_eq!(jaxpr.jaxpr.eqns[0].scope.name(), "norm");
/// ```
pub fn enter_named_scope(name: &str) -> NamedScope {
    let name = Scope::new(name.to_string());
    Scope::current().join(name).enter()
}

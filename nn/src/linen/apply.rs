//! `init` and `apply` of functions of a scope.

use super::root::{Calls, Capture, Root};
use super::{CollectionFilter, Scope, Streams, Variables};
use std::sync::Arc;

/// How variables are applied: with which keys, and what may change.
///
/// ```no_run
/// use ramie_core::random;
/// use ramie_nn::linen::Apply;
/// let options = Apply::new()
///     .rngs([("dropout", random::key(1))])
///     .mutable(["batch_stats"]);
/// ```
#[derive(Clone, Default)]
pub struct Apply {
    pub(crate) streams: Streams,
    pub(crate) mutable: CollectionFilter,
    pub(crate) capture: Option<Capture>,
    pub(super) calls: Option<Calls>,
}

impl Apply {
    /// Without keys; nothing may change.
    pub fn new() -> Apply {
        Apply::default()
    }

    /// As `init` does by default: everything may change but intermediate
    /// values, which are not kept.
    pub fn initializing() -> Apply {
        Apply::new().mutable(CollectionFilter::all_but(["intermediates"]))
    }

    /// The keys of the streams.
    #[must_use]
    pub fn rngs(mut self, rngs: impl Into<Streams>) -> Apply {
        self.streams = rngs.into();
        self
    }

    /// The collections that may change, and are returned.
    #[must_use]
    pub fn mutable(mut self, collections: impl Into<CollectionFilter>) -> Apply {
        self.mutable = collections.into();
        self
    }

    /// Keeps the outputs of all modules in the collection `intermediates`,
    /// which must be among the mutable ones, each as `__call__` below the
    /// module's path.
    #[must_use]
    pub fn capture_intermediates(self) -> Apply {
        self.capture_if(|_, _| true)
    }

    /// Keeps the outputs of those modules whose path and class a predicate
    /// accepts.
    #[must_use]
    pub fn capture_if(
        mut self,
        wanted: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Apply {
        self.capture = Some(Arc::new(wanted));
        self.mutable = match self.mutable {
            CollectionFilter::None => "intermediates".into(),
            CollectionFilter::Only(mut names) => {
                if !names.iter().any(|n| n == "intermediates") {
                    names.push("intermediates".into());
                }
                CollectionFilter::Only(names)
            }
            other => other,
        };
        self
    }

    pub(crate) fn root(&self, variables: Variables) -> Root {
        let mut root = Root::new(variables, self.streams.clone(), self.mutable.clone());
        root.capture = self.capture.clone();
        root.calls = self.calls.clone();
        root
    }
}

/// Computes a function of a scope that has these variables; also returns the
/// collections that may have changed.
///
/// With it a method of a module other than `call` is applied:
/// `linen::apply(&variables, &Apply::new(), |scope| model.encode(scope, x))`.
///
/// # Panics
/// If a variable is missing, has another shape or would be changed, or a stream
/// of keys is missing.
#[track_caller]
pub fn apply<R>(
    variables: &Variables,
    options: &Apply,
    f: impl FnOnce(&mut Scope) -> R,
) -> (R, Variables) {
    let mut scope = Scope::of(options.root(variables.clone()));
    let out = f(&mut scope);
    let updates = scope.root().mutated();
    (out, updates)
}

/// Makes the variables that a function of a scope asks for.
///
/// # Panics
/// If a stream of keys is missing.
#[track_caller]
pub fn init<R>(rngs: impl Into<Streams>, f: impl FnOnce(&mut Scope) -> R) -> Variables {
    init_with_output(rngs, &Apply::initializing(), f).1
}

/// Makes the variables that a function of a scope asks for, and returns its
/// result too.
///
/// # Panics
/// If a stream of keys is missing.
#[track_caller]
pub fn init_with_output<R>(
    rngs: impl Into<Streams>,
    options: &Apply,
    f: impl FnOnce(&mut Scope) -> R,
) -> (R, Variables) {
    let mut scope = initializing(rngs.into(), options);
    let out = f(&mut scope);
    let made = scope.root().mutated();
    (out, made)
}

/// The outermost scope of variables that are made.
pub(super) fn initializing(rngs: Streams, options: &Apply) -> Scope {
    let mut root = options.root(Variables::new());
    root.streams = rngs;
    root.initializing = true;
    Scope::of(root)
}

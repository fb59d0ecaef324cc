//! `init` and `apply` for functions of a scope.

use super::root::{Calls, Capture, Root};
use super::{CollectionFilter, Scope, Streams, Variables};
use crate::setters::setters;
use std::sync::Arc;

/// Options of applying variables: RNG streams and mutable collections.
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
    pub(crate) rngs: Streams,
    pub(crate) mutable: CollectionFilter,
    pub(crate) capture: Option<Capture>,
    pub(super) calls: Option<Calls>,
}

impl Apply {
    /// Creates options without RNG streams and without mutable collections.
    pub fn new() -> Apply {
        Apply::default()
    }

    /// Creates the default options of `init`: all collections are mutable, except for
    /// intermediate values, which are not recorded.
    pub fn initializing() -> Apply {
        Apply::new().mutable(CollectionFilter::all_but(["intermediates"]))
    }

    setters! {
        /// Sets the keys of the RNG streams.
        rngs: [Streams as into],
        /// Sets the mutable collections, which are also returned.
        mutable: [CollectionFilter as into],
    }

    /// Records the outputs of all modules in the collection `intermediates`, as `__call__`
    /// below the path of the module. Makes that collection mutable.
    #[must_use]
    pub fn capture_intermediates(self) -> Apply {
        self.capture_if(|_, _| true)
    }

    /// Records the outputs of those modules whose path and class a predicate accepts, like
    /// `capture_intermediates`.
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
        let mut root = Root::new(variables, self.rngs.clone(), self.mutable.clone());
        root.capture = self.capture.clone();
        root.calls = self.calls.clone();
        root
    }
}

/// Calls a function of a scope that has these variables. Returns its result and the mutable
/// collections.
///
/// Use it to apply a method of a module other than `call`:
/// `linen::apply(&variables, &Apply::new(), |scope| model.encode(scope, x))`.
///
/// # Panics
/// Panics if a variable is missing or has another shape, if an immutable collection would
/// change, or if an RNG stream is missing.
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

/// Initializes the variables that a function of a scope requests.
///
/// # Panics
/// Panics if an RNG stream is missing.
#[track_caller]
pub fn init<R>(rngs: impl Into<Streams>, f: impl FnOnce(&mut Scope) -> R) -> Variables {
    init_with_output(rngs, &Apply::initializing(), f).1
}

/// Initializes the variables that a function of a scope requests. Returns the result of the
/// function and the variables.
///
/// # Panics
/// Panics if an RNG stream is missing.
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

/// Creates the outermost scope for an initialization.
pub(super) fn initializing(rngs: Streams, options: &Apply) -> Scope {
    let mut root = options.root(Variables::new());
    root.streams = rngs;
    root.initializing = true;
    Scope::of(root)
}

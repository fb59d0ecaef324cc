//! The submodules of a scope.

use super::intercept::{MethodContext, intercepted, interceptors};
use super::root::Call;
use super::{Child, Module, Scope};
use ramie_core::{Array, Tree, enter_named_scope, tree};

impl Scope {
    /// Calls a submodule under an automatic name: `Dense_0`, `Dense_1` and so on, in the order
    /// of the calls.
    ///
    /// # Panics
    /// Panics as the module does.
    #[track_caller]
    pub fn child<M, A: Tree, O: Tree>(&mut self, module: &M, args: A) -> O
    where
        M: Module<A, O> + ?Sized,
    {
        let adopted = self.adopt(module.adopted());
        let class = module.class_name();
        let name = self.root_mut().automatic_name(self.names(), &class);
        let mut scope = self.enter_with(&name, adopted);
        scope.run(module, args)
    }

    /// Calls a submodule under a name.
    ///
    /// # Panics
    /// Panics if the name is in use, and as the module does.
    #[track_caller]
    pub fn named<M, A: Tree, O: Tree>(&mut self, name: &str, module: &M, args: A) -> O
    where
        M: Module<A, O> + ?Sized,
    {
        let adopted = self.adopt(module.adopted());
        let mut scope = self.enter_with(name, adopted);
        scope.run(module, args)
    }

    /// Creates a submodule under a name, to call it several times with the same variables, or
    /// to call other methods than `call`. This is the equivalent of Flax's `setup`.
    ///
    /// # Panics
    /// Panics if the name is in use.
    #[track_caller]
    pub fn setup<M: Clone>(&mut self, name: &str, module: &M) -> Child<M> {
        Child::new(self.enter(name), module.clone())
    }

    /// Like [`setup`](Scope::setup), but with an automatic name.
    #[track_caller]
    pub fn share<M: Clone + Module<A, O>, A: Tree, O: Tree>(&mut self, module: &M) -> Child<M> {
        let adopted = self.adopt(module.adopted());
        let class = module.class_name();
        let name = self.root_mut().automatic_name(self.names(), &class);
        Child::new(self.enter_with(&name, adopted), module.clone())
    }

    /// Returns the scope of a submodule. Prefer [`child`](Scope::child) and
    /// [`setup`](Scope::setup), which call a module in it.
    ///
    /// # Panics
    /// Panics if the name is in use.
    #[track_caller]
    pub fn enter(&mut self, name: &str) -> Scope {
        self.reserve(name, None);
        let adopted = self.root().adopted_path(self.names(), name);
        let path = adopted.unwrap_or_else(|| {
            let mut path = self.names().to_vec();
            path.push(name.to_owned());
            path
        });
        self.root_mut().begin(&path);
        self.scope_at(path)
    }

    /// Returns the scope of a submodule whose own submodules may be stored elsewhere.
    #[track_caller]
    fn enter_with(&mut self, name: &str, adopted: Vec<(&'static str, Vec<String>)>) -> Scope {
        let scope = self.enter(name);
        if !adopted.is_empty() {
            self.root_mut()
                .adopted
                .insert(scope.names().to_vec(), adopted);
        }
        scope
    }

    /// Calls a module in this scope.
    #[track_caller]
    pub(crate) fn run<M, A: Tree, O: Tree>(&mut self, module: &M, args: A) -> O
    where
        M: Module<A, O> + ?Sized,
    {
        self.root_mut().begin(self.names());
        let class = module.class_name();
        let avals = |leaves: Vec<Array>| leaves.iter().map(Array::aval).collect();
        let calls = self.root().calls.clone();
        let place = calls.as_ref().map(|calls| {
            calls.push(Call {
                path: self.names().to_vec(),
                class: class.to_string(),
                inputs: avals(tree::leaves(&args)),
                outputs: Vec::new(),
            })
        });
        // Profilers and compilers show the operations of a module under its name.
        let name = self.names().last().map_or(class.as_ref(), String::as_str);
        let named = enter_named_scope(name);
        // Not in a closure, which would hide the caller's location.
        let out = match interceptors() {
            None => module.call(self, args),
            Some(around) => {
                let context = MethodContext {
                    path: self.path(),
                    class: class.to_string(),
                };
                intercepted(&around, &context, args, |args| module.call(self, args))
            }
        };
        drop(named);
        if let (Some(calls), Some(place)) = (&calls, place) {
            calls.returned(place, avals(tree::leaves(&out)));
        }
        self.capture(&class, &out);
        out
    }

    /// Records the output of a call if requested.
    fn capture<O: Tree>(&mut self, class: &str, out: &O) {
        let wanted = self.root().capture.clone();
        if wanted.is_some_and(|wanted| wanted(&self.path(), class)) {
            self.sow("intermediates", "__call__", out);
        }
    }
}

//! The functions that `jit` accepts, and its return type.

use super::call::Jit;
use super::{Compiled, JitOptions, Lowered};
use crate::transform::{ArgTuple, Function, Pure};
use crate::{Result, Tree};
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

/// Marks functions whose first argument is state passed by `&mut`.
pub struct Stateful<S, Args>(PhantomData<fn(S, Args)>);
/// Marks functions that are already jitted.
pub struct Staged<Args>(PhantomData<fn(Args)>);

/// A function accepted by [`jit`](super::jit): up to six trees by value, after at most one state
/// by `&mut`.
#[diagnostic::on_unimplemented(
    message = "this function cannot be compiled",
    note = "arguments and results must be trees, taken by value after at most one leading `&mut` state; annotate the types of a closure's arguments"
)]
pub trait JitFunction<'f, M> {
    /// The compiled function.
    type Jitted;
    /// Compiles the function.
    fn into_jitted(self, options: JitOptions) -> Self::Jitted;
}

/// A compiled function. It is called like the original function, and has methods for staging and
/// for inspecting its compilations.
pub struct Jitted<'f, S, A, R, C: ?Sized> {
    jit: Arc<Jit<'f, S, A, R>>,
    call: Box<C>,
    at: &'static Location<'static>,
}

impl<S, A, R, C: ?Sized> Deref for Jitted<'_, S, A, R, C> {
    type Target = C;
    fn deref(&self) -> &C {
        &self.call
    }
}

impl<S: Tree, A: Tree, R: Tree, C: ?Sized> Jitted<'_, S, A, R, C> {
    /// Returns the function's name.
    pub fn name(&self) -> &str {
        &self.jit.name
    }

    /// Returns how many programs calls have compiled.
    pub fn compilations(&self) -> usize {
        self.jit.programs().compilations()
    }

    /// Returns why the last call retraced: which part of the arguments changed, and from what to
    /// what. `None` if no program had been compiled before.
    pub fn last_retrace(&self) -> Option<String> {
        self.jit.programs().reason()
    }

    /// Removes all compiled programs.
    pub fn clear_cache(&self) {
        self.jit.clear();
    }

    /// Traces and lowers for state and arguments like these, without running: arrays without
    /// elements ([`Array::shape_dtype_struct`]) are accepted.
    ///
    /// # Errors
    /// Returns an error if the arguments are on different devices, or if there is no runtime.
    ///
    /// # Panics
    /// Panics if the traced function panics.
    ///
    /// [`Array::shape_dtype_struct`]: crate::Array::shape_dtype_struct
    #[track_caller]
    pub fn lower_with(&self, state: &S, args: A) -> Result<Lowered<S, A, R>> {
        Lowered::new(&self.jit, state, args, Location::caller())
    }

    /// Returns the location where `jit` was called.
    pub fn location(&self) -> &'static Location<'static> {
        self.at
    }
}

impl<A: Tree, R: Tree, C: ?Sized> Jitted<'_, (), A, R, C> {
    /// Traces and lowers for arguments like these, passed as a tuple; see
    /// [`lower_with`](Self::lower_with).
    ///
    /// # Errors
    /// Returns an error if the arguments are on different devices, or if there is no runtime.
    ///
    /// # Panics
    /// Panics if the traced function panics.
    #[track_caller]
    pub fn lower(&self, args: A) -> Result<Lowered<(), A, R>> {
        Lowered::new(&self.jit, &(), args, Location::caller())
    }

    /// Lowers like [`lower`](Self::lower), and compiles.
    ///
    /// # Errors
    /// Returns an error if lowering or compiling fails.
    ///
    /// # Panics
    /// Panics if the traced function panics.
    #[track_caller]
    pub fn compile(&self, args: A) -> Result<Compiled<(), A, R>> {
        self.lower(args)?.compile()
    }
}

/// Returns the last part of a function's path, or `<lambda>` for a closure.
pub(crate) fn short_name<F>() -> &'static str {
    let full = std::any::type_name::<F>();
    let plain = full.split('<').next().unwrap_or(full);
    match plain.rsplit("::").next() {
        Some("{{closure}}") | None => "<lambda>",
        Some(name) => name,
    }
}

macro_rules! pure {
    ($($t:ident $a:ident),*) => {
        impl<'f, Func, Out: Tree, $($t: Tree),*> JitFunction<'f, Pure<($($t,)*)>> for Func
        where
            Func: Fn($($t),*) -> Out + Send + Sync + 'f,
        {
            type Jitted = Jitted<'f, (), ($($t,)*), Out, dyn Fn($($t),*) -> Out + Send + Sync + 'f>;
            #[track_caller]
            fn into_jitted(self, options: JitOptions) -> Self::Jitted {
                let at = Location::caller();
                let body = move |_: &mut (), ($($a,)*): ($($t,)*)| self($($a),*);
                let jit = Arc::new(Jit::new(Box::new(body), short_name::<Func>(), options));
                let shared = jit.clone();
                let call = Box::new(move |$($a: $t),*| shared.call(&mut (), ($($a,)*), at));
                Jitted { jit, call, at }
            }
        }
        impl<'f, Func, State: Tree, Out: Tree, $($t: Tree),*>
            JitFunction<'f, Stateful<State, ($($t,)*)>> for Func
        where
            Func: Fn(&mut State $(, $t)*) -> Out + Send + Sync + 'f,
        {
            type Jitted = Jitted<
                'f, State, ($($t,)*), Out, dyn Fn(&mut State $(, $t)*) -> Out + Send + Sync + 'f,
            >;
            #[track_caller]
            fn into_jitted(self, options: JitOptions) -> Self::Jitted {
                let at = Location::caller();
                let body = move |s: &mut State, ($($a,)*): ($($t,)*)| self(s $(, $a)*);
                let jit = Arc::new(Jit::new(Box::new(body), short_name::<Func>(), options));
                let shared = jit.clone();
                let call = Box::new(move |s: &mut State $(, $a: $t)*| shared.call(s, ($($a,)*), at));
                Jitted { jit, call, at }
            }
        }
    };
}
pure!();
pure!(A a);
pure!(A a, B b);
pure!(A a, B b, C c);
pure!(A a, B b, C c, D d);
pure!(A a, B b, C c, D d, E e);
pure!(A a, B b, C c, D d, E e, F f);

impl<A: ArgTuple, R: Tree, C: ?Sized + Send + Sync> Function<Staged<A>>
    for Jitted<'_, (), A, R, C>
{
    type Args = A;
    type Output = R;
    fn call(&self, args: A) -> R {
        self.jit.call(&mut (), args, self.at)
    }
}

impl<'f, S: Tree, A: Tree, R: Tree, C: ?Sized> JitFunction<'f, Staged<A>>
    for Jitted<'f, S, A, R, C>
{
    type Jitted = Self;
    fn into_jitted(self, _: JitOptions) -> Self {
        self
    }
}

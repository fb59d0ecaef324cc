//! The functions that `jit` accepts, and its return type.

use super::call::Jit;
use super::{Compiled, JitOptions, Lowered, Traced};
use crate::base::names::short_name;
use crate::transform::{ArgTuple, ByRef, ByValue, Function, Pure, Stateful, for_each_form};
use crate::{Result, Tree};
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

/// Marks functions that are already jitted.
pub struct Staged<Args>(PhantomData<fn(Args)>);

/// A function accepted by [`jit`](super::jit): at most one state by `&mut`, then up to eight trees, by
/// value or by reference. With more than four of them, references come first.
#[diagnostic::on_unimplemented(
    message = "this function cannot be compiled",
    label = "not a function of at most one `&mut` state and up to eight trees",
    note = "the state comes first; every argument must be a tree (an array, a number, a tuple, or a type with \
            `#[derive(Tree)]`), taken by value or by `&`; the result must be a tree, by value",
    note = "annotate the types of a closure's arguments; captured values must be `Send + Sync`, \
            and a boxed function a `Box<dyn Fn(..) -> _ + Send + Sync>`"
)]
pub trait JitFunction<'f, M> {
    /// The compiled function.
    type Jitted;
    /// Compiles the function.
    fn into_jitted(self, options: JitOptions) -> Self::Jitted;
}

/// A compiled function. It is called like the original function, and has methods for staging and
/// for inspecting its compilations.
#[doc(alias = "Wrapped")]
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
        &self.jit.programs.name
    }

    /// Returns how many programs calls have compiled.
    pub fn compilations(&self) -> usize {
        self.jit.programs.compiled.compilations()
    }

    /// Returns why the last call retraced: which part of the arguments changed, and from what to
    /// what. `None` if no program had been compiled before.
    pub fn last_retrace(&self) -> Option<String> {
        self.jit.programs.compiled.reason()
    }

    /// Removes all compiled programs.
    pub fn clear_cache(&self) {
        self.jit.programs.clear();
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
        Traced::new(&self.jit, state, args, Location::caller()).map(Traced::lower)
    }

    /// Traces for state and arguments like these, without lowering or running; see
    /// [`lower_with`](Self::lower_with).
    ///
    /// # Errors
    /// Returns an error if the arguments are on different devices, or if there is no runtime.
    ///
    /// # Panics
    /// Panics if the traced function panics.
    #[track_caller]
    pub fn trace_with(&self, state: &S, args: A) -> Result<Traced<S, A, R>> {
        Traced::new(&self.jit, state, args, Location::caller())
    }

    /// Returns the result for state and arguments like these as arrays without elements, and
    /// computes nothing; see [`eval_shape`](Self::eval_shape).
    ///
    /// # Panics
    /// Panics if the traced function panics.
    #[track_caller]
    pub fn eval_shape_with(&self, state: &S, args: A) -> R {
        let trace = self.jit.trace(state, &args, Location::caller());
        trace.out_info::<S, R>()
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
        self.lower_with(&(), args)
    }

    /// Traces for arguments like these, passed as a tuple, without lowering or running
    /// (`jax.jit(f).trace`).
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, jit};
    /// let f = jit(|x: &Array| x.sin().sum());
    /// let traced = f.trace((Array::shape_dtype_struct(&[3], DType::F32),))?;
    /// println!("{}", traced.jaxpr());
    /// let compiled = traced.lower().compile()?;
    /// # Ok::<(), ramie_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the arguments are on different devices, or if there is no runtime.
    ///
    /// # Panics
    /// Panics if the traced function panics.
    #[track_caller]
    pub fn trace(&self, args: A) -> Result<Traced<(), A, R>> {
        self.trace_with(&(), args)
    }

    /// Returns the result for arguments like these, passed as a tuple, as arrays without elements,
    /// and computes nothing (`jax.jit(f).eval_shape`). Arrays without elements are accepted as
    /// arguments.
    ///
    /// ```
    /// use ramie_core::{Array, DType, jit};
    /// let f = jit(|x: &Array| x.sum_over(0));
    /// let y = f.eval_shape((Array::shape_dtype_struct(&[1000, 8], DType::F32),));
    /// assert_eq!(y.aval().to_string(), "f32[8]");
    /// ```
    ///
    /// # Panics
    /// Panics if the traced function panics.
    #[track_caller]
    pub fn eval_shape(&self, args: A) -> R {
        self.eval_shape_with(&(), args)
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

macro_rules! jitted {
    ($({$t:ident $a:ident $i:tt [($mark:ty) $wrap:ident $($r:tt)?]})*) => {
        #[doc(hidden)]
        impl<'f, Func, Out: Tree, $($t: Tree),*> JitFunction<'f, Pure<($($mark,)*)>> for Func
        where
            Func: Fn($($($r)? $t),*) -> Out + Send + Sync + 'f,
        {
            type Jitted = Jitted<
                'f, (), ($($t,)*), Out, dyn Fn($($($r)? $t),*) -> Out + Send + Sync + 'f,
            >;
            #[track_caller]
            fn into_jitted(self, options: JitOptions) -> Self::Jitted {
                let at = Location::caller();
                let body = move |_: &mut (), ($($a,)*): ($($t,)*)| self($($($r)? $a),*);
                let jit = Arc::new(Jit::new(Box::new(body), short_name::<Func>(), options));
                let shared = jit.clone();
                let call = Box::new(move |$($a: $($r)? $t),*| {
                    shared.call(&mut (), ($($wrap($a),)*), at)
                });
                Jitted { jit, call, at }
            }
        }
        #[doc(hidden)]
        impl<'f, Func, State: Tree, Out: Tree, $($t: Tree),*>
            JitFunction<'f, Stateful<State, ($($mark,)*)>> for Func
        where
            Func: Fn(&mut State $(, $($r)? $t)*) -> Out + Send + Sync + 'f,
        {
            type Jitted = Jitted<
                'f, State, ($($t,)*), Out,
                dyn Fn(&mut State $(, $($r)? $t)*) -> Out + Send + Sync + 'f,
            >;
            #[track_caller]
            fn into_jitted(self, options: JitOptions) -> Self::Jitted {
                let at = Location::caller();
                let body = move |s: &mut State, ($($a,)*): ($($t,)*)| self(s $(, $($r)? $a)*);
                let jit = Arc::new(Jit::new(Box::new(body), short_name::<Func>(), options));
                let shared = jit.clone();
                let call = Box::new(move |s: &mut State $(, $a: $($r)? $t)*| {
                    shared.call(s, ($($wrap($a),)*), at)
                });
                Jitted { jit, call, at }
            }
        }
    };
}
jitted!();
for_each_form!(jitted);

#[diagnostic::do_not_recommend]
impl<A: ArgTuple, R: Tree, C: ?Sized + Send + Sync> Function<Staged<A>>
    for Jitted<'_, (), A, R, C>
{
    type Args = A;
    type Output = R;
    type Fn<'g, T: 'g> = A::Fn<'g, T>;
    fn call(&self, args: A) -> R {
        self.jit.call(&mut (), ByValue(args), self.at)
    }
    fn untupled<'g, T: 'g>(f: impl Fn(A) -> T + Send + Sync + 'g) -> Box<A::Fn<'g, T>> {
        A::untupled(f)
    }
}

#[diagnostic::do_not_recommend]
impl<'f, S: Tree, A: Tree, R: Tree, C: ?Sized> JitFunction<'f, Staged<A>>
    for Jitted<'f, S, A, R, C>
{
    type Jitted = Self;
    fn into_jitted(self, _: JitOptions) -> Self {
        self
    }
}

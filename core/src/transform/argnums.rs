//! Derivatives with respect to chosen arguments, and of holomorphic functions.

use super::grad::evaluate;
use super::{ArgTuple, Function, Objective};
use crate::Tree;
use crate::base::location::Caller;
use crate::program::tree;

/// The argument with the index `N`, counted from 0. [`argnums!`](crate::argnums) creates it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Argnum<const N: usize>;

/// Argument lists that have an argument with the index `N`.
#[diagnostic::on_unimplemented(
    message = "the function has no argument with the index {N}",
    note = "arguments are counted from 0"
)]
pub trait HasArgument<const N: usize>: ArgTuple {
    /// The argument.
    type Argument: Tree;
    /// Returns the argument.
    fn argument(&self) -> &Self::Argument;
    /// Returns the argument, to replace it.
    fn argument_mut(&mut self) -> &mut Self::Argument;
}

macro_rules! argument {
    ($n:literal $i:tt $t:ident; $($all:ident)*) => {
        impl<$($all: Tree),*> HasArgument<$n> for ($($all,)*) {
            type Argument = $t;
            fn argument(&self) -> &$t {
                &self.$i
            }
            fn argument_mut(&mut self) -> &mut $t {
                &mut self.$i
            }
        }
    };
}
macro_rules! arguments {
    ($($all:ident)*; $($n:literal $i:tt $t:ident),*) => { arguments!{@ [$($all)*] $($n $i $t),*} };
    (@ $all:tt $($n:literal $i:tt $t:ident),*) => { $( arguments!{@@ $all $n $i $t} )* };
    (@@ [$($all:ident)*] $n:literal $i:tt $t:ident) => { argument!($n $i $t; $($all)*); };
}
arguments!(A; 0 0 A);
arguments!(A B; 0 0 A, 1 1 B);
arguments!(A B C; 0 0 A, 1 1 B, 2 2 C);
arguments!(A B C D; 0 0 A, 1 1 B, 2 2 C, 3 3 D);
arguments!(A B C D E; 0 0 A, 1 1 B, 2 2 C, 3 3 D, 4 4 E);
arguments!(A B C D E F; 0 0 A, 1 1 B, 2 2 C, 3 3 D, 4 4 E, 5 5 F);
arguments!(A B C D E F G; 0 0 A, 1 1 B, 2 2 C, 3 3 D, 4 4 E, 5 5 F, 6 6 G);
arguments!(A B C D E F G H; 0 0 A, 1 1 B, 2 2 C, 3 3 D, 4 4 E, 5 5 F, 6 6 G, 7 7 H);

/// A selection of arguments, whatever their types.
pub trait Selection: Send + Sync {
    /// True for holomorphic functions, which map complex numbers to complex results.
    const HOLOMORPHIC: bool = false;
}

impl<const N: usize> Selection for Argnum<N> {}
impl Selection for AllArguments {}
impl Selection for Holomorphic {
    const HOLOMORPHIC: bool = true;
}

/// The arguments with respect to which a function is differentiated: one [`Argnum`], a tuple of
/// them, [`AllArguments`], or [`Holomorphic`].
pub trait Argnums<A: ArgTuple>: Selection {
    /// The argument, or a tuple of the arguments.
    type Selected: Tree;
    /// Returns the selected arguments.
    fn select(args: &A) -> Self::Selected;
    /// Replaces the selected arguments.
    fn replace(args: &mut A, selected: Self::Selected);
}

impl<A: HasArgument<N>, const N: usize> Argnums<A> for Argnum<N> {
    type Selected = A::Argument;
    fn select(args: &A) -> A::Argument {
        tree::copy(args.argument())
    }
    fn replace(args: &mut A, selected: A::Argument) {
        *args.argument_mut() = selected;
    }
}

macro_rules! tuple {
    ($($n:ident $i:tt),*) => {
        impl<$($n: Selection),*> Selection for ($($n,)*) {}
        impl<Args: ArgTuple, $($n: Argnums<Args>),*> Argnums<Args> for ($($n,)*) {
            type Selected = ($($n::Selected,)*);
            fn select(args: &Args) -> Self::Selected {
                ($($n::select(args),)*)
            }
            fn replace(args: &mut Args, selected: Self::Selected) {
                $( $n::replace(args, selected.$i); )*
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);

/// Selects all arguments; the derivatives are a tuple if there are several.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllArguments;

impl<A: ArgTuple> Argnums<A> for AllArguments {
    type Selected = A::Packed;
    fn select(args: &A) -> A::Packed {
        tree::copy(args).pack()
    }
    fn replace(args: &mut A, selected: A::Packed) {
        *args = A::unpack(selected);
    }
}

/// Selects the first argument of a holomorphic function, which is complex like the result
/// (`holomorphic=True` in JAX).
#[derive(Clone, Copy, Debug, Default)]
pub struct Holomorphic;

impl<A: HasArgument<0>> Argnums<A> for Holomorphic {
    type Selected = A::Argument;
    fn select(args: &A) -> A::Argument {
        Argnum::<0>::select(args)
    }
    fn replace(args: &mut A, selected: A::Argument) {
        Argnum::<0>::replace(args, selected);
    }
}

/// Selects arguments by their indices, counted from 0: `argnums![1]` is one argument,
/// `argnums![0, 2]` a tuple of two.
///
/// ```
/// use ramie_core::{Array, argnums, grad_with};
/// let f = |x: Array, y: Array| x * y.square();
/// let dy = grad_with(f, argnums![1])(Array::from(2.0f32), Array::from(3.0f32));
/// assert_eq!(dy.item::<f32>(), 12.0);
/// ```
#[macro_export]
macro_rules! argnums {
    ($n:literal) => { $crate::options::Argnum::<$n> };
    ($($n:literal),+ $(,)?) => { ($($crate::options::Argnum::<$n>,)+) };
}

/// Returns a function that computes the gradient of a scalar function with respect to the
/// arguments that `of` selects (`jax.grad` with `argnums` or `holomorphic`): of the argument's type
/// for one, a tuple for several.
///
/// ```
/// use ramie_core::options::{AllArguments, Holomorphic};
/// use ramie_core::{argnums, grad_with, Array, DType};
/// let f = |x: Array, n: usize, y: Array| x * y * n as f32;
/// let (dx, dy) = grad_with(f, argnums![0, 2])(Array::from(2.0f32), 10, Array::from(3.0f32));
/// assert_eq!((dx.item::<f32>(), dy.item::<f32>()), (30.0, 20.0));
///
/// let product = |x: Array, y: Array| x * y;
/// let (dx, dy) = grad_with(product, AllArguments)(Array::from(2.0f32), Array::from(3.0f32));
/// assert_eq!((dx.item::<f32>(), dy.item::<f32>()), (3.0, 2.0));
///
/// let slope = grad_with(|z: Array| &z * &z, Holomorphic)(Array::scalar(3.0, DType::C64));
/// assert_eq!(slope.real().item::<f32>(), 6.0);
/// ```
///
/// # Panics
/// Panics in the same cases as [`grad`](super::grad()). With [`Holomorphic`], the argument and the
/// result must be complex.
#[track_caller]
pub fn grad_with<'f, F, M, N>(f: F, of: N) -> Box<F::Fn<'f, N::Selected>>
where
    F: Function<M> + 'f,
    F::Output: Objective,
    N: Argnums<F::Args> + 'f,
    M: 'f,
{
    let caller = Caller::of("grad_with");
    let _ = of;
    F::untupled(move |args| evaluate_selected::<F, M, N>(&f, args, caller).1)
}

/// Returns a function that computes the value of a scalar function and its gradient with respect
/// to the arguments that `of` selects (`jax.value_and_grad` with `argnums` or `holomorphic`).
///
/// # Panics
/// Panics in the same cases as [`grad_with`].
#[track_caller]
pub fn value_and_grad_with<'f, F, M, N>(f: F, of: N) -> Box<F::Fn<'f, (F::Output, N::Selected)>>
where
    F: Function<M> + 'f,
    F::Output: Objective,
    N: Argnums<F::Args> + 'f,
    M: 'f,
{
    let caller = Caller::of("value_and_grad_with");
    let _ = of;
    F::untupled(move |args| evaluate_selected::<F, M, N>(&f, args, caller))
}

fn evaluate_selected<F, M, N>(f: &F, args: F::Args, caller: Caller) -> (F::Output, N::Selected)
where
    F: Function<M>,
    F::Output: Objective,
    N: Argnums<F::Args>,
{
    let of_selected = of_selected::<F, M, N>(f, &args);
    evaluate(&of_selected, (N::select(&args),), caller, N::HOLOMORPHIC)
}

/// Returns the function of the selected arguments, with the other arguments fixed.
pub(super) fn of_selected<F, M, N>(f: &F, args: &F::Args) -> impl Fn(N::Selected) -> F::Output
where
    F: Function<M>,
    N: Argnums<F::Args>,
{
    move |selected: N::Selected| {
        let mut args = tree::copy(args);
        N::replace(&mut args, selected);
        f.call(args)
    }
}

//! Traits of functions of trees that transformations accept.

use super::arguments::{Arguments, ByRef, ByValue, for_each_form};
use crate::program::tree;
use crate::{Array, Tree};

/// Marks functions of these arguments, each passed by value or by reference.
pub struct Pure<Args>(std::marker::PhantomData<fn(Args)>);

/// Marks functions whose first argument is state passed by `&mut`, before arguments passed by value or
/// by reference.
pub struct Stateful<S, Args>(std::marker::PhantomData<fn(S, Args)>);

/// A function of one to eight trees that returns a tree.
///
/// Each argument is passed by value or by reference: `|model: &Linear, x: &Array| ..`. With more
/// than four arguments, references come first. A transformed function takes its arguments in the
/// same way.
///
/// `M` distinguishes functions by the number and the passing of their arguments; it is inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot be transformed",
    label = "not a function of one to eight trees",
    note = "every argument must be a tree (an array, a number, a tuple, or a type with \
            `#[derive(Tree)]`), taken by value or by `&`; the result must be a tree, by value",
    note = "annotate the types of a closure's arguments; captured values must be `Send + Sync`, \
            and a boxed function a `Box<dyn Fn(..) -> _ + Send + Sync>`"
)]
pub trait Function<M>: Send + Sync {
    /// The arguments.
    type Args: ArgTuple;
    /// The result.
    type Output: Tree;
    /// A function that takes the arguments in the same way and returns `R`.
    type Fn<'f, R: 'f>: ?Sized;
    /// Calls the function.
    fn call(&self, args: Self::Args) -> Self::Output;
    /// Converts a function of a tuple to a function that takes the arguments in the same way.
    fn untupled<'f, R: 'f>(f: impl Fn(Self::Args) -> R + Send + Sync + 'f) -> Box<Self::Fn<'f, R>>;
}

/// A function of one to eight trees that is called once and returns a tree.
///
/// Arguments are passed as for [`Function`]. Together they are one value, [`Packed`]: a single
/// argument itself, several as a tuple.
#[diagnostic::on_unimplemented(
    message = "this function cannot be transformed",
    label = "not a function of one to eight trees",
    note = "every argument must be a tree (an array, a number, a tuple, or a type with \
            `#[derive(Tree)]`), taken by value or by `&`; the result must be a tree, by value",
    note = "annotate the types of a closure's arguments"
)]
pub trait FunctionOnce<M> {
    /// The arguments.
    type Args: ArgTuple;
    /// The result.
    type Output: Tree;
    /// Calls the function.
    fn call_once(self, args: Self::Args) -> Self::Output;
}

/// The arguments of a function as one value: a single argument itself, several as a tuple.
pub type Packed<F, M> = <<F as FunctionOnce<M>>::Args as ArgTuple>::Packed;

/// The arguments of a function, as a tuple.
pub trait ArgTuple: Tree {
    /// The first argument, with respect to which `grad` differentiates.
    type First: Tree;
    /// The other arguments.
    type Rest: Tree;
    /// The arguments as one value: a single argument itself, several as a tuple.
    type Packed: Tree;
    /// A function of these arguments.
    type Fn<'f, R: 'f>: ?Sized;
    /// Number of arguments.
    const COUNT: usize;
    /// Splits the tuple into the first argument and the others.
    fn split(self) -> (Self::First, Self::Rest);
    /// Joins the parts of [`split`](ArgTuple::split).
    fn join(first: Self::First, rest: &Self::Rest) -> Self;
    /// Returns the arguments as one value.
    fn pack(self) -> Self::Packed;
    /// Reverses [`pack`](ArgTuple::pack).
    fn unpack(packed: Self::Packed) -> Self;
    /// Converts a function of a tuple to a function of several arguments.
    fn untupled<'f, R: 'f>(f: impl Fn(Self) -> R + Send + Sync + 'f) -> Box<Self::Fn<'f, R>>;
}

/// Expands to a single item, or to a tuple of several: types, values or patterns.
macro_rules! packed {
    ($one:ident) => { $one };
    ($($several:ident)+) => { ($($several,)+) };
}

macro_rules! arity {
    ($n:literal; $first:ident $a:ident $(, $rest:ident $b:ident)*) => {
        impl<$first: Tree $(, $rest: Tree)*> ArgTuple for ($first, $($rest,)*) {
            type First = $first;
            type Rest = ($($rest,)*);
            type Packed = packed!($first $($rest)*);
            type Fn<'f, R: 'f> = dyn Fn($first $(, $rest)*) -> R + Send + Sync + 'f;
            const COUNT: usize = $n;
            fn split(self) -> (Self::First, Self::Rest) {
                let ($a, $($b,)*) = self;
                ($a, ($($b,)*))
            }
            fn join(first: Self::First, rest: &Self::Rest) -> Self {
                let ($($b,)*) = rest;
                (first, $(tree::copy($b),)*)
            }
            fn pack(self) -> Self::Packed {
                let ($a, $($b,)*) = self;
                packed!($a $($b)*)
            }
            fn unpack(packed!($a $($b)*): Self::Packed) -> Self {
                ($a, $($b,)*)
            }
            fn untupled<'f, R: 'f>(f: impl Fn(Self) -> R + Send + Sync + 'f) -> Box<Self::Fn<'f, R>> {
                Box::new(move |$a $(, $b)*| f(($a, $($b,)*)))
            }
        }
    };
}
arity!(1; A a);
arity!(2; A a, B b);
arity!(3; A a, B b, C c);
arity!(4; A a, B b, C c, D d);
arity!(5; A a, B b, C c, D d, E e);
arity!(6; A a, B b, C c, D d, E e, F f);
arity!(7; A a, B b, C c, D d, E e, F f, G g);
arity!(8; A a, B b, C c, D d, E e, F f, G g, H h);

macro_rules! function {
    ($({$t:ident $a:ident $i:tt [($mark:ty) $wrap:ident $($r:tt)?]})*) => {
        #[doc(hidden)]
        impl<Func, Out: Tree, $($t: Tree),*> Function<Pure<($($mark,)*)>> for Func
        where
            Func: Fn($($($r)? $t),*) -> Out + Send + Sync,
        {
            type Args = ($($t,)*);
            type Output = Out;
            type Fn<'f, R: 'f> = dyn Fn($($($r)? $t),*) -> R + Send + Sync + 'f;
            fn call(&self, ($($a,)*): Self::Args) -> Out {
                self($($($r)? $a),*)
            }
            fn untupled<'f, R: 'f>(f: impl Fn(Self::Args) -> R + Send + Sync + 'f) -> Box<Self::Fn<'f, R>> {
                Box::new(move |$($a: $($r)? $t),*| f(($($wrap($a).own(),)*)))
            }
        }
        #[doc(hidden)]
        impl<Func, Out: Tree, $($t: Tree),*> FunctionOnce<Pure<($($mark,)*)>> for Func
        where
            Func: FnOnce($($($r)? $t),*) -> Out,
        {
            type Args = ($($t,)*);
            type Output = Out;
            fn call_once(self, ($($a,)*): Self::Args) -> Out {
                self($($($r)? $a),*)
            }
        }
    };
}
for_each_form!(function);

/// The option of [`vjp_with`](super::vjp_with), [`jacfwd_with`](super::jacfwd_with) and similar
/// functions for functions that return `(result, aux)` (`has_aux=True` in JAX). The auxiliary values
/// are returned and not differentiated.
#[derive(Clone, Copy, Debug, Default)]
pub struct HasAux;

/// The option of [`grad_with`](super::grad_with), [`jacfwd_with`](super::jacfwd_with) and similar
/// functions for holomorphic functions, whose first argument and result are complex
/// (`holomorphic=True` in JAX).
#[derive(Clone, Copy, Debug, Default)]
pub struct Holomorphic;

/// The result of a differentiated function: a scalar loss, alone or with auxiliary values,
/// `(loss, aux)`.
#[diagnostic::on_unimplemented(
    message = "a differentiated function must return a scalar `Array` or `(Array, aux)`, not `{Self}`"
)]
pub trait Objective: Tree {
    /// Returns the loss.
    fn loss(&self) -> &Array;

    /// Returns the same result with another loss.
    #[must_use]
    fn with_loss(self, loss: Array) -> Self;
}

impl Objective for Array {
    fn loss(&self) -> &Array {
        self
    }
    fn with_loss(self, loss: Array) -> Self {
        loss
    }
}

impl<T: Tree> Objective for (Array, T) {
    fn loss(&self) -> &Array {
        &self.0
    }
    fn with_loss(self, loss: Array) -> Self {
        (loss, self.1)
    }
}

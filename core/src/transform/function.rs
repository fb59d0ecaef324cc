//! Traits of functions of trees that transformations accept.

use crate::{Array, Tree, tree};

/// Marks functions of arguments taken by value.
pub struct Pure<Args>(std::marker::PhantomData<fn(Args)>);

/// A function of one to six trees that returns a tree.
///
/// `M` distinguishes closures by their number of arguments; it is inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot be transformed",
    note = "arguments and results must be trees, taken and returned by value; annotate the types of a closure's arguments"
)]
pub trait Function<M>: Send + Sync {
    /// The arguments.
    type Args: ArgTuple;
    /// The result.
    type Output: Tree;
    /// Calls the function.
    fn call(&self, args: Self::Args) -> Self::Output;
}

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
    /// Returns the number of arrays in each argument.
    fn leaf_counts(&self) -> Vec<usize>;
    /// Converts a function of a tuple to a function of several arguments.
    fn spread<'f, R: 'f>(f: impl Fn(Self) -> R + Send + Sync + 'f) -> Box<Self::Fn<'f, R>>;
}

fn copy<T: Tree>(tree: &T) -> T {
    tree.rebuild(&mut Array::clone)
}

/// Expands to a single item, or to a tuple of several: types, values or patterns.
macro_rules! packed {
    ($one:ident) => { $one };
    ($($several:ident)+) => { ($($several,)+) };
}

macro_rules! arity {
    ($n:literal; $first:ident $a:ident $i:tt $(, $rest:ident $b:ident $j:tt)*) => {
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
                (first, $(copy($b),)*)
            }
            fn pack(self) -> Self::Packed {
                let ($a, $($b,)*) = self;
                packed!($a $($b)*)
            }
            fn unpack(packed!($a $($b)*): Self::Packed) -> Self {
                ($a, $($b,)*)
            }
            fn leaf_counts(&self) -> Vec<usize> {
                vec![tree::count(&self.$i) $(, tree::count(&self.$j))*]
            }
            fn spread<'f, R: 'f>(f: impl Fn(Self) -> R + Send + Sync + 'f) -> Box<Self::Fn<'f, R>> {
                Box::new(move |$a $(, $b)*| f(($a, $($b,)*)))
            }
        }
        impl<Func, Out: Tree, $first: Tree $(, $rest: Tree)*> Function<Pure<($first, $($rest,)*)>> for Func
        where
            Func: Fn($first $(, $rest)*) -> Out + Send + Sync,
        {
            type Args = ($first, $($rest,)*);
            type Output = Out;
            fn call(&self, ($a, $($b,)*): Self::Args) -> Out {
                self($a $(, $b)*)
            }
        }
    };
}
arity!(1; A a 0);
arity!(2; A a 0, B b 1);
arity!(3; A a 0, B b 1, C c 2);
arity!(4; A a 0, B b 1, C c 2, D d 3);
arity!(5; A a 0, B b 1, C c 2, D d 3, E e 4);
arity!(6; A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);

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

//! The trait of train steps.

use crate::Tree;
use crate::transform::Stateful;

/// A train step: a function that takes a state by `&mut` and up to six trees by value.
///
/// `M` distinguishes closures with different numbers of arguments. It is inferred.
#[diagnostic::on_unimplemented(
    message = "this function is not a train step",
    note = "a train step takes its state by `&mut` first, then up to six trees by value, and \
     returns a tree; annotate the argument types of a closure"
)]
pub trait StepFunction<M>: Send + Sync {
    /// The state that is passed from step to step.
    type State: Tree;
    /// The other arguments, as a tuple.
    type Args: Tree;
    /// The result of a step.
    type Output: Tree;
    /// The type of a function with the same arguments that runs many steps.
    type Many<'f>: ?Sized;
    /// Number of arguments besides the state.
    const COUNT: usize;
    /// Runs one step.
    fn call(&self, state: &mut Self::State, args: Self::Args) -> Self::Output;
    /// Converts a function of an argument tuple to a function of separate arguments.
    fn many<'f>(
        f: impl Fn(&mut Self::State, Self::Args) -> Self::Output + Send + Sync + 'f,
    ) -> Box<Self::Many<'f>>;
}

macro_rules! arity {
    ($n:literal; $($t:ident $a:ident),*) => {
        impl<Func, State: Tree, Out: Tree, $($t: Tree),*> StepFunction<Stateful<State, ($($t,)*)>> for Func
        where
            Func: Fn(&mut State $(, $t)*) -> Out + Send + Sync,
        {
            type State = State;
            type Args = ($($t,)*);
            type Output = Out;
            type Many<'f> = dyn Fn(&mut State $(, $t)*) -> Out + Send + Sync + 'f;
            const COUNT: usize = $n;
            fn call(&self, state: &mut State, ($($a,)*): Self::Args) -> Out {
                self(state $(, $a)*)
            }
            fn many<'f>(
                f: impl Fn(&mut State, Self::Args) -> Out + Send + Sync + 'f,
            ) -> Box<Self::Many<'f>> {
                Box::new(move |state: &mut State $(, $a: $t)*| f(state, ($($a,)*)))
            }
        }
    };
}
arity!(0; );
arity!(1; A a);
arity!(2; A a, B b);
arity!(3; A a, B b, C c);
arity!(4; A a, B b, C c, D d);
arity!(5; A a, B b, C c, D d, E e);
arity!(6; A a, B b, C c, D d, E e, F f);

//! The ways in which arguments are passed to transformed functions: by value or by reference.

use crate::Array;
use crate::program::array::taken;
use crate::program::tree::{self, Key, Tree, Visitor};

/// An argument passed by value. Also marks such arguments in the types of functions.
#[derive(Debug)]
pub struct ByValue<T>(pub(crate) T);

/// An argument passed by shared reference. Also marks such arguments in the types of functions.
#[derive(Debug)]
pub struct ByRef<'a, T>(pub(crate) &'a T);

/// Arguments of a call, each passed by value or by reference.
pub(crate) trait Arguments {
    /// The arguments by value.
    type Owned: Tree;
    /// Visits the parts, as [`Tree::walk`] does.
    fn walk(&self, visitor: &mut dyn Visitor);
    /// Passes the arrays to `each`: by value they move, leaving arrays without elements, by
    /// reference they are cloned.
    fn take(&mut self, each: &mut dyn FnMut(Array));
    /// Creates the same arguments by value with other arrays, as [`Tree::rebuild`] does.
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self::Owned;
    /// Returns the arguments by value.
    fn own(self) -> Self::Owned;
}

impl<T: Tree> Arguments for ByValue<T> {
    type Owned = T;
    fn walk(&self, visitor: &mut dyn Visitor) {
        self.0.walk(visitor);
    }
    fn take(&mut self, each: &mut dyn FnMut(Array)) {
        self.0.walk_mut(&mut |a| each(taken(a)));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> T {
        self.0.rebuild(leaf)
    }
    fn own(self) -> T {
        self.0
    }
}

impl<T: Tree> Arguments for ByRef<'_, T> {
    type Owned = T;
    fn walk(&self, visitor: &mut dyn Visitor) {
        self.0.walk(visitor);
    }
    fn take(&mut self, each: &mut dyn FnMut(Array)) {
        struct Clones<'a>(&'a mut dyn FnMut(Array));
        impl Visitor for Clones<'_> {
            fn leaf(&mut self, array: &Array) {
                (self.0)(array.clone());
            }
        }
        self.0.walk(&mut Clones(each));
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> T {
        self.0.rebuild(leaf)
    }
    fn own(self) -> T {
        tree::copy(self.0)
    }
}

/// Calls a macro with every form of a function's arguments, `$count` of them. Each argument is
/// `{Type name index [(marker) Wrapper &]}`, where `&` is absent for arguments by value.
///
/// Up to four arguments take all combinations of values and references; longer lists take
/// references only before values.
macro_rules! for_each_form {
    (@all $with:ident ($($done:tt)*)) => { $with! { $($done)* } };
    (@all $with:ident ($($done:tt)*) ($t:ident $a:ident $i:tt) $($rest:tt)*) => {
        for_each_form! { @all $with
            ($($done)* {$t $a $i [(crate::transform::ByValue<$t>) ByValue]}) $($rest)* }
        for_each_form! { @all $with
            ($($done)* {$t $a $i [(crate::transform::ByRef<'static, $t>) ByRef &]}) $($rest)* }
    };
    (@leading $with:ident ($($done:tt)*)) => { $with! { $($done)* } };
    (@leading $with:ident ($($done:tt)*) ($t:ident $a:ident $i:tt) $(($u:ident $b:ident $j:tt))*) => {
        $with! {
            $($done)*
            {$t $a $i [(crate::transform::ByValue<$t>) ByValue]}
            $({$u $b $j [(crate::transform::ByValue<$u>) ByValue]})*
        }
        for_each_form! { @leading $with
            ($($done)* {$t $a $i [(crate::transform::ByRef<'static, $t>) ByRef &]})
            $(($u $b $j))* }
    };
    ($with:ident) => {
        for_each_form! { @all $with () (A a 0) }
        for_each_form! { @all $with () (A a 0) (B b 1) }
        for_each_form! { @all $with () (A a 0) (B b 1) (C c 2) }
        for_each_form! { @all $with () (A a 0) (B b 1) (C c 2) (D d 3) }
        for_each_form! { @leading $with () (A a 0) (B b 1) (C c 2) (D d 3) (E e 4) }
        for_each_form! { @leading $with () (A a 0) (B b 1) (C c 2) (D d 3) (E e 4) (F f 5) }
        for_each_form! { @leading $with () (A a 0) (B b 1) (C c 2) (D d 3) (E e 4) (F f 5) (G g 6) }
        for_each_form! {
            @leading $with () (A a 0) (B b 1) (C c 2) (D d 3) (E e 4) (F f 5) (G g 6) (H h 7)
        }
    };
}
pub(crate) use for_each_form;

impl Arguments for () {
    type Owned = ();
    fn walk(&self, _: &mut dyn Visitor) {}
    fn take(&mut self, _: &mut dyn FnMut(Array)) {}
    fn rebuild(&self, _: &mut dyn FnMut(&Array) -> Array) {}
    fn own(self) {}
}

macro_rules! tuple {
    ($($t:ident $i:tt),+) => {
        impl<$($t: Arguments),+> Arguments for ($($t,)+) {
            type Owned = ($($t::Owned,)+);
            fn walk(&self, visitor: &mut dyn Visitor) {
                $(
                    visitor.enter(Key::Index($i));
                    self.$i.walk(visitor);
                    visitor.exit();
                )+
            }
            fn take(&mut self, each: &mut dyn FnMut(Array)) {
                $( self.$i.take(each); )+
            }
            fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self::Owned {
                ($( self.$i.rebuild(leaf), )+)
            }
            fn own(self) -> Self::Owned {
                ($( self.$i.own(), )+)
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
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

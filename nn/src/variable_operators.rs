//! Arithmetic operators of variables.

/// Implements the arithmetic operators of references to a kind of variable, like those of
/// references to arrays.
#[doc(hidden)]
#[macro_export]
macro_rules! __variable_operators {
    ($name:ident) => {
        $crate::__variable_operators! {
            $name: Add add + , Sub sub - , Mul mul * , Div div / , Rem rem %
        }
        impl ::std::ops::Neg for &$name {
            type Output = $crate::__private::ramie_core::Array;
            #[track_caller]
            fn neg(self) -> Self::Output {
                -self.value()
            }
        }
    };
    ($name:ident: $($trait:ident $f:ident $op:tt),*) => { $(
        impl<T: $crate::__private::ramie_core::IntoArray> ::std::ops::$trait<T> for &$name {
            type Output = $crate::__private::ramie_core::Array;
            #[track_caller]
            fn $f(self, other: T) -> Self::Output {
                self.value() $op other
            }
        }
        $crate::__variable_operators! { @left $name $trait $f $op f64 }
        $crate::__variable_operators! { @left $name $trait $f $op i64 }
    )* };
    (@left $name:ident $trait:ident $f:ident $op:tt $number:ident) => {
        impl ::std::ops::$trait<&$name> for $number {
            type Output = $crate::__private::ramie_core::Array;
            #[track_caller]
            fn $f(self, other: &$name) -> Self::Output {
                self $op other.value()
            }
        }
    };
}

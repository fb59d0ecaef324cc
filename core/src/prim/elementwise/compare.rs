//! Elementwise comparisons.

use crate::prim::elementwise::{ElementwiseRow, parts};
use crate::prim::operands;
use crate::prim::{Avals, Differentiation, Primitive, one};
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, IntoArray, ShapeError};

macro_rules! compare {
    ($( $(#[$doc:meta])* $ty:ident $f:ident $name:literal $direction:literal; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty;
        impl Primitive for $ty {
            fn name(&self) -> &'static str { $name }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                let class = if matches!($name, "eq" | "ne") { Class::Any } else { Class::Ordered };
                one(infer_same(class, args, 2)?[0].with_dtype(DType::Bool))
            }
            elementwise_rules!(propagates_weak_type: false);
            fn differentiation(&self) -> Differentiation<'_> { Differentiation::Zero }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
                let args = ctx.broadcast_operands(args, outs[0]);
                vec![ctx.compare($direction, [args[0], args[1]])]
            }
        }
        impl Array {
            $(#[$doc])*
            ///
            /// The result has dtype `bool`. Operands are promoted to a common dtype and
            /// broadcast. Complex numbers are ordered by their real parts, then by their
            /// imaginary parts.
            ///
            /// # Panics
            /// Panics if the shapes do not broadcast.
            #[track_caller]
            pub fn $f(&self, other: impl IntoArray) -> Array {
                let (a, b) = operands::promote($name, self, &other.into_array());
                if a.dtype().is_complex() && !matches!($name, "eq" | "ne") {
                    return parts::lexicographic(&a, &b, |a, b| a.$f(b));
                }
                bind1($ty, &[&a, &b])
            }
        } )*
        /// Table of comparisons.
        pub const COMPARE: &[ElementwiseRow] = &[
            $( elementwise_row!($ty $f $name, Class::Any, &[], |x, y|) ),*
        ];
    };
}

compare! {
    /// Returns whether the elements are equal. NaN is not equal to anything.
    Eq eq "eq" "EQ";
    /// Returns whether the elements differ.
    Ne ne "ne" "NE";
    /// Returns whether the first element is less than the second.
    Lt lt "lt" "LT";
    /// Returns whether the first element is less than or equal to the second.
    Le le "le" "LE";
    /// Returns whether the first element is greater than the second.
    Gt gt "gt" "GT";
    /// Returns whether the first element is greater than or equal to the second.
    Ge ge "ge" "GE";
}

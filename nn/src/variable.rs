//! Variables: arrays that know what they are for.

/// Defines kinds of variables: arrays in a wrapper that filters see.
///
/// Each entry gives the type and the name of its kind, by which
/// [`State::of_kind`](ramie_core::State::of_kind) finds the leaves.
///
/// ```
/// ramie_nn::variables! {
///     /// The low-rank part of an adapted kernel.
///     LoraParam = "lora_param";
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! variables {
    ($($(#[$doc:meta])* $name:ident = $kind:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(pub $crate::__private::ramie_core::Array);

        impl $name {
            /// The name of this kind of variable.
            pub const KIND: &'static str = $kind;

            /// A variable with a first value.
            pub fn new(value: $crate::__private::ramie_core::Array) -> Self {
                $name(value)
            }
        }

        impl $crate::__private::ramie_core::Tree for $name {
            fn walk(&self, visitor: &mut dyn $crate::__private::ramie_core::tree::Visitor) {
                visitor.kind($kind);
                visitor.leaf(&self.0);
            }
            fn walk_mut(
                &mut self,
                visit: &mut dyn FnMut(&mut $crate::__private::ramie_core::Array),
            ) {
                visit(&mut self.0);
            }
            fn rebuild(
                &self,
                leaf: &mut dyn FnMut(
                    &$crate::__private::ramie_core::Array,
                ) -> $crate::__private::ramie_core::Array,
            ) -> Self {
                $name(leaf(&self.0))
            }
        }

        impl ::std::ops::Deref for $name {
            type Target = $crate::__private::ramie_core::Array;
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
        impl ::std::ops::DerefMut for $name {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }
        impl From<$crate::__private::ramie_core::Array> for $name {
            fn from(value: $crate::__private::ramie_core::Array) -> Self {
                $name(value)
            }
        }
        impl $crate::__private::ramie_core::IntoArray for &$name {
            fn into_array(self) -> $crate::__private::ramie_core::Array {
                self.0.clone()
            }
        }
        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0.aval())
            }
        }
    )* };
}

variables! {
    /// A parameter: what gradients are taken with respect to and optimizers
    /// update. It is used like the array inside.
    ///
    /// ```
    /// use ramie_core::{Array, DType, State};
    /// use ramie_nn::Param;
    /// let scale = Param::new(Array::scalar(1.0, DType::F32));
    /// assert_eq!(scale.ndim(), 0);
    /// assert_eq!(State::of(&(scale,)).of_kind(Param::KIND).len(), 1);
    /// ```
    Param = "param";

    /// A statistic of the batches seen, such as a running mean.
    BatchStat = "batch_stat";

    /// What attention has seen so far, for decoding step by step.
    Cache = "cache";

    /// A value kept for inspection.
    Intermediate = "intermediate";

    /// How many keys a stream has given, 0-d `u32`.
    RngCount = "rng_count";
}

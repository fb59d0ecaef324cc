//! Variables: arrays that know what they are for.

use crate::{Metadata, OptVariable};
use ramie_core::{Array, Tree};
use std::borrow::Cow;
use std::ops::DerefMut;

/// A kind of variable: an array in a wrapper that filters see
/// (`nnx.Variable`). [`variables!`](crate::variables) defines kinds.
pub trait Variable: Tree + Clone + From<Array> + DerefMut<Target = Array> {
    /// The name of the kind, by which filters and
    /// [`State::of_kind`](ramie_core::State::of_kind) find the leaves.
    const KIND: &'static str;

    /// The variable with other metadata.
    #[must_use]
    fn with_metadata(self, metadata: Metadata) -> Self;

    /// What is known beside the value.
    fn metadata(&self) -> Option<&Metadata>;
}

/// The name of the Linen collection for variables of a kind: `params` for
/// `param`, `batch_stats` for `batch_stat`, `cache` for `cache`.
pub fn collection_of(kind: &str) -> Cow<'_, str> {
    match kind {
        "cache" => Cow::Borrowed("cache"),
        kind => Cow::Owned(format!("{kind}s")),
    }
}

/// Whether layers change variables of a kind while they compute, so that a change to
/// a copy is lost. Optimizers change parameters, and what is kept for inspection is
/// dropped as a rule.
pub fn is_state(kind: &str) -> bool {
    ![
        Param::KIND,
        LoraParam::KIND,
        Intermediate::KIND,
        Perturbation::KIND,
        OptVariable::KIND,
    ]
    .contains(&kind)
}

/// Defines kinds of variables: arrays in a wrapper that filters see.
///
/// Each entry gives the type and the name of its kind, by which
/// [`State::of_kind`](ramie_core::State::of_kind) finds the leaves.
///
/// ```
/// ramie_nn::variables! {
///     /// A statistic of the gradients.
///     GradientStat = "gradient_stat";
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! variables {
    ($($(#[$doc:meta])* $name:ident = $kind:literal;)*) => { $(
        $(#[$doc])*
        pub struct $name {
            value: $crate::__private::ramie_core::Array,
            metadata: ::std::option::Option<::std::sync::Arc<$crate::Metadata>>,
            history: $crate::__private::ramie_core::lost::History,
        }

        impl $name {
            /// The name of this kind of variable.
            pub const KIND: &'static str = $kind;

            /// A variable with a first value.
            pub fn new(value: $crate::__private::ramie_core::Array) -> Self {
                $name {
                    value,
                    metadata: ::std::option::Option::None,
                    history: ::std::default::Default::default(),
                }
            }

            /// The value.
            pub fn value(&self) -> &$crate::__private::ramie_core::Array {
                &self.value
            }

            /// Another value in the place of this one; the metadata stay.
            #[track_caller]
            pub fn set(&mut self, value: impl $crate::__private::ramie_core::IntoArray) {
                self.history.write();
                self.value = value.into_array();
            }

            /// The variable with other metadata.
            #[must_use]
            pub fn with_metadata(mut self, metadata: $crate::Metadata) -> Self {
                self.metadata = (!metadata.is_empty()).then(|| ::std::sync::Arc::new(metadata));
                self
            }

            /// What is known beside the value.
            pub fn metadata(&self) -> ::std::option::Option<&$crate::Metadata> {
                self.metadata.as_deref()
            }
        }

        impl ::std::clone::Clone for $name {
            fn clone(&self) -> Self {
                $name {
                    value: self.value.clone(),
                    metadata: self.metadata.clone(),
                    history: self.history.copied(&self.value),
                }
            }
        }

        impl ::std::ops::Drop for $name {
            fn drop(&mut self) {
                if $crate::__private::is_state($kind) {
                    self.history.close($kind, &self.value);
                }
            }
        }

        impl $crate::Variable for $name {
            const KIND: &'static str = $kind;
            fn with_metadata(self, metadata: $crate::Metadata) -> Self {
                $name::with_metadata(self, metadata)
            }
            fn metadata(&self) -> ::std::option::Option<&$crate::Metadata> {
                $name::metadata(self)
            }
        }

        impl $crate::__private::ramie_core::Tree for $name {
            fn walk(&self, visitor: &mut dyn $crate::__private::ramie_core::tree::Visitor) {
                visitor.kind($kind);
                if let ::std::option::Option::Some(metadata) = self.metadata() {
                    visitor.fixed(metadata);
                    visitor.metadata(metadata);
                }
                visitor.leaf(&self.value);
            }
            fn walk_mut(
                &mut self,
                visit: &mut dyn FnMut(&mut $crate::__private::ramie_core::Array),
            ) {
                visit(&mut self.value);
            }
            fn rebuild(
                &self,
                leaf: &mut dyn FnMut(
                    &$crate::__private::ramie_core::Array,
                ) -> $crate::__private::ramie_core::Array,
            ) -> Self {
                $name {
                    value: leaf(&self.value),
                    metadata: self.metadata.clone(),
                    history: self.history.rebuilt(&self.value),
                }
            }
            fn visit_parts(
                &mut self,
                visit: &mut dyn FnMut(&mut dyn ::std::any::Any),
            ) {
                visit(&mut self.metadata);
                visit(&mut self.history);
            }
        }

        impl ::std::ops::Deref for $name {
            type Target = $crate::__private::ramie_core::Array;
            fn deref(&self) -> &Self::Target {
                &self.value
            }
        }
        impl ::std::ops::DerefMut for $name {
            #[track_caller]
            fn deref_mut(&mut self) -> &mut Self::Target {
                self.history.write();
                &mut self.value
            }
        }
        impl From<$crate::__private::ramie_core::Array> for $name {
            fn from(value: $crate::__private::ramie_core::Array) -> Self {
                $name::new(value)
            }
        }
        impl $crate::__private::ramie_core::IntoArray for &$name {
            fn into_array(self) -> $crate::__private::ramie_core::Array {
                self.value.clone()
            }
        }
        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.value.aval())
            }
        }
    )* };
}

variables! {
    /// A parameter: what gradients are taken with respect to and optimizers
    /// update. It is used like the array inside.
    ///
    /// Only parameters are trained. A field of type [`Array`](ramie_core::Array) is part
    /// of the model's state: transformations and checkpoints carry it, gradients and
    /// optimizers leave it out.
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

    /// Zeros added to a value, whose gradient is the gradient of the value.
    Perturbation = "perturbation";

    /// The low-rank part of an adapted kernel (`nnx.LoRAParam`).
    LoraParam = "lora_param";

    /// How many keys a stream has given, 0-d `u32`.
    RngCount = "rng_count";
}

//! Variables: arrays labeled with their purpose.

use crate::Metadata;
use ramie_core::{Array, Tree};
use std::borrow::Cow;
use std::ops::DerefMut;

/// A kind of variable: a wrapper around an array that filters can select (`nnx.Variable`).
/// [`variables!`](crate::variables) defines new kinds.
pub trait Variable: Tree + Clone + From<Array> + DerefMut<Target = Array> {
    /// The name of the kind. Filters and [`State::of_kind`](ramie_core::State::of_kind) find
    /// the leaves by this name.
    const KIND: &'static str;

    /// Sets the metadata of the variable.
    #[must_use]
    fn with_metadata(self, metadata: Metadata) -> Self;

    /// Returns the metadata of the variable, if any.
    fn metadata(&self) -> Option<&Metadata>;
}

/// Returns the name of the Linen collection for variables of a kind: `params` for `param`,
/// `batch_stats` for `batch_stat`, `cache` for `cache`.
#[doc(alias = "variable_name_from_type")]
pub fn collection_of(kind: &str) -> Cow<'_, str> {
    match kind {
        "cache" => Cow::Borrowed("cache"),
        kind => Cow::Owned(format!("{kind}s")),
    }
}

/// Returns `true` if layers update variables of this kind during the forward pass, so that an
/// update to a dropped copy is lost. Parameters, optimizer state and variables for inspection
/// are excluded.
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

/// Defines kinds of variables: wrappers around an array that filters can select.
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
#[doc(alias("register_variable_name", "variable_type_from_name"))]
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

            /// Creates a variable with an initial value.
            pub fn new(value: $crate::__private::ramie_core::Array) -> Self {
                $name {
                    value,
                    metadata: ::std::option::Option::None,
                    history: ::std::default::Default::default(),
                }
            }

            /// Returns the value.
            pub fn value(&self) -> &$crate::__private::ramie_core::Array {
                &self.value
            }

            /// Replaces the value; the metadata stay.
            #[track_caller]
            pub fn set(&mut self, value: impl $crate::__private::ramie_core::IntoArray) {
                self.history.write();
                self.value = value.into_array();
            }

            /// Sets the metadata of the variable.
            #[must_use]
            pub fn with_metadata(mut self, metadata: $crate::Metadata) -> Self {
                self.metadata = (!metadata.is_empty()).then(|| ::std::sync::Arc::new(metadata));
                self
            }

            /// Returns the metadata of the variable, if any.
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
        #[diagnostic::do_not_recommend]
        impl $crate::__private::ramie_core::IntoArray for &$name {
            fn into_array(self) -> $crate::__private::ramie_core::Array {
                self.value.clone()
            }
        }
        $crate::__variable_operators!($name);
        /// Formats the value.
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.value, f)
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
    /// A parameter. Gradients are taken with respect to parameters, and optimizers update them.
    /// It dereferences to its array, and `&scale * x` computes with the array.
    ///
    /// Only parameters are trained. A field of type [`Array`](ramie_core::Array) is part of the
    /// model's state: transformations and checkpoints include it, gradients and optimizers
    /// ignore it.
    ///
    /// ```
    /// use ramie_core::{Array, DType, State};
    /// use ramie_nn::Param;
    /// let scale = Param::new(Array::scalar(1.0, DType::F32));
    /// assert_eq!(scale.ndim(), 0);
    /// assert_eq!((2.0 * &scale + 1.0).to_string(), "3.0");
    /// assert_eq!(State::of(&(scale,)).of_kind(Param::KIND).len(), 1);
    /// ```
    Param = "param";

    /// A statistic of the batches seen during training, such as a running mean.
    BatchStat = "batch_stat";

    /// The cached keys and values of attention, for autoregressive decoding.
    Cache = "cache";

    /// An intermediate value recorded for inspection.
    Intermediate = "intermediate";

    /// Zeros added to an activation; their gradient is the gradient with respect to the
    /// activation.
    Perturbation = "perturbation";

    /// The low-rank factors of an adapted kernel (`nnx.LoRAParam`).
    #[doc(alias = "LoRAParam")]
    LoraParam = "lora_param";

    /// Number of keys that an RNG stream has returned, 0-d `u32`.
    RngCount = "rng_count";

    /// An array of the state of an optimizer.
    OptVariable = "opt_state";
}

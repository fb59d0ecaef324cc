//! `hyperparameters!`: defines the options of layers.

/// Defines the setter of an option.
macro_rules! setter {
    ($(#[$doc:meta])* $field:ident: Option<ramie_core::AxisName>) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: impl Into<ramie_core::AxisName>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    ($(#[$doc:meta])* $field:ident: Option<$ty:ty>) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: impl Into<Option<$ty>>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    ($(#[$doc:meta])* $field:ident: Vec<$ty:ty>) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: &[$ty]) -> Self {
            self.$field = $field.to_vec();
            self
        }
    };
    ($(#[$doc:meta])* $field:ident: Sizes) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$crate::Sizes>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    ($(#[$doc:meta])* $field:ident: ConvPadding) => {
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if the padding is a string without a meaning.
        #[must_use]
        #[track_caller]
        pub fn $field(mut self, $field: impl Into<$crate::ConvPadding>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    ($(#[$doc:meta])* $field:ident: $($ty:tt)+) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: $($ty)+) -> Self {
            self.$field = $field;
            self
        }
    };
}

/// Expands to the type of a parameter of `new`: the field's type, or `impl Into` of it.
macro_rules! taken {
    ($ty:ty) => { $ty };
    ($ty:ty, into) => { impl Into<$ty> };
}

/// Defines the options of a layer: required values are arguments of `new`; all others have a
/// default and a setter.
///
/// The setter of an `Option<T>` takes a `T` or an `Option<T>`, that of a `Vec<T>` a `&[T]`, that of
/// `Sizes` an `impl Into<Sizes>`. Likewise `new` takes an `impl Into<Type>` for
/// `name: Type as into`. The string is the name of the Linen class, from which automatic names are
/// made.
macro_rules! hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident $(<$generic:ident>)? as $class:literal ( $( $(#[$rdoc:meta])* $req:ident: $rty:ty $(as $into:ident)? ),* $(,)? ) {
            $( $(#[$fdoc:meta])* $field:ident: [$($fty:tt)+] = $default:expr, )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name $(<$generic>)? {
            $( pub(crate) $req: $rty, )*
            $( pub(crate) $field: $($fty)+, )*
        }

        impl $(<$generic>)? $name $(<$generic>)? {
            /// Name of the Linen class.
            pub const CLASS: &'static str = $class;

            /// Creates the options with the default for every optional value.
            pub fn new($($req: $crate::layers::hyperparameters::taken!($rty $(, $into)?)),*) -> Self {
                Self {
                    $( $req: $req.into(), )*
                    $( $field: $default, )*
                }
            }

            $( $crate::layers::hyperparameters::setter! {
                $(#[$fdoc])* $field: $($fty)+
            } )*
        }
    };
}

/// Implements Linen's module for the options of a layer that maps an array to an array. With
/// `of_features`, the layer is built for the size of the last axis of its input.
macro_rules! linen_layer {
    ($config:ident) => {
        $crate::layers::hyperparameters::linen_layer!($config, |config, _x, vars| config
            .build(vars));
    };
    ($config:ident of_features) => {
        $crate::layers::hyperparameters::linen_layer!($config, |config, x, vars| {
            config.build(x.shape().last().copied().unwrap_or(1), vars)
        });
    };
    ($config:ident, |$this:ident, $x:ident, $vars:ident| $build:expr) => {
        impl $crate::linen::Module for $config {
            #[track_caller]
            fn call(
                &self,
                scope: &mut $crate::linen::Scope,
                $x: ramie_core::Array,
            ) -> ramie_core::Array {
                let $this = self;
                $crate::linen::in_scope!(scope, |$vars| $build, |layer| layer.forward(&$x))
            }
            fn class_name(&self) -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($config::CLASS)
            }
        }
    };
}

pub(crate) use {hyperparameters, linen_layer, setter, taken};

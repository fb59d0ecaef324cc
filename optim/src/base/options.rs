//! Macros that declare the option builders of transformations and optimizers.

use ramie_core::Array;
use std::fmt;
use std::sync::Arc;

/// A predicate that selects parameters by path and array.
#[derive(Clone)]
pub(crate) struct Predicate(pub Arc<dyn Fn(&str, &Array) -> bool + Send + Sync>);

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mask(..)")
    }
}

/// A function of the number of the step.
#[derive(Clone)]
pub(crate) struct StepFunction(pub Arc<dyn Fn(&Array) -> Array + Send + Sync>);

impl fmt::Debug for StepFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("function(..)")
    }
}

/// Maps the kind of an option to its type.
macro_rules! option_type {
    (num) => { $crate::Hyperparam };
    (schedule) => { $crate::Schedule };
    (optional) => { Option<$crate::Hyperparam> };
    (flag) => { bool };
    (toggle) => { bool };
    (count) => { usize };
    (dtype) => { Option<ramie_core::DType> };
    (mask) => { Option<$crate::base::options::Predicate> };
    (function) => { Option<$crate::base::options::StepFunction> };
    (tx) => { $crate::GradientTransformation };
    (dimensions) => { Option<$crate::base::dimension_numbers::DimensionNumbers> };
    ($other:ident) => { $other };
}

/// Defines the setter of an option, which is a field of `self` or of a field of `self`.
macro_rules! option_setter {
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident num $default:expr) => {
        $(#[$doc])*
        #[doc = concat!("\n\nDefaults to `", stringify!($default), "`.")]
        #[must_use]
        #[track_caller]
        pub fn $field(mut self, $field: impl Into<$crate::Hyperparam>) -> Self {
            let given: $crate::Hyperparam = $field.into();
            self $(.$outer)? .$field = $crate::base::given::CheckedSetting::given(given, stringify!($field));
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident schedule $default:expr) => {
        $(#[$doc])*
        #[doc = concat!("\n\nDefaults to `", stringify!($default), "`.")]
        #[must_use]
        #[track_caller]
        pub fn $field(mut self, $field: impl Into<$crate::Schedule>) -> Self {
            let given: $crate::Schedule = $field.into();
            self $(.$outer)? .$field = $crate::base::given::CheckedSetting::given(given, stringify!($field));
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident optional) => {
        $(#[$doc])*
        #[must_use]
        #[track_caller]
        pub fn $field(mut self, $field: impl Into<$crate::Hyperparam>) -> Self {
            let given: $crate::Hyperparam = $field.into();
            self $(.$outer)? .$field = Some($crate::base::given::CheckedSetting::given(given, stringify!($field)));
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident flag) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self) -> Self {
            self $(.$outer)? .$field = true;
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident dtype) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: ramie_core::DType) -> Self {
            self $(.$outer)? .$field = Some($field);
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident mask) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(
            mut self,
            $field: impl Fn(&str, &ramie_core::Array) -> bool + Send + Sync + 'static,
        ) -> Self {
            self $(.$outer)? .$field = Some($crate::base::options::Predicate(std::sync::Arc::new($field)));
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident function) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(
            mut self,
            $field: impl Fn(&ramie_core::Array) -> ramie_core::Array + Send + Sync + 'static,
        ) -> Self {
            self $(.$outer)? .$field = Some($crate::base::options::StepFunction(std::sync::Arc::new($field)));
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident dimensions) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(
            mut self,
            $field: impl Fn(&str, &ramie_core::Array) -> Option<$crate::base::dimension_numbers::WeightDimensionNumbers>
            + Send
            + Sync
            + 'static,
        ) -> Self {
            self $(.$outer)? .$field = Some($crate::base::dimension_numbers::DimensionNumbers(std::sync::Arc::new($field)));
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident tx $default:expr) => {
        $(#[$doc])*
        #[must_use]
        #[track_caller]
        pub fn $field(mut self, $field: impl Into<$crate::GradientTransformation>) -> Self {
            self $(.$outer)? .$field = $field.into();
            self
        }
    };
    ([$($outer:ident)?] $(#[$doc:meta])* $field:ident $kind:ident $default:expr) => {
        $(#[$doc])*
        #[doc = concat!("\n\nDefaults to `", stringify!($default), "`.")]
        #[must_use]
        #[track_caller]
        pub fn $field(mut self, $field: $crate::base::options::option_type!($kind)) -> Self {
            self $(.$outer)? .$field = $crate::base::given::CheckedSetting::given($field, stringify!($field));
            self
        }
    };
}

macro_rules! option_default {
    (num $default:expr) => {
        $crate::Hyperparam::from($default)
    };
    (schedule $default:expr) => {
        $crate::Schedule::from($default)
    };
    (tx $default:expr) => {
        $crate::GradientTransformation::from($default)
    };
    (optional) => {
        None
    };
    (dtype) => {
        None
    };
    (mask) => {
        None
    };
    (function) => {
        None
    };
    (dimensions) => {
        None
    };
    (flag) => {
        false
    };
    ($kind:ident $default:expr) => {
        $default
    };
}

/// Declares a constructor with its required arguments, the builder that it returns with one
/// setter for each option, and the conversion of the builder into a transformation.
///
/// The kinds of options are `num` (a [`Hyperparam`](crate::Hyperparam)), `schedule`, `optional`
/// (an optional hyperparameter), `flag` (a boolean that is off by default and whose setter takes
/// no argument), `toggle` (a boolean with a default), `count`, `dtype`, `mask`, `function` (a
/// function of the number of the step), `dimensions`, `tx`, or the name of a type.
///
/// With `in Scaled` after the name, [`Scaled`](crate::Scaled) by this transformation has the same
/// setters.
macro_rules! options {
    (
        $(#[$doc:meta])*
        $ctor:ident() -> $name:ident in $scaled:ident {
            $( $(#[$fdoc:meta])* $field:ident: $kind:ident $(= $default:expr)?, )*
        }
        |$this:ident| $body:expr
    ) => {
        $crate::base::options::options! {
            $(#[$doc])*
            $ctor() -> $name {
                $( $(#[$fdoc])* $field: $kind $(= $default)?, )*
            }
            |$this| $body
        }

        impl $scaled<$name> {
            $( $crate::base::options::option_setter! { [by] $(#[$fdoc])* $field $kind $($default)? } )*
        }
    };
    (
        $(#[$doc:meta])*
        $ctor:ident($($req:ident: $rkind:ident),* $(,)?) -> $name:ident {
            $( $(#[$fdoc:meta])* $field:ident: $kind:ident $(= $default:expr)?, )*
        }
        |$this:ident| $body:expr
    ) => {
        #[doc = concat!("The options of [`", stringify!($ctor), "`].")]
        #[derive(Clone, Debug)]
        pub struct $name {
            $( pub(crate) $req: $crate::base::options::option_type!($rkind), )*
            $( pub(crate) $field: $crate::base::options::option_type!($kind), )*
        }

        $(#[$doc])*
        #[track_caller]
        pub fn $ctor(
            $( $req: impl Into<$crate::base::options::option_type!($rkind)> ),*
        ) -> $name {
            $name {
                $( $req: {
                    let given: $crate::base::options::option_type!($rkind) = $req.into();
                    $crate::base::given::CheckedSetting::given(given, stringify!($req))
                }, )*
                $( $field: $crate::base::options::option_default!($kind $($default)?), )*
            }
        }

        impl $name {
            $( $crate::base::options::option_setter! { [] $(#[$fdoc])* $field $kind $($default)? } )*
        }

        impl From<$name> for $crate::GradientTransformation {
            fn from($this: $name) -> $crate::GradientTransformation {
                $crate::GradientTransformation::from($body)
            }
        }

        $crate::base::options::transformation_methods! { $name }
    };
}

/// Defines the methods of the transformation that a builder converts into.
macro_rules! transformation_methods {
    ($name:ident $(<$scaling:ident>)?) => {
        impl $(<$scaling: Clone + Into<$crate::GradientTransformation>>)? $name $(<$scaling>)? {
            /// Creates the initial state; see
            /// [`GradientTransformation::init`](crate::GradientTransformation::init).
            ///
            /// # Panics
            /// Panics in the same cases as that method.
            #[track_caller]
            pub fn init<T: ramie_core::Tree>(&self, params: &T) -> $crate::OptState {
                $crate::GradientTransformation::from(self.clone()).init(params)
            }

            /// Returns the updates for the gradients and the next state; see
            /// [`GradientTransformation::update`](crate::GradientTransformation::update).
            ///
            /// # Panics
            /// Panics in the same cases as that method.
            #[track_caller]
            pub fn update<T: ramie_core::Tree>(
                &self,
                updates: T,
                state: $crate::OptState,
                params: Option<&T>,
            ) -> (T, $crate::OptState) {
                $crate::GradientTransformation::from(self.clone()).update(updates, state, params)
            }

            /// Computes an update with extra arguments; see
            /// [`GradientTransformation::update_with`](crate::GradientTransformation::update_with).
            ///
            /// # Panics
            /// Panics in the same cases as that method.
            #[track_caller]
            pub fn update_with<T: ramie_core::Tree>(
                &self,
                updates: T,
                state: $crate::OptState,
                params: Option<&T>,
                extra: &$crate::ExtraArgs<'_>,
            ) -> (T, $crate::OptState) {
                let tx = $crate::GradientTransformation::from(self.clone());
                tx.update_with(updates, state, params, extra)
            }
        }
    };
}

pub(crate) use {option_default, option_setter, option_type, options, transformation_methods};

//! `setter!` and `setters!`: define the setters of options.

/// Defines the setter of an option.
macro_rules! setter {
    ($(#[$doc:meta])* $field:ident: true) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self) -> Self {
            self.$field = true;
            self
        }
    };
    ($(#[$doc:meta])* $field:ident: Option<ramie_core::lax::AxisIndexGroups>) => {
        $crate::setters::setter! {
            $(#[$doc])* $field: Option<ramie_core::lax::AxisIndexGroups> as into
        }
    };
    ($(#[$doc:meta])* $field:ident: Option<$ty:ty> as into) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$ty>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    ($(#[$doc:meta])* $field:ident: Option<$ty:ty> as clone) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: &$ty) -> Self {
            self.$field = Some($field.clone());
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
        $crate::setters::setter! { $(#[$doc])* $field: Sizes as into }
    };
    ($(#[$doc:meta])* $field:ident: QkNorm) => {
        $crate::setters::setter! { $(#[$doc])* $field: QkNorm as into }
    };
    ($(#[$doc:meta])* $field:ident: $ty:ty as into) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$ty>) -> Self {
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
        pub fn $field(mut self, $field: impl Into<ConvPadding>) -> Self {
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

/// Defines the setters of fields that exist already.
///
/// `name: [Type as into]` takes an `impl Into<Type>`, `name: [Option<Type> as into]` a value that
/// converts to the type in the option, and `name: [Option<Type> as clone]` a reference.
/// `name: [true]` takes nothing and sets a flag. For other types, see `hyperparameters!`.
macro_rules! setters {
    ($( $(#[$doc:meta])* $field:ident: [$($ty:tt)+], )*) => {
        $( $crate::setters::setter! { $(#[$doc])* $field: $($ty)+ } )*
    };
}

pub(crate) use {setter, setters};

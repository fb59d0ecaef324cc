//! `hyperparameters!`: defines the options of layers.

/// Expands to the type of a parameter of `new`: the field's type, or `impl Into` of it.
macro_rules! taken {
    ($ty:ty) => { $ty };
    ($ty:ty, into) => { impl Into<$ty> };
}

/// Defines the options of a layer: required values are arguments of `new`; all others have a
/// default and a setter.
///
/// The setter of an `Option<T>` takes a `T` or an `Option<T>`, that of a `Vec<T>` a `&[T]`, those of
/// `Sizes` and `QkNorm` an `impl Into` of them. Likewise `new` takes an `impl Into<Type>` for
/// `name: Type as into`. The string is the name of the Linen class, from which automatic names are
/// made.
///
/// The layer stores the options. Its calls read those of the list `calls`, which are public and
/// static values of the layer's tree. The others only matter to `build`.
macro_rules! hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident $(<$generic:ident>)? as $class:literal ( $( $(#[$rdoc:meta])* $req:ident: $rty:ty $(as $into:ident)? ),* $(,)? ) {
            $( $(#[$fdoc:meta])* $field:ident: [$($fty:tt)+] = $default:expr, )*
        }
        $( calls {
            $( $(#[$cdoc:meta])* $call:ident: [$($cty:tt)+] = $cdefault:expr, )*
        } )?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name $(<$generic>)? {
            $( pub(crate) $req: $rty, )*
            $( pub(crate) $field: $($fty)+, )*
            $($(
                #[doc = concat!("The value set by [`", stringify!($call), "`](method@Self::", stringify!($call), ").")]
                pub $call: $($cty)+,
            )*)?
        }

        impl $(<$generic>)? $name $(<$generic>)? {
            /// Name of the Linen class.
            pub const CLASS: &'static str = $class;

            /// Creates the options with the default for every optional value.
            pub fn new($($req: $crate::layers::hyperparameters::taken!($rty $(, $into)?)),*) -> Self {
                Self {
                    $( $req: $req.into(), )*
                    $( $field: $default, )*
                    $($( $call: $cdefault, )*)?
                }
            }

            $( $crate::setters::setter! {
                $(#[$fdoc])* $field: $($fty)+
            } )*
            $($( $crate::setters::setter! {
                $(#[$cdoc])* $call: $($cty)+
            } )*)?
        }

        $( $crate::layers::hyperparameters::static_options! {
            $name { $( $call: [$($cty)+], )* }
        } )?
    };
}

/// Implements `Tree` for the options in a layer: those that its calls read are static values.
macro_rules! static_options {
    ($name:ident { $( $call:ident: [$($ty:tt)+], )* }) => {
        impl ramie_core::Tree for $name {
            fn walk(&self, visitor: &mut dyn ramie_core::tree::Visitor) {
                $(
                    visitor.enter(ramie_core::tree::Key::Field(stringify!($call)));
                    $crate::layers::hyperparameters::visit!(visitor, self.$call, $($ty)+);
                    visitor.exit();
                )*
            }
            fn walk_mut(&mut self, _: &mut dyn FnMut(&mut ramie_core::Array)) {}
            fn rebuild(
                &self,
                _: &mut dyn FnMut(&ramie_core::Array) -> ramie_core::Array,
            ) -> Self {
                self.clone()
            }
        }
    };
}

/// Visits a static value. Floats are compared by their bits.
macro_rules! visit {
    ($visitor:ident, $value:expr, f64) => {
        $visitor.value(&ramie_core::tree::Float($value))
    };
    ($visitor:ident, $value:expr, $($ty:tt)+) => {
        $visitor.value(&$value)
    };
}

/// Defines the options of a layer with a kernel and a bias: its own and those that all of these
/// layers have.
macro_rules! affine_hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident as $class:literal ( $($required:tt)* ) { $($own:tt)* }
        calls { $($calls:tt)* }
    ) => {
        $crate::layers::hyperparameters::hyperparameters! {
            $(#[$doc])*
            $name as $class ( $($required)* ) {
                $($own)*
                /// Sets whether the layer has a bias. Defaults to `true`.
                use_bias: [bool] = true,
                /// Sets the dtype of the parameters. Defaults to `f32`.
                param_dtype: [ramie_core::DType] = ramie_core::DType::F32,
                /// Sets the initializer of the kernel. Defaults to
                /// [`lecun_normal`]($crate::init::lecun_normal).
                kernel_init: [$crate::Initializer] = $crate::init::lecun_normal(),
                /// Sets the initializer of the bias. Defaults to zeros.
                bias_init: [$crate::Initializer] = $crate::init::zeros(),
            }
            calls {
                $($calls)*
                /// Sets the dtype of the computation. Defaults to the dtype that the input and
                /// the parameters promote to.
                dtype: [Option<ramie_core::DType>] = None,
                /// Sets a custom rule by which the input and the parameters are converted before the
                /// computation. Defaults to none.
                promote_dtype: [Option<$crate::PromoteDtypeFn>] = None,
                /// Sets the precision of the products.
                precision: [Option<ramie_core::lax::Precision>] = None,
                /// Sets the dtype in which products are accumulated and returned.
                preferred_element_type: [Option<ramie_core::DType>] = None,
            }
        }

        impl $name {
            /// Disables the bias.
            #[must_use]
            pub fn without_bias(self) -> Self {
                self.use_bias(false)
            }

            fn promotion(&self) -> $crate::layers::promote::Promotion<'_> {
                $crate::layers::promote::Promotion::new(self.dtype, &self.promote_dtype)
            }

            /// Returns a kernel and a bias of these shapes, if the layer has one.
            #[track_caller]
            fn kernel_and_bias(
                &self,
                vars: &mut $crate::Vars<'_>,
                kernel: &[usize],
                bias: &[usize],
            ) -> ($crate::Param, Option<$crate::Param>) {
                let dtype = self.param_dtype;
                let kernel = vars.param("kernel", &self.kernel_init, kernel, dtype);
                let bias = vars.param_if(self.use_bias, "bias", &self.bias_init, bias, dtype);
                (kernel, bias)
            }
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
                $crate::layers::in_scope!(scope, |$vars| $build, |layer| layer.forward(&$x))
            }
            fn class_name(&self) -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($config::CLASS)
            }
        }
    };
}

pub(crate) use {
    affine_hyperparameters, hyperparameters, linen_layer, static_options, taken, visit,
};

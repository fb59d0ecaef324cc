//! Checks and conversions of parameters and values, and the definition of a distribution with
//! parameters that broadcast together.

use crate::Distribution;
use ramie_core::dtypes::result_type;
use ramie_core::numpy::broadcast_shapes;
use ramie_core::{Array, where_};

/// Converts parameters to their common dtype. Refuses parameters that are not floats.
#[track_caller]
pub(crate) fn floats<const N: usize>(name: &str, given: [(&str, Array); N]) -> [Array; N] {
    for (parameter, array) in &given {
        assert!(
            array.dtype().is_float(),
            "{name}: expects floats, got {parameter} {}\n  help: write literals with a point, such \
             as 1.0, or convert arrays with astype(DType::F32)",
            array.aval()
        );
    }
    let arrays = given.map(|(_, array)| array);
    let dtype = result_type(&arrays);
    arrays.map(|array| array.astype(dtype))
}

/// Converts parameters to their common dtype and broadcasts each to the batch shape, followed by
/// as many of its own last axes as `own` counts.
#[track_caller]
pub(crate) fn batched<const N: usize>(name: &str, given: [(&str, Array, usize); N]) -> [Array; N] {
    let own = given.each_ref().map(|(_, _, own)| *own);
    let named = given.map(|(parameter, array, _)| (parameter, array));
    let types = named.each_ref().map(|(p, a)| format!("{p} {}", a.aval()));
    let arrays = floats(name, named);
    let split = |i: usize| arrays[i].shape().split_at(arrays[i].ndim() - own[i]);
    let shapes: Vec<&[usize]> = (0..N).map(|i| split(i).0).collect();
    let Some(batch) = broadcast_shapes(&shapes) else {
        panic!(
            "{name}: the batch axes of the parameters do not broadcast together: {}\n  help: the \
             batch axes of all parameters must agree from the last one, or be 1",
            types.join(", ")
        )
    };
    let whole = |i: usize| arrays[i].broadcast_to(&[&batch, split(i).1].concat());
    std::array::from_fn(whole)
}

/// The dtypes of values.
#[derive(Clone, Copy)]
pub(crate) enum Values {
    Floats,
    Integers,
    /// Floats, integers and booleans.
    Numbers,
}

/// Refuses a value of another dtype, or whose shape does not end with the event shape or does not
/// broadcast with the batch shape.
#[track_caller]
pub(crate) fn check_value(of: &impl Distribution, value: &Array, values: Values) {
    let (name, dtype) = (of.name(), value.dtype());
    let (fits, expected, help) = match values {
        Values::Floats => (dtype.is_float(), "floats", "value.astype(DType::F32)"),
        Values::Integers => (dtype.is_integer(), "integers", "value.astype(DType::I32)"),
        Values::Numbers => (!dtype.is_complex(), "real numbers", "value.real()"),
    };
    assert!(
        fits,
        "{name}.log_prob: expects {expected}, got {}\n  help: convert the value: {help}",
        value.aval()
    );
    let (batch, event) = (of.batch_shape(), of.event_shape());
    let batch_of_value = value.shape().strip_suffix(&event[..]);
    assert!(
        batch_of_value.is_some_and(|shape| broadcast_shapes(&[shape, &batch]).is_some()),
        "{name}.log_prob: the value {} does not fit the batch shape {batch:?} and the event shape \
         {event:?}\n  help: the last axes of the value must be {event:?}, and those before must \
         broadcast with {batch:?}",
        value.aval()
    );
}

/// Joins the shape of a draw and a batch shape.
pub(crate) fn full(shape: &[usize], of: &impl Distribution) -> Vec<usize> {
    [shape, &of.batch_shape()].concat()
}

/// Multiplies, with zero for an infinite `x` and a `y` of zero.
pub(crate) fn multiply_no_nan(x: &Array, y: &Array) -> Array {
    let undefined = y.eq(0).bitwise_and(x.is_finite().logical_not());
    where_(undefined, 0.0, x) * y
}

/// Defines a distribution of numbers whose parameters broadcast to the batch shape, with the
/// methods that follow.
macro_rules! family {
    (
        $(#[$doc:meta])*
        $name:ident { $(#[$about:meta])* $first:ident $(, $(#[$abouts:meta])* $field:ident)* $(,)? }
        $($method:item)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, ramie_derive::Tree)]
        pub struct $name {
            $(#[$about])*
            pub $first: ramie_core::Array,
            $( $(#[$abouts])* pub $field: ramie_core::Array, )*
        }

        impl $name {
            /// Creates a batch of distributions. The parameters broadcast to the batch shape.
            ///
            /// # Panics
            /// Panics if a parameter is not a float, or if the parameters do not broadcast together.
            #[track_caller]
            pub fn new(
                $first: impl ramie_core::IntoArray,
                $( $field: impl ramie_core::IntoArray, )*
            ) -> $name {
                let [$first $(, $field)*] = crate::parameters::batched(stringify!($name), [
                    (stringify!($first), $first.into_array(), 0),
                    $( (stringify!($field), $field.into_array(), 0), )*
                ]);
                $name { $first $(, $field)* }
            }
        }

        impl crate::Distribution for $name {
            fn batch_shape(&self) -> Vec<usize> {
                self.$first.shape().to_vec()
            }
            fn dtype(&self) -> ramie_core::DType {
                self.$first.dtype()
            }
            $($method)*
        }
    };
}
pub(crate) use family;

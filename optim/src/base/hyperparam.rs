//! `Hyperparam`: a number that configures a transformation.

use crate::base::wide::wide;
use ramie_core::{Array, IntoArray};
use std::fmt;

/// A number that configures a transformation: either a known `f64` or a 0-d array, which may be
/// traced. An array of a float of fewer than 32 bits becomes `f32`.
///
/// Constructors and setters panic if a number is NaN or infinite, except for limits such as
/// `max_norm`, which may be infinite, and if a learning rate is negative.
///
/// Numbers and arrays convert into it. With an array, a program can change a hyperparameter
/// without recompiling (see [`inject_hyperparams`](crate::inject_hyperparams)) and train with
/// several values at the same time:
///
/// ```no_run
/// use ramie_core::{Array, State, vmap};
/// use ramie_optim::sgd;
/// let grads = State::from_iter([("w", Array::from(2.0f32))]);
/// let step = |rate: Array| {
///     let tx = sgd(rate);
///     tx.update(grads.clone(), tx.init(&grads), None).0
/// };
/// let updates = vmap(step)(Array::from([0.1f32, 0.5]));
/// assert_eq!(updates.arrays()[0].to_vec::<f32>(), [-0.2, -1.0]);
/// ```
#[derive(Clone)]
pub struct Hyperparam(Value);

#[derive(Clone)]
enum Value {
    Number(f64),
    Array(Array),
}

impl Hyperparam {
    /// Returns the number, or `None` for an array.
    pub fn as_number(&self) -> Option<f64> {
        match &self.0 {
            Value::Number(n) => Some(*n),
            Value::Array(_) => None,
        }
    }

    /// Combines two values: two known numbers as `f64`, otherwise as arrays.
    pub(crate) fn with(
        &self,
        other: impl Into<Hyperparam>,
        numbers: impl Fn(f64, f64) -> f64,
        arrays: impl Fn(Array, Array) -> Array,
    ) -> Hyperparam {
        let other = other.into();
        match (&self.0, &other.0) {
            (Value::Number(a), Value::Number(b)) => numbers(*a, *b).into(),
            _ => arrays(self.into_array(), other.into_array()).into(),
        }
    }

    /// Computes `1 - x`.
    pub(crate) fn rest(&self) -> Hyperparam {
        self.with(1.0, |a, one| one - a, |a, one| one - a)
    }

    /// Computes `-x`.
    pub(crate) fn negative(&self) -> Hyperparam {
        match &self.0 {
            Value::Number(n) => (-n).into(),
            Value::Array(a) => (-a).into(),
        }
    }

    /// Computes `x · y`.
    pub(crate) fn times(&self, other: impl Into<Hyperparam>) -> Hyperparam {
        self.with(other, |a, b| a * b, |a, b| a * b)
    }

    /// Computes `x + y`.
    pub(crate) fn plus(&self, other: impl Into<Hyperparam>) -> Hyperparam {
        self.with(other, |a, b| a + b, |a, b| a + b)
    }

    /// Computes `xʸ`.
    pub(crate) fn to_the(&self, exponent: f64) -> Hyperparam {
        self.with(exponent, f64::powf, |a, b| a.power(b))
    }

    /// Computes `xⁿ`, where `n` is a step count.
    #[track_caller]
    pub(crate) fn power(&self, count: &Array) -> Array {
        self.into_array().power(count)
    }
}

#[diagnostic::do_not_recommend]
impl IntoArray for &Hyperparam {
    fn into_array(self) -> Array {
        match &self.0 {
            Value::Number(n) => n.into_array(),
            Value::Array(a) => a.clone(),
        }
    }
}
#[diagnostic::do_not_recommend]
impl IntoArray for Hyperparam {
    fn into_array(self) -> Array {
        (&self).into_array()
    }
}

macro_rules! number {
    ($($t:ty),*) => { $(
        impl From<$t> for Hyperparam {
            fn from(value: $t) -> Hyperparam {
                Hyperparam(Value::Number(value.into()))
            }
        }
    )* };
}
number!(f64, f32, i32, u32);

impl From<Array> for Hyperparam {
    #[track_caller]
    fn from(array: Array) -> Hyperparam {
        assert!(
            array.ndim() == 0,
            "hyperparameter: expected a 0-d array, got {}\n  help: use vmap to train with several \
             values at the same time",
            array.aval()
        );
        Hyperparam(Value::Array(wide(&array).into_owned()))
    }
}
impl From<&Array> for Hyperparam {
    #[track_caller]
    fn from(array: &Array) -> Hyperparam {
        array.clone().into()
    }
}
impl From<&Hyperparam> for Hyperparam {
    fn from(other: &Hyperparam) -> Hyperparam {
        other.clone()
    }
}

impl fmt::Debug for Hyperparam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::Number(n) => n.fmt(f),
            Value::Array(a) => write!(f, "{}", a.aval()),
        }
    }
}

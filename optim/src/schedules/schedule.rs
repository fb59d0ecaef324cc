//! `Schedule`: a hyperparameter that depends on the step.

use crate::Hyperparam;
use ramie_core::{Array, DType, IntoArray};
use std::fmt;
use std::sync::Arc;

/// A number for each step: a constant, or a function of the number of steps
/// made.
///
/// Numbers convert: where a schedule is expected, `0.1` is a constant one.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_optim::{Schedule, sgd};
/// let constant = sgd(0.1);
/// let decaying = sgd(Schedule::new(|count| 0.1 / (count.astype(DType::F32) + 1.0)));
/// ```
#[derive(Clone)]
pub struct Schedule(Kind);

#[derive(Clone)]
enum Kind {
    Constant(Hyperparam),
    Function(Arc<dyn Fn(&Array) -> Array + Send + Sync>),
}

impl Schedule {
    /// The same number at every step.
    #[track_caller]
    pub fn constant(value: impl Into<Hyperparam>) -> Schedule {
        Schedule(Kind::Constant(value.into()))
    }

    /// A function of the number of steps made, a 0-d `i32`. It may be traced.
    pub fn new(f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Schedule {
        Schedule(Kind::Function(Arc::new(f)))
    }

    /// The number for arithmetic: the constant as it is, or the value at a step.
    pub(crate) fn number(&self, count: &Array) -> Hyperparam {
        match &self.0 {
            Kind::Constant(value) => value.clone(),
            Kind::Function(f) => f(count).into(),
        }
    }

    /// The value at a step, 0-d.
    #[track_caller]
    pub fn at(&self, count: &Array) -> Array {
        match &self.0 {
            Kind::Constant(value) => match value.as_number() {
                Some(number) => Array::scalar(number, DType::F32),
                None => value.into_array(),
            },
            Kind::Function(f) => f(count),
        }
    }

    /// The number, for a constant schedule of a known number.
    pub fn as_constant(&self) -> Option<f64> {
        self.as_hyperparam()?.as_number()
    }

    /// The number or array, for a constant schedule.
    pub(crate) fn as_hyperparam(&self) -> Option<&Hyperparam> {
        match &self.0 {
            Kind::Constant(value) => Some(value),
            Kind::Function(_) => None,
        }
    }
}

macro_rules! constant {
    ($($t:ty),*) => { $(
        impl From<$t> for Schedule {
            #[track_caller]
            fn from(value: $t) -> Schedule {
                Schedule::constant(value)
            }
        }
    )* };
}
constant!(f64, f32, i32, Hyperparam, &Hyperparam, Array, &Array);

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Constant(value) => write!(f, "Schedule({value:?})"),
            Kind::Function(_) => f.write_str("Schedule(function of the step)"),
        }
    }
}

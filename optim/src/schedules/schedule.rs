//! `Schedule`: a hyperparameter that depends on the step.

use crate::Hyperparam;
use ramie_core::{Array, DType, IntoArray};
use std::fmt;
use std::sync::Arc;

/// A hyperparameter that depends on the step: a constant, or a function of the number of steps
/// made.
///
/// Numbers convert into constant schedules: pass `0.1` where a schedule is expected.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_optim::{Schedule, sgd};
/// let constant = sgd(0.1);
/// let decaying = sgd(Schedule::new(|count| 0.1 / (count.astype(DType::F32) + 1.0)));
/// ```
#[doc(alias = "ScalarOrSchedule")]
#[derive(Clone)]
pub struct Schedule(Kind);

#[derive(Clone)]
enum Kind {
    Constant(Hyperparam),
    Function(Arc<dyn Fn(&Array) -> Array + Send + Sync>),
}

impl Schedule {
    /// Creates a schedule with the same number at every step.
    #[track_caller]
    pub fn constant(value: impl Into<Hyperparam>) -> Schedule {
        Schedule(Kind::Constant(value.into()))
    }

    /// Creates a schedule from a function of the number of steps made, a 0-d `i32`. The count may
    /// be traced.
    pub fn new(f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Schedule {
        Schedule(Kind::Function(Arc::new(f)))
    }

    /// Returns the constant, or the value at a step, for use in arithmetic.
    pub(crate) fn number(&self, count: &Array) -> Hyperparam {
        match &self.0 {
            Kind::Constant(value) => value.clone(),
            Kind::Function(f) => f(count).into(),
        }
    }

    /// Returns the value at a step, 0-d.
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

    /// Returns the number if the schedule is a known constant.
    pub fn as_constant(&self) -> Option<f64> {
        self.as_hyperparam()?.as_number()
    }

    /// Returns the number or array if the schedule is constant.
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

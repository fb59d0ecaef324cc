//! `Schedule`: a hyperparameter that depends on the step.

use ramie_core::{Array, DType};
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
    Constant(f64),
    Function(Arc<dyn Fn(&Array) -> Array + Send + Sync>),
}

impl Schedule {
    /// The same number at every step.
    pub fn constant(value: f64) -> Schedule {
        Schedule(Kind::Constant(value))
    }

    /// A function of the number of steps made, a 0-d `i32`. It may be traced.
    pub fn new(f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Schedule {
        Schedule(Kind::Function(Arc::new(f)))
    }

    /// The value at a step, 0-d.
    #[track_caller]
    pub fn at(&self, count: &Array) -> Array {
        match &self.0 {
            Kind::Constant(value) => Array::scalar(*value, DType::F32),
            Kind::Function(f) => f(count),
        }
    }

    /// The number, for a constant schedule.
    pub fn as_constant(&self) -> Option<f64> {
        match &self.0 {
            Kind::Constant(value) => Some(*value),
            Kind::Function(_) => None,
        }
    }
}

impl From<f64> for Schedule {
    fn from(value: f64) -> Schedule {
        Schedule::constant(value)
    }
}
impl From<f32> for Schedule {
    fn from(value: f32) -> Schedule {
        Schedule::constant(value.into())
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Constant(value) => write!(f, "Schedule({value})"),
            Kind::Function(_) => f.write_str("Schedule(function of the step)"),
        }
    }
}

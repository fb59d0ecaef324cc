//! Checks of the numbers that configure transformations, at the line where the user gives them.

use crate::{GradientTransformation, Hyperparam, Schedule};
use ramie_core::DType;
use ramie_core::random::Key;

/// Limits of other numbers, for which infinity means that there is no limit.
const LIMITS: [&str; 4] = [
    "clipping",
    "clip_threshold",
    "clipping_threshold",
    "threshold",
];

/// Refuses a number that is not finite, except an infinite limit, and negative learning rates.
#[track_caller]
pub(crate) fn check_number(name: &str, number: f64) {
    let is_limit = name.starts_with("max_") || LIMITS.contains(&name);
    assert!(
        number.is_finite() || (is_limit && number == f64::INFINITY),
        "hyperparameter: `{name}` is {number}, expected a finite number\n  help: check how it is \
         computed, for example for a division by zero"
    );
    assert!(
        number >= 0.0 || !matches!(name, "learning_rate" | "adam_learning_rate"),
        "hyperparameter: `{name}` is {number}, expected at least 0\n  help: the updates already \
         point downhill; to maximize the objective, negate it, or end the chain with \
         scale_by_learning_rate_with({}, false)",
        -number
    );
}

/// Refuses `f64` arguments that no hyperparameter accepts, by their names.
macro_rules! check_numbers {
    ($($name:ident),+) => {
        $( $crate::base::given::check_number(stringify!($name), $name); )+
    };
}
pub(crate) use check_numbers;

/// A setting that is checked where the user gives it.
pub(crate) trait CheckedSetting: Sized {
    /// Returns the setting of this name.
    ///
    /// # Panics
    /// Panics if [`check_number`] rejects the number.
    #[track_caller]
    fn given(self, name: &str) -> Self {
        let _ = name;
        self
    }
}

impl CheckedSetting for f64 {
    #[track_caller]
    fn given(self, name: &str) -> f64 {
        check_number(name, self);
        self
    }
}

impl CheckedSetting for Hyperparam {
    #[track_caller]
    fn given(self, name: &str) -> Hyperparam {
        if let Some(number) = self.as_number() {
            check_number(name, number);
        }
        self
    }
}

impl CheckedSetting for Schedule {
    #[track_caller]
    fn given(self, name: &str) -> Schedule {
        if let Some(number) = self.as_constant() {
            check_number(name, number);
        }
        self
    }
}

impl<T: CheckedSetting> CheckedSetting for Option<T> {
    #[track_caller]
    fn given(self, name: &str) -> Option<T> {
        // A closure would hide the caller's line.
        let value = self?;
        Some(value.given(name))
    }
}

/// Implements [`CheckedSetting`] for settings without numbers to check.
macro_rules! unchecked {
    ($($t:ty),+) => { $( impl $crate::base::given::CheckedSetting for $t {} )+ };
}
pub(crate) use unchecked;

unchecked!(
    bool,
    u32,
    usize,
    DType,
    Key,
    Vec<isize>,
    GradientTransformation
);

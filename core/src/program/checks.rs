//! The kinds of checks that operations have for `checkify`.

use std::ops::BitOr;

/// A set of checks.
#[doc(alias = "ErrorCategory")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Errors(u8);

impl Errors {
    /// Checks that the function makes with [`check`](crate::transform::checkify::check).
    #[doc(alias = "user_checks")]
    pub const USER: Errors = Errors(1);
    /// Checks whether an operation's result is NaN.
    #[doc(alias = "nan_checks")]
    pub const NAN: Errors = Errors(2);
    /// Checks whether a divisor is zero.
    #[doc(alias = "div_checks")]
    pub const DIV: Errors = Errors(4);
    /// Checks whether an index is out of bounds.
    #[doc(alias = "index_checks")]
    pub const INDEX: Errors = Errors(8);
    /// NaN and division checks.
    #[doc(alias = "float_checks")]
    pub const FLOAT: Errors = Errors(2 | 4);
    /// All automatic checks.
    #[doc(alias = "automatic_checks")]
    pub const AUTOMATIC: Errors = Errors(2 | 4 | 8);
    /// All checks.
    #[doc(alias = "all_checks")]
    pub const ALL: Errors = Errors(15);

    /// No checks.
    pub const NONE: Errors = Errors(0);

    /// Returns whether the sets have a check in common.
    pub fn intersects(self, other: Errors) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether all checks of `other` are in this set.
    pub fn contains(self, other: Errors) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Errors {
    type Output = Errors;
    fn bitor(self, other: Errors) -> Errors {
        Errors(self.0 | other.0)
    }
}

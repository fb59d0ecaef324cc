//! Arrays as text.

use super::Array;
use std::fmt;

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({:?})", self.aval())
    }
}

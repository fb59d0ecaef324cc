//! The parts of operations in fusion.

use crate::kernels::Group;
use crate::kernels::rows::Fold;

/// The part of an operation with one result in fusion.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Each element of the result is computed from those of the operands.
    Each(&'a Group),
    /// The result has the operand's elements in their order.
    Same,
    /// The result has each of the operand's elements this number of times, in their order.
    Repeat(usize),
    /// The first operand is reduced, from the initial value that is the second operand.
    Fold(&'a Fold),
}

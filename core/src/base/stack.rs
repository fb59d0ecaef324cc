//! Stack space for programs and trees of any nesting depth.

use super::erased;

/// Stack space that one level of nesting may use: the user's function, the transformations around
/// it, and an eager program that XLA compiles.
const ROOM: usize = 512 << 10;

/// Stack to allocate when less than [`ROOM`] is left.
const SEGMENT: usize = 8 << 20;

/// Runs `f` with [`ROOM`] on the stack, on a new stack if the thread has less left.
///
/// Every function that recurses through nested programs or the children of a tree must recurse
/// through this one.
#[inline]
pub(crate) fn with_room<R>(f: impl FnOnce() -> R) -> R {
    if stacker::remaining_stack().is_some_and(|left| left >= ROOM) {
        return f();
    }
    erased::through(f, on_new_stack)
}

/// Runs `f` on a new stack. Compiled once for all functions.
#[cold]
fn on_new_stack(f: &mut dyn FnMut()) {
    stacker::grow(SEGMENT, f);
}

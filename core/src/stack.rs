//! Stack space for programs and trees nested to any depth.

/// Stack that one level of nesting may use before it asks again: the caller's function,
/// the transformations around it, and a program of the eager mode that XLA compiles.
const ROOM: usize = 512 << 10;

/// Stack to allocate when less than [`ROOM`] is left.
const SEGMENT: usize = 8 << 20;

/// Runs `f` with [`ROOM`] on the stack, on a new stack if the thread has less left.
///
/// Every function that calls itself through a nested program or a child of a tree calls
/// itself through this one.
#[inline]
pub(crate) fn with_room<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(ROOM, SEGMENT, f)
}

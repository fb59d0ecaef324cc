//! `fori_loop`.

use super::ScanOptions;
use super::scan::scan_as;
use super::while_loop::while_as;
use crate::base::location::at_location;
use crate::prim::elementwise::Lt;
use crate::program::array::Repr;
use crate::program::trace::{bind1, compile_time_eval};
use crate::{Array, DType, IntoArray, Tree};
use std::panic::Location;

/// Options of [`fori_loop_with`].
#[derive(Clone, Copy, Debug)]
pub struct ForiLoopOptions {
    /// Number of steps per loop iteration in the compiled program; 0 unrolls all steps. Values
    /// other than 1 require known bounds. Defaults to 1.
    pub unroll: usize,
}

impl Default for ForiLoopOptions {
    fn default() -> Self {
        ForiLoopOptions { unroll: 1 }
    }
}

/// Calls `body` with the numbers in `lower..upper` and a carry, which starts as `init` and is
/// then the previous result (`jax.lax.fori_loop`).
///
/// If the bounds are known, as numbers or as arrays outside a traced function, the loop is a
/// [`scan`](crate::lax::scan) and supports both modes of differentiation. With traced bounds it is a
/// [`while_loop`](crate::lax::while_loop), which does not support reverse mode. The loop number is an
/// integer scalar of the dtype of the bounds. Pass an initial number as a weak array,
/// `0.into_array()`, which takes the type that the body returns; a plain number is static.
///
/// ```no_run
/// use ramie_core::lax::fori_loop;
/// use ramie_core::Array;
/// let factorial = fori_loop(1, 6, |i: Array, product: Array| product * i, Array::from(1));
/// assert_eq!(factorial.item::<i32>(), 120);
/// ```
///
/// # Panics
/// Panics if the bounds are not scalar integers of the same dtype, or if the body returns a carry
/// of another structure or type.
#[track_caller]
pub fn fori_loop<C: Tree>(
    lower: impl IntoArray,
    upper: impl IntoArray,
    body: impl Fn(Array, C) -> C,
    init: C,
) -> C {
    fori_loop_with(lower, upper, body, init, ForiLoopOptions::default())
}

/// Runs [`fori_loop`] with options for unrolling.
///
/// # Panics
/// Panics in the same cases as [`fori_loop`], or if the loop is unrolled and a bound is traced.
#[track_caller]
pub fn fori_loop_with<C: Tree>(
    lower: impl IntoArray,
    upper: impl IntoArray,
    body: impl Fn(Array, C) -> C,
    init: C,
    options: ForiLoopOptions,
) -> C {
    let at = Location::caller();
    let count = |i: &Array| at_location(at, || i + 1);
    let (lower, upper) = (lower.into_array(), upper.into_array());
    let dtype = common_dtype(&lower, &upper);
    if let (Some(from), Some(to)) = (known(&lower), known(&upper)) {
        let options = ScanOptions {
            length: Some(usize::try_from(to.saturating_sub(from)).unwrap_or(0)),
            reverse: false,
            unroll: options.unroll,
        };
        let step = |(i, carry): (Array, C), ()| ((count(&i), body(i, carry)), ());
        // Like a plain number, the counter is weakly typed, as in JAX.
        let first = if lower.aval().weak_type() && upper.aval().weak_type() {
            lower
        } else {
            Array::scalar(from, dtype)
        };
        return scan_as("fori_loop", "1", step, (first, init), (), options)
            .0
            .1;
    }
    assert!(
        options.unroll == 1,
        "fori_loop: unroll = {} requires known bounds, but they are traced: {} and {}\n  help: \
         pass numbers, or set unroll to 1",
        options.unroll,
        lower.aval(),
        upper.aval()
    );
    let bound = |x: Array| {
        if x.dtype() == dtype {
            x
        } else {
            x.astype(dtype)
        }
    };
    let first = (bound(lower), bound(upper), init);
    while_as(
        "fori_loop",
        "2",
        |(i, upper, _): (Array, Array, C)| at_location(at, || bind1(Lt, &[&i, &upper])),
        |(i, upper, carry)| (count(&i), upper, body(i, carry)),
        first,
    )
    .2
}

/// Returns the value of a bound if it is known at trace time.
fn known(bound: &Array) -> Option<i64> {
    match &bound.0 {
        Repr::Literal(_) | Repr::Device(_) => {
            let value = || bound.astype(DType::I64).item::<i64>();
            Some(compile_time_eval(value))
        }
        Repr::Tracer(_) | Repr::Abstract(..) => None,
    }
}

/// Returns the common integer dtype of both bounds; a number takes the dtype of the other bound.
#[track_caller]
fn common_dtype(lower: &Array, upper: &Array) -> DType {
    let (a, b) = (lower.aval(), upper.aval());
    for bound in [a, b] {
        assert!(
            bound.ndim() == 0 && bound.dtype().is_integer(),
            "fori_loop: bounds must be scalar integers, got {a} and {b}\n  help: convert with \
             astype(DType::I32)"
        );
    }
    let signed = |d: DType| matches!(d, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    match (a.weak_type(), b.weak_type()) {
        _ if a.dtype() == b.dtype() => a.dtype(),
        (true, false) if signed(b.dtype()) => b.dtype(),
        (false, true) if signed(a.dtype()) => a.dtype(),
        _ => panic!(
            "fori_loop: bounds must have the same dtype, got {a} and {b}\n  help: convert one \
             with astype"
        ),
    }
}

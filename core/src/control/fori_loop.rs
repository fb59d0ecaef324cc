//! `fori_loop`.

use super::ScanOptions;
use super::scan::scan_as;
use super::while_loop::while_as;
use crate::array::Repr;
use crate::prim::elementwise::Lt;
use crate::trace::{at_location, bind1};
use crate::{Array, DType, IntoArray, Tree};
use std::panic::Location;

/// How a [`fori_loop_with`] runs.
#[derive(Clone, Debug)]
pub struct ForiLoopOptions {
    /// How many steps are written out in each round of the loop; 0 writes out
    /// all of them. Anything but 1 needs bounds that are known.
    pub unroll: usize,
}

impl Default for ForiLoopOptions {
    fn default() -> Self {
        ForiLoopOptions { unroll: 1 }
    }
}

/// `body` applied to `init` and then to what it gave, with the numbers from
/// `lower` to before `upper` (`jax.lax.fori_loop`).
///
/// With bounds that are known, numbers or arrays outside of a traced function,
/// the loop is a [`scan`](crate::scan) and has derivatives in both modes. With
/// traced bounds it is a [`while_loop`](crate::while_loop), which has no
/// reverse mode. The number is an integer scalar of the bounds' type.
///
/// ```no_run
/// use ramie_core::{Array, fori_loop};
/// let factorial = fori_loop(1, 6, |i: Array, product: Array| product * i, Array::from(1));
/// assert_eq!(factorial.item::<i32>(), 120);
/// ```
///
/// # Panics
/// If the bounds are not scalar integers of one type, or the body gives back a
/// carry of another structure or type.
#[track_caller]
pub fn fori_loop<C: Tree>(
    lower: impl IntoArray,
    upper: impl IntoArray,
    body: impl Fn(Array, C) -> C,
    init: C,
) -> C {
    fori_loop_with(lower, upper, body, init, ForiLoopOptions::default())
}

/// [`fori_loop`] with options: how far it is unrolled.
///
/// # Panics
/// As [`fori_loop`], and if it is to be unrolled and a bound is traced.
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
        // As a plain number, as in JAX, the counter is weakly typed.
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
        "fori_loop: unroll = {} needs bounds that are known, and these are traced: {} and {}\n  \
         help: give numbers, or leave unroll at 1",
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

/// The value of a bound that is known now.
fn known(bound: &Array) -> Option<i64> {
    match &bound.0 {
        Repr::Literal(_) | Repr::Device(_) => Some(bound.astype(DType::I64).item::<i64>()),
        Repr::Tracer(_) | Repr::Abstract(..) => None,
    }
}

/// The integer type of both bounds; a number takes that of the other.
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
            "fori_loop: bounds must have one type, got {a} and {b}\n  help: convert one with astype"
        ),
    }
}

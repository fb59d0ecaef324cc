//! Control flow: `cond`, `while` and `scan`, primitives that contain programs. Users call them
//! through `prim/control/functions/`, which takes closures and trees.
//!
//! The programs capture nothing: values from outside are their first operands. `derive.rs`
//! computes the programs that transformations need, and the rules assemble them.

mod cond;
mod derive;
mod evaluate;
pub(crate) mod functions;
mod lighter;
mod linear_solve;
mod scan;
mod scan_lowering;
mod scan_products;
mod scan_rules;
mod scan_transpose;
mod while_loop;
mod while_state;

pub use cond::Cond;
pub(crate) use cond::shared_consts;
pub use linear_solve::CustomLinearSolve;
pub(crate) use scan::Parts;
pub use scan::Scan;
pub use while_loop::While;
pub(crate) use while_loop::{APPLY, Part};

use crate::base::stack::with_room;
use crate::program::jaxpr::Jaxpr;
use crate::{Aval, ShapeError};

/// Splits a list into the first `a` items, the next `b`, and the others.
fn split3<T>(items: &[T], a: usize, b: usize) -> (&[T], &[T], &[T]) {
    let (first, rest) = items.split_at(a);
    let (second, third) = rest.split_at(b);
    (first, second, third)
}

/// Returns the name of an operation with side effects in a program, other than one that only
/// observes values. Such a program must not run for examples that do not select it.
fn acting(jaxpr: &Jaxpr) -> Option<&'static str> {
    let acts = jaxpr.eqns.iter().filter(|e| !e.primitive.only_observes());
    acts.into_iter().find_map(|eqn| {
        let held = eqn.primitive.jaxprs();
        if held.is_empty() {
            Some(eqn.primitive.name())
        } else {
            with_room(|| held.into_iter().find_map(|inner| acting(inner)))
        }
    })
}

/// Checks the operands of a nested program against its arguments.
fn check_types(what: &str, expected: &[Aval], got: &[Aval]) -> Result<(), ShapeError> {
    crate::ensure_shape!(
        expected.len() == got.len(),
        "{what} takes {} arrays, got {}",
        expected.len(),
        got.len()
    );
    for (i, (e, g)) in expected.iter().zip(got).enumerate() {
        crate::ensure_shape!(
            e.strong() == g.strong(),
            "{what} takes {e} as array {i}, got {g}"
        );
    }
    Ok(())
}

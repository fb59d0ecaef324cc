//! Automatic checks of operations: NaN, division and index checks.

use super::failure::{Category, Failure, index_signature};
use super::pass::Pass;
use crate::prim::Positions;
use crate::program::checks::Errors;
use crate::program::jaxpr::Eqn;
use crate::{Array, DType, stack};

fn failure(eqn: &Eqn, category: Category) -> Failure {
    Failure {
        category,
        location: eqn.location,
        signature: Vec::new(),
    }
}

/// Adds the checks of an operation's operands.
pub(super) fn before(pass: &mut Pass, eqn: &Eqn, ins: &[Array]) {
    if pass.errors.contains(Errors::DIV) && eqn.primitive.checks().contains(Errors::DIV) {
        let zero = ins[1].eq(Array::scalar(0, ins[1].dtype())).any();
        pass.fail_if(&zero, failure(eqn, Category::Division), Vec::new());
    }
    if pass.errors.contains(Errors::INDEX) {
        index(pass, eqn, ins);
    }
}

/// Adds the checks of an operation's results.
pub(super) fn after(pass: &mut Pass, eqn: &Eqn, outs: &[Array]) {
    let primitive = eqn.primitive.name();
    if !pass.errors.contains(Errors::NAN) || !eqn.primitive.checks().contains(Errors::NAN) {
        return;
    }
    for out in outs.iter().filter(|o| o.dtype().is_inexact()) {
        let nan = out.is_nan().any();
        pass.fail_if(&nan, failure(eqn, Category::Nan { primitive }), Vec::new());
    }
}

fn index(pass: &mut Pass, eqn: &Eqn, ins: &[Array]) {
    let Some(Positions {
        starts,
        axes,
        sizes,
    }) = eqn
        .primitive
        .facts()
        .positions
        .and_then(|p| p.positions(ins))
    else {
        return;
    };
    let count = starts.size();
    if count == 0 || axes.is_empty() {
        return;
    }
    let shape = ins[0].shape();
    // An index that does not fit becomes the nearest one, which is out of bounds as well.
    let starts = match starts.dtype() {
        DType::I64 => starts.clip(i32::MIN, i32::MAX),
        DType::U32 | DType::U64 => starts.minimum(i32::MAX),
        _ => starts,
    };
    let starts = starts
        .astype(DType::I32)
        .reshape(&[count / axes.len(), axes.len()]);
    let row = |numbers: Vec<usize>| -> Array {
        let numbers: Vec<i32> = numbers
            .iter()
            .map(|&n| i32::try_from(n).unwrap_or(i32::MAX))
            .collect();
        Array::from(numbers.as_slice())
    };
    let last = axes.iter().zip(&sizes).map(|(&d, &size)| shape[d] - size);
    let outside = starts.lt(0) | starts.gt(row(last.collect()));
    let outside = outside.reshape(&[count]);
    // The first index out of bounds, its axis, and the size of that axis.
    let first = outside.astype(DType::I32).argmax(0);
    let column = &first % axes.len();
    let of = |numbers: Vec<usize>| row(numbers).take(&column, 0);
    let payload = stack(
        &[
            starts.reshape(&[count]).take(&first, 0),
            of(axes.clone()),
            of(axes.iter().map(|&d| shape[d]).collect()),
        ],
        0,
    );
    let failure = Failure {
        category: Category::Index {
            primitive: eqn.primitive.name(),
            shape: shape.to_vec(),
        },
        location: eqn.location,
        signature: index_signature(),
    };
    pass.fail_if(&outside.any(), failure, vec![payload]);
}

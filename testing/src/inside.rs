//! An operation inside of control flow, where batches meet other rules: of a
//! choice that examples make differently, of a scan, of a loop that examples
//! leave at different times.

use super::apply::Operation;
use ramie_core::lax::{axis_index, cond, scan, while_loop};
use ramie_core::{Array, eval_shape};

/// The name of the mapped axis.
pub const EXAMPLES: &str = "examples";

/// What an operation is inside of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nesting {
    /// Nothing.
    Nothing,
    /// Both branches of a choice by the example.
    Cond,
    /// The body of a scan over the operands, twice.
    Scan,
    /// The body of a loop, which examples run once or twice.
    While,
}

impl Nesting {
    /// Returns the operation's results when it is mapped over [`EXAMPLES`].
    pub fn apply(self, f: &Operation, operands: Vec<Array>) -> Vec<Array> {
        match self {
            Nesting::Nothing => f(&operands),
            Nesting::Cond => {
                let even = (axis_index(EXAMPLES) % 2).eq(0);
                cond(even, |xs: Vec<Array>| f(&xs), |xs| f(&xs), operands)
            }
            Nesting::Scan => {
                let twice: Vec<Array> = operands.iter().map(twice).collect();
                let (_, results) = scan(
                    |count: Array, xs: Vec<Array>| (count + 1, f(&xs)),
                    Array::from(0i32),
                    twice,
                );
                results.iter().map(|r| r.index((1,))).collect()
            }
            Nesting::While => {
                let results = eval_shape(|xs: Vec<Array>| f(&xs), operands.clone());
                let before: Vec<Array> = results
                    .iter()
                    .map(|r| Array::zeros(r.shape(), r.dtype()))
                    .collect();
                let first = axis_index(EXAMPLES) % 2;
                let carry = while_loop(
                    |(turn, _, _): (Array, Vec<Array>, Vec<Array>)| turn.lt(2),
                    |(turn, xs, _)| {
                        let results = f(&xs);
                        (turn + 1, xs, results)
                    },
                    (first, operands, before),
                );
                carry.2
            }
        }
    }
}

/// The array as two steps of a scan.
fn twice(x: &Array) -> Array {
    let mut shape = vec![2];
    shape.extend_from_slice(x.shape());
    let axes: Vec<usize> = (1..shape.len()).collect();
    x.broadcast_in_dim(&shape, &axes)
}

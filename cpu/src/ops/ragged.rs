//! Exchange of variable numbers of rows between devices.

use crate::ElementType::{I32, I64};
use crate::graph::{Operands, Source};
use crate::memory::{Context, OutputTensor, Tensor, Tensors};
use crate::{Error, Result};
use smallvec::smallvec;
use std::ops::Range;

/// Checks the operands: the rows to send, the output, and for each range of rows the offset in the operand, the size,
/// the offset in the receiver's output, and the size of the received range.
pub fn check(source: &Source<'_>) -> Result<()> {
    source.counts(6, 1, 0)?;
    let [rows, output, ranges @ ..] = &source.operands[..] else {
        return Err(source.error("needs six operands"));
    };
    let same = rows.element == output.element
        && !rows.shape.is_empty()
        && !output.shape.is_empty()
        && rows.shape[1..] == output.shape[1..];
    source.check(same, "the operand and the output must have equal rows")?;
    let numbers = ranges[0].shape.len() == 1
        && matches!(ranges[0].element, I32 | I64)
        && ranges.iter().all(|ty| *ty == ranges[0]);
    source.check(numbers, "offsets and sizes must be lists of i32 or i64")?;
    source.result(0, output)
}

fn integers(context: &Context, x: &Tensor) -> Result<Vec<i64>> {
    let x = x.contiguous(context)?;
    Ok(match x.element() {
        I32 => x.slice::<i32>().iter().map(|n| i64::from(*n)).collect(),
        _ => x.slice::<i64>().to_vec(),
    })
}

/// Returns the bytes of a range of rows, if the array has them.
fn rows(start: i64, size: i64, x: &Tensor) -> Option<Range<usize>> {
    let (start, size) = (usize::try_from(start).ok()?, usize::try_from(size).ok()?);
    let end = start.checked_add(size).filter(|end| *end <= x.shape()[0])?;
    let width = x.shape()[1..].iter().product::<usize>() * x.element().bytes();
    Some(start * width..end * width)
}

/// Returns the output of each member of a group with the rows that it receives.
///
/// # Errors
/// Returns [`Error::Failed`] if the ranges do not fit the group, the operand or the output.
pub fn exchange(context: &Context, members: &[&Operands]) -> Result<Vec<Tensors>> {
    let outputs = members.iter().map(|o| o[1].clone().into_fresh(context));
    let mut outputs: Vec<OutputTensor> = outputs.collect::<Result<_>>()?;
    let count = members[0][2].size();
    if !count.is_multiple_of(members.len()) {
        return Err(Error::Failed(format!(
            "ragged_all_to_all: there are {count} ranges of rows, expected a multiple of the number of devices \
             in the group, {}",
            members.len()
        )));
    }
    for (sender, operands) in members.iter().enumerate() {
        let x = operands[0].contiguous(context)?;
        let [starts, sizes, ends] = [2, 3, 4].map(|i| integers(context, &operands[i]));
        let ranges = starts?.into_iter().zip(sizes?).zip(ends?).enumerate();
        for (range, ((start, size), end)) in ranges {
            let receiver = range / (count / members.len());
            let output = &members[receiver][1];
            let (Some(from), Some(to)) = (rows(start, size, &x), rows(end, size, output)) else {
                return Err(Error::Failed(format!(
                    "ragged_all_to_all: member {sender} of the group sends {size} rows from row {start} of {} to \
                     row {end} of {} of member {receiver}\n  help: keep ranges inside the operand and the output",
                    x.shape()[0],
                    output.shape()[0]
                )));
            };
            outputs[receiver].bytes_mut()[to].copy_from_slice(&x.bytes()[from]);
        }
    }
    Ok(outputs.into_iter().map(|o| smallvec![o.finish()]).collect())
}

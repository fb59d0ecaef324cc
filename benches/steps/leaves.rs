//! `leaves_N`: a state of N arrays of 8 elements, each halved and incremented.

use crate::measure::{Workload, compile_time, timed};
use ramie::core::{Array, DType, Result, jit};

/// The numbers of arrays that are measured, as suffixes of the workload.
pub const COUNTS: [&str; 4] = ["10", "100", "1000", "10000"];

/// The number of calls of a sample.
pub fn steps(leaves: usize) -> usize {
    (20_000 / leaves).clamp(2, 1000)
}

pub fn build(leaves: usize) -> Result<Workload<Vec<Array>, impl FnMut(&mut Vec<Array>)>> {
    let step = jit(|state: &mut Vec<Array>| {
        for x in state {
            *x = &*x * 0.5 + 1.0;
        }
    });
    let state = vec![Array::ones(&[8], DType::F32); leaves];
    let state = jit(|x: Vec<Array>| x.iter().map(|x| x + 1.0).collect::<Vec<_>>())(state);
    let (lowered, trace_lower_s) = timed(|| step.lower_with(&state, ()))?;
    let compile_s = compile_time(lowered)?;
    Ok(Workload {
        state,
        step: move |state: &mut Vec<Array>| step(state),
        trace_lower_s,
        compile_s,
    })
}

//! `scalar`: `x → x + 1`, with the output fed back as input.

use crate::measure::{Workload, compile_time, timed};
use ramie::core::{Array, Result, jit};

pub fn build() -> Result<Workload<Array, impl FnMut(&mut Array)>> {
    let step = jit(|x: &mut Array| *x = &*x + 1.0);
    let state = Array::from([0.0f32]).reshape(());
    let (lowered, trace_lower_s) = timed(|| step.lower_with(&state, ()))?;
    let compile_s = compile_time(lowered)?;
    Ok(Workload {
        state,
        step: move |state: &mut Array| step(state),
        trace_lower_s,
        compile_s,
    })
}

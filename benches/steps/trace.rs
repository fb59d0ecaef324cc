//! `trace`: tracing and lowering, without compiling, of the train step of a decoder of 24 layers
//! of width 1,024.

use crate::decoder::{Sizes, Trainer, optimizer, train_step};
use crate::measure::Plan;
use crate::report::{Line, Times};
use ramie::core::{Array, DType, Result, devices, jit};
use std::time::Instant;

const SIZES: Sizes = Sizes {
    vocabulary: 96,
    width: 1024,
    heads: 16,
    layers: 24,
    length: 128,
};

/// Measures one trace per sample, each of a function that has not been called before, and prints
/// a line. Nothing is computed: the arguments are types.
pub fn measure(plan: &Plan) -> Result<()> {
    let platform = devices()[0].client().platform_name();
    let optimizer = optimizer();
    let trainer = Trainer::new(SIZES, &optimizer);
    let tokens = Array::shape_dtype_struct(&[16, SIZES.length], DType::I32);
    let (mut times, mut equations, mut text) = (Vec::new(), 0, 0);
    for _ in 0..plan.samples + 1 {
        let step = jit(train_step(SIZES.heads, optimizer.clone()));
        let args = (tokens.clone(), tokens.clone());
        let start = Instant::now();
        let lowered = step.lower_with(&trainer, args)?;
        times.push(start.elapsed().as_secs_f64());
        equations = lowered.jaxpr().eqns.len();
        text = lowered.as_text_with_locations().len();
    }
    let first = times.remove(0);
    Line::of("trace")
        .text("platform", platform)
        .times(&Times::new(times))
        .seconds("first_s", first)
        .value("equations", equations)
        .value("text_bytes", text)
        .print();
    Ok(())
}

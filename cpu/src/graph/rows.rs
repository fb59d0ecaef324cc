//! The operation of a cluster with reductions.

use super::{Operands, Operation};
use crate::kernels::rows::{Origin, Prepared, Rows};
use crate::kernels::{Lanes, TILE};
use crate::memory::{Context, Layout, OutputTensor, Tensor, Tensors};
use crate::{Result, TensorType};
use smallvec::SmallVec;
use std::sync::Arc;

/// Operations on rows, applied to tensors.
#[derive(Debug)]
pub struct Fused {
    rows: Prepared,
    layouts: SmallVec<[Arc<Layout>; 4]>,
    /// Whether each operand is reduced.
    reduced: Vec<bool>,
    /// The last step that reads each operand. Each stage is a step, and its reductions are another.
    reads: Vec<usize>,
    /// The step that writes each result, unless all rows contribute to it.
    writes: Vec<Option<usize>>,
}

impl Fused {
    /// Returns the operation for a number of operands and results of some types.
    pub fn new(rows: Rows, operands: usize, types: &[&TensorType]) -> Fused {
        let layouts = types.iter().map(|ty| Layout::dense((*ty).clone()));
        let mut fused = Fused {
            layouts: layouts.collect(),
            reduced: vec![false; operands],
            reads: vec![0; operands],
            writes: vec![None; types.len()],
            rows: rows.prepare(),
        };
        let rows = fused.rows.rows();
        for (i, stage) in rows.stages.iter().enumerate() {
            for origin in &stage.inputs {
                if let Origin::Input(operand) = origin {
                    fused.reads[*operand] = 2 * i;
                }
            }
            for fold in &stage.folds {
                if let Origin::Input(operand) = fold.origin {
                    fused.reads[operand] = 2 * i + 1;
                    fused.reduced[operand] = true;
                }
            }
            let results = stage.outputs.iter().filter(|place| **place < types.len());
            results.for_each(|place| fused.writes[*place] = Some(2 * i));
        }
        for total in &rows.totals {
            fused.reads[total.initial] = usize::MAX;
        }
        fused
    }
}

impl Operation for Fused {
    fn run(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        for (operand, reduced) in operands.iter_mut().zip(&self.reduced) {
            // Tiles of a transposed array would load a cache line per element.
            let has_gaps = !operand.is_contiguous();
            if has_gaps && (*reduced || operand.size() > TILE && operand.is_scattered()) {
                *operand = operand.contiguous(context)?;
            }
        }
        if self.layouts.iter().all(|layout| layout.size() < TILE) {
            let results = fresh(context, &self.layouts)?;
            let mut inputs: SmallVec<[Lanes<'_>; 8]> = SmallVec::new();
            operands.iter().for_each(|x| inputs.push(Lanes::of(x)));
            return Ok(self.write(context, &inputs, results));
        }
        let writes_over = |operand: usize, result: usize| {
            self.writes[result].is_some_and(|step| self.reads[operand] <= step)
        };
        let (results, overwritten) = results(context, &mut operands, &self.layouts, writes_over)?;
        let inputs = lanes(&operands, &overwritten);
        Ok(self.write(context, &inputs, results))
    }
}

impl Fused {
    fn write(&self, context: &Context, inputs: &[Lanes<'_>], mut results: Results) -> Tensors {
        let mut outputs: SmallVec<[&mut [u8]; 8]> = SmallVec::new();
        let each = results.iter_mut();
        each.for_each(|fresh| outputs.push(fresh.bytes_mut()));
        self.rows.run(inputs, &mut outputs, context.threads);
        drop(outputs);
        let mut tensors = Tensors::with_capacity(results.len());
        let results = results.into_iter();
        results.for_each(|fresh| tensors.push(fresh.finish()));
        tensors
    }
}

/// The memory of the results of an operation.
pub type Results = SmallVec<[OutputTensor; 4]>;

/// Returns new memory for results.
///
/// # Errors
/// Returns [`crate::Error::Memory`] if a result does not fit into memory.
pub fn fresh(context: &Context, layouts: &[Arc<Layout>]) -> Result<Results> {
    // A collected list of results would grow step by step.
    let mut results = Results::with_capacity(layouts.len());
    for layout in layouts {
        results.push(OutputTensor::with_layout(context, layout)?);
    }
    Ok(results)
}

/// The memory of results, and the number of the result that has the memory of each operand.
type Memory = (Results, SmallVec<[Option<usize>; 8]>);

/// Returns memory for results. A result is written over an operand without other uses if `allowed` returns `true`
/// for the numbers of both. Such operands are removed.
///
/// # Errors
/// Returns [`crate::Error::Memory`] if a result does not fit into memory.
pub fn results(
    context: &Context,
    operands: &mut Operands,
    layouts: &[Arc<Layout>],
    allowed: impl Fn(usize, usize) -> bool,
) -> Result<Memory> {
    let mut results = Results::with_capacity(layouts.len());
    let mut overwritten = SmallVec::from_elem(None, operands.len());
    let mut numbers: SmallVec<[usize; 8]> = (0..operands.len()).collect();
    for (k, layout) in layouts.iter().enumerate() {
        let mut free = SmallVec::new();
        if layout.size() >= TILE {
            free = Tensor::replaceable(operands, layout);
        }
        if free.iter().any(|i| !allowed(numbers[*i], k)) {
            free.clear();
        }
        let mut memory = None;
        for i in free.iter().rev() {
            overwritten[numbers.remove(*i)] = Some(k);
            memory = operands.remove(*i).into_memory(layout);
        }
        results.push(match memory {
            Some(memory) => memory,
            None => OutputTensor::with_layout(context, layout)?,
        });
    }
    Ok((results, overwritten))
}

/// Returns the elements of all operands, of which those that are overwritten were removed.
pub fn lanes<'a>(
    operands: &'a [Tensor],
    overwritten: &[Option<usize>],
) -> SmallVec<[Lanes<'a>; 8]> {
    let mut others = operands.iter();
    let mut lanes = SmallVec::new();
    for result in overwritten {
        lanes.push(match result {
            Some(k) => Lanes::Output(*k),
            None => Lanes::of(others.next().expect("an operand for each input")),
        });
    }
    lanes
}

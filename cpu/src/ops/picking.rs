//! The gradient of max pooling for windows of few elements, a line of windows at a time.

use super::arrays::convert;
use super::elementwise::compute_type;
use super::lines::{Lines, PARALLEL, PIECE};
use super::region::only;
use super::window::Windows;
use crate::graph::Source;
use crate::kernels::pick::{Line, Pick, Place, Scratch, Steps, picker};
use crate::kernels::{fill, try_share};
use crate::memory::{Context, OutputTensor, Storage, Tensor};
use crate::text::Attribute;
use crate::{ElementType, Result};

/// Returns the kernel for the regions and windows of an operation, if there is one.
pub fn pick(source: &Source<'_>, windows: &Windows, element: ElementType) -> Option<Pick> {
    let [select, scatter] = &source.syntax.regions[..] else {
        return None;
    };
    let (select, scatter) = (only(select)?, only(scatter)?);
    let word = |name: &str| match select.attributes.get(name) {
        Some(Attribute::Word(word) | Attribute::Text(word)) => Some(word.as_str()),
        _ => None,
    };
    let block = &source.syntax.regions[0];
    let compares = select.name == "stablehlo.compare"
        && select.operands[0] == block.arguments[0].0
        && word("compare_type") != Some("TOTALORDER");
    let greatest = match word("comparison_direction")? {
        "GE" => true,
        "LE" => false,
        _ => return None,
    };
    let fits = compares && scatter.name == "stablehlo.add" && Lines::fit(windows);
    picker(compute_type(element), greatest).filter(|_| fits)
}

/// Adds the update of each window to the element that the window picks from `x`, which begins with `initial`. The
/// arrays are contiguous, and there is an update. Sums of narrow floats are rounded once.
///
/// # Errors
/// Returns [`crate::Error::Memory`] if the result or the picked elements of a line do not fit into memory.
pub fn scatter(
    context: &Context,
    pick: Pick,
    windows: &Windows,
    arrays: [&Tensor; 3],
) -> Result<Tensor> {
    let element = arrays[0].element();
    let compute = compute_type(element);
    if compute != element {
        let wide = arrays.map(|x| convert(context, x.clone(), compute));
        let [x, updates, initial] = wide;
        let sums = scatter_wide(context, pick, windows, [&x?, &updates?, &initial?])?;
        return convert(context, sums, element);
    }
    scatter_wide(context, pick, windows, arrays)
}

/// Does the same for elements of the type in which sums are computed.
fn scatter_wide(
    context: &Context,
    pick: Pick,
    windows: &Windows,
    [x, updates, initial]: [&Tensor; 3],
) -> Result<Tensor> {
    let width = x.element().bytes();
    let order: Vec<usize> = (0..x.shape().len()).collect();
    let lines = Lines::new(x.shape(), windows, &order);
    let steps = Steps {
        run: lines.run,
        jump: lines.line.jump(),
    };
    // Windows of different planes share no element.
    let plane = x.size() / lines.planes;
    let length = lines.length();
    let rows = updates.size() / lines.planes / length;
    let planes = (PIECE / (plane * width)).max(1);
    let work = updates.size().saturating_mul(lines.count());
    let threads = if work >= PARALLEL { context.threads } else { 1 };
    let mut result = OutputTensor::new(context, x.ty.clone())?;
    let initial = &initial.data::<u8>()[initial.offset * width..][..width];
    let mut pieces: Vec<&mut [u8]> = result
        .bytes_mut()
        .chunks_mut(planes * plane * width)
        .collect();
    try_share(threads, &mut pieces, |i, sums| {
        fill(sums, initial);
        let mut best = Storage::new(length * width)?;
        let mut numbers = Storage::new(length * size_of::<u32>())?;
        let mut places = Vec::with_capacity(lines.count());
        let start = i * planes * plane;
        let x = &x.bytes()[start * width..];
        let first = i * planes * rows;
        for row in first..first + sums.len() / (plane * width) * rows {
            places.clear();
            lines.visit(row, |number, windows, place| {
                places.push(Place {
                    number: number as u32,
                    windows: windows.clone(),
                    first: place - start,
                });
            });
            let scratch = Scratch {
                best: best.bytes_mut(),
                numbers: bytemuck::cast_slice_mut(numbers.bytes_mut()),
            };
            let updates = &updates.bytes()[row * length * width..][..length * width];
            let line = Line {
                places: &places,
                steps,
                x,
                updates,
            };
            pick(line, sums, scratch);
        }
        Ok(())
    })?;
    Ok(result.finish())
}

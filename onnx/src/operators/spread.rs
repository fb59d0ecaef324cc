//! Filling the surroundings of an array: padding and cropping.

use super::{Operator, array, only};
use crate::call::Call;
use ramie_core::Array;
use ramie_core::numpy::PadMode;

pub(super) const OPERATORS: &[Operator] = &[
    array("CenterCropPad", center).needs(&[1]),
    array("Pad", pad).needs(&[1, 3]).limits(|n, _| {
        only(
            n,
            "mode",
            "constant",
            &["constant", "edge", "reflect", "wrap"],
        )
    }),
];

fn pad(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let given = call.ints_of("pads", 1).unwrap_or_default();
    let axes = call.optional_ints(3);
    let axes = call.axes_of(axes.as_deref(), x.ndim());
    if given.len() != 2 * axes.len() {
        call.fail(&format!(
            "got {} widths for {} axes",
            given.len(),
            axes.len()
        ));
    }
    let mut widths = vec![(0, 0); x.ndim()];
    for (i, axis) in axes.iter().enumerate() {
        widths[*axis] = (given[i] as isize, given[i + axes.len()] as isize);
    }
    let mode = match call.text("mode", "constant") {
        "edge" => PadMode::Edge,
        "reflect" => PadMode::Reflect,
        "wrap" => PadMode::Wrap,
        _ => {
            let config: Vec<_> = widths.iter().map(|(low, high)| (*low, *high, 0)).collect();
            let value = match call.optional(2) {
                Some(value) => value.reshape(()),
                None => Array::scalar(call.float("value", 0.0), x.dtype()),
            };
            return x.lax_pad(&config, value);
        }
    };
    // Negative widths remove elements.
    let removed: Vec<_> = widths
        .iter()
        .map(|(low, high)| (*low.min(&0), *high.min(&0), 0))
        .collect();
    let added = widths
        .iter()
        .map(|(low, high)| (*low.max(&0) as usize, *high.max(&0) as usize));
    x.lax_pad(&removed, 0)
        .pad_with(&added.collect::<Vec<_>>(), mode)
}

/// Crops or pads axes to sizes, equally on both sides.
fn center(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let axes = call.axes_of(call.ints("axes"), x.ndim());
    let sizes = call.sizes(&call.host_ints(1));
    call.check_length("shape", sizes.len(), axes.len(), axes.len());
    let mut config = vec![(0, 0, 0); x.ndim()];
    for (axis, size) in axes.into_iter().zip(sizes) {
        let missing = size as isize - x.shape()[axis] as isize;
        let before = if missing < 0 {
            -(-missing / 2)
        } else {
            missing / 2
        };
        config[axis] = (before, missing - before, 0);
    }
    x.lax_pad(&config, 0)
}

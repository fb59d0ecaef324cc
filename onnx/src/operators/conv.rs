//! Convolutions, and the geometry of sliding windows.

use super::{Operator, array, only};
use crate::call::Call;
use crate::file::Node;
use ramie_core::Array;
use ramie_core::lax::conv_general_dilated;
use ramie_core::options::Convolution;

pub(super) const OPERATORS: &[Operator] = &[
    array("Conv", |c| biased(c, convolve(c, &c.array(0), &c.array(1)))).limits(padding),
    array("ConvTranspose", |c| biased(c, transposed(c))).limits(padding),
];

/// The modes of padding.
pub(super) fn padding(node: &Node, _: i64) -> Result<(), String> {
    only(
        node,
        "auto_pad",
        "NOTSET",
        &["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"],
    )
}

/// The geometry of a window along the spatial axes.
pub(super) struct Geometry {
    pub window: Vec<usize>,
    pub strides: Vec<usize>,
    pub dilations: Vec<usize>,
    pub pads: Vec<(isize, isize)>,
}

impl Geometry {
    /// Reads the attributes of a node whose window slides over an array.
    pub fn of(call: &Call<'_>, x: &Array, window: &[usize]) -> Geometry {
        let spatial = window.len();
        if x.ndim() != spatial + 2 {
            call.fail(&format!("a window of {window:?} does not fit {}", x.aval()));
        }
        let list = |name: &str| match numbers(call, name, spatial, spatial) {
            Some(list) => call.sizes(list),
            None => vec![1; spatial],
        };
        let mut geometry = Geometry {
            window: window.to_vec(),
            strides: list("strides"),
            dilations: list("dilations"),
            pads: vec![(0, 0); spatial],
        };
        let mode = call.text("auto_pad", "NOTSET");
        match mode {
            "NOTSET" => {
                if let Some(pads) = numbers(call, "pads", 2 * spatial, spatial) {
                    let (low, high) = pads.split_at(spatial);
                    let pairs = low.iter().zip(high);
                    geometry.pads = pairs
                        .map(|(low, high)| (*low as isize, *high as isize))
                        .collect();
                }
            }
            "SAME_UPPER" | "SAME_LOWER" => {
                for d in 0..spatial {
                    // ⌈size / stride⌉ windows reach over (windows - 1) × stride + extent elements.
                    let (size, stride) = (x.shape()[d + 2], geometry.strides[d].max(1));
                    let reach = (size.div_ceil(stride).max(1) - 1) * stride + geometry.extent(d);
                    geometry.pads[d] = halves(reach.saturating_sub(size) as isize, mode);
                }
            }
            _ => {}
        }
        geometry
    }

    /// Returns the size of the window along an axis, with dilation.
    pub fn extent(&self, d: usize) -> usize {
        match self.window[d] {
            0 => 0,
            n => (n - 1) * self.dilations[d] + 1,
        }
    }
}

/// Returns a list of integers, which must have `count` numbers for the spatial axes.
fn numbers<'a>(call: &'a Call<'_>, name: &str, count: usize, spatial: usize) -> Option<&'a [i64]> {
    let list = call.ints(name)?;
    call.check_length(name, list.len(), spatial, count);
    Some(list)
}

/// Divides padding between both ends.
fn halves(total: isize, mode: &str) -> (isize, isize) {
    let half = total.div_euclid(2);
    match mode {
        "SAME_UPPER" => (half, total - half),
        _ => (total - half, half),
    }
}

/// Convolves images with kernels, as the attributes of a node describe.
pub(super) fn convolve(call: &Call<'_>, x: &Array, kernel: &Array) -> Array {
    let window = kernel.shape().get(2..).unwrap_or_default();
    let geometry = Geometry::of(call, x, window);
    let how = Convolution::new()
        .strides(&geometry.strides)
        .rhs_dilation(&geometry.dilations)
        .padding(&geometry.pads[..])
        .feature_group_count(call.at_least(1, "group", call.int("group", 1)));
    conv_general_dilated(x, kernel, &how)
}

/// Adds the bias of each feature.
fn biased(call: &Call<'_>, y: Array) -> Array {
    match call.optional(2) {
        Some(bias) => {
            // `[features]` → `[features, 1, …]`, which broadcasts over the spatial axes.
            let axes: Vec<isize> = (1..y.ndim() as isize - 1).collect();
            y + bias.expand_dims(&axes)
        }
        None => y,
    }
}

/// Computes the transposed convolution: a convolution of the dilated operand with the mirrored
/// kernel.
fn transposed(call: &Call<'_>) -> Array {
    let (x, kernel) = (call.array(0), call.array(1));
    let window = kernel.shape().get(2..).unwrap_or_default();
    let mut geometry = Geometry::of(call, &x, window);
    let spatial = window.len();
    let extra = match numbers(call, "output_padding", spatial, spatial) {
        Some(extra) => call.sizes(extra),
        None => vec![0; spatial],
    };
    let mode = call.text("auto_pad", "NOTSET");
    // Some exporters list the batch and the features, too.
    let is_full = call.ints("output_shape").map(<[i64]>::len) == Some(spatial + 2);
    let listed = if is_full { spatial + 2 } else { spatial };
    let requested = numbers(call, "output_shape", listed, spatial).map(|sizes| call.sizes(sizes));
    for d in 0..spatial {
        let (size, stride) = (x.shape()[d + 2], geometry.strides[d]);
        // The size without padding; the padding removes what exceeds the requested size.
        let whole = stride * (size.max(1) - 1) + extra[d] + geometry.extent(d);
        let wanted = match (&requested, mode) {
            (Some(sizes), _) => sizes[sizes.len() - spatial + d],
            (None, "SAME_UPPER" | "SAME_LOWER") => size * stride,
            _ => continue,
        };
        geometry.pads[d] = halves(whole as isize - wanted as isize, mode);
    }
    // Padding p of the forward convolution removes elements here: its adjoint is a convolution
    // with padding extent - 1 - p, over elements that the stride moves apart.
    let pads: Vec<(isize, isize)> = (0..spatial)
        .map(|d| {
            let ((low, high), reach) = (geometry.pads[d], geometry.extent(d) as isize - 1);
            (reach - low, reach - high + extra[d] as isize)
        })
        .collect();
    let groups = call.at_least(1, "group", call.int("group", 1));
    let how = Convolution::new()
        .lhs_dilation(&geometry.strides)
        .rhs_dilation(&geometry.dilations)
        .padding(&pads[..])
        .feature_group_count(groups);
    conv_general_dilated(&x, &mirrored(&kernel, groups), &how)
}

/// Mirrors the spatial axes of a kernel and exchanges the features within each group:
/// `[g c, m, …]` becomes `[g m, c, …]`.
fn mirrored(kernel: &Array, groups: usize) -> Array {
    let shape = kernel.shape();
    let (inputs, outputs) = (shape[0] / groups, shape[1]);
    let mut split = vec![groups, inputs, outputs];
    split.extend_from_slice(&shape[2..]);
    let mut joined = vec![groups * outputs, inputs];
    joined.extend_from_slice(&shape[2..]);
    let spatial: Vec<isize> = (2..shape.len() as isize).collect();
    kernel
        .reshape(&split)
        .swap_axes(1, 2)
        .reshape(&joined)
        .flip(&spatial)
}

//! Resizing by interpolation. Coordinates and weights are computed on the host.

use super::{Operator, array, only};
use crate::call::Call;
use crate::file::Node;
use ramie_core::lax::Precision;
use ramie_core::options::Contraction;
use ramie_core::{Array, DType, where_};

pub(super) const OPERATORS: &[Operator] = &[
    array("Resize", resize).needs(&[1, 2, 3]).limits(limits),
    array("Upsample", resize).needs(&[1]).limits(limits),
];

fn limits(node: &Node, _: i64) -> Result<(), String> {
    only(
        node,
        "mode",
        "nearest",
        &["nearest", "linear", "bilinear", "cubic"],
    )?;
    let modes = [
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_crop_and_resize",
    ];
    only(node, "coordinate_transformation_mode", "half_pixel", &modes)?;
    let nearest = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];
    only(node, "nearest_mode", "round_prefer_floor", &nearest)?;
    let policies = ["stretch", "not_larger", "not_smaller"];
    only(node, "keep_aspect_ratio_policy", "stretch", &policies)
}

/// An axis that is resized.
struct Resized {
    axis: usize,
    size: usize,
    new_size: usize,
    scale: f64,
    /// The part of the axis that `tf_crop_and_resize` selects, from 0 to 1.
    region: (f64, f64),
}

fn resize(call: &Call<'_>) -> Array {
    let x = call.array(0);
    axes(call, &x).into_iter().fold(x, |x, resized| {
        if resized.new_size == resized.size && resized.scale == 1.0 && resized.region == (0.0, 1.0)
        {
            return x;
        }
        along(call, &x, &resized)
    })
}

/// Returns the axes with their new sizes.
fn axes(call: &Call<'_>, x: &Array) -> Vec<Resized> {
    let is_new = call.opset >= 11 && call.operator == "Resize";
    let axes = call.axes_of(call.ints("axes"), x.ndim());
    // Since version 11 the inputs are `x, roi, scales, sizes`, of which unused ones may be empty.
    let [scales, sizes] = if is_new {
        [2, 3].map(|i| call.optional_known(i).filter(|list| list.size() > 0))
    } else {
        [call.optional_known(1), None]
    };
    let scales = scales
        .map(|known| known.to_floats())
        .or_else(|| call.floats("scales"));
    let old: Vec<usize> = axes.iter().map(|axis| x.shape()[*axis]).collect();
    let regions = regions(call, axes.len());
    let (scales, new): (Vec<f64>, Vec<usize>) = match (scales, sizes) {
        (Some(scales), _) => {
            call.check_length("scales", scales.len(), axes.len(), axes.len());
            if !scales.iter().all(|scale| *scale > 0.0 && scale.is_finite()) {
                call.fail(&format!(
                    "`scales` is {scales:?}, expected finite numbers above 0"
                ));
            }
            let new = old
                .iter()
                .zip(&scales)
                // In `f32`, as ONNX Runtime: 640 times the float next to 0.35 is 224.
                .map(|(n, scale)| (*n as f32 * *scale as f32).floor() as usize);
            let new = new.collect();
            (scales, new)
        }
        (None, Some(sizes)) => {
            call.check_length("sizes", sizes.size(), axes.len(), axes.len());
            of_sizes(call, &old, &call.sizes(&sizes.to_ints()))
        }
        (None, None) => call.fail("there are neither scales nor sizes"),
    };
    let each = axes.iter().enumerate().map(|(i, axis)| Resized {
        axis: *axis,
        size: old[i],
        new_size: new[i],
        scale: scales[i],
        region: regions[i],
    });
    each.collect()
}

/// Returns the part of each axis that is resized.
fn regions(call: &Call<'_>, axes: usize) -> Vec<(f64, f64)> {
    if call.text("coordinate_transformation_mode", "") != "tf_crop_and_resize" {
        return vec![(0.0, 1.0); axes];
    }
    call.required(1);
    let roi = call.optional_known(1).expect("it is required").to_floats();
    call.check_length("roi", roi.len(), axes, 2 * axes);
    // All starts, then all ends.
    let (starts, ends) = roi.split_at(axes);
    starts.iter().copied().zip(ends.iter().copied()).collect()
}

/// Returns the scales and the new sizes for requested sizes, which may keep the aspect ratio.
fn of_sizes(call: &Call<'_>, old: &[usize], requested: &[usize]) -> (Vec<f64>, Vec<usize>) {
    let ratios = old
        .iter()
        .zip(requested)
        .map(|(old, new)| *new as f64 / *old as f64);
    let scale = match call.text("keep_aspect_ratio_policy", "stretch") {
        "not_larger" => ratios.fold(f64::INFINITY, f64::min),
        "not_smaller" => ratios.fold(0.0, f64::max),
        _ => return (ratios.collect(), requested.to_vec()),
    };
    let new = old
        .iter()
        .map(|n| (*n as f64 * scale + 0.5).floor() as usize);
    (vec![scale; old.len()], new.collect())
}

/// Resizes one axis.
fn along(call: &Call<'_>, x: &Array, resized: &Resized) -> Array {
    let at: Vec<f64> = (0..resized.new_size)
        .map(|i| coordinate(call, resized, i))
        .collect();
    let axis = resized.axis as isize;
    let last = resized.size as f64 - 1.0;
    let y = match call.text("mode", "nearest") {
        "nearest" => {
            let nearest = at.iter().map(|x| nearest(call, *x).clamp(0.0, last) as i32);
            x.take(&Array::from(nearest.collect::<Vec<i32>>()), axis)
        }
        mode => {
            let kernel = Kernel {
                cubic: mode == "cubic",
                a: call.float("cubic_coeff_a", -0.75),
            };
            let weights: Vec<f32> = at
                .iter()
                .flat_map(|x| weights(call, &kernel, resized, *x))
                .collect();
            // One row of weights per new element, most of them 0: a product with a matrix is one
            // operation, whatever the kernel. `[…, old, …] · [new, old]` → `[…, new]`.
            let weights = Array::from_vec(weights, &[resized.new_size, resized.size]);
            let dtype = if x.dtype() == DType::F64 {
                DType::F64
            } else {
                DType::F32
            };
            // A lower precision would round the weights on some devices.
            let exact = Contraction::new().precision(Precision::HIGHEST);
            let x = x.astype(dtype);
            let y = x.tensordot_with(weights.astype(dtype), ([axis], [1]), exact);
            y.move_axis(-1, axis)
        }
    };
    let y = if x.dtype().is_float() {
        y.astype(x.dtype())
    } else {
        y.round().astype(x.dtype())
    };
    if call.text("coordinate_transformation_mode", "") != "tf_crop_and_resize" {
        return y;
    }
    let outside: Vec<bool> = at.iter().map(|x| *x < 0.0 || *x > last).collect();
    let outside = Array::from_slice(&outside, &[outside.len()]);
    let outside = outside.broadcast_in_dim(y.shape(), &[resized.axis]);
    where_(
        outside,
        Array::scalar(call.float("extrapolation_value", 0.0), y.dtype()),
        y,
    )
}

/// Returns the coordinate of an element of the result in the operand.
fn coordinate(call: &Call<'_>, resized: &Resized, i: usize) -> f64 {
    let Resized {
        size,
        new_size,
        scale,
        region,
        ..
    } = *resized;
    let (i, last, width) = (i as f64, size as f64 - 1.0, size as f64 * scale);
    let centered = (i + 0.5) / scale - 0.5;
    let default = if call.opset < 11 || call.operator == "Upsample" {
        "asymmetric"
    } else {
        "half_pixel"
    };
    match call.text("coordinate_transformation_mode", default) {
        "asymmetric" => i / scale,
        "align_corners" if width == 1.0 => 0.0,
        "align_corners" => i * last / (width - 1.0),
        "pytorch_half_pixel" if width == 1.0 => -0.5,
        "half_pixel_symmetric" => size as f64 / 2.0 * (1.0 - new_size as f64 / width) + centered,
        "tf_crop_and_resize" => {
            let (start, end) = region;
            let inside = if width == 1.0 {
                (end - start) * last / 2.0
            } else {
                i * (end - start) * last / (width - 1.0)
            };
            start * last + inside
        }
        _ => centered,
    }
}

/// Returns the nearest integer to a coordinate.
fn nearest(call: &Call<'_>, x: f64) -> f64 {
    let default = if call.opset < 11 || call.operator == "Upsample" {
        "floor"
    } else {
        "round_prefer_floor"
    };
    match call.text("nearest_mode", default) {
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "round_prefer_ceil" => (x + 0.5).floor(),
        _ => (x - 0.5).ceil(),
    }
}

/// The weight of an element by its distance: linear, or Keys' cubic convolution.
struct Kernel {
    cubic: bool,
    a: f64,
}

impl Kernel {
    fn radius(&self) -> f64 {
        if self.cubic { 2.0 } else { 1.0 }
    }

    fn at(&self, distance: f64) -> f64 {
        let (x, a) = (distance.abs(), self.a);
        match self.cubic {
            false => (1.0 - x).max(0.0),
            // (a + 2) x³ - (a + 3) x² + 1, and a x³ - 5 a x² + 8 a x - 4 a.
            true if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
            true if x < 2.0 => a * (((x - 5.0) * x + 8.0) * x - 4.0),
            true => 0.0,
        }
    }
}

/// Returns the weights of all elements of an axis at a coordinate.
fn weights(call: &Call<'_>, kernel: &Kernel, resized: &Resized, x: f64) -> Vec<f32> {
    // With antialiasing, the kernel covers as many elements as are merged.
    let narrow = match call.int("antialias", 0) {
        0 => 1.0,
        _ => resized.scale.min(1.0),
    };
    // The last element before `x`; the kernel reaches the offsets `start` to `1 - start` from it.
    let base = x.ceil() - 1.0;
    let start = (-kernel.radius() / narrow).floor() + 1.0;
    let count = (2.0 - 2.0 * start) as usize;
    let last = resized.size as f64 - 1.0;
    let excluded = call.int("exclude_outside", 0) != 0;
    let mut row = vec![0.0; resized.size];
    for i in 0..count {
        let at = base + start + i as f64;
        // Elements outside of the axis repeat its ends, unless they are excluded.
        if !(excluded && (at < 0.0 || at > last)) {
            row[at.clamp(0.0, last) as usize] += kernel.at((at - x) * narrow);
        }
    }
    // Excluded elements and a narrowed kernel leave a sum other than 1.
    let total: f64 = row.iter().sum();
    row.into_iter()
        .map(|weight| (weight / total) as f32)
        .collect()
}

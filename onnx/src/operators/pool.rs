//! Pooling over windows and over whole images.

use super::conv::{self, Geometry};
use super::{Operator, array};
use crate::call::Call;
use ramie_core::options::Window;
use ramie_core::{Array, DType};

pub(super) const OPERATORS: &[Operator] = &[
    array("AveragePool", |c| {
        let (x, sliding) = (c.array(0), Sliding::of(c));
        sliding.sum(&x) / sliding.counts(&x, c.int("count_include_pad", 0) != 0)
    })
    .limits(conv::padding),
    array("GlobalAveragePool", |c| {
        over_images(c, |x, axes| x.mean_over(axes))
    }),
    array("GlobalLpPool", |c| {
        let p = c.int("p", 2) as f64;
        let x = c.array(0).abs().power(p);
        let axes = spatial(&x);
        x.reduce_sum(&axes).expand_dims(&axes).power(1.0 / p)
    }),
    array("GlobalMaxPool", |c| over_images(c, Array::reduce_max)),
    array("LpPool", |c| {
        let p = c.int("p", 2) as f64;
        Sliding::of(c)
            .sum(&c.array(0).abs().power(p))
            .power(1.0 / p)
    })
    .limits(conv::padding),
    array("MaxPool", |c| {
        let (x, sliding) = (c.array(0), Sliding::of(c));
        x.reduce_window_max(&sliding.window(&sliding.padded()))
    })
    .limits(|node, opset| {
        if node.has_output(1) {
            Err("the output `Indices` is not supported".into())
        } else {
            conv::padding(node, opset)
        }
    }),
    array("LRN", local_response),
];

fn spatial(x: &Array) -> Vec<isize> {
    (2..x.ndim() as isize).collect()
}

/// Reduces the spatial axes to size 1.
fn over_images(call: &Call<'_>, f: fn(&Array, &[isize]) -> Array) -> Array {
    let x = call.array(0);
    let axes = spatial(&x);
    f(&x, &axes).expand_dims(&axes)
}

/// A window that slides over images.
struct Sliding {
    geometry: Geometry,
    /// Elements after the padding that the last window of `ceil_mode` reaches.
    beyond: Vec<isize>,
}

impl Sliding {
    fn of(call: &Call<'_>) -> Sliding {
        let x = call.array(0);
        let window = call.sizes(call.ints("kernel_shape").unwrap_or_default());
        let geometry = Geometry::of(call, &x, &window);
        let beyond = |d: usize| {
            let (low, high) = geometry.pads[d];
            let (size, stride) = (
                x.shape()[d + 2] as isize,
                geometry.strides[d].max(1) as isize,
            );
            let extent = geometry.extent(d) as isize;
            let rest = (size + low + high - extent).rem_euclid(stride);
            // A window that would start in the padding is left out.
            let start = size + low + high - extent - rest + stride;
            if call.int("ceil_mode", 0) != 0 && rest != 0 && start < size + low {
                stride - rest
            } else {
                0
            }
        };
        let beyond = (0..window.len()).map(beyond).collect();
        Sliding { geometry, beyond }
    }

    /// Returns the padding of each spatial axis, with the elements that only windows reach.
    fn padded(&self) -> Vec<(isize, isize)> {
        let pads = self.geometry.pads.iter().zip(&self.beyond);
        pads.map(|((low, high), beyond)| (*low, high + beyond))
            .collect()
    }

    /// Returns the window with a padding of the spatial axes.
    fn window(&self, pads: &[(isize, isize)]) -> Window {
        let whole = |list: &[usize]| [&[1, 1], list].concat();
        Window::new(&whole(&self.geometry.window))
            .strides(&whole(&self.geometry.strides))
            .window_dilation(&whole(&self.geometry.dilations))
            .padding(&[&[(0, 0), (0, 0)], pads].concat()[..])
    }

    fn sum(&self, x: &Array) -> Array {
        x.reduce_window_sum(&self.window(&self.padded()))
    }

    /// Returns the number of elements of each window, with or without those of the padding.
    fn counts(&self, x: &Array, padding: bool) -> Array {
        let mut shape = x.shape().to_vec();
        shape[..2].fill(1);
        let pads = if padding {
            for (size, (low, high)) in shape[2..].iter_mut().zip(&self.geometry.pads) {
                *size = size.saturating_add_signed(low + high);
            }
            self.beyond.iter().map(|beyond| (0, *beyond)).collect()
        } else {
            self.padded()
        };
        let ones = Array::ones(&shape, DType::F32);
        ones.reduce_window_sum(&self.window(&pads))
            .astype(x.dtype())
    }
}

/// Divides each feature by a power of the mean square of its neighbors.
fn local_response(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let size = call.at_least(1, "size", call.required_int("size"));
    let mut window = vec![1; x.ndim()];
    window[1] = size;
    let mut pads = vec![(0, 0); x.ndim()];
    pads[1] = (((size - 1) / 2) as isize, (size / 2) as isize);
    let window = Window::new(&window).padding(&pads[..]);
    let scale = call.float("alpha", 1e-4) / size as f64;
    let sums = x.square().reduce_window_sum(&window) * scale + call.float("bias", 1.0);
    x / sums.power(call.float("beta", 0.75))
}

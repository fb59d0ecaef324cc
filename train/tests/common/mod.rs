//! Data and a loss that the tests share.

// Each program uses only some of these items.
#![allow(dead_code)]

use ndarray::{Array1, Array2};
use ramie_core::Array;
use ramie_nn::Linear;

/// Coordinates `[n, 2]` and values `[n]` of points.
pub type Points = (Array2<f32>, Array1<f32>);

/// Points with two coordinates and a function of them.
pub fn points(n: usize) -> Points {
    let x = Array2::from_shape_fn((n, 2), |(i, j)| ((i * 7 + j * 3) % 11) as f32 / 11.0);
    let y = x.rows().into_iter().map(|row| row[0] * row[1]).collect();
    (x, y)
}

/// Returns the mean squared error of a linear model.
pub fn squared_error(model: &mut Linear, x: Array, y: Array) -> Array {
    (model.forward(&x).squeeze(&[-1]) - y).square().mean()
}

//! Points in the plane, in classes.

use super::RandomState;
use crate::source::IntoSource;
use ndarray::{Array1, Array2};
use std::f64::consts::TAU;

/// Points and their classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// The coordinates: `[n, 2]`.
    pub x: Array2<f32>,
    /// The class of each point: `[n]`.
    pub y: Array1<i32>,
}

impl IntoSource for Points {
    type Source = <(Array2<f32>, Array1<i32>) as IntoSource>::Source;
    fn into_source(self) -> Self::Source {
        (self.x, self.y).into_source()
    }
}

/// Creates the continuous XOR dataset: corners of the unit square with normal noise. The class is
/// 1 where the coordinates of the corner differ. The draws are those of
/// `numpy.random.RandomState(seed)`: first the bits, then the noise.
///
/// ```
/// use ramie_data::{DataLoader, synthetic};
/// let points = synthetic::noisy_xor(200, 42, 0.1);
/// assert_eq!(points.x.row(0).to_vec(), [-0.06800247, 1.0232254]);
/// assert_eq!(points.y[0], 1);
/// let loader = DataLoader::new(points).batch_size(8).shuffle(0);
/// assert_eq!(loader.len(), 25);
/// ```
pub fn noisy_xor(count: usize, seed: u32, noise: f64) -> Points {
    let mut r = RandomState::new(seed);
    let bits = Array2::from_shape_simple_fn((count, 2), || r.randint(0, 2));
    let y = bits
        .rows()
        .into_iter()
        .map(|row| i32::from(row[0] != row[1]));
    let y = y.collect();
    // NumPy adds in f64 and rounds once.
    let x = bits.mapv(|bit| (bit as f64 + r.normal(0.0, noise)) as f32);
    Points { x, y }
}

/// Creates spirals with one arm per class. Each arm has `count` points from the center to radius
/// 1 and makes three quarters of a turn. `noise` is the standard deviation of the angle in
/// radians. The points are ordered by class.
///
/// ```
/// let points = ramie_data::synthetic::spirals(50, 3, 0.1, 0);
/// assert_eq!(points.x.dim(), (150, 2));
/// assert_eq!(points.y[149], 2);
/// ```
pub fn spirals(count: usize, classes: usize, noise: f64, seed: u32) -> Points {
    let mut r = RandomState::new(seed);
    let mut x = Vec::with_capacity(2 * count * classes);
    for class in 0..classes {
        for i in 0..count {
            let radius = i as f64 / (count.max(2) - 1) as f64;
            let arm = class as f64 / classes as f64;
            let angle = TAU * (arm + 0.75 * radius) + r.normal(0.0, noise);
            x.extend([(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]);
        }
    }
    let n = count * classes;
    Points {
        x: Array2::from_shape_vec((n, 2), x).expect("two coordinates each"),
        y: (0..n).map(|i| (i / count) as i32).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from NumPy 2.4.6, for datasets with the sizes and seeds of the tutorial: the
    /// number of labels that are 1, all bits of the coordinates, and their sum.
    #[test]
    fn points_are_those_of_numpy() {
        for (count, seed, ones, bits, sum) in [
            (200, 42, 97, 2_267_971_669, 201.21715386328287),
            (2500, 42, 1258, 156_091_920, 2482.2204520801242),
            (500, 123, 238, 120_100_596, 518.7568326334149),
        ] {
            let points = noisy_xor(count, seed, 0.1);
            assert_eq!(points.y.sum(), ones);
            assert_eq!(points.x.fold(0, |all, x| all ^ x.to_bits()), bits);
            let total: f64 = points.x.iter().map(|x| f64::from(*x)).sum();
            assert!((total - sum).abs() < 1e-9);
        }
    }

    #[test]
    fn arms_lie_apart() {
        let points = spirals(100, 2, 0.0, 0);
        for (row, y) in points.x.rows().into_iter().zip(&points.y) {
            let radius = f64::from(row[0].hypot(row[1]));
            let angle = f64::from(row[1]).atan2(f64::from(row[0]));
            let off = angle - TAU * (0.75 * radius + 0.5 * f64::from(*y));
            assert!(radius < 1e-6 || (off / TAU - (off / TAU).round()).abs() < 1e-5);
        }
        assert_eq!(spirals(1, 2, 0.0, 0).x.dim(), (2, 2));
        assert_eq!(spirals(0, 2, 0.0, 0).x.dim(), (0, 2));
    }
}

//! Sums of large arrays over several axes.

use ramie_core::*;

/// The sum over `axes` in `f64`, one element after the other.
fn expected(elements: &[f32], shape: &[usize], axes: &[usize]) -> Vec<f64> {
    let kept: Vec<usize> = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
    let mut sums = vec![0.0; kept.iter().map(|&d| shape[d]).product()];
    for (i, &element) in elements.iter().enumerate() {
        let (mut rest, mut place) = (i, vec![0; shape.len()]);
        for d in (0..shape.len()).rev() {
            place[d] = rest % shape[d];
            rest /= shape[d];
        }
        let at = kept.iter().fold(0, |at, &d| at * shape[d] + place[d]);
        sums[at] += f64::from(element);
    }
    sums
}

#[test]
fn sums_of_large_arrays_are_those_of_their_elements() {
    let cases: &[(&[usize], &[usize])] = &[
        (&[16, 14, 14, 32], &[0, 1, 2]),
        (&[7, 33, 5, 40], &[0, 2]),
        (&[3, 129, 130], &[0, 1]),
        (&[2, 3, 40, 300], &[1, 2]),
        (&[64, 5, 4, 4, 32], &[0, 2, 3]),
        (&[40, 30, 30], &[1, 2]),
        (&[70000], &[0]),
    ];
    for &(shape, axes) in cases {
        let n: usize = shape.iter().product();
        let elements: Vec<f32> = (0..n)
            .map(|i| ((i * 7919) % 1000) as f32 / 499.0 - 1.0)
            .collect();
        let x = Array::from_slice(&elements, shape);
        let signed: Vec<isize> = axes.iter().map(|&d| d as isize).collect();
        let got = x.reduce_sum(&signed).to_vec::<f32>();
        for (got, want) in got.iter().zip(expected(&elements, shape, axes)) {
            let close = (f64::from(*got) - want).abs() <= 1e-2;
            assert!(close, "{shape:?} over {axes:?}: {got}, expected {want}");
        }
    }
}

#[test]
fn infinities_and_nan_stay_in_their_column() {
    let mut elements = vec![0.5f32; 32 * 32 * 64];
    elements[64 * 100 + 3] = f32::NAN;
    elements[64 * 700 + 5] = f32::INFINITY;
    let sums = Array::from_slice(&elements, &[32, 32, 64])
        .reduce_sum(&[0, 1])
        .to_vec::<f32>();
    for (i, sum) in sums.into_iter().enumerate() {
        match i {
            3 => assert!(sum.is_nan()),
            5 => assert_eq!(sum, f32::INFINITY),
            _ => assert_eq!(sum, 512.0),
        }
    }
}

//! Fourier transforms of any length.

use num_complex::Complex64;
use std::f64::consts::TAU;

/// A transform of a fixed length: the algorithm of Cooley and Tukey for each prime factor.
#[derive(Clone, Debug)]
pub struct Fft {
    /// The powers of the primitive root of unity.
    roots: Vec<Complex64>,
}

impl Fft {
    pub fn new(length: usize) -> Fft {
        let angle = |i: usize| -TAU * i as f64 / length as f64;
        let roots = (0..length).map(|i| Complex64::cis(angle(i)));
        Fft {
            roots: roots.collect(),
        }
    }

    /// Transforms numbers; both slices have the length of the transform.
    pub fn transform(&self, input: &[f64], output: &mut [Complex64]) {
        let mut terms = vec![Complex64::ZERO; input.len()];
        self.part(input, 1, output, &mut terms);
    }

    /// Transforms every `stride`th number. `terms` is scratch space.
    fn part(
        &self,
        input: &[f64],
        stride: usize,
        output: &mut [Complex64],
        terms: &mut [Complex64],
    ) {
        let n = output.len();
        if n == 1 {
            output[0] = input[0].into();
            return;
        }
        let factor = (2..).find(|p| n.is_multiple_of(*p)).unwrap_or(n);
        let size = n / factor;
        for (i, part) in output.chunks_exact_mut(size).enumerate() {
            self.part(&input[i * stride..], stride * factor, part, terms);
        }
        let terms = &mut terms[..factor];
        for k in 0..size {
            for (i, term) in terms.iter_mut().enumerate() {
                *term = output[i * size + k] * self.roots[i * k * stride];
            }
            for q in 0..factor {
                let sum = |sum, (i, term): (usize, &Complex64)| {
                    sum + term * self.roots[i * q % factor * size * stride]
                };
                output[q * size + k] = terms.iter().enumerate().fold(Complex64::ZERO, sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_the_sums_of_the_definition() {
        for n in [1, 2, 5, 7, 12, 30, 400] {
            let input: Vec<f64> = (0..n).map(|i| ((i * i * 7 + 3) % 11) as f64).collect();
            let mut output = vec![Complex64::ZERO; n];
            Fft::new(n).transform(&input, &mut output);
            for (k, y) in output.iter().enumerate() {
                let root = |i: usize| Complex64::cis(-TAU * (i * k % n) as f64 / n as f64);
                let expected: Complex64 = (0..n).map(|i| root(i) * input[i]).sum();
                assert!((y - expected).norm() < 1e-10 * n as f64, "{n}, {k}");
            }
        }
    }
}

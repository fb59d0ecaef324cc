//! Curves of bounded size.

/// A curve of at most 2,048 points. A full curve merges pairs of points into their means.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    /// The sum of the values that the next point is the mean of, and their number.
    sum: (f64, f64),
    count: u32,
    /// Values per point.
    stride: u32,
}

impl Default for Curve {
    fn default() -> Curve {
        Curve {
            points: Vec::new(),
            sum: (0.0, 0.0),
            count: 0,
            stride: 1,
        }
    }
}

impl Curve {
    const MOST: usize = 2048;

    /// Adds a value. Values that are not finite are ignored.
    pub fn push(&mut self, x: f64, y: f64) {
        if !y.is_finite() {
            return;
        }
        self.sum = (self.sum.0 + x, self.sum.1 + y);
        self.count += 1;
        if self.count < self.stride {
            return;
        }
        let count = f64::from(self.count);
        self.points.push((self.sum.0 / count, self.sum.1 / count));
        (self.sum, self.count) = ((0.0, 0.0), 0);
        if self.points.len() == Curve::MOST {
            let mean = |pair: &[(f64, f64)]| {
                ((pair[0].0 + pair[1].0) / 2.0, (pair[0].1 + pair[1].1) / 2.0)
            };
            self.points = self.points.chunks_exact(2).map(mean).collect();
            self.stride *= 2;
        }
    }

    /// Returns at most `most` points, which are means of neighbors.
    pub(super) fn means(&self, most: usize) -> Vec<(f64, f64)> {
        let size = self.points.len().div_ceil(most.max(1)).max(1);
        let mean = |part: &[(f64, f64)]| {
            let sum = part.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
            let count = part.len() as f64;
            (sum.0 / count, sum.1 / count)
        };
        self.points.chunks(size).map(mean).collect()
    }

    /// Returns the points.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_merged() {
        let mut curve = Curve::default();
        for i in 0..100_000 {
            curve.push(f64::from(i), 2.0 * f64::from(i));
            curve.push(f64::from(i), f64::NAN);
        }
        let points = curve.points();
        assert!((1000..2048).contains(&points.len()), "{}", points.len());
        assert!(points.iter().all(|(x, y)| *y == 2.0 * x));
        let means = curve.means(100);
        assert!((50..=100).contains(&means.len()), "{}", means.len());
        assert!(means.iter().all(|(x, y)| (y - 2.0 * x).abs() < 1e-6));
        assert!(points.is_sorted() && points[points.len() - 1].0 > 99_900.0);
    }
}

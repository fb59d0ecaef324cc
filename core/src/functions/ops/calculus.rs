//! Differences, integrals and interpolation of sampled functions.

use super::Side;
use crate::lax::sort;
use crate::prim::elementwise::parts;
use crate::prim::operands::{self, promote, promote_all};
use crate::{Array, DType, IntoArray, concatenate, where_};

impl Array {
    /// Computes the difference between each element and the previous one along an axis. For
    /// booleans, the result is true where neighbors differ (`jnp.diff`).
    ///
    /// To prepend or append elements, use [`concatenate`] first.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([1, 4, 9]).diff(0).to_vec::<i32>(), [3, 5]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn diff(&self, axis: isize) -> Array {
        let at = self.axis("diff", axis);
        let n = self.shape()[at];
        let next = self.slice_axis(at, n.min(1), n);
        let before = self.slice_axis(at, 0, n.saturating_sub(1));
        match self.dtype() {
            DType::Bool => next.ne(before),
            _ => next - before,
        }
    }

    /// Computes the differences of order `n` along an axis: [`diff`](Array::diff), `n` times.
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn diff_with(&self, axis: isize, n: usize) -> Array {
        let mut x = self.clone();
        for _ in 0..n {
            x = x.diff(axis);
        }
        x
    }

    /// Computes the differences of adjacent elements in row-major order, as a 1-d array.
    #[track_caller]
    pub fn ediff1d(&self) -> Array {
        let x = self.ravel();
        let n = x.size();
        x.slice_axis(0, n.min(1), n) - x.slice_axis(0, 0, n.saturating_sub(1))
    }

    /// Computes the derivative along an axis of a function sampled at a spacing of 1: central
    /// differences inside, one-sided differences at the ends (`jnp.gradient`).
    ///
    /// # Panics
    /// Panics if the axis is out of range or has fewer than two elements.
    #[track_caller]
    pub fn gradient(&self, axis: isize) -> Array {
        self.gradient_with(axis, 1.0)
    }

    /// Computes [`gradient`](Array::gradient) along every axis.
    ///
    /// # Panics
    /// Panics if an axis has fewer than two elements.
    #[track_caller]
    pub fn gradients(&self) -> Vec<Array> {
        let mut gradients = Vec::with_capacity(self.ndim());
        for axis in 0..self.ndim() as isize {
            gradients.push(self.gradient(axis));
        }
        gradients
    }

    /// Same as [`gradient`](Array::gradient), but for samples at a constant `spacing`, or at the
    /// coordinates in a 1-d array.
    ///
    /// # Panics
    /// Panics if the axis is out of range or has fewer than two elements, or if the number of
    /// coordinates differs from the number of samples.
    #[track_caller]
    pub fn gradient_with(&self, axis: isize, spacing: impl IntoArray) -> Array {
        let at = self.axis("gradient", axis);
        let n = self.shape()[at];
        let (x, h) = (self.to_inexact(), spacing.into_array());
        assert!(
            n >= 2,
            "gradient: axis {axis} of {} has {n} elements, expected two or more\n  help: pass at \
             least two samples along the axis",
            self.aval()
        );
        let part = |x: &Array, start: usize, limit: usize| x.slice_axis(at, start, limit);
        let (first, last) = (
            part(&x, 1, 2) - part(&x, 0, 1),
            part(&x, n - 1, n) - part(&x, n - 2, n - 1),
        );
        if h.ndim() == 0 {
            let inner = (part(&x, 2, n) - part(&x, 0, n - 2)) * 0.5 / &h;
            return concatenate(&[first / &h, inner, last / &h], axis);
        }
        assert!(
            h.shape() == [n],
            "gradient: the coordinates {} must be one for each element of axis {axis} of {}\n  \
             help: pass a 1-d array of {n} coordinates, or a single spacing",
            h.aval(),
            self.aval()
        );
        let h = h.to_inexact().laid_along(at, x.ndim());
        let (x, h) = promote("gradient", &x, &h);
        let steps = h.diff(at as isize);
        let (left, right) = (part(&steps, 0, n - 2), part(&steps, 1, n - 1));
        let sum = &left + &right;
        let before = -&right / (&left * &sum);
        let here = (&right - &left) / (&left * &right);
        let after = &left / (&right * &sum);
        let inner =
            before * part(&x, 0, n - 2) + here * part(&x, 1, n - 1) + after * part(&x, 2, n);
        let (first, last) = (
            first / part(&steps, 0, 1),
            last / part(&steps, n - 2, n - 1),
        );
        concatenate(&[first, inner, last], axis)
    }

    /// Computes the integral along an axis of a function sampled at a spacing of 1, by the
    /// trapezoidal rule.
    ///
    /// # Panics
    /// Panics if the axis is out of range or empty.
    #[track_caller]
    pub fn trapezoid(&self, axis: isize) -> Array {
        self.trapezoid_with(axis, 1.0)
    }

    /// Same as [`trapezoid`](Array::trapezoid), but with the spacing `dx`: a single number, or an
    /// array that broadcasts to the differences along the axis. For samples at the coordinates `x`,
    /// pass `x.diff(axis)`.
    ///
    /// # Panics
    /// Panics if the axis is out of range, if it is empty and `dx` is a single number, or if the
    /// shape of `dx` does not fit.
    #[track_caller]
    pub fn trapezoid_with(&self, axis: isize, dx: impl IntoArray) -> Array {
        self.axis("trapezoid", axis);
        let dx = dx.into_array();
        let y = self.to_inexact().move_axis(axis, -1);
        let (rank, n) = (y.ndim(), y.shape()[y.ndim() - 1]);
        if dx.ndim() == 0 {
            assert!(
                n > 0,
                "trapezoid: axis {axis} of {} has no elements\n  help: pass at least one sample \
                 along the axis",
                self.aval()
            );
            let ends = y.slice_axis(rank - 1, 0, 1) + y.slice_axis(rank - 1, n - 1, n);
            return (y.sum_over(-1) - ends.squeeze(&[-1]) * 0.5) * dx;
        }
        let dx = match dx.ndim() {
            1 => dx,
            _ => operands::lead(&dx, rank.max(dx.ndim())).move_axis(axis, -1),
        };
        let inner = n.saturating_sub(1);
        let pairs = y.slice_axis(rank - 1, n - inner, n) + y.slice_axis(rank - 1, 0, inner);
        (dx * pairs).sum_over(-1) * 0.5
    }

    /// Interpolates linearly between the points (`xp`, `fp`) at each element, where `xp`
    /// increases. Outside the range, returns the value of the nearest end (`jnp.interp`). Use
    /// [`Interpolation`] for other options.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([0.5f32, 3.0]);
    /// let (xp, fp) = (Array::from([0.0f32, 1.0]), Array::from([10.0f32, 20.0]));
    /// assert_eq!(x.interp(&xp, &fp).to_vec::<f32>(), [15.0, 20.0]);
    /// ```
    ///
    /// # Panics
    /// Panics if `xp` and `fp` are not 1-d arrays of the same size, or if the coordinates are
    /// complex.
    #[track_caller]
    pub fn interp(&self, xp: &Array, fp: &Array) -> Array {
        Interpolation::new().of(self, xp, fp)
    }

    /// Adds multiples of `period` to angles along an axis so that adjacent angles differ by at
    /// most half a period (`jnp.unwrap`).
    ///
    /// # Panics
    /// Panics if the axis is out of range, or the array is complex.
    #[track_caller]
    pub fn unwrap_phase(&self, period: f64, axis: isize) -> Array {
        let at = self.axis("unwrap", axis);
        parts::require_real("unwrap_phase", &[self]);
        let x = self.to_inexact();
        let n = x.shape()[at];
        if n == 0 {
            return x;
        }
        let half = period / 2.0;
        let step = x.diff(axis);
        let wrapped = (&step + half).remainder(period) - half;
        let down = wrapped.eq(-half).bitwise_and(step.gt(0));
        let wrapped = where_(&down, half, wrapped);
        let correction = where_(step.abs().lt(half), 0, wrapped - &step);
        let rest = x.slice_axis(at, 1, n) + correction.cumsum(axis);
        concatenate(&[x.slice_axis(at, 0, 1), rest], axis)
    }
}

/// Value of an interpolated function outside its points.
#[derive(Clone, Debug)]
enum Extrapolation {
    /// The value of the nearest point.
    Nearest,
    /// A given value.
    Value(Array),
    /// The value of the nearest line segment, extended.
    Line,
}

/// Options of [`Array::interp`] for values outside the points.
#[derive(Clone, Debug)]
pub struct Interpolation {
    left: Extrapolation,
    right: Extrapolation,
    period: Option<Array>,
}

impl Default for Interpolation {
    fn default() -> Interpolation {
        Interpolation::new()
    }
}

impl Interpolation {
    /// Creates options that return the value of the nearest point outside the range.
    pub fn new() -> Interpolation {
        Interpolation {
            left: Extrapolation::Nearest,
            right: Extrapolation::Nearest,
            period: None,
        }
    }

    /// Sets the value to the left of the first point. Defaults to the value of that point.
    #[must_use]
    pub fn left(self, value: impl IntoArray) -> Interpolation {
        Interpolation {
            left: Extrapolation::Value(value.into_array()),
            ..self
        }
    }

    /// Sets the value to the right of the last point. Defaults to the value of that point.
    #[must_use]
    pub fn right(self, value: impl IntoArray) -> Interpolation {
        Interpolation {
            right: Extrapolation::Value(value.into_array()),
            ..self
        }
    }

    /// Extends the first and the last line segment beyond the points.
    #[must_use]
    pub fn extrapolate(self) -> Interpolation {
        Interpolation {
            left: Extrapolation::Line,
            right: Extrapolation::Line,
            ..self
        }
    }

    /// Makes the function periodic. The points need not be sorted.
    #[must_use]
    pub fn period(self, period: impl IntoArray) -> Interpolation {
        Interpolation {
            period: Some(period.into_array()),
            ..self
        }
    }

    /// Evaluates the interpolated function at each element of `x`.
    ///
    /// # Panics
    /// Panics if `xp` and `fp` are not nonempty 1-d arrays of the same size, or if the
    /// coordinates are complex.
    #[track_caller]
    pub fn of(&self, x: &Array, xp: &Array, fp: &Array) -> Array {
        assert!(
            xp.ndim() == 1 && xp.size() > 0 && xp.shape() == fp.shape(),
            "interp: the coordinates {} and values {} must be nonempty 1-d arrays of the same \
             size\n  help: pass one value for each coordinate",
            xp.aval(),
            fp.aval()
        );
        parts::require_real("interp", &[x, xp]);
        let mut both = promote_all("interp", &[x.to_inexact(), xp.to_inexact()]);
        let (mut xp, mut x) = (both.remove(1), both.remove(0));
        let mut fp = fp.to_inexact();
        if let Some(period) = &self.period {
            let period = period.astype(xp.dtype()).abs();
            x = x.remainder(&period);
            let sorted = sort(&[xp.remainder(&period), fp], 0, 1);
            let n = sorted[0].size();
            let (first, last) = (
                |x: &Array| x.slice_axis(0, 0, 1),
                |x: &Array| x.slice_axis(0, n - 1, n),
            );
            let before = last(&sorted[0]) - &period;
            let after = first(&sorted[0]) + &period;
            xp = concatenate(&[before, sorted[0].clone(), after], 0);
            fp = concatenate(&[last(&sorted[1]), sorted[1].clone(), first(&sorted[1])], 0);
        }
        let n = xp.size() as i64;
        let right = xp.searchsorted(&x, Side::Right).clip(1, n - 1);
        let left = &right - 1;
        let (x0, f0) = (xp.index(&left), fp.index(&left));
        let (x1, f1) = (xp.index(&right), fp.index(&right));
        let (width, rise) = (&x1 - &x0, &f1 - &f0);
        let flat = width.abs().le(crate::dtypes::finfo(xp.dtype()).eps.powi(2));
        let slope = (&x - &x0) / where_(&flat, 1, &width) * &rise;
        // At a point next to an infinite value, the slope times the distance 0 is NaN.
        let steep = rise.is_finite().logical_not();
        let start = flat.bitwise_or(steep.bitwise_and(x.eq(&x0)));
        let end = steep.bitwise_and(x.eq(&x1));
        let mut value = where_(end, f1, where_(start, &f0, &f0 + slope));
        if self.period.is_some() {
            return value;
        }
        let outside = |side: &Extrapolation, end: isize| match side {
            Extrapolation::Nearest => Some(fp.index(end)),
            Extrapolation::Value(v) => Some(v.clone()),
            Extrapolation::Line => None,
        };
        if let Some(v) = outside(&self.left, 0) {
            value = where_(x.lt(xp.index(0)), v, value);
        }
        if let Some(v) = outside(&self.right, -1) {
            value = where_(x.gt(xp.index(-1)), v, value);
        }
        value
    }
}

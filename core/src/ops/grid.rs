//! Numbers at regular distances, and the places of grids.

use super::{promote, promote_all};
use crate::{Array, DType, Dims, IntoArray, concatenate, stack};

/// How [`Array::linspace`] and its family lay numbers: how many, whether the
/// last one is the end, along which axis, in which type.
///
/// ```no_run
/// use ramie_core::{Array, Spacing};
/// let x = Spacing::new(4).without_end().linear(0.0, 1.0);
/// assert_eq!(x.to_vec::<f32>(), [0.0, 0.25, 0.5, 0.75]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    count: usize,
    end: bool,
    axis: isize,
    dtype: Option<DType>,
}

impl Spacing {
    /// `count` numbers, the last of which is the end, along a new first axis.
    pub fn new(count: usize) -> Spacing {
        Spacing {
            count,
            end: true,
            axis: 0,
            dtype: None,
        }
    }

    /// The end is left out (`endpoint=False` of NumPy).
    #[must_use]
    pub fn without_end(self) -> Spacing {
        Spacing { end: false, ..self }
    }

    /// The numbers lie along this axis of the result, where `start` and `stop`
    /// have axes.
    #[must_use]
    pub fn axis(self, axis: isize) -> Spacing {
        Spacing { axis, ..self }
    }

    /// The element type; for integers, numbers are rounded down. Without it
    /// that of `start` and `stop` in floats.
    #[must_use]
    pub fn dtype(self, dtype: DType) -> Spacing {
        Spacing {
            dtype: Some(dtype),
            ..self
        }
    }

    /// The type of the result, and the ends in the type of the computation.
    #[track_caller]
    fn ends(&self, start: impl IntoArray, stop: impl IntoArray) -> (DType, Array, Array) {
        let (start, stop) = (start.into_array(), stop.into_array());
        let (a, b) = promote("linspace", &start, &stop);
        let natural = a.to_inexact().dtype();
        let dtype = self.dtype.unwrap_or(natural);
        let float = match dtype.is_inexact() {
            true => dtype,
            false => DType::F32,
        };
        (dtype, a.astype(float), b.astype(float))
    }

    /// Numbers at equal distances from `start` to `stop` (`jnp.linspace`).
    ///
    /// # Panics
    /// If the shapes of the ends do not broadcast, or the axis is out of range.
    #[track_caller]
    pub fn linear(self, start: impl IntoArray, stop: impl IntoArray) -> Array {
        let (dtype, start, stop) = self.ends(start, stop);
        let shape = super::common_shape("linspace", &[&start, &stop]);
        let start = start.broadcast_to(&shape).expand_dims(&[self.axis]);
        let stop = stop.broadcast_to(&shape).expand_dims(&[self.axis]);
        let axis = start.axis("linspace", self.axis);
        let numbers = match self.count {
            0 => start.slice_axis(axis, 0, 0),
            1 => start,
            n => {
                let intervals = if self.end { n - 1 } else { n };
                let mut ramp = Dims::from_elem(1, start.ndim());
                ramp[axis] = intervals;
                let step = Array::iota(&ramp, axis, start.dtype()) / intervals as f64;
                let between = &start * (1.0 - &step) + &stop * &step;
                if self.end {
                    concatenate(&[between, stop], axis as isize)
                } else {
                    between
                }
            }
        };
        let numbers = if dtype.is_inexact() {
            numbers
        } else {
            numbers.floor()
        };
        numbers.astype(dtype)
    }

    /// `base` to powers at equal distances from `start` to `stop`
    /// (`jnp.logspace`).
    ///
    /// # Panics
    /// As [`linear`](Spacing::linear).
    #[track_caller]
    pub fn logarithmic(
        self,
        start: impl IntoArray,
        stop: impl IntoArray,
        base: impl IntoArray,
    ) -> Array {
        let (dtype, start, stop) = self.ends(start, stop);
        let float = Spacing {
            dtype: None,
            ..self
        };
        let powers = float.linear(start, stop);
        base.into_array().power(powers).astype(dtype)
    }

    /// Numbers from `start` to `stop`, each the one before times the same
    /// factor (`jnp.geomspace`).
    ///
    /// # Panics
    /// As [`linear`](Spacing::linear).
    #[track_caller]
    pub fn geometric(self, start: impl IntoArray, stop: impl IntoArray) -> Array {
        let (dtype, start, stop) = self.ends(start, stop);
        let sign = start.sign();
        let float = Spacing {
            dtype: Some(start.dtype()),
            axis: 0,
            ..self
        };
        let (a, b) = ((&start / &sign).log10(), (&stop / &sign).log10());
        let numbers = sign * float.logarithmic(a, b, 10.0);
        let axis = numbers.axis("geomspace", self.axis);
        numbers.move_axis(0, axis as isize).astype(dtype)
    }
}

impl Array {
    /// `n` numbers (`f32`) from `start` to `stop`, both included, at equal
    /// distances. [`Spacing`] has more choices.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::linspace(0.0, 1.0, 3).to_vec::<f32>(), [0.0, 0.5, 1.0]);
    /// ```
    #[track_caller]
    pub fn linspace(start: f64, stop: f64, n: usize) -> Array {
        Spacing::new(n).linear(start, stop)
    }

    /// `n` powers of 10 (`f32`), with exponents from `start` to `stop` at equal
    /// distances.
    #[track_caller]
    pub fn logspace(start: f64, stop: f64, n: usize) -> Array {
        Spacing::new(n).logarithmic(start, stop, 10.0)
    }

    /// `n` numbers (`f32`) from `start` to `stop`, both included, with equal
    /// ratios.
    #[track_caller]
    pub fn geomspace(start: f64, stop: f64, n: usize) -> Array {
        Spacing::new(n).geometric(start, stop)
    }

    /// `start`, `start + step`, … before `stop` (`jnp.arange` with three
    /// numbers); none if `stop` lies the other way.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::arange_step(5.0, 2.0, -1.0, DType::I32);
    /// assert_eq!(x.to_vec::<i32>(), [5, 4, 3]);
    /// ```
    ///
    /// # Panics
    /// If the step is 0.
    #[track_caller]
    pub fn arange_step(start: f64, stop: f64, step: f64, dtype: DType) -> Array {
        assert!(
            step != 0.0,
            "arange: a step of 0 never reaches {stop}\n  help: give a step towards it"
        );
        let size = ((stop - start) / step).ceil().max(0.0) as usize;
        let small = dtype.is_float() && dtype.bits() < 32;
        let working = if small { DType::F32 } else { dtype };
        let places = Array::iota(&[size], 0, working);
        let step = Array::scalar(step, working);
        (Array::scalar(start, working) + step * places).astype(dtype)
    }

    /// `start`, `start + 1`, … before `stop`.
    #[track_caller]
    pub fn arange_from(start: i64, stop: i64) -> Array {
        let size = usize::try_from(stop.saturating_sub(start)).unwrap_or(0);
        Array::iota(&[size], 0, DType::I32) + start
    }

    /// The places of a grid (`jnp.indices`): element `[d, i, j, …]` is the place
    /// along axis `d`, in `i32`.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::indices(&[2, 2]).to_vec::<i32>(), [0, 0, 1, 1, 0, 1, 0, 1]);
    /// ```
    #[track_caller]
    pub fn indices(shape: &[usize]) -> Array {
        if shape.is_empty() {
            return Array::zeros(&[0], DType::I32);
        }
        let mut places = Vec::with_capacity(shape.len());
        for axis in 0..shape.len() {
            places.push(Array::iota(shape, axis, DType::I32));
        }
        stack(&places, 0)
    }

    /// `f` of the places along each axis, for each element of `shape`
    /// (`jnp.fromfunction`): `f` gets one array of `dtype` for each axis, and
    /// works on whole arrays.
    #[track_caller]
    pub fn from_function(
        shape: &[usize],
        dtype: DType,
        f: impl FnOnce(&[Array]) -> Array,
    ) -> Array {
        let mut places = Vec::with_capacity(shape.len());
        for axis in 0..shape.len() {
            places.push(Array::iota(shape, axis, dtype));
        }
        f(&places).broadcast_to(shape)
    }
}

/// Coordinates on a grid: each 1-d array repeated along the axes of the others,
/// as NumPy's `meshgrid`. The first array runs along the columns (axis 1), the
/// second along the rows (axis 0), further ones along the axes after.
///
/// # Panics
/// If an array has more than one axis.
#[track_caller]
pub fn meshgrid(arrays: &[Array]) -> Vec<Array> {
    let swapped = |x: &Array| match x.ndim() {
        0 | 1 => x.clone(),
        _ => x.swap_axes(0, 1),
    };
    meshgrid_ij(arrays).iter().map(swapped).collect()
}

/// [`meshgrid`] with array `i` along axis `i`.
///
/// # Panics
/// If an array has more than one axis.
#[track_caller]
pub fn meshgrid_ij(arrays: &[Array]) -> Vec<Array> {
    let open = open_grid("meshgrid", arrays);
    let shape: Vec<usize> = arrays.iter().map(Array::size).collect();
    let mut grid = Vec::with_capacity(open.len());
    for x in open {
        grid.push(x.broadcast_to(&shape));
    }
    grid
}

/// [`meshgrid_ij`] of arrays in one type, stacked: what `jnp.mgrid` gives for
/// ranges.
///
/// # Panics
/// If there are no arrays, or one has more than one axis.
#[track_caller]
pub fn mgrid(arrays: &[Array]) -> Array {
    stack(&meshgrid_ij(&promote_all("mgrid", arrays)), 0)
}

/// 1-d arrays as axes of a grid: array `i` has its elements along axis `i` and
/// size 1 along the others. Together they index the grid's elements
/// (`jnp.ix_`), and broadcast to it (`jnp.ogrid`). An array of truth values
/// stands for the places where it is true.
///
/// ```no_run
/// use ramie_core::{Array, ix_};
/// let x = Array::arange(6).reshape(&[2, 3]);
/// let grid = ix_(&[Array::from([1]), Array::from([0, 2])]);
/// assert_eq!(x.index((&grid[0], &grid[1])).to_vec::<i32>(), [3, 5]);
/// ```
///
/// # Panics
/// If an array has more than one axis, or one of truth values is traced.
#[track_caller]
pub fn ix_(arrays: &[Array]) -> Vec<Array> {
    let places = |x: &Array| match x.dtype() {
        DType::Bool => x.flatnonzero(),
        _ => x.clone(),
    };
    open_grid("ix_", &arrays.iter().map(places).collect::<Vec<_>>())
}

#[track_caller]
fn open_grid(operation: &str, arrays: &[Array]) -> Vec<Array> {
    let rank = arrays.len();
    if let Some(x) = arrays.iter().find(|x| x.ndim() > 1) {
        panic!(
            "{operation}: {} has more than one axis\n  help: coordinates are 1-d: flatten them first",
            x.aval()
        );
    }
    let along = |(i, x): (usize, &Array)| x.laid_along(i, rank);
    arrays.iter().enumerate().map(along).collect()
}

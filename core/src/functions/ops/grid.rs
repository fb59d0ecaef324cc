//! Evenly spaced numbers, ranges and coordinate grids.

use crate::prim::operands::{self, promote, promote_all};
use crate::typing::Dims;
use crate::{Array, DType, IntoArray, concatenate, stack};

/// Options of [`Array::linspace`] and related functions: count, endpoint, axis and dtype.
///
/// ```no_run
/// use ramie_core::options::Spacing;
/// use ramie_core::Array;
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
    /// Creates options for `count` numbers along a new first axis, including the end.
    pub fn new(count: usize) -> Spacing {
        Spacing {
            count,
            end: true,
            axis: 0,
            dtype: None,
        }
    }

    /// Excludes the end (`endpoint=False` in NumPy).
    #[must_use]
    pub fn without_end(self) -> Spacing {
        Spacing { end: false, ..self }
    }

    /// Sets the axis of the result along which the numbers vary, if `start` and `stop` have axes.
    /// Defaults to 0.
    #[must_use]
    pub fn axis(self, axis: isize) -> Spacing {
        Spacing { axis, ..self }
    }

    /// Sets the dtype. Numbers are rounded down for integers. Defaults to the dtype of `start`
    /// and `stop`, converted to floats.
    #[must_use]
    pub fn dtype(self, dtype: DType) -> Spacing {
        Spacing {
            dtype: Some(dtype),
            ..self
        }
    }

    /// Returns the dtype of the result, and the ends in the dtype of the computation.
    #[track_caller]
    fn ends(&self, start: impl IntoArray, stop: impl IntoArray) -> (DType, Array, Array) {
        let (start, stop) = (start.into_array(), stop.into_array());
        let (a, b) = promote("linspace", &start, &stop);
        let natural = a.to_inexact().dtype();
        let dtype = self.dtype.unwrap_or(natural);
        let float = if dtype.is_inexact() {
            dtype
        } else {
            DType::F32
        };
        (dtype, a.astype(float), b.astype(float))
    }

    /// Computes evenly spaced numbers from `start` to `stop` (`jnp.linspace`).
    ///
    /// # Panics
    /// Panics if the shapes of the ends do not broadcast, or the axis is out of range.
    #[track_caller]
    pub fn linear(self, start: impl IntoArray, stop: impl IntoArray) -> Array {
        let (dtype, start, stop) = self.ends(start, stop);
        let shape = operands::common_shape("linspace", &[&start, &stop]);
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

    /// Computes the numbers of [`linear`](Spacing::linear) and the distance between them, in the
    /// dtype of the computation (`jnp.linspace` with `retstep=True`). With fewer than two numbers
    /// there is no distance: it is NaN, unless the count is 1 and the end is excluded.
    ///
    /// ```no_run
    /// use ramie_core::options::Spacing;
    /// let (x, step) = Spacing::new(5).linear_with_step(0.0, 2.0);
    /// assert_eq!((x.size(), step.item::<f32>()), (5, 0.5));
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`linear`](Spacing::linear).
    #[doc(alias = "retstep")]
    #[track_caller]
    pub fn linear_with_step(self, start: impl IntoArray, stop: impl IntoArray) -> (Array, Array) {
        let (start, stop) = (start.into_array(), stop.into_array());
        let numbers = self.linear(&start, &stop);
        let (_, start, stop) = self.ends(&start, &stop);
        let step = match (self.count, self.end) {
            (0, _) | (1, true) => Array::scalar(f64::NAN, start.dtype()),
            (1, false) => &stop - &start,
            (n, end) => (&stop - &start) / (n - usize::from(end)) as f64,
        };
        (numbers, step)
    }

    /// Computes `base` raised to evenly spaced exponents from `start` to `stop` (`jnp.logspace`).
    ///
    /// # Panics
    /// Panics in the same cases as [`linear`](Spacing::linear).
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

    /// Computes numbers from `start` to `stop` with a constant ratio (`jnp.geomspace`).
    ///
    /// # Panics
    /// Panics in the same cases as [`linear`](Spacing::linear).
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
    /// Creates `n` evenly spaced numbers (`f32`) from `start` to `stop`, both included. Use
    /// [`Spacing`] for other options.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::linspace(0.0, 1.0, 3).to_vec::<f32>(), [0.0, 0.5, 1.0]);
    /// ```
    #[track_caller]
    pub fn linspace(start: f64, stop: f64, n: usize) -> Array {
        Spacing::new(n).linear(start, stop)
    }

    /// Creates `n` powers of 10 (`f32`) with evenly spaced exponents from `start` to `stop`.
    #[track_caller]
    pub fn logspace(start: f64, stop: f64, n: usize) -> Array {
        Spacing::new(n).logarithmic(start, stop, 10.0)
    }

    /// Creates `n` numbers (`f32`) from `start` to `stop`, both included, with a constant ratio.
    #[track_caller]
    pub fn geomspace(start: f64, stop: f64, n: usize) -> Array {
        Spacing::new(n).geometric(start, stop)
    }

    /// Creates the numbers `start`, `start + step`, … before `stop` (`jnp.arange` with three
    /// arguments). The result is empty if `stop` is in the opposite direction.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::arange_with(5.0, 2.0, -1.0, DType::I32);
    /// assert_eq!(x.to_vec::<i32>(), [5, 4, 3]);
    /// ```
    ///
    /// # Panics
    /// Panics if the step is 0.
    #[track_caller]
    pub fn arange_with(start: f64, stop: f64, step: f64, dtype: DType) -> Array {
        assert!(
            step != 0.0,
            "arange: the step is 0, which never reaches {stop}\n  help: pass a nonzero step"
        );
        let size = ((stop - start) / step).ceil().max(0.0) as usize;
        let small = dtype.is_float() && dtype.bits() < 32;
        let working = if small { DType::F32 } else { dtype };
        let indices = Array::iota(&[size], 0, working);
        let step = Array::scalar(step, working);
        (Array::scalar(start, working) + step * indices).astype(dtype)
    }

    /// Creates the indices of a grid (`jnp.indices`): element `[d, i, j, …]` is the index along
    /// axis `d`, in `i32`.
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
        let mut indices = Vec::with_capacity(shape.len());
        for axis in 0..shape.len() {
            indices.push(Array::iota(shape, axis, DType::I32));
        }
        stack(&indices, 0)
    }

    /// Applies `f` to the index arrays of a grid of `shape` (`jnp.fromfunction`). `f` receives
    /// one array of `dtype` per axis and operates on whole arrays.
    #[track_caller]
    pub fn from_function(
        shape: &[usize],
        dtype: DType,
        f: impl FnOnce(&[Array]) -> Array,
    ) -> Array {
        let mut indices = Vec::with_capacity(shape.len());
        for axis in 0..shape.len() {
            indices.push(Array::iota(shape, axis, dtype));
        }
        f(&indices).broadcast_to(shape)
    }
}

/// The axes along which the arrays of [`meshgrid_with`] vary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// The first array varies along the columns (axis 1), the second along the rows (axis 0), and
    /// further arrays along the following axes.
    #[default]
    Xy,
    /// Array `i` varies along axis `i`.
    Ij,
}

/// Creates coordinate matrices from 1-d coordinates, like NumPy's `meshgrid`. The first array
/// varies along the columns (axis 1), the second along the rows (axis 0), and further arrays
/// along the following axes.
///
/// # Panics
/// Panics if an array has more than one axis.
#[track_caller]
pub fn meshgrid(arrays: &[Array]) -> Vec<Array> {
    meshgrid_with(arrays, Indexing::Xy)
}

/// Same as [`meshgrid`], with the given [`Indexing`].
///
/// # Panics
/// Panics if an array has more than one axis.
#[track_caller]
pub fn meshgrid_with(arrays: &[Array], indexing: Indexing) -> Vec<Array> {
    let open = open_grid("meshgrid", arrays);
    let shape: Vec<usize> = arrays.iter().map(Array::size).collect();
    let mut grid = Vec::with_capacity(open.len());
    for x in open {
        let x = x.broadcast_to(&shape);
        grid.push(match indexing {
            Indexing::Xy if x.ndim() > 1 => x.swap_axes(0, 1),
            _ => x,
        });
    }
    grid
}

/// Promotes the arrays to a common dtype, and stacks the result of [`meshgrid_with`] and [`Indexing::Ij`], like
/// `jnp.mgrid` for ranges.
///
/// # Panics
/// Panics if there are no arrays, or one has more than one axis.
#[track_caller]
pub fn mgrid(arrays: &[Array]) -> Array {
    let arrays = promote_all("mgrid", arrays);
    stack(&meshgrid_with(&arrays, Indexing::Ij), 0)
}

/// Reshapes 1-d arrays to an open grid: array `i` varies along axis `i` and has size 1 along the
/// other axes. Together, the arrays index the elements of the grid (`jnp.ix_`) and broadcast to
/// it (`jnp.ogrid`). A boolean array is replaced by the indices where it is true.
///
/// ```no_run
/// use ramie_core::numpy::ix_;
/// use ramie_core::Array;
/// let x = Array::arange(6).reshape(&[2, 3]);
/// let grid = ix_(&[Array::from([1]), Array::from([0, 2])]);
/// assert_eq!(x.index((&grid[0], &grid[1])).to_vec::<i32>(), [3, 5]);
/// ```
///
/// # Panics
/// Panics if an array has more than one axis, or if a boolean array is traced.
#[track_caller]
pub fn ix_(arrays: &[Array]) -> Vec<Array> {
    let indices = |x: &Array| match x.dtype() {
        DType::Bool => x.flatnonzero(),
        _ => x.clone(),
    };
    open_grid("ix_", &arrays.iter().map(indices).collect::<Vec<_>>())
}

#[track_caller]
fn open_grid(operation: &str, arrays: &[Array]) -> Vec<Array> {
    let rank = arrays.len();
    if let Some(x) = arrays.iter().find(|x| x.ndim() > 1) {
        panic!(
            "{operation}: {} has more than one axis\n  help: flatten the coordinates first: \
             x.ravel()",
            x.aval()
        );
    }
    let along = |(i, x): (usize, &Array)| x.laid_along(i, rank);
    arrays.iter().enumerate().map(along).collect()
}

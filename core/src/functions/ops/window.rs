//! Reductions over windows (`jax.lax.reduce_window`).

use crate::dtypes::Scalar;
use crate::prim::conv::{Padding, dilated};
use crate::prim::operands;
use crate::prim::reduce::computation::{monoid, reduction_program, scalar_program};
use crate::prim::reduce::{highest, is_number, lowest};
use crate::prim::window::{
    ReduceWindow, ReduceWindowMax, ReduceWindowMin, ReduceWindowSum, SelectAndScatter,
    SlidingWindow,
};
use crate::program::trace::{bind, bind1};
use crate::typing::Dims;
use crate::{Array, DType, IntoArray};

/// A window that slides over all axes of an array.
///
/// By default, strides and dilations are 1, and there is no padding.
///
/// ```no_run
/// use ramie_core::options::Window;
/// use ramie_core::Array;
/// let x = Array::from([1, 2, 3, 4, 5]);
/// let sums = x.reduce_window_sum(&Window::new(&[2]).strides(&[2]));
/// assert_eq!(sums.to_vec::<i32>(), [3, 7]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct Window {
    dimensions: Dims,
    strides: Option<Dims>,
    padding: Padding,
    base_dilation: Option<Dims>,
    window_dilation: Option<Dims>,
}

impl Window {
    /// Creates a window with the given size along each axis; use 1 for axes that are not reduced.
    pub fn new(dimensions: &[usize]) -> Window {
        Window {
            dimensions: dimensions.into(),
            strides: None,
            padding: Padding::Valid,
            base_dilation: None,
            window_dilation: None,
        }
    }

    /// Sets the stride along each axis. Defaults to 1.
    pub fn strides(mut self, strides: &[usize]) -> Window {
        self.strides = Some(strides.into());
        self
    }

    /// Sets the padding around the array, which is filled with the initial value. Defaults to
    /// none.
    ///
    /// # Panics
    /// Panics if the padding is a string without a meaning.
    #[track_caller]
    pub fn padding(mut self, padding: impl Into<Padding>) -> Window {
        self.padding = padding.into();
        self
    }

    /// Sets the dilation of the array along each axis. Defaults to 1.
    pub fn base_dilation(mut self, dilation: &[usize]) -> Window {
        self.base_dilation = Some(dilation.into());
        self
    }

    /// Sets the dilation of the window along each axis. Defaults to 1.
    pub fn window_dilation(mut self, dilation: &[usize]) -> Window {
        self.window_dilation = Some(dilation.into());
        self
    }

    /// Returns the window over an array of the given shape.
    #[track_caller]
    fn over(&self, operation: &str, shape: &[usize]) -> SlidingWindow {
        let ones = || Dims::from_elem(1, self.dimensions.len());
        let strides = self.strides.clone().unwrap_or_else(ones);
        let window_dilation = self.window_dilation.clone().unwrap_or_else(ones);
        assert!(
            shape.len() == self.dimensions.len()
                && shape.len() == strides.len()
                && shape.len() == window_dilation.len(),
            "{operation}: a window of {:?} with strides {strides:?} and dilation \
             {window_dilation:?} does not fit an array of shape {shape:?}\n  help: pass one \
             number per axis of the array, 1 for axes that are not reduced",
            self.dimensions
        );
        let window = self.dimensions.iter().zip(&window_dilation);
        let window: Dims = window.map(|(&n, &d)| dilated(n, d)).collect();
        SlidingWindow {
            dimensions: self.dimensions.clone(),
            padding: self.padding.pads(shape, &window, &strides),
            strides,
            base_dilation: self.base_dilation.clone().unwrap_or_else(ones),
            window_dilation,
        }
    }
}

/// Reduces the elements in each window with a computation on scalars, for several arrays of the
/// same shape together (`jax.lax.reduce_window`). `computation` receives two scalars of each
/// array and returns one. It must be associative and commutative, and `init_values`, which also
/// fill the padding, must be its identity.
///
/// # Panics
/// Panics if the shapes differ, if the window does not fit them, if the initial values are not
/// one scalar of each array's dtype, or if the computation captures arrays or returns other
/// types.
#[track_caller]
pub fn reduce_window(
    operands: &[Array],
    init_values: &[Array],
    computation: impl FnOnce(&[Array], &[Array]) -> Vec<Array>,
    window: &Window,
) -> Vec<Array> {
    let (Some(first), true) = (operands.first(), operands.len() == init_values.len()) else {
        panic!(
            "reduce_window: got {} arrays and {} initial values\n  help: pass one or more \
             arrays, and one initial value for each",
            operands.len(),
            init_values.len()
        );
    };
    let window = window.over("reduce_window", first.shape());
    let types: Vec<DType> = operands.iter().map(Array::dtype).collect();
    let jaxpr = reduction_program("reduce_window", &types, computation);
    if operands.len() == 1 {
        let (dtype, start) = (first.dtype(), &init_values[0]);
        let window = window.clone();
        match monoid(&jaxpr) {
            Some("add") if is_number(start, Scalar::Int(0)) => {
                return vec![bind1(ReduceWindowSum { window }, &[first])];
            }
            Some("max") if is_number(start, lowest(dtype)) => {
                return vec![bind1(ReduceWindowMax { window }, &[first])];
            }
            Some("min") if is_number(start, highest(dtype)) => {
                return vec![bind1(ReduceWindowMin { window }, &[first])];
            }
            _ => {}
        }
    }
    let refs: Vec<&Array> = operands.iter().chain(init_values).collect();
    bind(ReduceWindow { jaxpr, window }, &refs).into_vec()
}

/// Selects an element in each window of `operand`, and combines the corresponding element of
/// `source` into the result at that element's position. The result is initialized with
/// `init_value`. `select` returns whether the first of two elements is selected; `scatter`
/// combines two values of the same position.
///
/// This function has no derivative.
///
/// # Panics
/// Panics if the window has dilations or does not fit, if the dtypes differ, or if a computation
/// captures arrays or returns other types.
#[track_caller]
pub fn select_and_scatter(
    operand: &Array,
    source: &Array,
    init_value: impl IntoArray,
    select: impl FnOnce(&Array, &Array) -> Array,
    scatter: impl FnOnce(&Array, &Array) -> Array,
    window: &Window,
) -> Array {
    const NAME: &str = "select_and_scatter";
    let start = operands::as_dtype_of(NAME, operand, &init_value.into_array());
    let types = [operand.dtype(); 2];
    let primitive = SelectAndScatter {
        select_jaxpr: scalar_program(NAME, &types, |a| vec![select(&a[0], &a[1])]),
        scatter_jaxpr: scalar_program(NAME, &types, |a| vec![scatter(&a[0], &a[1])]),
        window: window.over(NAME, operand.shape()),
    };
    bind1(primitive, &[operand, source, &start])
}

impl Array {
    /// Reduces the elements in each window with a computation on scalars
    /// (`jax.lax.reduce_window`); see [`reduce_window`].
    ///
    /// ```no_run
    /// use ramie_core::options::Window;
    /// use ramie_core::Array;
    /// let x = Array::from([1, 2, 3, 4]);
    /// let products = x.reduce_window(1, |a, b| a * b, &Window::new(&[2]));
    /// assert_eq!(products.to_vec::<i32>(), [2, 6, 12]);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`reduce_window`].
    #[track_caller]
    pub fn reduce_window(
        &self,
        init_value: impl IntoArray,
        computation: impl FnOnce(&Array, &Array) -> Array,
        window: &Window,
    ) -> Array {
        let start = operands::as_dtype_of("reduce_window", self, &init_value.into_array());
        let combine = |a: &[Array], b: &[Array]| vec![computation(&a[0], &b[0])];
        reduce_window(std::slice::from_ref(self), &[start], combine, window).swap_remove(0)
    }

    /// Computes the sum of the elements in each window.
    ///
    /// # Panics
    /// Panics if the window does not fit, or if the elements are not numbers.
    #[track_caller]
    pub fn reduce_window_sum(&self, window: &Window) -> Array {
        let window = window.over("reduce_window_sum", self.shape());
        bind1(ReduceWindowSum { window }, &[self])
    }

    /// Computes the maximum of the elements in each window. NaN propagates. Padding counts as the
    /// lowest value of the dtype.
    ///
    /// # Panics
    /// Panics if the window does not fit.
    #[track_caller]
    pub fn reduce_window_max(&self, window: &Window) -> Array {
        let window = window.over("reduce_window_max", self.shape());
        bind1(ReduceWindowMax { window }, &[self])
    }

    /// Computes the minimum of the elements in each window. NaN propagates. Padding counts as the
    /// highest value of the dtype.
    ///
    /// # Panics
    /// Panics if the window does not fit.
    #[track_caller]
    pub fn reduce_window_min(&self, window: &Window) -> Array {
        let window = window.over("reduce_window_min", self.shape());
        bind1(ReduceWindowMin { window }, &[self])
    }
}

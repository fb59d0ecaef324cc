//! Primitives of sliding windows: reductions of windows, and the operations needed by their
//! derivatives.
//!
//! XLA's CPU compiler aborts the process on a window over a 0-d array, which is therefore lowered
//! without a window.

mod general;
mod select_and_gather;
mod select_and_scatter;
mod select_and_scatter_add;
mod table;

pub use general::ReduceWindow;
pub use select_and_gather::SelectAndGatherAdd;
pub use select_and_scatter::SelectAndScatter;
pub use select_and_scatter_add::SelectAndScatterAdd;
pub use table::*;

use crate::dtypes::Scalar;
use crate::prim::Param;
use crate::prim::conv::{Pads, dilated, window_positions};
use crate::prim::reduce::{highest, lowest};
use crate::program::lower::{dims_array, padding_attribute};
use crate::typing::Dims;
use crate::{Aval, DType, ShapeError};

/// A window that slides along all axes of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SlidingWindow {
    /// Size of the window along each axis.
    pub dimensions: Dims,
    /// Stride along each axis.
    pub strides: Dims,
    /// Padding of the array.
    pub padding: Pads,
    /// Dilation of the array.
    pub base_dilation: Dims,
    /// Dilation of the window.
    pub window_dilation: Dims,
}

/// The element of a window that is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Select {
    /// The first element that is greater than or equal to all others.
    Ge,
    /// The first element that is less than or equal to all others.
    Le,
}

impl Select {
    /// Returns the name of the comparison, as JAX prints it.
    fn name(self) -> &'static str {
        match self {
            Select::Ge => "ge",
            Select::Le => "le",
        }
    }

    /// Returns the comparison's name in StableHLO.
    fn direction(self) -> &'static str {
        match self {
            Select::Ge => "GE",
            Select::Le => "LE",
        }
    }

    /// Returns the value over which every other is selected.
    fn last(self, dtype: DType) -> Scalar {
        match self {
            Select::Ge => lowest(dtype),
            Select::Le => highest(dtype),
        }
    }
}

fn ones(rank: usize) -> Dims {
    Dims::from_elem(1, rank)
}

impl SlidingWindow {
    /// Creates a window without dilation.
    pub(crate) fn plain(dimensions: Dims, strides: Dims, padding: Pads) -> SlidingWindow {
        let rank = dimensions.len();
        SlidingWindow {
            dimensions,
            strides,
            padding,
            base_dilation: ones(rank),
            window_dilation: ones(rank),
        }
    }

    /// Returns whether neither array nor window are dilated.
    fn is_plain(&self) -> bool {
        let dilations = [&self.base_dilation, &self.window_dilation];
        dilations.iter().all(|list| list.iter().all(|&d| d == 1))
    }

    /// Returns an error if array or window are dilated.
    fn check_plain(&self) -> Result<(), ShapeError> {
        crate::ensure_shape!(
            self.is_plain(),
            "dilations {:?} and {:?}, expected none",
            self.base_dilation,
            self.window_dilation
        );
        Ok(())
    }

    /// Returns the number of windows along each axis of an array.
    fn shape(&self, operand: Aval) -> Result<Dims, ShapeError> {
        let rank = operand.ndim();
        for (what, given) in [
            ("window_dimensions", self.dimensions.len()),
            ("window_strides", self.strides.len()),
            ("padding", self.padding.len()),
            ("base_dilation", self.base_dilation.len()),
            ("window_dilation", self.window_dilation.len()),
        ] {
            if given != rank {
                return Err(ShapeError::new(format!(
                    "{what} has {given} entries, but {operand} has {rank} axes"
                ))
                .help(
                    "pass one for each axis, also for those along which nothing is reduced (1)",
                ));
            }
        }
        let counts = [
            &self.dimensions,
            &self.strides,
            &self.base_dilation,
            &self.window_dilation,
        ];
        crate::ensure_shape!(
            counts.iter().all(|list| list.iter().all(|&n| n > 0)),
            "window dimensions {:?}, strides {:?} and dilations {:?} and {:?} must be 1 or more",
            self.dimensions,
            self.strides,
            self.base_dilation,
            self.window_dilation
        );
        let (mut shape, mut padded_shape) = (Dims::new(), Dims::new());
        for (d, &n) in operand.shape().iter().enumerate() {
            let base = dilated(n, self.base_dilation[d]);
            let window = dilated(self.dimensions[d], self.window_dilation[d]);
            let (padding, stride) = (self.padding[d], self.strides[d]);
            let [positions, padded] = window_positions(d, base, padding, window, stride)?;
            shape.push(positions);
            padded_shape.push(padded);
        }
        operand.with_shape(&padded_shape).check_size()?;
        Ok(shape)
    }

    /// Returns the window over a batch whose axis is `at`: one example at a time.
    fn batched(&self, at: usize) -> SlidingWindow {
        let mut window = self.clone();
        window.padding.insert(at, (0, 0));
        for list in [
            &mut window.dimensions,
            &mut window.strides,
            &mut window.base_dilation,
            &mut window.window_dilation,
        ] {
            list.insert(at, 1);
        }
        window
    }

    /// Returns the parameters of a reduction, without those before `base_dilation`. The arguments
    /// are the parameters between dilation and padding, and those between padding and window.
    fn params(
        &self,
        before_padding: Vec<(&'static str, Param)>,
        after_padding: Vec<(&'static str, Param)>,
    ) -> Vec<(&'static str, Param)> {
        let mut params = vec![("base_dilation", Param::tuple(&self.base_dilation))];
        params.extend(before_padding);
        params.push(("padding", Param::padding(&self.padding)));
        params.extend(after_padding);
        params.push(("window_dilation", Param::tuple(&self.window_dilation)));
        params.push(("window_dimensions", Param::tuple(&self.dimensions)));
        params.push(("window_strides", Param::tuple(&self.strides)));
        params
    }

    /// Formats window and padding as StableHLO attributes, without dilations.
    fn plain_attributes(&self) -> String {
        format!(
            "window_dimensions = {}, window_strides = {}, {}",
            dims_array(&self.dimensions),
            dims_array(&self.strides),
            padding_attribute(&self.padding)
        )
    }

    /// Formats the window as StableHLO attributes.
    pub(crate) fn attributes(&self) -> String {
        format!(
            "{}, base_dilations = {}, window_dilations = {}",
            self.plain_attributes(),
            dims_array(&self.base_dilation),
            dims_array(&self.window_dilation)
        )
    }
}

//! Primitives of a window that slides over an array: reductions of what is in
//! it, and the operations that their derivatives need.
//!
//! XLA's CPU compiler ends the process at a window over a 0-d array, which is
//! lowered without one.

mod choice;
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

use crate::lower::{dims_array, padding_attribute};
use crate::prim::Param;
use crate::prim::conv::{Pads, dilated, window_positions};
use crate::prim::reduce::{highest, lowest};
use crate::{Aval, DType, Dims, Scalar, ShapeError};

/// A window over all axes of an array, and the places that it takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SlidingWindow {
    /// How many elements the window has along each axis.
    pub dimensions: Dims,
    /// How far its places are apart.
    pub strides: Dims,
    /// What is added around the array.
    pub padding: Pads,
    /// How far the array's elements are spread.
    pub base_dilation: Dims,
    /// How far the window's elements are spread.
    pub window_dilation: Dims,
}

/// Which element of a window is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Select {
    /// The first that is as large as every other.
    Ge,
    /// The first that is as small as every other.
    Le,
}

impl Select {
    /// The name of the comparison, as JAX prints it.
    fn name(self) -> &'static str {
        match self {
            Select::Ge => "ge",
            Select::Le => "le",
        }
    }

    /// The comparison in StableHLO.
    fn direction(self) -> &'static str {
        match self {
            Select::Ge => "GE",
            Select::Le => "LE",
        }
    }

    /// The value that every other is chosen over.
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
    /// A window without dilation.
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

    /// Whether neither array nor window are spread.
    fn is_plain(&self) -> bool {
        let dilations = [&self.base_dilation, &self.window_dilation];
        dilations.iter().all(|list| list.iter().all(|&d| d == 1))
    }

    /// Refuses a window without dilation that has some.
    fn check_plain(&self) -> Result<(), ShapeError> {
        crate::ensure_shape!(
            self.is_plain(),
            "dilations {:?} and {:?}, expected none",
            self.base_dilation,
            self.window_dilation
        );
        Ok(())
    }

    /// How many places the window takes along each axis of an array.
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
                    "{what} has {given} entries for the {rank} axes of {operand}"
                ))
                .help(
                    "give one for each axis, also for those along which nothing is reduced (1)",
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
        let (mut shape, mut spread) = (Dims::new(), Dims::new());
        for (d, &n) in operand.shape().iter().enumerate() {
            let base = dilated(n, self.base_dilation[d]);
            let window = dilated(self.dimensions[d], self.window_dilation[d]);
            let (padding, stride) = (self.padding[d], self.strides[d]);
            let [positions, padded] = window_positions(d, base, padding, window, stride)?;
            shape.push(positions);
            spread.push(padded);
        }
        operand.with_shape(&spread).check_size()?;
        Ok(shape)
    }

    /// The window over a batch whose axis is `at`: one example at a time.
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

    /// The parameters of a reduction, without those before `base_dilation`;
    /// `after` are those that come between the dilation and the padding, and
    /// those between padding and window.
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

    /// Window and padding as attributes of StableHLO, without dilations.
    fn plain_attributes(&self) -> String {
        format!(
            "window_dimensions = {}, window_strides = {}, {}",
            dims_array(&self.dimensions),
            dims_array(&self.strides),
            padding_attribute(&self.padding)
        )
    }

    /// All of it as attributes of StableHLO.
    pub(crate) fn attributes(&self) -> String {
        format!(
            "{}, base_dilations = {}, window_dilations = {}",
            self.plain_attributes(),
            dims_array(&self.base_dilation),
            dims_array(&self.window_dilation)
        )
    }
}

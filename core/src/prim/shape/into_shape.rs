//! Shapes as arguments of `reshape`: integers of any type, one of which may be -1.

use crate::base::location;
use crate::types::aval::element_count;
use crate::typing::Dims;
use crate::{Array, PartitionSpec, ShapeError};
use smallvec::SmallVec;

/// The order in which [`Array::reshape_with`] reads and writes elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Row-major: the last axis varies fastest.
    #[default]
    C,
    /// Column-major, as in Fortran: the first axis varies fastest.
    F,
}

/// The option of [`Array::reshape_with`]. An [`Order`], [`Dimensions`] and a [`PartitionSpec`]
/// convert into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReshapeOption {
    /// The order in which elements are read and written.
    Order(Order),
    /// The order of the axes in which elements are read.
    Dimensions(Dimensions),
    /// The sharding of the result over explicit axes of a mesh.
    OutSharding(Box<PartitionSpec>),
}

/// The order of the axes in which [`Array::reshape_with`] reads elements, the slowest-varying axis
/// first (`dimensions=` of `lax.reshape`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimensions(pub(super) SmallVec<[isize; 6]>);

impl Dimensions {
    /// Creates the order from one axis for each axis of the array.
    pub fn new(axes: &[isize]) -> Dimensions {
        Dimensions(axes.into())
    }
}

impl From<Dimensions> for ReshapeOption {
    fn from(dimensions: Dimensions) -> ReshapeOption {
        ReshapeOption::Dimensions(dimensions)
    }
}

impl From<Order> for ReshapeOption {
    fn from(order: Order) -> ReshapeOption {
        ReshapeOption::Order(order)
    }
}

impl From<PartitionSpec> for ReshapeOption {
    fn from(spec: PartitionSpec) -> ReshapeOption {
        ReshapeOption::OutSharding(spec.into())
    }
}

/// An integer that can be a size in a shape passed to [`Array::reshape`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a size of an axis",
    note = "sizes are integers, one of which may be -1; for a 0-d result write `x.reshape(())`"
)]
pub trait DimSize: Copy {
    /// Returns the size.
    fn dim_size(self) -> i128;
}

macro_rules! sizes {
    ($($t:ty)*) => { $(
        impl DimSize for $t {
            fn dim_size(self) -> i128 { self as i128 }
        }
        impl IntoShape for $t {
            fn into_shape(self) -> RequestedShape { RequestedShape::new([self]) }
        }
    )* };
}
sizes!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// A shape as the caller of [`Array::reshape`] wrote it, in which -1 may appear once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedShape(SmallVec<[i128; 6]>);

impl RequestedShape {
    fn new<T: DimSize>(sizes: impl IntoIterator<Item = T>) -> RequestedShape {
        RequestedShape(sizes.into_iter().map(T::dim_size).collect())
    }

    /// Returns the shape for an array, with -1 replaced by the inferred size.
    #[track_caller]
    pub(crate) fn of(&self, operation: &str, array: &Array) -> Dims {
        match self.resolve(array.size()) {
            Ok(shape) => shape,
            Err(error) => {
                let operand = format!("operand {}", array.describe());
                location::fail(&error.render(operation, &[operand]))
            }
        }
    }

    fn resolve(&self, elements: usize) -> Result<Dims, ShapeError> {
        let shown = self.0.as_slice();
        if let Some(size) = shown.iter().find(|&&n| n < -1) {
            return Err(
                ShapeError::new(format!("{size} in the shape {shown:?} is not a size"))
                    .help("sizes are 0 or more, or -1 for the size to infer"),
            );
        }
        if shown.iter().filter(|&&n| n == -1).count() > 1 {
            return Err(
                ShapeError::new(format!("the shape {shown:?} has more than one -1"))
                    .help("only one size can be inferred from the number of elements"),
            );
        }
        // The sizes are at least -1; larger ones than `usize` has do not fit any array.
        let known = |n: i128| usize::try_from(n).unwrap_or(usize::MAX);
        let Some(inferred) = shown.iter().position(|&n| n == -1) else {
            return Ok(shown.iter().map(|&n| known(n)).collect());
        };
        let mut shape: Dims = shown
            .iter()
            .map(|&n| known(if n == -1 { 1 } else { n }))
            .collect();
        let rest = element_count(&shape);
        if rest == 0 || !elements.is_multiple_of(rest) {
            let reason = match rest {
                0 => "the other sizes have the product 0".to_string(),
                _ => format!(
                    "{elements} is not a multiple of {rest}, the product of the other sizes"
                ),
            };
            return Err(ShapeError::new(format!(
                "-1 in the shape {shown:?} cannot be inferred: {reason}"
            ))
            .help("the product of all sizes must be the number of elements"));
        }
        shape[inferred] = elements / rest;
        Ok(shape)
    }
}

/// A shape for [`Array::reshape`]: an integer, a tuple of integers, or a reference to an array, a
/// slice or a `Vec` of integers. One
/// of them may be -1: the size that leaves the number of elements unchanged. `()` is the shape of
/// a 0-d array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    note = "pass integers in a tuple, or a reference to an array, a slice or a `Vec`: `(2, -1)`, `&[2, 3]`"
)]
pub trait IntoShape {
    /// Converts the value to sizes.
    fn into_shape(self) -> RequestedShape;
}

impl IntoShape for RequestedShape {
    fn into_shape(self) -> RequestedShape {
        self
    }
}
impl<T: DimSize> IntoShape for &[T] {
    fn into_shape(self) -> RequestedShape {
        RequestedShape::new(self.iter().copied())
    }
}
impl<T: DimSize> IntoShape for &Vec<T> {
    fn into_shape(self) -> RequestedShape {
        self.as_slice().into_shape()
    }
}
impl<T: DimSize, const N: usize> IntoShape for &[T; N] {
    fn into_shape(self) -> RequestedShape {
        self.as_slice().into_shape()
    }
}
impl IntoShape for &Dims {
    fn into_shape(self) -> RequestedShape {
        self.as_slice().into_shape()
    }
}

impl IntoShape for () {
    fn into_shape(self) -> RequestedShape {
        RequestedShape::default()
    }
}

macro_rules! tuples {
    ($($($t:ident)*;)*) => { $(
        impl<$($t: DimSize),*> IntoShape for ($($t,)*) {
            #[allow(non_snake_case)]
            fn into_shape(self) -> RequestedShape {
                let ($($t,)*) = self;
                RequestedShape(SmallVec::from_slice(&[$($t.dim_size()),*]))
            }
        }
    )* };
}
tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

impl Array {
    /// Flattens the array to one axis, in row-major order. For another order, use
    /// [`reshape_with(-1, order)`](Array::reshape_with).
    #[track_caller]
    pub fn ravel(&self) -> Array {
        self.reshape(self.size())
    }
}

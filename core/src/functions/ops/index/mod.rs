//! NumPy-style indexing: integers, ranges, steps, new axes, arrays of integers and masks.

mod at;
mod plan;
mod resolve;
mod take;

use crate::prim::operands;
use crate::{Array, IntoArray};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

pub use at::At;
pub use take::TakeMode;

/// One entry of an index.
#[derive(Clone, Debug)]
pub enum IndexItem {
    /// One element along an axis, which is removed. Negative integers count from the end.
    Integer(i64),
    /// A range of an axis, with the bounds and the step of a Python slice.
    Slice {
        /// First element. `None` is the end at which the step starts.
        start: Option<i64>,
        /// Element before which the range ends. `None` is the other end of the axis.
        stop: Option<i64>,
        /// Step, which must not be 0.
        step: i64,
    },
    /// A new axis of size 1.
    NewAxis,
    /// All axes without an entry of their own.
    Ellipsis,
    /// The elements along an axis at an array of integers, or along several axes where a boolean
    /// array is true. A single boolean is a new axis, of size 1 if it is true and of size 0
    /// otherwise.
    Array(Array),
}

/// Inserts an axis of size 1 into the result of an index.
///
/// ```no_run
/// use ramie_core::numpy::NewAxis;
/// use ramie_core::Array;
/// assert_eq!(Array::arange(3).index((.., NewAxis)).shape(), [3, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAxis;

/// Selects all axes without an entry of their own.
///
/// ```no_run
/// use ramie_core::numpy::Ellipsis;
/// use ramie_core::{Array, DType};
/// let x = Array::zeros(&[2, 3, 4], DType::F32);
/// assert_eq!(x.index((Ellipsis, 0)).shape(), [2, 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ellipsis;

/// A range with a step, created by [`s`] or [`Stepped::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepped {
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
}

impl Stepped {
    /// Creates Python's `start:stop:step`. A bound of `None` is the end of the axis.
    ///
    /// ```no_run
    /// use ramie_core::numpy::Stepped;
    /// use ramie_core::Array;
    /// let down = Stepped::new(Some(4), Some(1), -1);
    /// assert_eq!(Array::arange(6).index(down).to_vec::<i32>(), [4, 3, 2]);
    /// ```
    ///
    /// # Panics
    /// Panics if the step is 0.
    #[track_caller]
    pub fn new(start: Option<isize>, stop: Option<isize>, step: isize) -> Stepped {
        let (start, stop) = (start.map(|b| b as i64), stop.map(|b| b as i64));
        let step_by_one = Stepped {
            start,
            stop,
            step: 1,
        };
        step_by_one.step(step)
    }

    /// Selects every `step`-th element of the range. A negative step goes backwards, from the
    /// first bound of the range down to above the second, as in Python.
    ///
    /// # Panics
    /// Panics if the step is 0.
    #[must_use]
    #[track_caller]
    pub fn step(self, step: isize) -> Stepped {
        assert!(
            step != 0,
            "index: the step of a slice must not be 0\n  help: pass a step of 1 or more, or a \
             negative step to go backwards"
        );
        let step = step as i64;
        Stepped { step, ..self }
    }
}

/// Creates a range to which `step` adds a step.
///
/// ```no_run
/// use ramie_core::{Array, s};
/// let x = Array::arange(6);
/// assert_eq!(x.index(s(1..).step(2)).to_vec::<i32>(), [1, 3, 5]);
/// assert_eq!(x.index(s(..).step(-1)).to_vec::<i32>(), [5, 4, 3, 2, 1, 0]);
/// ```
///
/// Only a range has a step:
///
/// ```compile_fail
/// ramie_core::s([4, 1]).step(2);
/// ```
pub fn s(range: impl Into<Stepped>) -> Stepped {
    range.into()
}

/// Returns the bound after an element, or `None` for the last element.
fn after(at: i64) -> Option<i64> {
    (at != -1).then_some(at.saturating_add(1))
}

/// Converts an index. One above `i64::MAX` is out of bounds of every axis, as `i64::MAX` is.
fn wide(index: impl TryInto<i64>) -> i64 {
    index.try_into().unwrap_or(i64::MAX)
}

/// A value that can be one entry of an index: an integer, a boolean, a range, [`s`], [`NewAxis`],
/// [`Ellipsis`], or integers or booleans in an [`Array`], a `Vec` or a Rust array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index an array",
    note = "index with integers, ranges, `s(range).step(n)`, `NewAxis`, `Ellipsis`, booleans, or arrays \
            of integers or booleans"
)]
pub trait IntoIndexItem {
    /// Converts the value to an entry.
    fn into_index_item(self) -> IndexItem;
}

/// A value that can index an array: one entry, or a tuple of up to six entries.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index an array",
    note = "index with integers, ranges, `s(range).step(n)`, `NewAxis`, `Ellipsis`, booleans, arrays of \
            integers or booleans, or a tuple of up to six of these"
)]
pub trait IntoIndex {
    /// Converts the value to entries, outermost axis first.
    fn into_index(self) -> Vec<IndexItem>;
}

impl IntoIndexItem for IndexItem {
    fn into_index_item(self) -> IndexItem {
        self
    }
}
impl IntoIndexItem for NewAxis {
    fn into_index_item(self) -> IndexItem {
        IndexItem::NewAxis
    }
}
impl IntoIndexItem for Ellipsis {
    fn into_index_item(self) -> IndexItem {
        IndexItem::Ellipsis
    }
}
impl IntoIndexItem for Stepped {
    fn into_index_item(self) -> IndexItem {
        let Stepped { start, stop, step } = self;
        IndexItem::Slice { start, stop, step }
    }
}
impl IntoIndexItem for Array {
    fn into_index_item(self) -> IndexItem {
        IndexItem::Array(self)
    }
}
impl IntoIndexItem for &Array {
    fn into_index_item(self) -> IndexItem {
        IndexItem::Array(self.clone())
    }
}

fn range(start: Option<i64>, stop: Option<i64>) -> Stepped {
    let step = 1;
    Stepped { start, stop, step }
}

macro_rules! ranges {
    ($(($($t:tt)*) $r:ident => $start:expr, $stop:expr;)*) => { $(
        impl From<$($t)*> for Stepped {
            fn from($r: $($t)*) -> Stepped {
                range($start, $stop)
            }
        }
        impl IntoIndexItem for $($t)* {
            fn into_index_item(self) -> IndexItem {
                s(self).into_index_item()
            }
        }
    )* };
}
ranges! { (RangeFull) _r => None, None; }

macro_rules! integer_items {
    ($($t:ty),*) => { $(
        impl IntoIndexItem for $t {
            fn into_index_item(self) -> IndexItem {
                IndexItem::Integer(wide(self))
            }
        }
        ranges! {
            (Range<$t>) r => Some(wide(r.start)), Some(wide(r.end));
            (RangeFrom<$t>) r => Some(wide(r.start)), None;
            (RangeTo<$t>) r => None, Some(wide(r.end));
            (RangeInclusive<$t>) r => Some(wide(*r.start())), after(wide(*r.end()));
            (RangeToInclusive<$t>) r => None, after(wide(r.end));
        }
        impl IntoIndexItem for Vec<$t> {
            #[track_caller]
            fn into_index_item(self) -> IndexItem {
                IndexItem::Array(index_array(self.iter().map(|&i| wide(i))))
            }
        }
        impl IntoIndexItem for &[$t] {
            #[track_caller]
            fn into_index_item(self) -> IndexItem {
                IndexItem::Array(index_array(self.iter().map(|&i| wide(i))))
            }
        }
        impl<const N: usize> IntoIndexItem for [$t; N] {
            #[track_caller]
            fn into_index_item(self) -> IndexItem {
                IndexItem::Array(index_array(self.iter().map(|&i| wide(i))))
            }
        }
    )* };
}
integer_items!(i32, i64, isize, usize);

impl IntoIndexItem for bool {
    fn into_index_item(self) -> IndexItem {
        IndexItem::Array(self.into_array())
    }
}
impl IntoIndexItem for Vec<bool> {
    #[track_caller]
    fn into_index_item(self) -> IndexItem {
        IndexItem::Array(Array::from(self))
    }
}
impl IntoIndexItem for &[bool] {
    #[track_caller]
    fn into_index_item(self) -> IndexItem {
        IndexItem::Array(Array::from(self))
    }
}
impl<const N: usize> IntoIndexItem for [bool; N] {
    #[track_caller]
    fn into_index_item(self) -> IndexItem {
        IndexItem::Array(Array::from(self))
    }
}

/// Returns an array of indices known on the host.
#[track_caller]
fn index_array(indices: impl Iterator<Item = i64>) -> Array {
    let indices: Vec<i64> = indices.collect();
    let narrow: Result<Vec<i32>, _> = indices.iter().map(|&i| i32::try_from(i)).collect();
    match narrow {
        Ok(narrow) => Array::from(narrow),
        Err(_) => Array::from(indices),
    }
}

impl<T: IntoIndexItem> IntoIndex for T {
    #[track_caller]
    fn into_index(self) -> Vec<IndexItem> {
        vec![self.into_index_item()]
    }
}
impl IntoIndex for Vec<IndexItem> {
    fn into_index(self) -> Vec<IndexItem> {
        self
    }
}
impl IntoIndex for () {
    fn into_index(self) -> Vec<IndexItem> {
        Vec::new()
    }
}
macro_rules! tuple_index {
    ($($t:ident $v:ident)+) => {
        impl<$($t: IntoIndexItem),+> IntoIndex for ($($t,)+) {
            #[track_caller]
            fn into_index(self) -> Vec<IndexItem> {
                let ($($v,)+) = self;
                vec![$($v.into_index_item()),+]
            }
        }
    };
}
tuple_index!(A a);
tuple_index!(A a B b);
tuple_index!(A a B b C c);
tuple_index!(A a B b C c D d);
tuple_index!(A a B b C c D d E e);
tuple_index!(A a B b C c D d E e F f);

impl Array {
    /// Returns the elements selected by an index, like NumPy's `x[…]`, as a new array.
    ///
    /// The index has one entry for each axis, alone or in a tuple: an integer (which removes the
    /// axis), a range, [`s(range).step(n)`](s), an array of integers or a mask. `..` selects a
    /// whole axis, [`Ellipsis`] all axes without an entry, and [`NewAxis`] inserts an axis. A single
    /// boolean also inserts an axis, of size 1 if it is true and of size 0 otherwise.
    /// Negative numbers count from the end. Arrays of integers are broadcast together. Their axes
    /// replace the first array's axis if the arrays are adjacent, and otherwise come first.
    ///
    /// Ranges are clamped to the axis. An out-of-bounds integer in an array reads the nearest
    /// element; [`at`](Array::at) offers other modes.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::iota(&[4, 3], 0, DType::I32);
    /// assert_eq!(x.index((1, ..2)).to_vec::<i32>(), [1, 1]);
    /// assert_eq!(x.index([3, 0]).shape(), [2, 3]);
    /// assert_eq!(x.index((-1, 0)).item::<i32>(), 3);
    /// ```
    ///
    /// # Panics
    /// Panics if there are more entries than axes, if an integer is out of bounds, if arrays of
    /// integers do not broadcast together, or if a mask is traced or its shape differs from the
    /// axes that it selects from.
    #[track_caller]
    pub fn index(&self, index: impl IntoIndex) -> Array {
        self.at(index).get()
    }

    /// Selects a part of the array to read in another [`mode`](At::mode) or to update. Updates
    /// return a new array: `x.at(0).set(1.0)` leaves `x` unchanged.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1, 2, 3]);
    /// assert_eq!(x.at(1..).add(10).to_vec::<i32>(), [1, 12, 13]);
    /// assert_eq!(x.to_vec::<i32>(), [1, 2, 3]);
    /// ```
    #[track_caller]
    pub fn at(&self, index: impl IntoIndex) -> At<'_> {
        At::new(self, index.into_index())
    }
}

/// Converts a value to write to the array's dtype. `operation` is the name used in messages.
#[track_caller]
fn value_for(operation: &str, array: &Array, value: impl IntoArray) -> Array {
    operands::as_dtype_of(operation, array, &value.into_array())
}

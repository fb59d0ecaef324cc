//! Positions of extreme elements: `argmax`, `argmin`, `nanargmax` and `nanargmin`.

use super::nan::without_nan;
use crate::options::Reduction;
use crate::prim::elementwise::parts::require_real;
use crate::prim::reduce::{Argmax, Argmin, highest, lowest};
use crate::program::trace::bind1;
use crate::{Array, DType, where_};

macro_rules! positions {
    ($( $(#[$doc:meta])* $f:ident $ty:ident $word:literal; )*) => {
        impl Array { $(
            $(#[$doc])*
            /// The index is counted from 0, in `i32`. `over` is the axis, which is removed, or
            /// `None` for the position in the flattened array, or a [`Reduction`] that keeps the
            /// axis or sets the dtype of the index.
            ///
            /// ```no_run
            /// use ramie_core::options::Reduction;
            /// use ramie_core::{Array, DType};
            #[doc = concat!("let x = Array::from([[1, 5], [7, 3]]);\n",
                "let kept = x.", stringify!($f), "(Reduction::over(1).keepdims().dtype(DType::U8));\n",
                "assert_eq!(kept.aval().to_string(), \"u8[2,1]\");")]
            /// ```
            ///
            /// # Panics
            #[doc = concat!("Panics if the axis is out of range or has size 0, which has no ", $word, " element,")]
            /// if there are several axes or other options, if the dtype of the index is not an
            /// integer dtype or too small for the axis, or if the array is complex.
            #[track_caller]
            pub fn $f(&self, over: impl Into<Reduction>) -> Array {
                let how = over.into();
                let (x, axis, index_dtype) = how.position(stringify!($f), self);
                how.put_back(self, bind1($ty { axis, index_dtype }, &[&x]))
            }
        )* }
    };
}

positions! {
    /// Returns the index of the largest element: the first one among equal elements, and the first
    /// NaN, if any.
    argmax Argmax "largest";
    /// Returns the index of the smallest element: the first one among equal elements, and the
    /// first NaN, if any.
    argmin Argmin "smallest";
}

macro_rules! nan_positions {
    ($($f:ident $ty:ident $end:ident $word:literal;)*) => {
        impl Array { $(
            #[doc = concat!("Returns the index of the ", $word, " element that is not NaN, or -1 if all elements are")]
            /// NaN. The argument is that of [`argmax`](Array::argmax).
            ///
            /// # Panics
            /// Panics in the same cases as [`argmax`](Array::argmax), or if the dtype of the index is
            /// unsigned.
            #[track_caller]
            pub fn $f(&self, over: impl Into<Reduction>) -> Array {
                let (operation, how) = (stringify!($f), over.into());
                require_real(operation, &[self]);
                let (x, axis, index_dtype) = how.position(operation, self);
                assert!(
                    !index_dtype.is_unsigned(),
                    "{operation}: the dtype of the index is {index_dtype}, which cannot represent \
                     -1, the index if all elements are NaN\n  help: use a signed dtype"
                );
                let numbers = without_nan(&x, $end(x.dtype()));
                let found = bind1($ty { axis, index_dtype }, &[&numbers]);
                let found = if x.dtype().is_float() {
                    where_(x.is_nan().all_over(axis as isize), -1, found)
                } else {
                    found
                };
                how.put_back(self, found)
            }
        )* }
    };
}

nan_positions! {
    nanargmax Argmax lowest "largest";
    nanargmin Argmin highest "smallest";
}

impl Reduction {
    /// Returns the array and the only axis along which a position is searched, and the dtype of the
    /// index. All axes are flattened to one.
    #[track_caller]
    fn position(&self, operation: &str, x: &Array) -> (Array, usize, DType) {
        let (how, dtype) = self.without_dtype();
        let dtype = dtype.unwrap_or(DType::I32);
        how.refuse_options(operation);
        match self.given_axes() {
            None => (x.ravel(), 0, dtype),
            Some(&[axis]) => (x.clone(), x.axis(operation, axis), dtype),
            Some(axes) => panic!(
                "{operation}: got axes {axes:?} of {}, expected one axis\n  help: pass None to \
                 search all axes, or merge axes with x.reshape(shape)",
                x.aval()
            ),
        }
    }

    /// Restores the axes that a position search in `x` removed, if they are kept.
    #[track_caller]
    fn put_back(&self, x: &Array, found: Array) -> Array {
        match (self.keeps(), self.given_axes()) {
            (false, _) => found,
            (true, Some(axes)) => found.expand_dims(axes),
            (true, None) => found.reshape(&vec![1; x.ndim()]),
        }
    }
}

//! Array literals: scalars, and nested lists of scalars.

use super::{Array, Element};
use crate::typing::Dims;
use half::{bf16, f16};

/// A number or boolean, and its dtype in [`array()`].
pub trait Number: Copy {
    /// Rust type of the element: `f32` for `f64`, `i32` for `i64`, `isize` and `usize`, and `u32`
    /// for `u64`. All other types are unchanged.
    type Element: Element;
    /// Converts the value to the element type, or returns `None` if it does not fit.
    fn element(self) -> Option<Self::Element>;
}

macro_rules! number {
    ($($t:ty => $e:ty, |$v:ident| $value:expr;)*) => { $(
        impl Number for $t {
            type Element = $e;
            fn element(self) -> Option<$e> { let $v = self; $value }
        }
        impl ArrayLike for $t {
            type Number = $t;
            fn shape(_: Option<&Self>, _: &mut Dims) {}
            #[track_caller]
            fn gather(&self, _: &[usize], _: &mut Vec<usize>, out: &mut Vec<$e>) {
                match self.element() {
                    Some(element) => out.push(element),
                    None => panic!(
                        "array: {self} does not fit in {}, to which `array` converts such \
                         numbers\n  help: use Array::from or Array::from_slice, which keep {}",
                        <$e>::DTYPE,
                        stringify!($t)
                    ),
                }
            }
        }
    )* };
}
number! {
    bool => bool, |v| Some(v);
    i8 => i8, |v| Some(v);
    i16 => i16, |v| Some(v);
    i32 => i32, |v| Some(v);
    i64 => i32, |v| v.try_into().ok();
    isize => i32, |v| v.try_into().ok();
    u8 => u8, |v| Some(v);
    u16 => u16, |v| Some(v);
    u32 => u32, |v| Some(v);
    u64 => u32, |v| v.try_into().ok();
    usize => i32, |v| v.try_into().ok();
    f16 => f16, |v| Some(v);
    bf16 => bf16, |v| Some(v);
    f32 => f32, |v| Some(v);
    f64 => f32, |v| Some(v as f32);
}

/// An argument of [`array()`]: a number, or an array, vector or slice of arguments, nested to any
/// depth.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to an array",
    note = "pass numbers, booleans, or nested arrays, vectors and slices of them"
)]
pub trait ArrayLike {
    /// Type of the nested numbers.
    type Number: Number;
    /// Appends the sizes of this level and of the nested levels, given by their first items.
    fn shape(first: Option<&Self>, shape: &mut Dims);
    /// Appends the elements in row-major order. `path` is the position of `self`.
    ///
    /// # Panics
    /// Panics if the sizes differ from `shape`, or if a number does not fit.
    fn gather(
        &self,
        shape: &[usize],
        path: &mut Vec<usize>,
        out: &mut Vec<<Self::Number as Number>::Element>,
    );
}

type Elements<T> = Vec<<<T as ArrayLike>::Number as Number>::Element>;

#[track_caller]
fn gather_items<T: ArrayLike>(
    items: &[T],
    shape: &[usize],
    path: &mut Vec<usize>,
    out: &mut Elements<T>,
) {
    let (&size, inner) = shape.split_first().expect("a size for every level");
    if items.len() != size {
        let index: String = path.iter().map(|i| format!("[{i}]")).collect();
        panic!(
            "array: ragged input: the list at {index} has {} items, but the first list at its \
             level has {size}\n  help: pad the lists of each level to the same length",
            items.len()
        );
    }
    for (i, item) in items.iter().enumerate() {
        path.push(i);
        item.gather(inner, path, out);
        path.pop();
    }
}

macro_rules! list {
    ($([$($generics:tt)*] $t:ty, $fixed:expr;)*) => { $(
        impl<$($generics)*> ArrayLike for $t {
            type Number = T::Number;
            fn shape(first: Option<&Self>, shape: &mut Dims) {
                let fixed: Option<usize> = $fixed;
                shape.push(first.map(|list| list.len()).or(fixed).unwrap_or(0));
                T::shape(first.and_then(|list| list.first()), shape);
            }
            #[track_caller]
            fn gather(&self, shape: &[usize], path: &mut Vec<usize>, out: &mut Elements<T>) {
                gather_items(self, shape, path, out);
            }
        }
    )* };
}
list! {
    [T: ArrayLike, const N: usize] [T; N], Some(N);
    [T: ArrayLike] Vec<T>, None;
    [T: ArrayLike] &[T], None;
}

/// Creates an array from a number, or from nested lists of numbers (`jnp.array`).
///
/// 64-bit numbers, which include Rust's float literals without a suffix, are converted to the
/// default dtypes, as in JAX: floats to `f32`, integers to `i32`. [`Array::from`] and
/// [`Array::from_slice`] keep the exact dtype instead.
///
/// ```no_run
/// use ramie_core::{DType, array};
/// let x = array([[1.0, 2.0], [3.0, 4.0]]);
/// assert_eq!(x.aval().to_string(), "f32[2,2]");
/// assert_eq!(array(vec![1, 2, 3]).dtype(), DType::I32);
/// assert_eq!(array(true).ndim(), 0);
/// ```
///
/// # Panics
/// Panics if the input is ragged, if an integer does not fit, if there is no working plugin, or
/// if the device is out of memory.
#[track_caller]
pub fn array<T: ArrayLike>(data: T) -> Array {
    let mut shape = Dims::new();
    T::shape(Some(&data), &mut shape);
    let mut elements = Vec::with_capacity(shape.iter().product());
    data.gather(&shape, &mut Vec::new(), &mut elements);
    if shape.is_empty() {
        let scalar = elements[0];
        return Array::scalar(scalar.to_scalar(), <T::Number as Number>::Element::DTYPE);
    }
    Array::from_vec(elements, &shape)
}

//! Values and points of a series.

/// A real number of any type.
pub trait Number {
    /// Returns the nearest `f64`.
    fn number(self) -> f64;
}

macro_rules! numbers {
    ($($t:ty),*) => {$(
        impl Number for $t {
            fn number(self) -> f64 {
                self as f64
            }
        }
        impl Point for $t {
            fn point(self, index: usize) -> (f64, f64) {
                (index as f64, self as f64)
            }
        }
    )*};
}

numbers!(f64, f32, i64, i32, i16, i8, isize, u64, u32, u16, u8, usize);

impl<T: Number + Copy> Number for &T {
    fn number(self) -> f64 {
        (*self).number()
    }
}

/// An element of a series: a pair of numbers `(x, y)`, or only `y`, whose `x` is its index.
pub trait Point {
    /// Returns the position of the element with this index.
    fn point(self, index: usize) -> (f64, f64);
}

impl<A: Number, B: Number> Point for (A, B) {
    fn point(self, _: usize) -> (f64, f64) {
        (self.0.number(), self.1.number())
    }
}

impl<T: Point + Copy> Point for &T {
    fn point(self, index: usize) -> (f64, f64) {
        (*self).point(index)
    }
}

pub(crate) fn collect(points: impl IntoIterator<Item = impl Point>) -> Vec<(f64, f64)> {
    let points = points.into_iter().enumerate();
    points.map(|(index, point)| point.point(index)).collect()
}

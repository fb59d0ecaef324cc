//! Arrays as images.

use ndarray::{ArrayBase, Data, Dimension};
use ramie_core::{Array, DType, Element};

/// Elements of an array on the host. Bytes and other integers count from 0 to 255 in images,
/// floats and booleans from 0 to 1.
#[derive(Clone)]
pub struct Pixels {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
    /// The dtype is an integer.
    pub(crate) integer: bool,
}

impl Pixels {
    /// Returns the values that are black and white, unless others are chosen.
    pub(crate) fn limits(&self) -> (f64, f64) {
        (0.0, if self.integer { 255.0 } else { 1.0 })
    }

    /// Returns the smallest and the largest finite value.
    pub(crate) fn extremes(&self) -> Option<(f64, f64)> {
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        (low <= high).then_some((low, high))
    }
}

/// An array that is drawn: a Ramie `Array`, or one of the `ndarray` crate.
pub trait IntoPixels {
    /// Copies the elements to the host.
    ///
    /// # Panics
    /// Panics if the elements are complex or the array is traced.
    #[track_caller]
    fn into_pixels(self) -> Pixels;
}

impl IntoPixels for Pixels {
    fn into_pixels(self) -> Pixels {
        self
    }
}

/// A number that a picture shows.
pub trait Shade: Copy {
    /// Whether the type is an integer, so that images range from 0 to 255.
    const INTEGER: bool;

    /// Returns the nearest `f64`.
    fn shade(self) -> f64;
}

macro_rules! shades {
    ($integer:literal: $($t:ty),*) => {$(
        impl Shade for $t {
            const INTEGER: bool = $integer;
            fn shade(self) -> f64 {
                self as f64
            }
        }
    )*};
}

shades!(false: f32, f64);
shades!(true: u8, u16, u32, u64, i8, i16, i32, i64, usize);

impl Shade for bool {
    const INTEGER: bool = false;
    fn shade(self) -> f64 {
        u8::from(self).into()
    }
}

impl<S: Data<Elem: Shade>, D: Dimension> IntoPixels for &ArrayBase<S, D> {
    fn into_pixels(self) -> Pixels {
        Pixels {
            shape: self.shape().to_vec(),
            values: self.iter().map(|value| value.shade()).collect(),
            integer: S::Elem::INTEGER,
        }
    }
}

impl<S: Data<Elem: Shade>, D: Dimension> IntoPixels for ArrayBase<S, D> {
    fn into_pixels(self) -> Pixels {
        (&self).into_pixels()
    }
}

impl IntoPixels for Array {
    #[track_caller]
    fn into_pixels(self) -> Pixels {
        (&self).into_pixels()
    }
}

impl IntoPixels for &Array {
    #[track_caller]
    fn into_pixels(self) -> Pixels {
        #[track_caller]
        fn read<T: Element + Shade>(array: &Array) -> Pixels {
            Pixels {
                shape: array.shape().to_vec(),
                values: array.to_vec::<T>().into_iter().map(T::shade).collect(),
                integer: T::INTEGER,
            }
        }
        let dtype = self.dtype();
        match dtype {
            DType::F32 => read::<f32>(self),
            DType::F64 => read::<f64>(self),
            DType::U8 => read::<u8>(self),
            DType::I32 => read::<i32>(self),
            DType::I64 => read::<i64>(self),
            DType::U32 => read::<u32>(self),
            DType::U64 => read::<u64>(self),
            DType::Bool => read::<bool>(self),
            _ if dtype.is_complex() => panic!(
                "a picture of {dtype} elements cannot be drawn\n  help: draw x.real(), x.imag() or \
                 x.abs()"
            ),
            _ if dtype.is_float() => read::<f32>(&self.astype(DType::F32)),
            _ => read::<i32>(&self.astype(DType::I32)),
        }
    }
}

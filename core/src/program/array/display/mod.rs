//! Formatting of arrays as in JAX: `{}` prints like NumPy's `print`, `{:?}` like JAX's `repr`.

mod layout;
mod number;

use super::{Array, Repr};
use crate::dtypes::Scalar;
use crate::types::narrow::NarrowFloat;
use crate::{DType, Result};
use half::{bf16, f16};
use layout::Layout;
use number::Format;
use std::fmt;

/// Default number of digits after the decimal point.
const PRECISION: usize = 8;
/// Maximum width of a line.
const WIDTH: usize = 75;

/// Prints the elements in nested brackets like NumPy, with eight digits after the decimal point,
/// or with the precision of the format (`{:.3}`). A 0-d array is formatted like a
/// number of Rust, with width, alignment, sign and precision (`{:>8.3}`). Long arrays are elided. A traced array prints
/// its type. If the elements are unavailable, the output explains why.
///
/// ```no_run
/// use ramie_core::Array;
/// let x = Array::from([[1.0f32, 2.5], [-3.0, 4.0]]);
/// assert_eq!(x.to_string(), "[[ 1.   2.5]\n [-3.   4. ]]");
/// assert_eq!(format!("{:?}", Array::from([1, 2])), "Array([1, 2], dtype=int32)");
/// ```
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        match Elements::of(self) {
            None => f.write_str(&without_elements(self)),
            Some(Err(e)) => write!(f, "<{} without elements: {e}>", self.aval()),
            Some(Ok(_)) if self.size() == 0 => f.write_str("[]"),
            Some(Ok(elements)) if self.ndim() == 0 => {
                let element = elements.get(0);
                match (element, precision) {
                    (Scalar::Float(v), Some(_)) if v.is_finite() => fmt::Display::fmt(&v, f),
                    (Scalar::Complex(re, im), Some(p)) if re.is_finite() && im.is_finite() => {
                        padded(&format!("({re:.p$}{im:+.p$}j)"), f)
                    }
                    _ => padded(&number::scalar(element, self.dtype()), f),
                }
            }
            Some(Ok(elements)) => {
                let layout = Layout {
                    separator: " ",
                    indent: 1,
                    width: WIDTH,
                };
                f.write_str(&brackets(self, &elements, &layout, precision))
            }
        }
    }
}

/// Writes a number with the width, the alignment (right by default) and the sign of the format.
fn padded(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let plus = if f.sign_plus() && !text.starts_with('-') {
        "+"
    } else {
        ""
    };
    let text = format!("{plus}{text}");
    f.write_str(&aligned(&text, f.width().unwrap_or(0), f.align(), f.fill()))
}

/// Pads a text to a width, on the left unless aligned otherwise.
pub(crate) fn aligned(
    text: &str,
    width: usize,
    align: Option<fmt::Alignment>,
    fill: char,
) -> String {
    let missing = width.saturating_sub(text.chars().count());
    let before = match align {
        Some(fmt::Alignment::Left) => 0,
        Some(fmt::Alignment::Center) => missing / 2,
        _ => missing,
    };
    let fill = |n: usize| fill.to_string().repeat(n);
    format!("{}{text}{}", fill(before), fill(missing - before))
}

macro_rules! exponent {
    ($trait:ident, $e:literal, $doc:literal) => {
        #[doc = $doc]
        impl fmt::$trait for Array {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match Elements::of(self) {
                    Some(Ok(elements)) if self.size() > 0 && self.dtype() != DType::Bool => {
                        if self.ndim() == 0 && !self.dtype().is_complex() {
                            let v = elements.get(0).to_f64();
                            return match self.dtype().bits() {
                                // The shortest digits of a float depend on its type.
                                ..=32 if self.dtype().is_float() => {
                                    fmt::$trait::fmt(&(v as f32), f)
                                }
                                _ => fmt::$trait::fmt(&v, f),
                            };
                        }
                        f.write_str(&exponents(self, &elements, f).replace('e', $e))
                    }
                    _ => fmt::Display::fmt(self, f),
                }
            }
        }
    };
}
exponent!(
    LowerExp,
    "e",
    "Prints numbers with an exponent: `{:.2e}`. A 0-d array is formatted like a number of Rust, other
    arrays in nested brackets."
);
exponent!(
    UpperExp,
    "E",
    "Prints numbers with an exponent: `{:.2E}`. See [`LowerExp`](fmt::LowerExp)."
);

/// Formats each element of an array with an exponent.
fn exponents(array: &Array, elements: &Elements, f: &fmt::Formatter<'_>) -> String {
    let single = array.dtype().is_inexact() && array.dtype().real().bits() <= 32;
    let part = |v: f64| match (f.precision(), single) {
        (Some(p), _) => format!("{v:.p$e}"),
        (None, true) => format!("{:e}", v as f32),
        (None, false) => format!("{v:e}"),
    };
    let words = layout::shown(array.shape())
        .into_iter()
        .map(|i| match elements.get(i) {
            Scalar::Complex(re, im) => {
                let plus = if im.is_sign_negative() { "" } else { "+" };
                format!("({}{plus}{}j)", part(re), part(im))
            }
            v => part(v.to_f64()),
        });
    let words: Vec<String> = words.collect();
    let width = words.iter().map(String::len).max().unwrap_or(0);
    let layout = Layout {
        separator: " ",
        indent: 1,
        width: WIDTH,
    };
    let mut aligned = words.iter().map(|word| format!("{word:>width$}"));
    layout.brackets(array.shape(), &mut aligned)
}

/// Prints the array with its dtype: `Array([1., 2.], dtype=float32)`.
impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIX: &str = "Array(";
        let weak = if self.aval().weak_type() {
            ", weak_type=True"
        } else {
            ""
        };
        let sharding = match self.sharding().and_then(|s| s.named()) {
            Some(named) => format!(", sharding={}", named.spec()),
            None => String::new(),
        };
        let dtype = format!("dtype={}{weak}{sharding}", self.dtype().numpy_name());
        let body = match Elements::of(self) {
            None => return f.write_str(&without_elements(self)),
            Some(Err(e)) => return write!(f, "{PREFIX}<{} without elements: {e}>)", self.aval()),
            Some(Ok(_)) if self.size() == 0 => format!("[], shape={}", shape(self.shape())),
            Some(Ok(elements)) => {
                let layout = Layout {
                    separator: ", ",
                    indent: PREFIX.len() + 1,
                    width: WIDTH - 1,
                };
                brackets(self, &elements, &layout, f.precision())
            }
        };
        let last = body.rsplit('\n').next().unwrap_or_default().len() + 2;
        let gap = if last + dtype.len() + 2 > WIDTH {
            PREFIX.len()
        } else {
            1
        };
        write!(f, "{PREFIX}{body},{:gap$}{dtype})", "")
    }
}

impl Array {
    /// Returns a 0-d array with the same element, known on the host.
    pub(crate) fn to_literal(&self) -> Result<Array> {
        let bytes = self.try_to_bytes()?;
        let dtype = self.dtype();
        Ok(Array::scalar(Elements { bytes, dtype }.get(0), dtype))
    }
}

fn without_elements(array: &Array) -> String {
    match &array.0 {
        Repr::Abstract(aval, _) => format!(
            "ShapeDtypeStruct(shape={}, dtype={})",
            shape(aval.shape()),
            aval.dtype().numpy_name()
        ),
        _ => format!("Traced<{}>", array.aval()),
    }
}

/// Formats a shape like a Python tuple.
fn shape(dims: &[usize]) -> String {
    let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
    match dims.as_slice() {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

fn brackets(
    array: &Array,
    elements: &Elements,
    layout: &Layout,
    precision: Option<usize>,
) -> String {
    let shown: Vec<Scalar> = layout::shown(array.shape())
        .into_iter()
        .map(|i| elements.get(i))
        .collect();
    let precision = precision.unwrap_or(PRECISION);
    let format = Format::new(&shown, array.dtype(), array.ndim(), precision);
    let words = shown.iter().map(|v| format.word(*v));
    layout.brackets(array.shape(), &mut { words })
}

/// The elements of an array, on the host.
struct Elements {
    bytes: Vec<u8>,
    dtype: DType,
}

impl Elements {
    /// Copies the elements to the host. Returns `None` for arrays without elements.
    fn of(array: &Array) -> Option<Result<Elements>> {
        if matches!(array.0, Repr::Tracer(_) | Repr::Abstract(..)) {
            return None;
        }
        let dtype = array.dtype();
        Some(array.try_to_bytes().map(|bytes| Elements { bytes, dtype }))
    }

    fn get(&self, index: usize) -> Scalar {
        let size = self.dtype.size();
        let bytes = &self.bytes[index * size..][..size];
        let mut word = [0; 8];
        if self.dtype.is_complex() {
            let part = |bytes: &[u8]| match bytes.try_into() {
                Ok(single) => f64::from(f32::from_le_bytes(single)),
                Err(_) => f64::from_le_bytes(bytes.try_into().expect("eight bytes")),
            };
            let (re, im) = bytes.split_at(size / 2);
            return Scalar::Complex(part(re), part(im));
        }
        word[..size].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        if let Some(format) = NarrowFloat::of(self.dtype) {
            return Scalar::Float(format.decode(bits as u8));
        }
        match self.dtype {
            DType::Bool => Scalar::Bool(bits != 0),
            DType::BF16 => Scalar::Float(bf16::from_bits(bits as u16).to_f64()),
            DType::F16 => Scalar::Float(f16::from_bits(bits as u16).to_f64()),
            DType::F32 => Scalar::Float(f32::from_bits(bits as u32).into()),
            DType::F64 => Scalar::Float(f64::from_bits(bits)),
            _ => Scalar::Uint(bits).cast(self.dtype),
        }
    }
}

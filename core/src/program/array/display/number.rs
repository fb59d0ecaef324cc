//! Formatting of elements as words of equal width, as in NumPy.

use crate::DType;
use crate::dtypes::Scalar;
use half::f16;

/// The common format of an array's elements.
pub(super) enum Format {
    /// Booleans, optionally padded to equal width.
    Bool { padded: bool },
    /// Integers of this width.
    Integer { width: usize },
    /// Floats in positional notation: columns before and digits after the decimal point.
    Positional {
        dtype: DType,
        precision: usize,
        left: usize,
        right: usize,
    },
    /// Floats in scientific notation: columns before the decimal point, digits after it, and
    /// digits of the exponent.
    Scientific {
        left: usize,
        digits: usize,
        exponent: usize,
    },
    /// Complex numbers: the formats of both parts, each computed over all elements.
    Complex { re: Box<Format>, im: Box<Format> },
    /// Each element separately, with six significant digits: `bf16` and narrow floats.
    General,
}

/// Returns the power of ten from which NumPy uses scientific notation.
fn large(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1e3,
        DType::F32 => 1e6,
        _ => 1e8,
    }
}

/// Rounds a number to the dtype.
fn rounded(v: f64, dtype: DType) -> f64 {
    Scalar::Float(v).cast(dtype).to_f64()
}

impl Format {
    /// Chooses the format for these elements.
    pub fn new(elements: &[Scalar], dtype: DType, ndim: usize, precision: usize) -> Format {
        match dtype {
            DType::Bool => Format::Bool { padded: ndim > 0 },
            DType::BF16 => Format::General,
            d if d.is_complex() => {
                let real = |part: fn(Scalar) -> f64| -> Box<Format> {
                    let parts: Vec<Scalar> =
                        elements.iter().map(|v| Scalar::Float(part(*v))).collect();
                    Box::new(Format::float(&parts, d.real(), precision))
                };
                Format::Complex {
                    re: real(Scalar::to_f64),
                    im: real(|v| v.imaginary().abs()),
                }
            }
            d if d.is_narrow() && d.is_float() => Format::General,
            d if d.is_narrow() => Format::Integer { width: 0 },
            d if d.is_float() => Format::float(elements, dtype, precision),
            _ => {
                let widths = elements.iter().map(|v| v.to_string().len());
                Format::Integer {
                    width: widths.max().unwrap_or(0),
                }
            }
        }
    }

    fn float(elements: &[Scalar], dtype: DType, precision: usize) -> Format {
        let values = || elements.iter().map(|v| v.to_f64());
        let finite = || values().filter(|v| v.is_finite());
        // A zero never needs an exponent, so it does not decide about the notation.
        let sizes = || finite().map(f64::abs).filter(|v| *v != 0.0);
        let (least, most) = sizes().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
        // NumPy's criteria, which it computes in the array's dtype.
        let scientific = sizes().next().is_some()
            && (most >= large(dtype)
                || least < rounded(1e-4, dtype)
                || rounded(most / least, dtype) > 1000.0);
        let mut format = if scientific {
            let parts: Vec<_> = finite()
                .map(|v| Parts::of(&significant(v, dtype, precision)))
                .collect();
            Format::Scientific {
                left: parts.iter().map(|p| p.whole.len()).max().unwrap_or(0),
                digits: parts.iter().map(|p| p.fraction.len()).max().unwrap_or(0),
                exponent: parts.iter().map(|p| p.exponent_digits()).max().unwrap_or(0),
            }
        } else {
            let texts: Vec<_> = finite().map(|v| positional(v, dtype, precision)).collect();
            let parts = texts.iter().filter_map(|t| t.split_once('.'));
            Format::Positional {
                dtype,
                precision,
                left: parts.clone().map(|p| p.0.len()).max().unwrap_or(0),
                right: parts.map(|p| p.1.len()).max().unwrap_or(0),
            }
        };
        // `nan` and `inf` have no decimal point. If they are wider than the numbers, these get more
        // columns on the left.
        let widest = values()
            .filter(|v| !v.is_finite())
            .map(|v| nonfinite(v).len())
            .max();
        let total = format.width();
        if let (Format::Positional { left, .. } | Format::Scientific { left, .. }, Some(widest)) =
            (&mut format, widest)
        {
            *left += widest.saturating_sub(total);
        }
        format
    }

    /// Returns the width of a float.
    fn width(&self) -> usize {
        match self {
            Format::Positional { left, right, .. } => left + 1 + right,
            // One column for the point, and two for `e` and the sign of the exponent.
            Format::Scientific {
                left,
                digits,
                exponent,
            } => left + 1 + digits + 2 + exponent,
            _ => 0,
        }
    }

    /// Formats an element as a word.
    pub fn word(&self, element: Scalar) -> String {
        let v = element.to_f64();
        let width = self.width();
        match *self {
            Format::Bool { padded } => {
                let width = if padded { 5 } else { 0 };
                format!("{:>width$}", element.to_string())
            }
            Format::Integer { width } => format!("{:>width$}", element.to_string()),
            Format::General => general(v),
            Format::Complex { ref re, ref im } => {
                let i = element.imaginary();
                let sign = if i.is_sign_negative() && !i.is_nan() {
                    '-'
                } else {
                    '+'
                };
                let size = im.word(Scalar::Float(i.abs()));
                let (width, digits) = (size.len() + 1, size.trim());
                // Spaces that align the digits after the decimal point follow the j.
                let after = size.len() - size.trim_end().len();
                let signed = format!("{sign}{digits}");
                let lead = width - after;
                format!("{}{signed:>lead$}j{:after$}", re.word(Scalar::Float(v)), "")
            }
            _ if !v.is_finite() => format!("{:>width$}", nonfinite(v)),
            Format::Positional {
                dtype,
                precision,
                left,
                right,
            } => {
                let text = positional(v, dtype, precision);
                let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                format!("{whole:>left$}.{fraction:<right$}")
            }
            Format::Scientific {
                left,
                digits,
                exponent,
            } => {
                let p = Parts::of(&format!("{v:.digits$e}"));
                let (whole, fraction, sign) = (&p.whole, &p.fraction, p.sign());
                let power = p.power.unsigned_abs();
                format!("{whole:>left$}.{fraction:0<digits$}e{sign}{power:0>exponent$}")
            }
        }
    }
}

fn nonfinite(v: f64) -> &'static str {
    match v {
        v if v.is_nan() => "nan",
        v if v > 0.0 => "inf",
        _ => "-inf",
    }
}

/// The parts of a number in scientific notation.
struct Parts {
    whole: String,
    fraction: String,
    power: i32,
}

impl Parts {
    fn of(text: &str) -> Parts {
        let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Parts {
            whole: whole.into(),
            fraction: fraction.trim_end_matches('0').into(),
            power: power.parse().unwrap_or(0),
        }
    }

    fn sign(&self) -> char {
        if self.power < 0 { '-' } else { '+' }
    }

    /// Returns the number of digits of the exponent, at least two.
    fn exponent_digits(&self) -> usize {
        self.power.unsigned_abs().to_string().len().max(2)
    }
}

/// Returns the shortest scientific notation that reads back as the same element.
fn shortest(v: f64, dtype: DType) -> String {
    match dtype {
        DType::F32 => format!("{:e}", v as f32),
        // The standard library prints shortest digits of `f32` and `f64` only.
        DType::F16 => (0..5)
            .map(|n| format!("{v:.n$e}"))
            .find(|text| {
                text.parse()
                    .is_ok_and(|back| f16::from_f64(back).to_f64() == v)
            })
            .unwrap_or_else(|| format!("{v:e}")),
        _ => format!("{v:e}"),
    }
}

/// Returns the shortest digits, with at most `precision` digits after the decimal point.
fn significant(v: f64, dtype: DType, precision: usize) -> String {
    let text = shortest(v, dtype);
    if Parts::of(&text).fraction.len() > precision {
        format!("{v:.precision$e}")
    } else {
        text
    }
}

/// Returns the shortest positional notation with at most `precision` digits after the decimal
/// point and without trailing zeros: `1.`, `0.25`.
fn positional(v: f64, dtype: DType, precision: usize) -> String {
    let parts = Parts::of(&shortest(v, dtype));
    // Digits after the point in positional notation: `1.25e-3` has 2 + 3.
    let places = parts.fraction.len() as i32 - parts.power;
    if places > precision as i32 {
        let text = format!("{v:.precision$}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        return format!("{whole}.{}", fraction.trim_end_matches('0'));
    }
    let (minus, whole) = match parts.whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", parts.whole.as_str()),
    };
    let digits = format!("{whole}{}", parts.fraction);
    // The position of the decimal point among the digits.
    let point = whole.len() as i32 + parts.power;
    if point <= 0 {
        let zeros = "0".repeat(point.unsigned_abs() as usize);
        return format!("{minus}0.{zeros}{digits}");
    }
    let point = point as usize;
    let digits = format!("{digits:0<point$}");
    format!("{minus}{}.{}", &digits[..point], &digits[point..])
}

/// Formats a 0-d array like NumPy's scalars, with all digits of the dtype.
pub(super) fn scalar(element: Scalar, dtype: DType) -> String {
    if let Scalar::Complex(re, im) = element {
        return crate::types::scalar::complex_text(re, im, |v| {
            scalar(Scalar::Float(v), dtype.real())
        });
    }
    let Scalar::Float(v) = element else {
        return element.to_string();
    };
    if dtype == DType::BF16 || dtype.is_narrow() {
        return general(v);
    }
    if !v.is_finite() {
        return nonfinite(v).into();
    }
    let cutoff = if dtype == DType::F64 {
        1e16
    } else {
        large(dtype)
    };
    if v == 0.0 || (1e-4..cutoff).contains(&v.abs()) {
        let text = positional(v, dtype, i32::MAX as usize);
        return if text.ends_with('.') {
            text + "0"
        } else {
            text
        };
    }
    let p = Parts::of(&shortest(v, dtype));
    let point = if p.fraction.is_empty() { "" } else { "." };
    let (digits, power) = (p.exponent_digits(), p.power.unsigned_abs());
    format!(
        "{}{point}{}e{}{power:0>digits$}",
        p.whole,
        p.fraction,
        p.sign()
    )
}

/// Formats a number with six significant digits, in scientific notation if that is shorter.
fn general(v: f64) -> String {
    const DIGITS: i32 = 6;
    if !v.is_finite() {
        return nonfinite(v).into();
    }
    let p = Parts::of(&format!("{v:.0$e}", DIGITS as usize - 1));
    if v != 0.0 && !(-4..DIGITS).contains(&p.power) {
        let point = if p.fraction.is_empty() { "" } else { "." };
        let power = p.power.unsigned_abs();
        return format!("{}{point}{}e{}{power:0>2}", p.whole, p.fraction, p.sign());
    }
    let places = (DIGITS - 1 - p.power).max(0) as usize;
    let text = format!("{v:.places$}");
    match text.split_once('.') {
        Some((whole, fraction)) => match fraction.trim_end_matches('0') {
            "" => whole.into(),
            fraction => format!("{whole}.{fraction}"),
        },
        None => text,
    }
}

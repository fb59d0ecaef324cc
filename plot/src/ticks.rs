//! Round numbers along an axis.

use std::ops::RangeInclusive;

/// A scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    #[default]
    Linear,
    Logarithmic,
}

/// A labeled position of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Scale {
    /// Returns the distance along an axis, up to an offset and a factor.
    pub fn position(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Logarithmic => value.log10(),
        }
    }

    /// Returns the value at a distance from another one, in units of [`position`](Scale::position).
    /// It always has a position if the other value has one.
    pub fn moved(self, value: f64, by: f64) -> f64 {
        match self {
            Scale::Linear => value + by,
            Scale::Logarithmic => (value * 10f64.powf(by)).clamp(f64::MIN_POSITIVE, f64::MAX),
        }
    }

    /// Returns whether a value has a position.
    pub fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Scale::Linear || value > 0.0)
    }

    /// Returns about `count` ticks within a range.
    pub fn ticks(self, range: RangeInclusive<f64>, count: usize) -> Vec<Tick> {
        let (low, high) = (*range.start(), *range.end());
        match self {
            Scale::Linear => linear(low, high, count),
            Scale::Logarithmic => logarithmic(low, high, count),
        }
    }

    /// Returns unlabeled positions between ticks.
    pub fn minor(self, range: RangeInclusive<f64>) -> Vec<f64> {
        let decades = (range.end() / range.start()).log10();
        if self == Scale::Linear || decades > 5.0 {
            return Vec::new();
        }
        let first = range.start().log10().floor() as i32;
        let last = range.end().log10().ceil() as i32;
        let digits = (first..=last).flat_map(|n| (2..10).map(move |d| f64::from(d) * power(n)));
        digits.filter(|value| range.contains(value)).collect()
    }
}

fn power(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let decade = power(least.log10().floor() as i32);
    // A quotient such as 2.0000000000000004 is 2.
    let step = [1.0, 2.0, 5.0].map(|digit| digit * decade);
    let step = step.into_iter().find(|step| step * (1.0 + 1e-9) >= least);
    step.unwrap_or(10.0 * decade)
}

fn linear(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let step = round_step((high - low) / count.max(1) as f64);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let values: Vec<f64> = (first..=last).map(|i| i as f64 * step).collect();
    let labels = labels(&values, step);
    let tick = |(value, label)| Tick { value, label };
    values.into_iter().zip(labels).map(tick).collect()
}

/// Labels multiples of a step with as many digits as distinguish them.
fn labels(values: &[f64], step: f64) -> Vec<String> {
    let most = values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let (unit, suffix) = match most {
        m if m >= 1e13 || (m < 1e-4 && m > 0.0) => {
            let exponent = m.log10().floor() as i32;
            (power(exponent), format!("×{}", power_label(exponent)))
        }
        m if m >= 1e9 => (1e9, "G".to_string()),
        m if m >= 1e6 => (1e6, "M".to_string()),
        m if m >= 1e4 => (1e3, "k".to_string()),
        _ => (1.0, String::new()),
    };
    let digits = (-(step / unit).log10() - 1e-9).ceil().max(0.0) as usize;
    let label = |value: &f64| {
        if *value == 0.0 {
            "0".to_string()
        } else {
            minus(&format!("{:.digits$}{suffix}", value / unit))
        }
    };
    values.iter().map(label).collect()
}

/// Replaces a leading hyphen by a minus sign, which is as wide as a digit.
fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => text.to_string(),
    }
}

/// Returns a power of ten with superscript digits, such as `10⁻³`.
fn power_label(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let superscript = |c: char| match c.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
    };
    let exponent: String = exponent.to_string().chars().map(superscript).collect();
    format!("10{exponent}")
}

/// Returns powers of ten, or 1, 2 and 5 times those in a short range.
fn logarithmic(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (bottom, top) = (low.log10(), high.log10());
    if top - bottom < 0.8 {
        return linear(low, high, count);
    }
    let digits: &[f64] = if top - bottom < 2.2 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let every = ((top - bottom) / count.max(1) as f64).ceil().max(1.0) as i32;
    let exponents = bottom.floor() as i32..=top.ceil() as i32;
    let plain = low >= 0.9e-3 && high <= 1.1e4;
    let tick = |exponent: i32, digit: f64| {
        let value = digit * power(exponent);
        let label = match (plain, digit == 1.0) {
            (true, _) => format!("{value:.*}", (-exponent).max(0) as usize),
            (false, true) => power_label(exponent),
            (false, false) => format!("{digit}×{}", power_label(exponent)),
        };
        Tick { value, label }
    };
    let ticks = exponents
        .filter(|exponent| exponent.rem_euclid(every) == 0)
        .flat_map(|exponent| digits.iter().map(move |digit| tick(exponent, *digit)));
    let (low, high) = (low * (1.0 - 1e-9), high * (1.0 + 1e-9));
    ticks
        .filter(|tick| (low..=high).contains(&tick.value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(scale: Scale, range: RangeInclusive<f64>) -> String {
        let ticks = scale.ticks(range, 6);
        let labels: Vec<String> = ticks.into_iter().map(|tick| tick.label).collect();
        labels.join(" ")
    }

    #[test]
    fn linear_ticks_are_round() {
        for (range, expected) in [
            (0.0..=1.0, "0 0.2 0.4 0.6 0.8 1.0"),
            (0.03..=0.99, "0.2 0.4 0.6 0.8"),
            (-1.0..=1.0, "−1.0 −0.5 0 0.5 1.0"),
            (0.0..=52_000.0, "0 10k 20k 30k 40k 50k"),
            (0.0..=3.1e6, "0 1M 2M 3M"),
            (0.0..=5e-5, "0 1×10⁻⁵ 2×10⁻⁵ 3×10⁻⁵ 4×10⁻⁵ 5×10⁻⁵"),
            (
                7.0..=7.0001,
                "7.00000 7.00002 7.00004 7.00006 7.00008 7.00010",
            ),
        ] {
            assert_eq!(shown(Scale::Linear, range.clone()), expected, "{range:?}");
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        for (range, expected) in [
            (0.001..=100.0, "0.001 0.01 0.1 1 10 100"),
            (0.015..=0.9, "0.02 0.05 0.1 0.2 0.5"),
            (1e-7..=1e-2, "10⁻⁷ 10⁻⁶ 10⁻⁵ 10⁻⁴ 10⁻³ 10⁻²"),
            (1e-30..=1e6, "10⁻³⁰ 10⁻²⁴ 10⁻¹⁸ 10⁻¹² 10⁻⁶ 10⁰ 10⁶"),
            (3.0..=5.0, "3.0 3.5 4.0 4.5 5.0"),
        ] {
            assert_eq!(
                shown(Scale::Logarithmic, range.clone()),
                expected,
                "{range:?}"
            );
        }
        assert_eq!(Scale::Logarithmic.minor(1.0..=20.0).len(), 9);
        assert!(Scale::Logarithmic.minor(1e-9..=1.0).is_empty());
    }
}

//! Implicit conversions of a restore: those that preserve every value.
//!
//! All formats use the same rule. An array is converted to the target's dtype if that dtype can
//! represent every value of the saved one. A Python number has no dtype; it takes the target's
//! dtype if it is of the same kind and in range.

use ramie_core::DType;
use ramie_core::dtypes::{Scalar, can_cast, finfo, iinfo};

/// Returns whether `to` can represent every value of `from`, including infinities and the sign of
/// zero.
///
/// [`can_cast`] follows NumPy: it allows 64-bit integers to `f64`, and it does not know about the
/// missing values of narrow dtypes.
pub(crate) fn keeps_values(from: DType, to: DType) -> bool {
    if from == to {
        return true;
    }
    let (source, target) = (from.real(), to.real());
    if !can_cast(from, to) || target == DType::F8E8M0Fnu {
        return false;
    }
    if source.is_integer() {
        // A float represents all integers up to this one exactly.
        let most = |float| 1i128 << (finfo(float).fraction_bits + 1);
        let limits = iinfo(source);
        return !target.is_float() || limits.max.max(-limits.min) <= most(target);
    }
    if !source.is_float() {
        return true;
    }
    let (a, b) = (finfo(source), finfo(target));
    b.smallest_subnormal <= a.smallest_subnormal
        && a.max <= b.max
        && (!has_infinity(source) || has_infinity(target))
        && (!has_negative_zero(source) || has_negative_zero(target))
}

fn has_infinity(float: DType) -> bool {
    !float.is_narrow() || float == DType::F8E5M2
}

fn has_negative_zero(float: DType) -> bool {
    use DType::*;
    !matches!(float, F8E4M3Fnuz | F8E5M2Fnuz | F8E8M0Fnu)
}

/// Returns whether a dtype can represent a Python number, up to rounding.
pub(crate) fn takes(dtype: DType, number: Scalar) -> bool {
    let in_range = |n: i128| {
        let limits = iinfo(dtype);
        (limits.min..=limits.max).contains(&n)
    };
    match number {
        Scalar::Bool(_) => dtype == DType::Bool,
        Scalar::Int(n) if dtype.is_integer() => in_range(n.into()),
        Scalar::Uint(n) if dtype.is_integer() => in_range(n.into()),
        Scalar::Int(_) | Scalar::Uint(_) | Scalar::Float(_) => dtype.is_inexact(),
        Scalar::Complex(..) => dtype.is_complex(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_rule_is_that_of_the_numbers_themselves() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/golden/data/casts.json"
        );
        let text = std::fs::read(path).unwrap();
        let table: BTreeMap<String, Vec<String>> = serde_json::from_slice(&text).unwrap();
        assert_eq!(table.len(), DType::ALL.len());
        for from in DType::ALL {
            for to in DType::ALL {
                let targets = &table[from.numpy_name()];
                let expected = targets.iter().any(|name| name == to.numpy_name());
                assert_eq!(keeps_values(from, to), expected, "{from} to {to}");
            }
        }
    }
}

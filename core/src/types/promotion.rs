//! Type promotion: JAX's promotion lattice, and the dtype in which dtypes combine.

use super::dtype::DType::{self, *};
use crate::base::location;

impl DType {
    /// Returns the least upper bound of two dtypes in JAX's promotion lattice, and whether the
    /// result is weak. The booleans mark weakly typed operands, such as literals, which adopt the
    /// dtype of the other operand.
    ///
    /// ```
    /// use ramie_core::DType::{self, *};
    /// assert_eq!(DType::promote((I32, false), (F16, false)), (F16, false));
    /// assert_eq!(DType::promote((BF16, false), (F16, false)), (F32, false));
    /// assert_eq!(DType::promote((F16, false), (F64, true)), (F16, false));
    /// assert_eq!(DType::promote((I32, false), (F64, true)), (F32, true));
    /// assert_eq!(DType::promote((F8E5M2, false), (F64, true)), (F8E5M2, false));
    /// ```
    ///
    /// # Panics
    /// Panics if a narrow dtype is combined with a strong dtype with which it has no upper bound;
    /// see [`try_promote`](DType::try_promote).
    #[track_caller]
    pub fn promote(a: (DType, bool), b: (DType, bool)) -> (DType, bool) {
        if let Some(promoted) = DType::try_promote(a, b) {
            return promoted;
        }
        let narrow = if a.0.is_narrow() { a.0 } else { b.0 };
        location::fail(&format!(
            "promotion: {} and {} have no common dtype, because {narrow} is not promoted \
             implicitly\n  help: convert one of the operands first: x.astype(DType::F32)",
            a.0, b.0
        ))
    }

    /// Same as [`promote`](DType::promote), but returns `None` if the dtypes have no upper bound.
    ///
    /// ```
    /// use ramie_core::DType::{self, *};
    /// assert_eq!(DType::try_promote((F8E5M2, false), (F32, false)), None);
    /// ```
    pub fn try_promote(a: (DType, bool), b: (DType, bool)) -> Option<(DType, bool)> {
        if a.0 == b.0 {
            return Some((a.0, a.1 && b.1));
        }
        if a.1 && b.1 {
            let (dtype, _) = DType::try_promote((a.0, false), (b.0, false))?;
            return Some((dtype, true));
        }
        Some(match lattice::join(lattice::node(a), lattice::node(b))? {
            lattice::WEAK_INT => (I32, true),
            lattice::WEAK_COMPLEX => (C64, true),
            lattice::WEAK_FLOAT => (F32, true),
            n => (DType::ALL[n], false),
        })
    }
}

/// Returns the dtype in which operands of two dtypes are computed (`jnp.promote_types`).
///
/// ```
/// use ramie_core::dtypes::promote_types;
/// use ramie_core::DType;
/// assert_eq!(promote_types(DType::I32, DType::BF16), DType::BF16);
/// ```
///
/// # Panics
/// Panics if the dtypes have no common dtype: if a narrow integer is combined with another dtype
/// than itself and `Bool`, or a narrow float with another float, a complex dtype or a narrow
/// integer.
#[track_caller]
pub fn promote_types(a: DType, b: DType) -> DType {
    DType::promote((a, false), (b, false)).0
}

/// JAX's type promotion lattice: `bool → i* → {u8, i8} → … → f* → {bf16, f16} → f32 → f64`, where
/// `i*` and `f*` are the dtypes of weak operands. `f*`, `f32` and `f64` also lead to
/// `c* → c64 → c128`. Narrow integers are above `i*`, narrow floats above `f*`, and both are
/// below no other dtype.
mod lattice {
    use super::DType;

    pub const WEAK_INT: usize = 25;
    pub const WEAK_FLOAT: usize = 26;
    pub const WEAK_COMPLEX: usize = 27;
    const NODES: usize = 28;

    const fn direct(n: usize) -> &'static [usize] {
        match n {
            0 => &[WEAK_INT],                    // bool
            WEAK_INT => &[5, 1, 19, 20, 21, 22], // i* → u8, i8, i4, u4, i2, u2
            1 => &[2],                           // i8 → i16
            2 => &[3],
            3 => &[4],
            4 => &[WEAK_FLOAT],
            5 => &[2, 6], // u8 → i16, u16
            6 => &[3, 7],
            7 => &[4, 8],
            8 => &[WEAK_FLOAT],
            WEAK_FLOAT => &[9, 10, 13, 14, 15, 16, 17, 18, WEAK_COMPLEX], // f* → bf16, f16, narrow
            9 | 10 => &[11],
            11 => &[12, 23],
            12 | 23 => &[24], // f64, c64 → c128
            WEAK_COMPLEX => &[23],
            _ => &[],
        }
    }

    const fn up(n: usize) -> u32 {
        let mut set = 1 << n;
        let next = direct(n);
        let mut i = 0;
        while i < next.len() {
            set |= up(next[i]);
            i += 1;
        }
        set
    }

    const UP: [u32; NODES] = {
        let mut table = [0; NODES];
        let mut n = 0;
        while n < NODES {
            table[n] = up(n);
            n += 1;
        }
        table
    };

    pub fn node((dtype, weak): (DType, bool)) -> usize {
        match weak {
            true if dtype.is_complex() => WEAK_COMPLEX,
            true if dtype.is_float() => WEAK_FLOAT,
            true if dtype.is_integer() => WEAK_INT,
            _ => dtype as usize,
        }
    }

    /// Returns the least upper bound: the common node whose own upper bounds are all common ones.
    pub fn join(a: usize, b: usize) -> Option<usize> {
        let common = UP[a] & UP[b];
        (0..NODES).find(|&n| common & (1 << n) != 0 && UP[n] == common)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_commutative_and_idempotent() {
        for a in DType::ALL {
            assert_eq!(DType::promote((a, false), (a, false)), (a, false));
            for b in DType::ALL {
                for (wa, wb) in [(false, false), (false, true), (true, true)] {
                    assert_eq!(
                        DType::try_promote((a, wa), (b, wb)),
                        DType::try_promote((b, wb), (a, wa))
                    );
                }
            }
        }
    }

    #[test]
    fn promotion_follows_the_lattice() {
        let strong = |a, b| DType::promote((a, false), (b, false)).0;
        assert_eq!(strong(U8, I8), I16);
        assert_eq!(strong(U32, I32), I64);
        assert_eq!(strong(U64, I64), F32);
        assert_eq!(strong(Bool, U8), U8);
        assert_eq!(strong(I64, BF16), BF16);
        assert_eq!(DType::promote((U8, false), (I32, true)), (U8, false));
        assert_eq!(DType::promote((Bool, false), (I32, true)), (I32, true));
        assert_eq!(DType::promote((I32, true), (F32, true)), (F32, true));
        assert_eq!(DType::promote((I4, false), (I32, true)), (I4, false));
        assert_eq!(
            DType::promote((F8E5M2, false), (I8, false)),
            (F8E5M2, false)
        );
        assert_eq!(strong(F64, C64), C128);
        assert_eq!(strong(I64, C64), C64);
        assert_eq!(DType::promote((F32, false), (C64, true)), (C64, false));
        assert_eq!(DType::promote((F64, false), (C64, true)), (C128, false));
        assert_eq!(DType::promote((I32, false), (C64, true)), (C64, true));
        assert_eq!(DType::try_promote((I4, false), (I32, false)), None);
        assert_eq!(DType::try_promote((I4, false), (F32, true)), None);
    }
}

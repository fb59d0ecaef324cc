//! Elements on the host: reading, comparing, drawing.

use ramie_core::{Array, DType};

/// Converts the elements to 64-bit floats.
pub fn to_f64(x: &Array) -> Vec<f64> {
    match x.dtype() {
        DType::F64 => x.to_vec::<f64>(),
        DType::F32 => x.to_vec::<f32>().into_iter().map(f64::from).collect(),
        DType::BF16 => x
            .to_vec::<half::bf16>()
            .into_iter()
            .map(f64::from)
            .collect(),
        DType::F16 => x.to_vec::<half::f16>().into_iter().map(f64::from).collect(),
        DType::Bool => x.to_vec::<bool>().into_iter().map(f64::from).collect(),
        DType::I8 => x.to_vec::<i8>().into_iter().map(f64::from).collect(),
        DType::I16 => x.to_vec::<i16>().into_iter().map(f64::from).collect(),
        DType::I32 => x.to_vec::<i32>().into_iter().map(f64::from).collect(),
        DType::I64 => x.to_vec::<i64>().into_iter().map(|v| v as f64).collect(),
        DType::U8 => x.to_vec::<u8>().into_iter().map(f64::from).collect(),
        DType::U16 => x.to_vec::<u16>().into_iter().map(f64::from).collect(),
        DType::U32 => x.to_vec::<u32>().into_iter().map(f64::from).collect(),
        DType::U64 => x.to_vec::<u64>().into_iter().map(|v| v as f64).collect(),
        _ => to_f64(&x.astype(DType::F32)),
    }
}

/// Returns the relative rounding error that results of a dtype may have.
pub fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::BF16 => 1.0 / 64.0,
        DType::F16 => 1.0 / 512.0,
        DType::F32 => 4e-6,
        DType::F64 => 1e-12,
        _ => 0.0,
    }
}

/// Compares dtype, shape and elements. Integers and booleans must be equal. Floats may differ by at
/// most `rtol` of their magnitude plus `atol`. NaN equals NaN, and infinities and, with `signs`,
/// zeros must have the same sign.
pub fn close(got: &Array, want: &Array, rtol: f64, atol: f64, signs: bool) -> Result<(), String> {
    if got.dtype() != want.dtype() || got.shape() != want.shape() {
        return Err(format!(
            "is {}, expected {}",
            got.aval().strong(),
            want.aval().strong()
        ));
    }
    if !got.dtype().is_float() {
        let (a, b) = (got.try_to_bytes(), want.try_to_bytes());
        let (a, b) = (a.map_err(|e| e.to_string())?, b.map_err(|e| e.to_string())?);
        if a == b {
            return Ok(());
        }
        return Err(format!("is {:?}, expected {:?}", to_f64(got), to_f64(want)));
    }
    let (a, b) = (to_f64(got), to_f64(want));
    for (i, (&g, &w)) in a.iter().zip(&b).enumerate() {
        let same = if w.is_nan() {
            g.is_nan()
        } else if w.is_infinite() {
            g == w
        } else if signs && w == 0.0 && g == 0.0 {
            g.is_sign_negative() == w.is_sign_negative()
        } else {
            (g - w).abs() <= rtol * w.abs() + atol
        };
        if !same {
            return Err(format!(
                "at element {i} is {g:?}, expected {w:?} (of {a:?}, expected {b:?})"
            ));
        }
    }
    Ok(())
}

/// A random number generator with the same numbers in each run.
pub struct Draw(u64);

impl Draw {
    /// Makes a generator from a seed.
    pub fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Draws a number from `lo` to `hi`.
    pub fn uniform(&mut self, lo: f64, hi: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        lo + (hi - lo) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Draws an array of numbers from `lo` to `hi`.
    pub fn array(&mut self, shape: &[usize], dtype: DType, lo: f64, hi: f64) -> Array {
        let n = shape.iter().product();
        let values: Vec<f64> = (0..n).map(|_| self.uniform(lo, hi)).collect();
        if dtype == DType::F32 {
            // A conversion outside `jit` would compile a program for each shape.
            let values: Vec<f32> = values.into_iter().map(|v| v as f32).collect();
            return Array::from_slice(&values, shape);
        }
        Array::from_slice(&values, shape).astype(dtype)
    }
}

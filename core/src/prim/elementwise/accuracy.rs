//! Functions with a requested accuracy.

use super::batch_elementwise;
use super::{
    Cbrt, Cos, Erfc, Exp, Exp2, Expm1, Log, Log1p, Log2, Logistic, Rsqrt, Sin, Sqrt, Tan, Tanh,
};
use crate::extend::ShardingRule;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, ShapeError};
use std::fmt;
use std::hash::Hash;

/// The accuracy of a function such as [`Array::exp_with`] (`accuracy=` in JAX).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AccuracyMode {
    /// The compiler's usual implementation.
    #[default]
    Default,
    /// The most accurate implementation.
    Highest,
    /// An implementation within a tolerance, created by [`AccuracyMode::tolerance`].
    Tolerance(Bounds),
}

/// The bounds of [`AccuracyMode::Tolerance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The bits of the absolute and of the relative tolerance.
    bits: [u64; 2],
    ulps: u32,
}

impl AccuracyMode {
    /// Requests an implementation whose errors are within `atol`, within `rtol` of the result, or
    /// within `ulps` units in the last place (`jax.lax.Tolerance`). A bound of 0 is not used. If no
    /// implementation is as accurate, compiling the program fails.
    ///
    /// # Panics
    /// Panics if a bound is negative or NaN, or if all are 0.
    #[track_caller]
    pub fn tolerance(atol: f64, rtol: f64, ulps: u32) -> AccuracyMode {
        assert!(
            atol >= 0.0 && rtol >= 0.0 && (atol > 0.0 || rtol > 0.0 || ulps > 0),
            "tolerance: got atol {atol}, rtol {rtol} and {ulps} ulps, expected bounds of at least 0, \
             one of which is above 0\n  help: AccuracyMode::tolerance(0.0, 0.0, 1)"
        );
        AccuracyMode::Tolerance(Bounds {
            bits: [atol, rtol].map(f64::to_bits),
            ulps,
        })
    }

    /// Returns the attribute of StableHLO's operations, if it is not the default.
    fn attribute(self) -> Option<String> {
        let (bounds, mode) = match self {
            AccuracyMode::Default => return None,
            AccuracyMode::Highest => (String::new(), "HIGHEST"),
            AccuracyMode::Tolerance(Bounds { bits, ulps }) => {
                let [atol, rtol] = bits.map(f64::from_bits);
                let floats = [("atol", atol), ("rtol", rtol)].into_iter();
                let floats = floats.filter(|(_, bound)| *bound > 0.0);
                let mut text: String = floats
                    .map(|(n, v)| format!("{n} = {}, ", mlir(v)))
                    .collect();
                if ulps > 0 {
                    text += &format!("ulps = {ulps}, ");
                }
                (text, "TOLERANCE")
            }
        };
        Some(format!(
            "result_accuracy = #stablehlo.result_accuracy<{bounds}mode = \
             #stablehlo.result_accuracy_mode<{mode}>>"
        ))
    }
}

/// Formats a float like MLIR: `1.000000e-05`, with more digits if these are not exact.
fn mlir(value: f64) -> String {
    let short = format!("{value:.6e}");
    let text = match short.parse::<f64>() {
        Ok(parsed) if value == parsed => short,
        _ => format!("{value:.16e}"),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

impl fmt::Display for AccuracyMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccuracyMode::Default => f.write_str("AccuracyMode.DEFAULT"),
            AccuracyMode::Highest => f.write_str("AccuracyMode.HIGHEST"),
            AccuracyMode::Tolerance(Bounds { bits, ulps }) => {
                let [atol, rtol] = bits.map(f64::from_bits);
                write!(f, "Tolerance(atol={atol:?}, rtol={rtol:?}, ulps={ulps})")
            }
        }
    }
}

/// A unary operator with a requested accuracy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Accurate<P> {
    /// The operator.
    pub of: P,
    /// The accuracy.
    pub accuracy: AccuracyMode,
}

impl<P: Primitive + Clone + Eq + Hash> Primitive for Accurate<P> {
    fn name(&self) -> &'static str {
        self.of.name()
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("accuracy", Param::new(self.accuracy))]
    }
    fn facts(&self) -> Facts<'_> {
        self.of.facts()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        self.of.infer(args)
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        self.of.sharding(args, outs)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        self.of.differentiation()
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        batch_elementwise(args, axes, &|args| bind1(self.clone(), args))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        ctx.accuracy = self.accuracy.attribute();
        let results = self.of.lower(ctx, args, outs);
        ctx.accuracy = None;
        results
    }
}

macro_rules! with_accuracy {
    ($($with:ident $f:ident $ty:ident;)*) => {
        impl Array { $(
            #[doc = concat!("Same as [`", stringify!($f), "`](Array::", stringify!($f), "), with the given accuracy (`accuracy=` in JAX).")]
            /// Derivatives have the usual accuracy.
            ///
            /// ```no_run
            /// use ramie_core::lax::AccuracyMode;
            /// use ramie_core::Array;
            #[doc = concat!("let y = Array::from([0.5f32]).", stringify!($with), "(AccuracyMode::Highest);\n", "assert_eq!(y.shape(), [1]);")]
            /// ```
            ///
            /// # Panics
            /// Panics if the dtype is not supported, or outside `jit` if the backend has no
            /// implementation that is as accurate.
            #[track_caller]
            pub fn $with(&self, accuracy: AccuracyMode) -> Array {
                bind1(Accurate { of: $ty, accuracy }, &[&self.to_inexact()])
            }
        )* }
    };
}

with_accuracy! {
    exp_with exp Exp;
    exp2_with exp2 Exp2;
    expm1_with expm1 Expm1;
    log_with log Log;
    log2_with log2 Log2;
    log1p_with log1p Log1p;
    sqrt_with sqrt Sqrt;
    rsqrt_with rsqrt Rsqrt;
    cbrt_with cbrt Cbrt;
    sin_with sin Sin;
    cos_with cos Cos;
    tan_with tan Tan;
    tanh_with tanh Tanh;
    logistic_with logistic Logistic;
    erfc_with erfc Erfc;
}

//! Complex numbers: parts, conjugates, and construction from parts.
//!
//! Derivatives follow JAX's convention: a tangent of a complex value is complex, and operations
//! are transposed without conjugation. The gradient of a real function of `z = x + iy` is
//! therefore `∂f/∂x - i ∂f/∂y`.

use super::fit;
use crate::base::error;
use crate::prim::operands;
use crate::prim::{Avals, Differentiation, Primitive, one, sum_to_shape};
use crate::program::class::broadcast_rule;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, IntoArray, ShapeError};
use num_complex::Complex as Number;

/// Returns an error if the operand is not complex.
fn expect_complex(args: &[Aval]) -> Result<(), ShapeError> {
    crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
    if args[0].dtype().is_complex() {
        return Ok(());
    }
    Err(
        ShapeError::new(format!("expects a complex dtype, got {}", args[0].dtype()))
            .help("convert first: x.astype(DType::C64)"),
    )
}

macro_rules! part {
    ($( $(#[$doc:meta])* $ty:ident $name:ident |$aval:ident| $out:expr, $transpose:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty;
        impl Primitive for $ty {
            fn name(&self) -> &'static str {
                stringify!($name)
            }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                expect_complex(args)?;
                let $aval = args[0];
                one($out)
            }
    elementwise_rules!();
            fn differentiation(&self) -> Differentiation<'_> {
                Differentiation::linear(|ct, _| $transpose(ct))
            }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
                vec![match stringify!($name) {
                    "conj" => ctx.conj(args[0]),
                    part => ctx.part(part, args[0]),
                }]
            }
        } )*
    };
}

part! {
    /// Returns the real part of a complex number.
    Real real |x| x.with_dtype(x.dtype().real()), |ct: &Array| complex(ct, ct.zeros_like());
    /// Returns the imaginary part of a complex number.
    Imag imag |x| x.with_dtype(x.dtype().real()), |ct: &Array| complex(ct.zeros_like(), -ct);
    /// Returns the complex conjugate.
    Conj conj |x| x, |ct: &Array| ct.conj();
}

impl Lowering<'_> {
    fn conj(&mut self, x: Value) -> Value {
        let [re, im] = self.parts(x);
        let im = self.same("negate", &[im]);
        self.complex([re, im])
    }

    /// Emits the maximum or minimum of two complex numbers, ordered by their real parts, then by
    /// their imaginary parts. NaN propagates. StableHLO has no such operator.
    pub(super) fn complex_extreme(&mut self, name: &str, [a, b]: [Value; 2]) -> Value {
        let direction = if name == "maximum" { "GT" } else { "LT" };
        let mut parts = |name| [a, b].map(|x| self.part(name, x));
        let (re, im) = (parts("real"), parts("imag"));
        let tied = self.compare("EQ", re);
        let by_real = self.compare(direction, re);
        let by_imag = self.compare(direction, im);
        let first = self.select(tied, by_imag, by_real);
        let b_is_number = self.compare("EQ", [b, b]);
        let a_is_nan = self.compare("NE", [a, a]);
        let first = self.same("and", &[first, b_is_number]);
        let first = self.same("or", &[first, a_is_nan]);
        self.select(first, a, b)
    }
}

/// Creates complex numbers from their real and imaginary parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Complex;

impl Primitive for Complex {
    fn name(&self) -> &'static str {
        "complex"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects 2 operands, got {}", args.len());
        let dtype = args[0].dtype();
        if dtype != args[1].dtype() || dtype.complex().real() != dtype {
            return Err(ShapeError::new(format!(
                "expects parts of the same dtype, f32 or f64, got {dtype} and {}",
                args[1].dtype()
            ))
            .help(if dtype.is_complex() || args[1].dtype().is_complex() {
                error::TAKE_A_PART
            } else {
                "convert first: x.astype(DType::F32)"
            }));
        }
        one(Aval::new(&broadcast_rule(args)?, dtype.complex()))
    }
    elementwise_rules!();
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |_, t, outs| {
                if t.iter().all(Option::is_none) {
                    return vec![None];
                }
                let part = |t: &Option<Array>| match t {
                    Some(t) => fit(t, &outs[0]),
                    None => Array::zeros(outs[0].shape(), outs[0].dtype().real()),
                };
                vec![Some(complex(part(&t[0]), part(&t[1])))]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None, None];
                };
                let back = |i: usize, part: Array| {
                    let operand = &operands[i];
                    let linear = operand.is_linear();
                    linear.then(|| sum_to_shape(&part, operand.aval().shape()))
                };
                vec![back(0, ct.real()), back(1, (-ct).imag())]
            },
        )
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let args = ctx.broadcast_operands(args, outs[0]);
        vec![ctx.complex([args[0], args[1]])]
    }
}

/// Creates complex numbers from their real and imaginary parts (`jax.lax.complex`), which are
/// promoted to a common floating-point dtype and broadcast.
///
/// ```no_run
/// use ramie_core::numpy::complex;
/// use ramie_core::Array;
/// let z = complex(Array::from([3.0f32]), 4.0);
/// assert_eq!(z.abs().to_vec::<f32>(), [5.0]);
/// ```
///
/// # Panics
/// Panics if the shapes do not broadcast, or if the parts are complex.
#[track_caller]
pub fn complex(re: impl IntoArray, im: impl IntoArray) -> Array {
    let (re, im) = operands::promote("complex", &re.into_array(), &im.into_array());
    let half = re.dtype().complex().real();
    let part = |x: Array| {
        if x.dtype().is_complex() {
            x
        } else {
            x.astype(half)
        }
    };
    bind1(Complex, &[&part(re), &part(im)])
}

/// Computes the tangent of the sign of a complex number, `x / |x|`, which turns with the angle of
/// the number. At 0, and for real numbers, there is none.
pub(super) fn sign_tangent(g: &Array, x: &Array, y: &Array) -> Option<Array> {
    if !x.dtype().is_complex() {
        return None;
    }
    let size = x.abs();
    let size = size.eq(0).select(&size.ones_like(), &size);
    let angle = (&y.conj() * g).imag() / size;
    Some(y * &complex(angle.zeros_like(), angle))
}

/// Computes the tangent of the absolute value of a complex number.
pub(super) fn abs_tangent(g: &Array, x: &Array, y: &Array) -> Array {
    if !x.dtype().is_complex() {
        return x.ge(0).select(g, &g.negative());
    }
    let size = y.eq(0).select(&y.ones_like(), y).astype(x.dtype());
    (g * &(x.conj() / size)).real()
}

impl Array {
    /// Returns the real part of each element; for real dtypes, the array itself.
    #[track_caller]
    pub fn real(&self) -> Array {
        if self.dtype().is_complex() {
            bind1(Real, &[self])
        } else {
            self.clone()
        }
    }

    /// Returns the imaginary part of each element; for real dtypes, zeros.
    #[track_caller]
    pub fn imag(&self) -> Array {
        if self.dtype().is_complex() {
            bind1(Imag, &[self])
        } else {
            self.zeros_like()
        }
    }

    /// Returns the complex conjugate of each element; for real dtypes, the array itself.
    #[track_caller]
    pub fn conj(&self) -> Array {
        if self.dtype().is_complex() {
            bind1(Conj, &[self])
        } else {
            self.clone()
        }
    }

    /// Computes the angle of each complex element in radians; for real dtypes, 0 or π.
    ///
    /// ```no_run
    /// use ramie_core::numpy::complex;
    /// use ramie_core::Array;
    /// let z = complex(Array::from([0.0f32]), 2.0);
    /// assert_eq!(z.angle().to_vec::<f32>(), [std::f32::consts::FRAC_PI_2]);
    /// ```
    #[track_caller]
    pub fn angle(&self) -> Array {
        let x = self.to_inexact();
        x.imag().arctan2(x.real())
    }

    /// Returns whether the imaginary part of each element is zero.
    #[track_caller]
    pub fn is_real(&self) -> Array {
        self.imag().eq(0)
    }

    /// Returns whether the imaginary part of each element is nonzero.
    #[track_caller]
    pub fn is_complex(&self) -> Array {
        self.imag().ne(0)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Copy + Into<f64>> IntoArray for Number<T> {
    fn into_array(self) -> Array {
        let value = crate::dtypes::Scalar::from(self);
        Array::literal(crate::dtypes::Literal::weak(value, value.weak_dtype()))
    }
}

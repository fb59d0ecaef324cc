//! Invertible functions with the determinants of their Jacobians.

use crate::distribution::short_name;
use crate::independent::sum_last;
use crate::parameters::batched;
use ramie_core::numpy::broadcast_shapes;
use ramie_core::{Array, IntoArray, Tree, where_};
use ramie_derive::Tree;
use std::f64::consts::LN_2;

/// An invertible function of events, with the logarithms of the absolute determinants of its
/// Jacobian. Arrays have batch axes before the axes of the event; a log determinant has the batch
/// axes only.
pub trait Bijector: Tree + Clone {
    /// Returns the number of axes of an event. Defaults to 0: a function of each element.
    fn event_ndims(&self) -> usize {
        0
    }

    /// Returns whether the Jacobian is the same everywhere. Defaults to `false`.
    fn is_constant_jacobian(&self) -> bool {
        false
    }

    /// Returns the shape of the results for arguments of `shape`. Defaults to the same shape.
    #[track_caller]
    fn forward_shape(&self, shape: &[usize]) -> Vec<usize> {
        shape.to_vec()
    }

    /// Computes the function.
    #[track_caller]
    fn forward(&self, x: &Array) -> Array {
        self.forward_and_log_det(x).0
    }

    /// Computes the function and the log determinants of its Jacobian at `x`.
    #[track_caller]
    fn forward_and_log_det(&self, x: &Array) -> (Array, Array);

    /// Computes the inverse function and the log determinants of the inverse's Jacobian at `y`.
    #[track_caller]
    fn inverse_and_log_det(&self, y: &Array) -> (Array, Array);
}

/// The function `scale * x + shift` of each element.
///
/// ```
/// use ramie_core::Array;
/// use ramie_distributions::{Bijector, ScalarAffine};
/// let (y, log_det) = ScalarAffine::new(1.0, 2.0).forward_and_log_det(&Array::from([3.0f32]));
/// assert_eq!((y.item::<f32>(), log_det.item::<f32>()), (7.0, 2f32.ln()));
/// ```
#[derive(Clone, Debug, Tree)]
pub struct ScalarAffine {
    /// The value at zero.
    pub shift: Array,
    /// The slope, which must not be zero.
    pub scale: Array,
}

impl ScalarAffine {
    /// Creates the function. The parameters broadcast with each other and with the arguments.
    ///
    /// # Panics
    /// Panics if a parameter is not a float, or if the parameters do not broadcast together.
    #[track_caller]
    pub fn new(shift: impl IntoArray, scale: impl IntoArray) -> ScalarAffine {
        let parameters = [
            ("shift", shift.into_array(), 0),
            ("scale", scale.into_array(), 0),
        ];
        let [shift, scale] = batched("ScalarAffine", parameters);
        ScalarAffine { shift, scale }
    }

    /// Returns the log determinants for arguments or results of this shape.
    #[track_caller]
    fn log_det(&self, shape: &[usize]) -> Array {
        let shape = self.forward_shape(shape);
        self.scale.abs().log().broadcast_to(&shape)
    }
}

impl Bijector for ScalarAffine {
    fn is_constant_jacobian(&self) -> bool {
        true
    }
    fn forward_shape(&self, shape: &[usize]) -> Vec<usize> {
        let Some(shape) = broadcast_shapes(&[shape, self.shift.shape()]) else {
            panic!(
                "ScalarAffine: the shape {shape:?} does not broadcast with the parameters {}\n  help: \
                 the axes must agree from the last one, or be 1",
                self.shift.aval()
            )
        };
        shape.to_vec()
    }
    fn forward_and_log_det(&self, x: &Array) -> (Array, Array) {
        let log_det = self.log_det(x.shape());
        (&self.scale * x + &self.shift, log_det)
    }
    fn inverse_and_log_det(&self, y: &Array) -> (Array, Array) {
        let log_det = self.log_det(y.shape());
        ((1.0 / &self.scale) * (y - &self.shift), -log_det)
    }
}

/// The hyperbolic tangent of each element, between -1 and 1. The inverse of -1 and 1 is infinite.
///
/// ```
/// use ramie_core::Array;
/// use ramie_distributions::{Bijector, Tanh};
/// assert_eq!(Tanh.forward(&Array::from(0.5f32)).item::<f32>(), 0.5f32.tanh());
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Tanh;

impl Tanh {
    fn log_det(x: &Array) -> Array {
        (LN_2 - x - (x * -2.0).softplus()) * 2.0
    }
}

impl Bijector for Tanh {
    fn forward_and_log_det(&self, x: &Array) -> (Array, Array) {
        (x.tanh(), Tanh::log_det(x))
    }
    fn inverse_and_log_det(&self, y: &Array) -> (Array, Array) {
        let x = y.atanh();
        let log_det = -Tanh::log_det(&x);
        (x, log_det)
    }
}

/// The logistic function of each element, between 0 and 1. The inverse of 0 and 1 is infinite.
///
/// ```
/// use ramie_core::Array;
/// use ramie_distributions::{Bijector, Sigmoid};
/// let (y, log_det) = Sigmoid.forward_and_log_det(&Array::from(0.0f32));
/// assert_eq!((y.item::<f32>(), log_det.item::<f32>()), (0.5, 0.25f32.ln()));
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Sigmoid;

impl Sigmoid {
    fn log_det(x: &Array) -> Array {
        // Below, the logarithm of `1 + eˣ` is `eˣ` to all digits.
        let softplus = |x: &Array| where_(x.lt(-9.0), x.exp().log1p(), x.softplus());
        -softplus(&-x) - softplus(x)
    }
}

impl Bijector for Sigmoid {
    fn forward_and_log_det(&self, x: &Array) -> (Array, Array) {
        let y = where_(x.lt(-9.0), x.exp(), x.sigmoid());
        (y, Sigmoid::log_det(x))
    }
    fn inverse_and_log_det(&self, y: &Array) -> (Array, Array) {
        let x = y.log() - (-y).log1p();
        let log_det = -Sigmoid::log_det(&x);
        (x, log_det)
    }
}

/// Two functions in turn: `outer` of the results of `inner`, in Distrax's order. A chain may be a
/// part of a longer one.
///
/// ```
/// use ramie_core::Array;
/// use ramie_distributions::{Bijector, Chain, ScalarAffine, Tanh};
/// let squash = Chain::new(ScalarAffine::new(0.0, 3.0), Tanh);
/// let y = squash.forward(&Array::from(0.5f32)).item::<f32>();
/// assert!((y - 3.0 * 0.5f32.tanh()).abs() < 1e-6);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Chain<F, G> {
    /// The function that is applied last.
    pub outer: F,
    /// The function that is applied first.
    pub inner: G,
}

impl<F: Bijector, G: Bijector> Chain<F, G> {
    /// Creates the function.
    ///
    /// # Panics
    /// Panics if the events of the functions differ in their number of axes.
    #[track_caller]
    pub fn new(outer: F, inner: G) -> Chain<F, G> {
        let (after, before) = (outer.event_ndims(), inner.event_ndims());
        assert!(
            after == before,
            "Chain: the events of {} have {after} axes, those of {} have {before}\n  help: wrap the \
             function of fewer axes in `Block`",
            short_name::<F>(),
            short_name::<G>()
        );
        Chain { outer, inner }
    }
}

impl<F: Bijector, G: Bijector> Bijector for Chain<F, G> {
    fn event_ndims(&self) -> usize {
        self.inner.event_ndims()
    }
    fn is_constant_jacobian(&self) -> bool {
        self.outer.is_constant_jacobian() && self.inner.is_constant_jacobian()
    }
    fn forward_shape(&self, shape: &[usize]) -> Vec<usize> {
        self.outer.forward_shape(&self.inner.forward_shape(shape))
    }
    fn forward_and_log_det(&self, x: &Array) -> (Array, Array) {
        let (x, first) = self.inner.forward_and_log_det(x);
        let (y, last) = self.outer.forward_and_log_det(&x);
        (y, first + last)
    }
    fn inverse_and_log_det(&self, y: &Array) -> (Array, Array) {
        let (y, first) = self.outer.inverse_and_log_det(y);
        let (x, last) = self.inner.inverse_and_log_det(&y);
        (x, first + last)
    }
}

/// A function of larger events: the last `ndims` batch axes of a bijector are axes of the event,
/// and the log determinant is the sum over them.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_distributions::{Bijector, Block, Tanh};
/// let x = Array::zeros(&[5, 3], DType::F32);
/// assert_eq!(Block::new(Tanh, 1).forward_and_log_det(&x).1.shape(), [5]);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct Block<B> {
    /// The function of smaller events.
    pub bijector: B,
    #[tree(fixed)]
    ndims: usize,
}

impl<B: Bijector> Block<B> {
    /// Creates the function.
    pub fn new(bijector: B, ndims: usize) -> Block<B> {
        Block { bijector, ndims }
    }

    #[track_caller]
    fn sum(&self, array: &Array, log_det: &Array) -> Array {
        assert!(
            array.ndim() >= self.event_ndims(),
            "Block: expects events of {} axes, got {}\n  help: pass an array with more axes, or a \
             block of fewer",
            self.event_ndims(),
            array.aval()
        );
        sum_last(log_det, self.ndims)
    }
}

impl<B: Bijector> Bijector for Block<B> {
    fn event_ndims(&self) -> usize {
        self.bijector.event_ndims() + self.ndims
    }
    fn is_constant_jacobian(&self) -> bool {
        self.bijector.is_constant_jacobian()
    }
    fn forward_shape(&self, shape: &[usize]) -> Vec<usize> {
        self.bijector.forward_shape(shape)
    }
    fn forward_and_log_det(&self, x: &Array) -> (Array, Array) {
        let (y, log_det) = self.bijector.forward_and_log_det(x);
        let log_det = self.sum(x, &log_det);
        (y, log_det)
    }
    fn inverse_and_log_det(&self, y: &Array) -> (Array, Array) {
        let (x, log_det) = self.bijector.inverse_and_log_det(y);
        let log_det = self.sum(y, &log_det);
        (x, log_det)
    }
}

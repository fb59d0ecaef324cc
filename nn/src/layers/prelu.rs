//! `PReLU`: a rectifier with a slope that is learned.

use super::hyperparameters::{hyperparameters, linen_layer};
use super::promote::promote;
use crate::nnx::observed;
use crate::{Metadata, Module, Param, Vars};
use ramie_core::{Array, DType, where_};

/// What is not negative as it is, and what is by a slope that is learned
/// (`nnx.PReLU`, `nn.PReLU`; He and others, 2015).
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::PReLU;
/// let layer = PReLU::new();
/// let y = layer.forward(&Array::from([-1.0f32, 2.0]));
/// assert_eq!(y.to_vec::<f32>(), [-0.01, 2.0]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct PReLU {
    /// The slope, 0-d.
    pub negative_slope: Param,
    /// The element type of the computation; by default that of the input.
    pub dtype: Option<DType>,
}

hyperparameters! {
    /// The hyperparameters of a [`PReLU`] layer, which is Linen's module `PReLU`.
    PReLUConfig as "PReLU" () {
        /// The first slope, 0.01 by default.
        negative_slope_init: [f64] = 0.01,
        /// The element type of the computation; by default that of the input.
        dtype: [Option<DType>] = None,
        /// The element type of the slope, `f32` by default.
        param_dtype: [DType] = DType::F32,
        /// What is known of the slope beside its value.
        negative_slope_metadata: [Option<Metadata>] = None,
    }
}

impl Default for PReLUConfig {
    fn default() -> PReLUConfig {
        PReLUConfig::new()
    }
}

impl Default for PReLU {
    fn default() -> PReLU {
        PReLU::new()
    }
}

impl PReLU {
    /// A layer whose first slope is 0.01.
    pub fn new() -> PReLU {
        PReLU::slope(0.01).build(&mut crate::Rngs::empty())
    }

    /// The hyperparameters of a layer with this first slope, to be changed before
    /// [`build`](PReLUConfig::build) makes the layer.
    pub fn slope(negative_slope_init: f64) -> PReLUConfig {
        PReLUConfig::new().negative_slope_init(negative_slope_init)
    }

    /// The input where it is not negative, and the input times the slope where it
    /// is.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.compute(x))
    }

    #[track_caller]
    fn compute(&self, x: &Array) -> Array {
        let (x, slope) = match self.dtype {
            Some(dtype) => promote(Some(dtype), [x, &self.negative_slope]).into(),
            None => (x.clone(), self.negative_slope.astype(x.dtype())),
        };
        where_(&x.ge(0), &x, slope * &x)
    }
}

impl PReLUConfig {
    /// The layer, its slope from `Rngs`, of which it takes no key, or a scope.
    #[track_caller]
    pub fn build<'a>(&self, vars: impl Into<Vars<'a>>) -> PReLU {
        let vars = &mut vars.into();
        let (first, dtype) = (self.negative_slope_init, self.param_dtype);
        let slope: Param = vars.variable("negative_slope", || Array::scalar(first, dtype));
        PReLU {
            negative_slope: match &self.negative_slope_metadata {
                Some(metadata) => slope.with_metadata(metadata.clone()),
                None => slope,
            },
            dtype: self.dtype,
        }
    }
}

linen_layer!(PReLUConfig);

//! `PReLU`: a leaky rectifier with a learned slope.

use super::hyperparameters::{hyperparameters, linen_layer};
use super::promote::{Promotion, promote};
use crate::model::observed;
use crate::{Metadata, Module, Param, PromoteDtypeFn, VarSource};
use ramie_core::{Array, DType, where_};

/// A leaky rectifier whose negative slope is a parameter (`nnx.PReLU`, `nn.PReLU`; He et al.,
/// 2015).
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
    /// The slope for negative inputs, 0-d.
    pub negative_slope: Param,
    /// The dtype of the computation. Defaults to that of the input.
    pub dtype: Option<DType>,
    /// A custom rule by which the input and the slope are converted if the dtype is set.
    #[tree(fixed)]
    pub promote_dtype: Option<PromoteDtypeFn>,
}

hyperparameters! {
    /// Options of a [`PReLU`] layer; also Linen's module `PReLU`.
    PReLUConfig as "PReLU" () {
        /// Sets the initial slope. Defaults to 0.01.
        negative_slope_init: [f64] = 0.01,
        /// Sets the dtype of the computation. Defaults to that of the input.
        dtype: [Option<DType>] = None,
        /// Sets a custom rule by which the input and the slope are converted if the dtype is set, as
        /// in Flax. Defaults to none.
        promote_dtype: [Option<PromoteDtypeFn>] = None,
        /// Sets the dtype of the slope. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets the metadata of the slope. Defaults to none.
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
    /// Creates a layer with an initial slope of 0.01.
    pub fn new() -> PReLU {
        PReLU::slope(0.01).build(&mut crate::Rngs::empty())
    }

    /// Returns the options of a layer with this initial slope; [`build`](PReLUConfig::build)
    /// creates the layer.
    pub fn slope(negative_slope_init: f64) -> PReLUConfig {
        PReLUConfig::new().negative_slope_init(negative_slope_init)
    }

    /// Returns the input where it is not negative, and the input times the slope elsewhere.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.compute(x))
    }

    #[track_caller]
    fn compute(&self, x: &Array) -> Array {
        let (x, slope) = match self.dtype {
            Some(_) => {
                let how = Promotion::new(self.dtype, &self.promote_dtype);
                promote(how, [x, &self.negative_slope]).into()
            }
            None => (x.clone(), self.negative_slope.astype(x.dtype())),
        };
        where_(x.ge(0), &x, slope * &x)
    }
}

impl PReLUConfig {
    /// Builds the layer with its slope from `Rngs` or a scope. It takes no key.
    #[track_caller]
    pub fn build(&self, vars: &mut impl VarSource) -> PReLU {
        let vars = &mut vars.vars();
        let (first, dtype) = (self.negative_slope_init, self.param_dtype);
        let slope: Param = vars.variable("negative_slope", || Array::scalar(first, dtype));
        PReLU {
            negative_slope: match &self.negative_slope_metadata {
                Some(metadata) => slope.with_metadata(metadata.clone()),
                None => slope,
            },
            dtype: self.dtype,
            promote_dtype: self.promote_dtype.clone(),
        }
    }
}

linen_layer!(PReLUConfig);

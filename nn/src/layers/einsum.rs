//! `Einsum`: a layer that contracts its input with a kernel by an einsum equation.

use super::dot_general::sharded;
use super::functions::EinsumFn;
use super::hyperparameters::{affine_hyperparameters, linen_layer};
use super::promote::promote_affine;
use crate::model::observed;
use crate::{Module, Param, Rngs, Sizes, VarSource};
use ramie_core::numpy::einsum_with;
use ramie_core::options::Contraction;
use ramie_core::{Array, PartitionSpec};

/// An einsum of the input and a kernel, plus an optional bias (`nnx.Einsum`, `nn.Einsum`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Einsum, Rngs};
/// let layer = Einsum::new("nta,hab->nthb", [8, 2, 4], &mut Rngs::new(0));
/// let x = Array::ones(&[16, 11, 2], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), [16, 11, 8, 4]);
/// assert_eq!(layer.bias.unwrap().shape(), [8, 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Einsum {
    /// The second operand of the equation.
    pub kernel: Param,
    /// The bias, if any. Its axes are those of the kernel that appear in the result, in the
    /// order of the result.
    pub bias: Option<Param>,
    /// The equation, with the input as the first and the kernel as the second operand.
    pub equation: String,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: EinsumConfig,
}

affine_hyperparameters! {
    /// Options of an [`Einsum`] layer; also Linen's module `Einsum`.
    ///
    /// The layer has a bias by default, as in Linen. (In NNX, it has one if its shape is given.)
    EinsumConfig as "Einsum" (equation: String as into, shape: Sizes as into) {
    } calls {
        /// Sets a custom product used instead of `einsum`. Defaults to none.
        einsum_op: [Option<EinsumFn>] = None,
    }
}

/// Returns the letters of the kernel and of the result, with an ellipsis in the result as a
/// single `.`.
#[track_caller]
fn letters(equation: &str) -> (Vec<char>, Vec<char>) {
    let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let parts = text.split_once("->").and_then(|(operands, result)| {
        let (input, kernel) = operands.split_once(',')?;
        let fits = !kernel.contains([',', '.']) && !input.is_empty();
        fits.then(|| (kernel.to_owned(), result.replace("...", ".")))
    });
    let Some((kernel, result)) = parts else {
        panic!(
            "Einsum: the equation {equation:?} does not have an input, a kernel and a result\n  \
             help: write two operands and the result, with the kernel second and one letter per \
             axis of the kernel: \"nta,hab->nthb\""
        )
    };
    (kernel.chars().collect(), result.chars().collect())
}

/// Returns the shape of the bias: the kernel's sizes along the axes that appear in the result,
/// in the order of the result.
#[track_caller]
fn bias_shape(equation: &str, kernel_shape: &[usize]) -> Vec<usize> {
    let (kernel, result) = letters(equation);
    assert!(
        kernel.len() == kernel_shape.len(),
        "Einsum: the equation {equation:?} has {} axes for the kernel, whose shape is \
         {kernel_shape:?}\n  help: write one letter per axis of the kernel",
        kernel.len()
    );
    let place = |c: &char| kernel.iter().position(|k| k == c);
    let places = result.iter().filter_map(place);
    places.map(|p| kernel_shape[p]).collect()
}

impl Einsum {
    /// Creates a layer with a kernel of this shape and a bias.
    ///
    /// # Panics
    /// Panics if the equation does not have an input, a kernel of this rank, and a result.
    #[track_caller]
    pub fn new(
        equation: impl Into<String>,
        kernel_shape: impl Into<Sizes>,
        rngs: &mut Rngs,
    ) -> Einsum {
        Einsum::equation(equation, kernel_shape).build(rngs)
    }

    /// Returns the options of a layer with this equation and kernel shape;
    /// [`build`](EinsumConfig::build) creates the layer.
    pub fn equation(equation: impl Into<String>, kernel_shape: impl Into<Sizes>) -> EinsumConfig {
        EinsumConfig::new(equation, kernel_shape)
    }

    /// Computes the einsum of the input and the kernel, and adds the bias.
    ///
    /// # Panics
    /// Panics if the input does not match the equation.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.multiply(&layer.equation, x, None))
    }

    /// Like [`forward`](Einsum::forward), but with another equation.
    ///
    /// # Panics
    /// Panics if the input, the kernel or the bias does not match the equation.
    #[track_caller]
    pub fn forward_by(&self, equation: &str, x: &Array) -> Array {
        self.multiply(equation, x, None)
    }

    /// Like [`forward`](Einsum::forward), with the result sharded by `out_sharding` over
    /// explicit axes of a mesh.
    ///
    /// # Panics
    /// Panics as `forward` does, or if `out_sharding` does not match the mesh or the shape.
    #[track_caller]
    pub fn forward_with(&self, x: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        self.multiply(&self.equation, x, Some(out_sharding.into()))
    }

    #[track_caller]
    fn multiply(&self, equation: &str, x: &Array, out_sharding: Option<PartitionSpec>) -> Array {
        let config = &self.config;
        let (operands, bias) =
            promote_affine(config.promotion(), [x, &self.kernel], self.bias.as_deref());
        let how = Contraction::new()
            .precision(config.precision)
            .preferred_element_type(config.preferred_element_type);
        let y = match &config.einsum_op {
            Some(f) => sharded(f.call(equation, operands.each_ref(), how), out_sharding),
            None => einsum_with(equation, &operands, how.out_sharding(out_sharding)),
        };
        let Some(bias) = bias else {
            return y;
        };
        let (kernel, result) = letters(equation);
        // One axis for each letter of the result, and `dots` axes for the ellipsis.
        let dots = y.ndim() + 1 - result.len();
        let shape = result.iter().flat_map(|c| {
            let place = kernel.iter().position(|k| k == c);
            let size = place.map_or(1, |p| self.kernel.shape()[p]);
            std::iter::repeat_n(size, if *c == '.' { dots } else { 1 })
        });
        y + bias.reshape(&shape.collect::<Vec<_>>())
    }
}

impl EinsumConfig {
    /// Builds the layer with variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// Panics if the equation does not have an input, a kernel of this rank, and a result.
    #[track_caller]
    pub fn build(&self, vars: &mut impl VarSource) -> Einsum {
        let vars = &mut vars.vars();
        let kernel = self.shape.list();
        let bias = bias_shape(&self.equation, &kernel);
        let (kernel, bias) = self.kernel_and_bias(vars, &kernel, &bias);
        Einsum {
            kernel,
            bias,
            equation: self.equation.clone(),
            config: self.clone(),
        }
    }
}

linen_layer!(EinsumConfig);

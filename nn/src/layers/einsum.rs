//! `Einsum`: a layer that contracts its input with a kernel by an einsum equation.

use super::hyperparameters::{hyperparameters, linen_layer};
use super::promote::promote_affine;
use crate::init::{self, Initializer};
use crate::nnx::observed;
use crate::{Module, Param, Rngs, Sizes, Vars};
use ramie_core::{Array, Contraction, DType, PartitionSpec, Precision, einsum_with};

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
    /// The dtype of the computation. Defaults to the dtype that the input and the parameters
    /// promote to.
    pub dtype: Option<DType>,
    /// The precision of the product.
    #[tree(fixed)]
    pub precision: Option<Precision>,
    /// The dtype in which products are accumulated and returned.
    pub preferred_element_type: Option<DType>,
}

hyperparameters! {
    /// Options of an [`Einsum`] layer; also Linen's module `Einsum`.
    EinsumConfig as "Einsum" (equation: String as into, shape: Sizes as into) {
        /// Sets whether the layer has a bias. Defaults to `true`, as in Linen. (In NNX, the
        /// layer has a bias if its shape is given.)
        use_bias: [bool] = true,
        /// Sets the dtype of the computation. Defaults to the dtype that the input and the
        /// parameters promote to.
        dtype: [Option<DType>] = None,
        /// Sets the dtype of the parameters. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets the precision of the product.
        precision: [Option<Precision>] = None,
        /// Sets the dtype in which products are accumulated and returned.
        preferred_element_type: [Option<DType>] = None,
        /// Sets the initializer of the kernel. Defaults to
        /// [`lecun_normal`](init::lecun_normal).
        kernel_init: [Initializer] = init::lecun_normal(),
        /// Sets the initializer of the bias. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
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
    pub fn forward_sharded(&self, x: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        self.multiply(&self.equation, x, Some(out_sharding.into()))
    }

    #[track_caller]
    fn multiply(&self, equation: &str, x: &Array, out_sharding: Option<PartitionSpec>) -> Array {
        let (operands, bias) = promote_affine(self.dtype, [x, &self.kernel], self.bias.as_deref());
        let mut how = Contraction::new()
            .precision(self.precision)
            .preferred_element_type(self.preferred_element_type);
        if let Some(spec) = out_sharding {
            how = how.out_sharding(spec);
        }
        let y = einsum_with(equation, &operands, &how);
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
    /// Disables the bias.
    #[must_use]
    pub fn without_bias(self) -> EinsumConfig {
        self.use_bias(false)
    }

    /// Builds the layer with variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// Panics if the equation does not have an input, a kernel of this rank, and a result.
    #[track_caller]
    pub fn build<'a>(&self, vars: impl Into<Vars<'a>>) -> Einsum {
        let vars = &mut vars.into();
        let kernel = self.shape.list();
        let bias = bias_shape(&self.equation, &kernel);
        Einsum {
            kernel: vars.param("kernel", &self.kernel_init, &kernel, self.param_dtype),
            bias: vars.param_if(
                self.use_bias,
                "bias",
                &self.bias_init,
                &bias,
                self.param_dtype,
            ),
            equation: self.equation.clone(),
            dtype: self.dtype,
            precision: self.precision,
            preferred_element_type: self.preferred_element_type,
        }
    }
}

linen_layer!(EinsumConfig);

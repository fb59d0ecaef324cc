//! `Einsum`: a kernel in an Einstein summation, and a bias.

use super::hyperparameters::{hyperparameters, linen_layer};
use super::promote::promote_affine;
use crate::init::{self, Initializer};
use crate::nnx::observed;
use crate::{Module, Param, Rngs, Sizes, Vars};
use ramie_core::{Array, DType, EinsumOptions, PartitionSpec, Precision, einsum_with};

/// The product of input and kernel by an equation, and a bias (`nnx.Einsum`,
/// `nn.Einsum`).
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
    /// The bias, if there is one: the axes of the kernel that the result has,
    /// in the order of the result.
    pub bias: Option<Param>,
    /// The equation, of input and kernel.
    pub equation: String,
    /// The element type of the computation; by default the one that input and
    /// parameters promote to.
    pub dtype: Option<DType>,
    /// The precision of the product.
    #[tree(fixed)]
    pub precision: Option<Precision>,
    /// The element type that products are summed in, and the result has.
    pub preferred_element_type: Option<DType>,
}

hyperparameters! {
    /// The hyperparameters of an [`Einsum`] layer, which is Linen's module
    /// `Einsum`.
    EinsumConfig as "Einsum" (equation: String as into, shape: Sizes as into) {
        /// Whether there is a bias; there is by default, as in Linen. (In NNX
        /// there is one if its shape is given.)
        use_bias: [bool] = true,
        /// The element type of the computation; by default the one that input
        /// and parameters promote to.
        dtype: [Option<DType>] = None,
        /// The element type of the parameters, `f32` by default.
        param_dtype: [DType] = DType::F32,
        /// The precision of the product.
        precision: [Option<Precision>] = None,
        /// The element type that products are summed in, and the result has.
        preferred_element_type: [Option<DType>] = None,
        /// How the kernel is drawn, [`lecun_normal`](init::lecun_normal) by
        /// default.
        kernel_init: [Initializer] = init::lecun_normal(),
        /// How the bias is drawn, zeros by default.
        bias_init: [Initializer] = init::zeros(),
    }
}

/// The letters of the kernel and of the result. Dots of the result stay one
/// letter.
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
            "Einsum: the equation {equation:?} is not of an input, a kernel and a result\n  help: \
             write two operands and the result, the kernel second and with a letter for each of \
             its axes: \"nta,hab->nthb\""
        )
    };
    (kernel.chars().collect(), result.chars().collect())
}

/// The axes of the kernel that the result has, in its order.
#[track_caller]
fn bias_shape(equation: &str, kernel_shape: &[usize]) -> Vec<usize> {
    let (kernel, result) = letters(equation);
    assert!(
        kernel.len() == kernel_shape.len(),
        "Einsum: the equation {equation:?} names {} axes of the kernel, whose shape is \
         {kernel_shape:?}\n  help: write a letter for each axis of the kernel",
        kernel.len()
    );
    let place = |c: &char| kernel.iter().position(|k| k == c);
    let places = result.iter().filter_map(place);
    places.map(|p| kernel_shape[p]).collect()
}

impl Einsum {
    /// A layer with a kernel of this shape and a bias.
    ///
    /// # Panics
    /// If the equation is not of an input, a kernel of such a shape, and a
    /// result.
    #[track_caller]
    pub fn new(
        equation: impl Into<String>,
        kernel_shape: impl Into<Sizes>,
        rngs: &mut Rngs,
    ) -> Einsum {
        Einsum::equation(equation, kernel_shape).build(rngs)
    }

    /// The hyperparameters of a layer by this equation, with a kernel of this
    /// shape, to be changed before [`build`](EinsumConfig::build) makes the
    /// layer.
    pub fn equation(equation: impl Into<String>, kernel_shape: impl Into<Sizes>) -> EinsumConfig {
        EinsumConfig::new(equation, kernel_shape)
    }

    /// The product of input and kernel, and the bias.
    ///
    /// # Panics
    /// If the input does not fit the equation.
    #[track_caller]
    pub fn forward(&self, x: &Array) -> Array {
        observed!(self, |layer, x| layer.multiply(&layer.equation, x, None))
    }

    /// [`forward`](Einsum::forward) by another equation.
    ///
    /// # Panics
    /// If input, kernel or bias do not fit the equation.
    #[track_caller]
    pub fn forward_by(&self, equation: &str, x: &Array) -> Array {
        self.multiply(equation, x, None)
    }

    /// [`forward`](Einsum::forward) with the result sharded by `out_sharding`
    /// over explicit axes of a mesh.
    ///
    /// # Panics
    /// As `forward`, or if `out_sharding` does not fit the mesh or the shape.
    #[track_caller]
    pub fn forward_sharded(&self, x: &Array, out_sharding: impl Into<PartitionSpec>) -> Array {
        self.multiply(&self.equation, x, Some(out_sharding.into()))
    }

    #[track_caller]
    fn multiply(&self, equation: &str, x: &Array, out_sharding: Option<PartitionSpec>) -> Array {
        let (operands, bias) = promote_affine(self.dtype, [x, &self.kernel], self.bias.as_deref());
        let mut how = EinsumOptions::new();
        if let Some(precision) = self.precision {
            how = how.precision(precision);
        }
        if let Some(dtype) = self.preferred_element_type {
            how = how.preferred_element_type(dtype);
        }
        if let Some(spec) = out_sharding {
            how = how.out_sharding(spec);
        }
        let y = einsum_with(equation, &operands, &how);
        let Some(bias) = bias else {
            return y;
        };
        let (kernel, result) = letters(equation);
        // An axis of the result for each letter, and any number for the dots.
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
    /// No bias.
    #[must_use]
    pub fn without_bias(self) -> EinsumConfig {
        self.use_bias(false)
    }

    /// The layer, its variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// If the equation is not of an input, a kernel of such a shape, and a
    /// result.
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

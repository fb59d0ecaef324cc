//! `Module`: the trait of layers and models, with their training and evaluation modes.

use ramie_core::{Tree, fixed_tree, tree};

/// A layer or a model: a pytree with a forward computation.
///
/// `#[derive(Module)]` implements this trait together with [`Tree`]. Fields of type
/// [`Param`](crate::Param), including those of nested layers, are trained. A plain
/// [`Array`](ramie_core::Array) is state, which gradients and optimizers ignore.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::{Linear, Module, Rngs};
///
/// #[derive(Module)]
/// struct Mlp { hidden: Linear, out: Linear }
///
/// impl Mlp {
///     fn new(rngs: &mut Rngs) -> Mlp {
///         Mlp { hidden: Linear::new(2, 8, rngs), out: Linear::new(8, 1, rngs) }
///     }
///     fn forward(&self, x: &Array) -> Array {
///         self.out.forward(&self.hidden.forward(x).tanh())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module",
    note = "add `#[derive(Module)]` to the type"
)]
pub trait Module: Tree {
    /// Switches all layers to training mode: dropout is active, and batch normalization uses
    /// the statistics of the batch.
    fn train(&mut self) {
        self.set_deterministic(false);
        self.set_use_running_average(false);
    }

    /// Switches all layers to evaluation mode: dropout is inactive, and batch normalization
    /// uses its running statistics.
    fn eval(&mut self) {
        self.set_deterministic(true);
        self.set_use_running_average(true);
    }

    /// Returns a copy in evaluation mode, whose arrays are handles to those of the model
    /// (`nnx.view(model, deterministic=True, use_running_average=True)`). The model itself keeps
    /// its mode.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// use ramie_nn::{Dropout, Module, Rngs};
    /// let mut model = Dropout::new(0.5, &mut Rngs::new(0));
    /// let x = Array::ones(&[4], DType::F32);
    /// assert_eq!(model.evaluated().forward(&x).to_vec::<f32>(), [1.0; 4]);
    /// let dropped = model.forward(&x);
    /// ```
    #[must_use]
    fn evaluated(&self) -> Self
    where
        Self: Sized,
    {
        let mut copy = tree::copy(self);
        copy.eval();
        copy
    }

    /// Disables dropout in all layers if `deterministic` is true, and enables it otherwise.
    fn set_deterministic(&mut self, deterministic: bool) {
        self.visit_parts(&mut |part| {
            if let Some(switch) = part.downcast_mut::<Deterministic>() {
                switch.0 = deterministic;
            }
        });
    }

    /// Sets whether all normalization layers use their running statistics or those of the
    /// batch.
    fn set_use_running_average(&mut self, use_running_average: bool) {
        self.visit_parts(&mut |part| {
            if let Some(switch) = part.downcast_mut::<UseRunningAverage>() {
                switch.0 = use_running_average;
            }
        });
    }
}

/// Whether a layer disables its randomness, such as dropout. [`Module::train`] and
/// [`Module::eval`] set fields of this type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deterministic(pub bool);

/// Whether a normalization layer uses its running statistics. [`Module::train`] and
/// [`Module::eval`] set fields of this type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UseRunningAverage(pub bool);

fixed_tree!(Deterministic, UseRunningAverage);

//! `Module`: what a layer or a model is, and its modes.

use ramie_core::{Tree, fixed_tree};

/// A tree with a forward computation: a layer or a model.
///
/// `#[derive(Module)]` implements it together with [`Tree`]. Fields of type
/// [`Param`](crate::Param), also those inside layers, are trained; a plain
/// [`Array`](ramie_core::Array) is state that gradients and optimizers leave out.
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
    /// Switches all layers inside to training: dropout drops, and batch
    /// normalization uses the statistics of the batch.
    fn train(&mut self) {
        self.set_deterministic(false);
        self.set_use_running_average(false);
    }

    /// Switches all layers inside to evaluation: dropout drops nothing, and
    /// batch normalization uses its running statistics.
    fn eval(&mut self) {
        self.set_deterministic(true);
        self.set_use_running_average(true);
    }

    /// Switches dropout inside off or on.
    fn set_deterministic(&mut self, deterministic: bool) {
        self.visit_parts(&mut |part| {
            if let Some(switch) = part.downcast_mut::<Deterministic>() {
                switch.0 = deterministic;
            }
        });
    }

    /// Has the normalizations inside use their running statistics, or those of
    /// the batch.
    fn set_use_running_average(&mut self, use_running_average: bool) {
        self.visit_parts(&mut |part| {
            if let Some(switch) = part.downcast_mut::<UseRunningAverage>() {
                switch.0 = use_running_average;
            }
        });
    }
}

/// Whether a layer leaves out what is random about it. A field of this type is
/// switched by [`Module::train`] and [`Module::eval`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deterministic(pub bool);

/// Whether a normalization uses its running statistics. A field of this type is
/// switched by [`Module::train`] and [`Module::eval`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UseRunningAverage(pub bool);

fixed_tree!(Deterministic, UseRunningAverage);

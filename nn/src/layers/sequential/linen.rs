//! `Sequential` in Linen style.

use super::any_layer::{ByCall, ByType};
use super::function::Function;
use crate::linen::{Module, Scope};
use ramie_core::Array;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A sequence of modules, with functions between them (`nn.Sequential`).
///
/// The modules are named `layers_0`, `layers_1` and so on; functions are counted, too.
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use ramie_nn::linen::{Dense, Module, Sequential};
/// let net = Sequential::new((Dense::new(8), Array::relu, Dense::new(1)));
/// let x = Array::ones(&[4, 2], DType::F32);
/// let variables = net.init(random::key(0), x.clone());
/// assert_eq!(variables["params"]["layers_2.kernel"].shape(), [8, 1]);
/// assert_eq!(net.apply(&variables, x).shape(), [4, 1]);
/// ```
///
/// In Flax, modules created inside a compact method are submodules of the module that has the
/// method, even if they are passed to a `Sequential` created there. Use
/// [`inline`](Sequential::inline) for this behavior.
#[derive(Clone, Default)]
pub struct Sequential {
    steps: Vec<Step>,
}

/// A module or a function of a [`Sequential`].
#[derive(Clone)]
pub struct Step(Kind);

#[derive(Clone)]
enum Kind {
    Module(Arc<dyn SharedModule>),
    Function(Function),
}

/// A module that is shared by clones and can be sent to other threads.
trait SharedModule: Module + Any + Send + Sync {}

impl<M: Module + Any + Send + Sync> SharedModule for M {}

impl Sequential {
    /// Creates a sequence from a tuple of up to sixteen modules and functions, or from a list
    /// of modules of one type.
    pub fn new<M>(layers: impl IntoSteps<M>) -> Sequential {
        let steps = layers.into_steps();
        Sequential { steps }
    }

    /// Appends a module or a function.
    #[must_use]
    pub fn then<M>(mut self, layer: impl IntoStep<M>) -> Sequential {
        self.steps.push(layer.into_step());
        self
    }

    /// Appends a function. Unlike for [`then`](Sequential::then), a closure need not declare
    /// the type of its argument.
    #[must_use]
    pub fn function(self, f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Sequential {
        self.then::<ByCall>(f)
    }

    /// Calls the modules as submodules of the module whose scope this is, under automatic names
    /// such as `Dense_0`. Flax does this for a `Sequential` created inside a compact method.
    /// Nested sequences are called the same way.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// use ramie_nn::linen::{Dense, Module, Scope, Sequential};
    /// struct Mlp;
    /// impl Module for Mlp {
    ///     fn call(&self, scope: &mut Scope, x: Array) -> Array {
    ///         // Its parameters are `Dense_0.kernel`, `Dense_1.kernel` and biases.
    ///         Sequential::new((Dense::new(8), Array::relu, Dense::new(1))).inline(scope, x)
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics if there are no layers, and as the modules do.
    #[track_caller]
    pub fn inline(&self, scope: &mut Scope, x: Array) -> Array {
        self.run(x, |_, module, x| {
            match (module as &dyn Any).downcast_ref() {
                Some(inner) => Sequential::inline(inner, scope, x),
                None => scope.child(module, x),
            }
        })
    }

    #[track_caller]
    fn run(
        &self,
        x: Array,
        mut call: impl FnMut(usize, &dyn SharedModule, Array) -> Array,
    ) -> Array {
        assert!(
            !self.steps.is_empty(),
            "Sequential: the sequence has no layers\n  help: add some: \
             Sequential::new((Dense::new(8), Array::relu))"
        );
        self.steps
            .iter()
            .enumerate()
            .fold(x, |x, (i, step)| match &step.0 {
                Kind::Module(module) => call(i, &**module, x),
                Kind::Function(f) => f.call(&x),
            })
    }
}

impl Module for Sequential {
    #[track_caller]
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        self.run(x, |i, module, x| {
            scope.named(&format!("layers_{i}"), module, x)
        })
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed("Sequential")
    }
}

impl fmt::Debug for Sequential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sequential")?;
        f.debug_list().entries(&self.steps).finish()
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Module(module) => f.write_str(&module.class_name()),
            Kind::Function(function) => function.fmt(f),
        }
    }
}

/// A value that converts to a step of a [`Sequential`]: a module, or a function of an array.
/// `Marker` distinguishes the two and is inferred.
pub trait IntoStep<Marker> {
    /// Converts the value to a step.
    fn into_step(self) -> Step;
}

impl<M: Module + Send + Sync + 'static> IntoStep<ByType> for M {
    fn into_step(self) -> Step {
        Step(Kind::Module(Arc::new(self)))
    }
}

impl<F: Fn(&Array) -> Array + Send + Sync + 'static> IntoStep<ByCall> for F {
    fn into_step(self) -> Step {
        Step(Kind::Function(Function::new(self)))
    }
}

/// A value that converts to the steps of a [`Sequential`]: a tuple of modules and functions, or
/// a list of modules.
pub trait IntoSteps<Marker> {
    /// Converts the value to steps, in order.
    fn into_steps(self) -> Vec<Step>;
}

impl<L: IntoStep<M>, M> IntoSteps<Vec<M>> for Vec<L> {
    fn into_steps(self) -> Vec<Step> {
        self.into_iter().map(IntoStep::into_step).collect()
    }
}

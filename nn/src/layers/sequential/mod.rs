//! `Sequential`: a sequence of layers.

mod any_layer;
mod function;
mod linen;

use crate::Module;
use crate::model::observed;
use ramie_core::Array;

pub use any_layer::{AnyLayer, ByCall, ByType, IntoLayer};
pub use linen::{IntoStep, IntoSteps, Sequential as LinenSequential};

/// A sequence of layers, with functions between them (`nnx.Sequential`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Dropout, Linear, Module, Rngs, Sequential};
/// let rngs = &mut Rngs::new(0);
/// let mut net = Sequential::new((
///     Linear::new(2, 8, rngs),
///     Array::relu,
///     Dropout::new(0.1, rngs),
///     Linear::new(8, 1, rngs),
/// ));
/// net.eval();
/// let y = net.forward(&Array::ones(&[4, 2], DType::F32));
/// ```
///
/// A sequence can also be built step by step, for example in a loop:
///
/// ```no_run
/// use ramie_nn::{Linear, Rngs, Sequential};
/// let rngs = &mut Rngs::new(0);
/// let mut net = Sequential::default();
/// for _ in 0..4 {
///     net = net.then(Linear::new(8, 8, rngs)).function(|x| x.relu());
/// }
/// ```
#[derive(Clone, Debug, Default, Module)]
pub struct Sequential {
    /// Layers and functions, in call order. The paths of variables are `layers.0.kernel` and so
    /// on; functions are counted, too.
    pub layers: Vec<AnyLayer>,
}

impl Sequential {
    /// Creates a sequence from a tuple of up to sixteen layers and functions, or from a list of
    /// layers of one type.
    pub fn new<M>(layers: impl IntoLayers<M>) -> Sequential {
        let layers = layers.into_layers();
        Sequential { layers }
    }

    /// Appends a layer or a function.
    #[must_use]
    pub fn then<M>(mut self, layer: impl IntoLayer<M>) -> Sequential {
        self.layers.push(layer.into_layer());
        self
    }

    /// Appends a function. Unlike for [`then`](Sequential::then), a closure need not declare
    /// the type of its argument.
    #[must_use]
    pub fn function(self, f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Sequential {
        self.then::<ByCall>(f)
    }

    /// Passes the input through all layers. Returns the input if there are none.
    ///
    /// # Panics
    /// Panics as the layers do.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.compute(x))
    }

    #[track_caller]
    fn compute(&mut self, x: &Array) -> Array {
        let mut x = x.clone();
        for layer in &mut self.layers {
            x = crate::Forward::forward(layer, &x);
        }
        x
    }
}

/// A value that converts to the layers of a [`Sequential`]: a tuple of layers and functions, or
/// a list of layers.
pub trait IntoLayers<Marker> {
    /// Converts the value to layers, in order.
    fn into_layers(self) -> Vec<AnyLayer>;
}

impl<L: IntoLayer<M>, M> IntoLayers<Vec<M>> for Vec<L> {
    fn into_layers(self) -> Vec<AnyLayer> {
        self.into_iter().map(IntoLayer::into_layer).collect()
    }
}

macro_rules! tuples {
    ($first:ident $m:ident $(, $rest:ident $n:ident)*) => {
        tuples!(@ $first $m $(, $rest $n)*);
        tuples!($($rest $n),*);
    };
    () => {};
    (@ $($layer:ident $marker:ident),*) => {
        #[allow(non_snake_case)]
        impl<$($layer: IntoLayer<$marker>, $marker),*> IntoLayers<($($marker,)*)>
            for ($($layer,)*)
        {
            fn into_layers(self) -> Vec<AnyLayer> {
                let ($($layer,)*) = self;
                vec![$($layer.into_layer()),*]
            }
        }

        #[allow(non_snake_case)]
        impl<$($layer: IntoStep<$marker>, $marker),*> IntoSteps<($($marker,)*)>
            for ($($layer,)*)
        {
            fn into_steps(self) -> Vec<linen::Step> {
                let ($($layer,)*) = self;
                vec![$($layer.into_step()),*]
            }
        }
    };
}
tuples!(A MA, B MB, C MC, D MD, E ME, F MF, G MG, H MH, I MI, J MJ, K MK, L ML, M MM, N MN, O MO, P MP);

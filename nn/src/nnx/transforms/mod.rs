//! Transformations of functions that change a model.
//!
//! All of them work the same way. The model's arrays become arguments of a pure function, which
//! returns them as they are after the call. The corresponding transformation of `ramie_core`
//! transforms that function, and the returned arrays are written back to the model. Therefore
//! every transformation preserves updates of dropout counters and batch statistics.

mod axes;
mod control;
mod custom_vjp;
mod grad;
mod remat;
mod scan;
mod vmap;

pub use axes::{Axis, Carry, StateAxes};
pub use control::{cond, eval_shape, fori_loop, switch, while_loop};
pub use custom_vjp::custom_vjp;
pub use grad::{DiffState, grad, grad_wrt, jvp, value_and_grad, value_and_grad_wrt, vjp};
pub use remat::{remat, remat_with};
pub use scan::{ScanOptions, scan};
pub use vmap::{VmapOptions, vmap};

use crate::model::{copy, replace};
use ramie_core::Tree;

/// Converts a function that changes a model to one that returns it.
fn pure<M, A, R>(f: impl Fn(&mut M, A) -> R) -> impl Fn(M, A) -> (R, M) {
    move |mut model, args| {
        let out = f(&mut model, args);
        (out, model)
    }
}

/// Several models that [`together`] combines into one, for transformations of functions of all
/// of them.
pub trait Models {
    /// The models as a tuple.
    type Tuple: Tree;
    /// Returns a copy of the models, which shares their arrays.
    fn read(&self) -> Self::Tuple;
    /// Replaces the models.
    fn write(self, models: Self::Tuple);
}

macro_rules! models {
    ($($m:ident $i:tt),+) => {
        impl<$($m: Tree),+> Models for ($(&mut $m,)+) {
            type Tuple = ($($m,)+);
            fn read(&self) -> Self::Tuple {
                ($( copy(&*self.$i), )+)
            }
            fn write(self, models: Self::Tuple) {
                $( replace(self.$i, models.$i); )+
            }
        }
    };
}
models!(A 0, B 1);
models!(A 0, B 1, C 2);
models!(A 0, B 1, C 2, D 3);

/// Combines several models into one tuple, so that a transformation can take them all.
/// Afterwards the models have their new state.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::{Param, nnx};
/// let mut a = Param::new(Array::from(2.0f32));
/// let mut b = Param::new(Array::from(3.0f32));
/// let grads = nnx::together((&mut a, &mut b), |both| nnx::grad(both, |(a, b)| &**a * &**b));
/// assert_eq!(grads["0"].item::<f32>(), 3.0);
/// assert_eq!(grads["1"].item::<f32>(), 2.0);
/// ```
pub fn together<M: Models, R>(models: M, f: impl FnOnce(&mut M::Tuple) -> R) -> R {
    let mut tuple = models.read();
    let out = f(&mut tuple);
    models.write(tuple);
    out
}

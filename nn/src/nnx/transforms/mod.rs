//! Transformations of functions that change a model.
//!
//! All work in one way: the model's arrays become arguments of a pure function,
//! which also returns them as they are after the call; the core transforms that
//! function, and what it returns is written back. So dropout's counts and the
//! statistics of batches come out of every transformation.

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

use super::graph::{copy, replace};
use ramie_core::Tree;

/// A function that changes a model as one that returns it.
fn pure<M, A, R>(f: impl Fn(&mut M, A) -> R) -> impl Fn(M, A) -> (R, M) {
    move |mut model, args| {
        let out = f(&mut model, args);
        (out, model)
    }
}

/// Several models as one, for transformations of functions of them all: what
/// [`together`] takes.
pub trait Models {
    /// The models as a tuple.
    type Tuple: Tree;
    /// Handles to their arrays.
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

/// Several models as one tuple, so that a transformation takes them all; they
/// have their new state afterwards.
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

//! Activation functions.

use super::{Operator, array, only, unary};
use crate::call::{Call, signed};
use ramie_core::options::{Exact, Reduction};
use ramie_core::{Array, where_};

pub(super) const OPERATORS: &[Operator] = &[
    unary("HardSwish", |x| x * (x / 6.0 + 0.5).clip(0.0, 1.0)),
    unary("Mish", Array::mish),
    unary("Relu", |x| x.maximum(0)),
    unary("Sigmoid", Array::sigmoid),
    unary("Softplus", Array::softplus),
    unary("Softsign", Array::soft_sign),
    array("Celu", |c| c.array(0).celu(c.float("alpha", 1.0))),
    array("Elu", |c| c.array(0).elu(c.float("alpha", 1.0))),
    array("Gelu", |c| match c.text("approximate", "none") {
        "tanh" => c.array(0).gelu(),
        _ => c.array(0).gelu_with(Exact),
    })
    .limits(|n, _| only(n, "approximate", "none", &["none", "tanh"])),
    array("HardSigmoid", |c| {
        (c.array(0) * c.float("alpha", 0.2) + c.float("beta", 0.5)).clip(0.0, 1.0)
    }),
    array("Hardmax", hardmax),
    array("LeakyRelu", |c| {
        c.array(0).leaky_relu(c.float("alpha", 0.01))
    }),
    array("LogSoftmax", |c| {
        let x = c.array(0);
        x.log_softmax(normalized_axes(c, x.ndim()))
    }),
    array("PRelu", |c| {
        let (x, slope) = (c.array(0), c.array(1));
        where_(x.lt(0), &x * slope, &x)
    }),
    array("Selu", |c| {
        let (x, alpha) = (c.array(0), c.float("alpha", 1.673_263_192_176_818_8));
        let negative = (x.minimum(0.0).expm1()) * alpha;
        where_(x.gt(0.0), &x, negative) * c.float("gamma", 1.050_701_022_148_132_3)
    }),
    array("Shrink", |c| {
        let (x, bias, lambda) = (c.array(0), c.float("bias", 0.0), c.float("lambd", 0.5));
        let above = where_(x.gt(lambda), &x - bias, 0);
        where_(x.lt(-lambda), &x + bias, above)
    }),
    array("Softmax", |c| {
        let x = c.array(0);
        x.softmax(normalized_axes(c, x.ndim()))
    }),
    array("Swish", |c| {
        let x = c.array(0);
        &x * (&x * c.float("alpha", 1.0)).sigmoid()
    }),
    array("ThresholdedRelu", |c| {
        let x = c.array(0);
        where_(x.gt(c.float("alpha", 1.0)), &x, 0)
    }),
];

/// Returns the axes that softmax normalizes over: one, or in versions before 13 all from one on.
fn normalized_axes(call: &Call<'_>, ndim: usize) -> Reduction {
    let axes = match call.opset {
        ..13 => (call.axis(1, ndim)..ndim).collect(),
        _ => vec![call.axis(-1, ndim)],
    };
    Reduction::over(&signed(&axes))
}

/// Sets the first largest element to 1 and all others to 0.
fn hardmax(call: &Call<'_>) -> Array {
    let x = call.array(0);
    if call.opset >= 13 {
        let axis = call.axis(-1, x.ndim());
        let hot = x.argmax(axis as isize);
        return hot.one_hot_with(x.shape()[axis], x.dtype(), axis as isize);
    }
    let rows: usize = x.shape()[..call.axis(1, x.ndim())].iter().product();
    let flat = x.reshape(&[rows, x.size() / rows.max(1)]);
    let hot = flat.argmax(1).one_hot(flat.shape()[1], x.dtype());
    hot.reshape(x.shape())
}

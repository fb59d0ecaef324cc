//! Checks that operations make by themselves.

use super::Errors;
use super::failure::{Category, Failure, index_signature};
use super::pass::Pass;
use crate::jaxpr::Eqn;
use crate::prim::Primitive;
use crate::prim::index::{DynamicSlice, DynamicUpdateSlice, Gather, Scatter};
use crate::{Array, DType, stack};

/// Operations that make NaN of numbers.
const MAKE_NAN: &[&str] = &[
    "acos",
    "acosh",
    "add",
    "add_any",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0e",
    "bessel_i1e",
    "cbrt",
    "conv_general_dilated",
    "cos",
    "cosh",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "custom_jvp_call",
    "custom_vjp_call",
    "digamma",
    "div",
    "dot_general",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fft",
    "igamma",
    "igamma_grad_a",
    "igammac",
    "integer_pow",
    "lgamma",
    "log",
    "log1p",
    "logaddexp",
    "logistic",
    "mul",
    "pad",
    "pow",
    "psum",
    "reduce_prod",
    "reduce_sum",
    "reduce_window",
    "reduce_window_sum",
    "regularized_incomplete_beta",
    "rem",
    "rsqrt",
    "scatter",
    "scatter-add",
    "scatter-mul",
    "scatter-sub",
    "sin",
    "sinh",
    "sqrt",
    "sub",
    "tan",
    "tanh",
];

/// Whether an operation has indices that can be out of bounds.
pub(super) fn indexes(primitive: &dyn Primitive) -> bool {
    let any = primitive.as_any();
    any.is::<Gather>()
        || any.is::<Scatter>()
        || any.is::<DynamicSlice>()
        || any.is::<DynamicUpdateSlice>()
}

/// Whether an operation makes a check of these.
pub(super) fn checks(primitive: &dyn Primitive, errors: Errors) -> bool {
    (errors.contains(Errors::NAN) && MAKE_NAN.contains(&primitive.name()))
        || (errors.contains(Errors::DIV) && primitive.name() == "div")
        || (errors.contains(Errors::INDEX) && indexes(primitive))
}

fn failure(eqn: &Eqn, category: Category) -> Failure {
    Failure {
        category,
        location: eqn.location,
        signature: Vec::new(),
    }
}

/// Checks on the operands.
pub(super) fn before(pass: &mut Pass, eqn: &Eqn, ins: &[Array]) {
    if pass.errors.contains(Errors::DIV) && eqn.primitive.name() == "div" {
        let zero = ins[1].eq(Array::scalar(0, ins[1].dtype())).any();
        pass.fail_if(&zero, failure(eqn, Category::Division), Vec::new());
    }
    if pass.errors.contains(Errors::INDEX) {
        index(pass, eqn, ins);
    }
}

/// Checks on the results.
pub(super) fn after(pass: &mut Pass, eqn: &Eqn, outs: &[Array]) {
    let primitive = eqn.primitive.name();
    if !pass.errors.contains(Errors::NAN) || !MAKE_NAN.contains(&primitive) {
        return;
    }
    for out in outs.iter().filter(|o| o.dtype().is_inexact()) {
        let nan = out.is_nan().any();
        pass.fail_if(&nan, failure(eqn, Category::Nan { primitive }), Vec::new());
    }
}

/// Starting positions, one vector each along the last axis, the axes of the
/// operand that they are for, and how large what lies there is.
struct Positions {
    starts: Array,
    axes: Vec<usize>,
    sizes: Vec<usize>,
}

fn positions(eqn: &Eqn, ins: &[Array]) -> Option<Positions> {
    let any = eqn.primitive.as_any();
    let all = |starts: &[Array], sizes: &[usize]| {
        (!starts.is_empty()).then(|| Positions {
            starts: stack(starts, 0),
            axes: (0..sizes.len()).collect(),
            sizes: sizes.to_vec(),
        })
    };
    if let Some(slice) = any.downcast_ref::<DynamicSlice>() {
        return all(&ins[1..], &slice.slice_sizes);
    }
    if any.is::<DynamicUpdateSlice>() {
        return all(&ins[2..], ins[1].shape());
    }
    if let Some(gather) = any.downcast_ref::<Gather>() {
        let axes = gather.dimension_numbers.start_index_map.to_vec();
        return Some(Positions {
            starts: ins[1].clone(),
            sizes: axes.iter().map(|&d| gather.slice_sizes[d]).collect(),
            axes,
        });
    }
    let scatter = any.downcast_ref::<Scatter>()?;
    let window = scatter.window(ins[0].ndim(), ins[2].shape());
    let axes = scatter
        .dimension_numbers
        .scatter_dims_to_operand_dims
        .to_vec();
    Some(Positions {
        starts: ins[1].clone(),
        sizes: axes.iter().map(|&d| window[d]).collect(),
        axes,
    })
}

fn index(pass: &mut Pass, eqn: &Eqn, ins: &[Array]) {
    let Some(Positions {
        starts,
        axes,
        sizes,
    }) = positions(eqn, ins)
    else {
        return;
    };
    let count = starts.size();
    if count == 0 || axes.is_empty() {
        return;
    }
    let shape = ins[0].shape();
    let starts = starts
        .astype(DType::I32)
        .reshape(&[count / axes.len(), axes.len()]);
    let row = |numbers: Vec<usize>| -> Array {
        let numbers: Vec<i32> = numbers
            .iter()
            .map(|&n| i32::try_from(n).unwrap_or(i32::MAX))
            .collect();
        Array::from(numbers.as_slice())
    };
    let last = axes.iter().zip(&sizes).map(|(&d, &size)| shape[d] - size);
    let outside = starts.lt(0) | starts.gt(row(last.collect()));
    let outside = outside.reshape(&[count]);
    // The first one, its axis, and the size of that.
    let first = outside.astype(DType::I32).argmax(0);
    let column = &first % axes.len();
    let of = |numbers: Vec<usize>| row(numbers).take(&column, 0);
    let payload = stack(
        &[
            starts.reshape(&[count]).take(&first, 0),
            of(axes.clone()),
            of(axes.iter().map(|&d| shape[d]).collect()),
        ],
        0,
    );
    let failure = Failure {
        category: Category::Index {
            primitive: eqn.primitive.name(),
            shape: shape.to_vec(),
        },
        location: eqn.location,
        signature: index_signature(),
    };
    pass.fail_if(&outside.any(), failure, vec![payload]);
}

//! Errors of arithmetic, reductions, sorting and random numbers.

use crate::document::{Case, case, f32};
use ramie::lax::sort;
use ramie::numpy::complex;
use ramie::options::Reduction;
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("and: expects an integer type or bool", || {
            f32(&[3]) & f32(&[3])
        }),
        case("remainder: expects real numbers", || {
            complex(f32(&[3]), 1.0) % 2.0
        }),
        case("argmax: expects a real type", || {
            complex(f32(&[3]), 1.0).argmax(0)
        }),
        case(
            "var: dtype requested for the variance of complex numbers",
            || complex(f32(&[3]), 1.0).var_over(Reduction::all().dtype(DType::F32)),
        ),
        case("shift_left: expects an integer type", || f32(&[3]) << 1),
        case("population_count: expects an integer type", || {
            f32(&[3]).population_count()
        }),
        case("Primitives: operands have different dtypes", || {
            let x = f32(&[3]);
            let n = Array::arange(3);
            extend::bind1(core::prim::elementwise::Add, &[&x, &n])
        }),
        case("sum: axis out of range", || f32(&[2, 3]).sum_over(2)),
        case("sum: an axis appears twice", || {
            f32(&[2, 3]).sum_over([0, -2])
        }),
        case("max: no elements to choose from", || f32(&[0]).max()),
        case("argmax: the axis has no elements", || f32(&[0]).argmax(0)),
        case("softmax: axis out of range", || f32(&[3]).softmax(1)),
        case("cumsum: axis out of range", || f32(&[3]).cumsum(1)),
        case("sort: axis out of range", || f32(&[3]).sort(1)),
        case("sort: operands have different shapes", || {
            sort(&[f32(&[3]), f32(&[4])], 0, 1)
        }),
        case("top_k: the axis has fewer than k elements", || {
            f32(&[3]).top_k(4)
        }),
        case(
            "power: integers cannot be raised to a negative power",
            || Array::arange(3).power(-1),
        ),
        case("one_hot: expected integer classes", || {
            f32(&[3]).one_hot(10, DType::F32)
        }),
        case("random::normal: expects a floating-point dtype", || {
            random::normal(&random::key(0), &[3], DType::I32)
        }),
        case("random::randint: expects an integer dtype", || {
            random::randint(&random::key(0), &[3], 0, 10, DType::F32)
        }),
        case("random::normal: expects a single key", || {
            let keys = random::key(0).split_array(&[2]);
            random::normal(&keys, &[3], DType::F32)
        }),
        case("random::choice: too many draws without replacement", || {
            random::Choice::of(3)
                .without_replacement()
                .draw(&random::key(0), &[4])
        }),
        case(
            "random::bernoulli: p does not broadcast to the shape",
            || random::bernoulli(&random::key(0), f32(&[3]), &[2]),
        ),
        case(
            "softmax_cross_entropy_with_integer_labels: shapes do not match",
            || {
                let logits = f32(&[8, 10]);
                let labels = Array::arange(10);
                optim::softmax_cross_entropy_with_integer_labels(&logits, &labels)
            },
        ),
        case(
            "softmax_cross_entropy_with_integer_labels: the labels are floats",
            || optim::softmax_cross_entropy_with_integer_labels(&f32(&[8, 10]), &f32(&[8])),
        ),
        case(
            "softmax_cross_entropy_with_integer_labels: the labels are probabilities",
            || optim::softmax_cross_entropy_with_integer_labels(&f32(&[8, 10]), &f32(&[8, 10])),
        ),
        case(
            "softmax_cross_entropy_with_integer_labels: labels are out of range",
            || {
                let labels = array([0, 10, -1, 3]);
                optim::softmax_cross_entropy_with_integer_labels(&f32(&[4, 10]), &labels)
            },
        ),
        case(
            "softmax_cross_entropy: the labels are class numbers",
            || {
                let labels = Array::arange(10);
                optim::softmax_cross_entropy(&f32(&[10, 10]), &labels)
            },
        ),
        case(
            "softmax_cross_entropy: shapes do not broadcast together",
            || optim::softmax_cross_entropy(&f32(&[8, 10]), &f32(&[8])),
        ),
    ]
}
